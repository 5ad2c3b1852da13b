//! How far back a policy looks, as its directives declare.
//!
//! ```prolog
//! :- remembers(requests, 3).
//! :- remembers(operations, 5).
//! :- remembers(inhibited, 10).
//! ```
//!
//! An agent stores client requests and operations only if its policy declares them, and counts its own age only if the
//! policy reads `age/2`. For inhibitions, a setting overrides the declaration, and a default applies if there is
//! neither.

use mario_prolog::{LoadError, Loaded, Meaning, Place, Problem, SourceTree, TreeKind};

/// The name of the directive, which has two arguments.
pub(crate) const DIRECTIVE: &str = "remembers";

/// How far back a policy looks. By default, its agents remember neither client requests nor operations, and do not
/// count their age.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryDeclaration {
    /// The number of evaluations for which agents remember the client requests that they saw: `earlier/5`.
    pub requests: u32,
    /// The number of evaluations for which agents remember their own accepted operations: `done/4`.
    pub operations: u32,
    /// The number of evaluations for which agents remember inhibitions, unless a setting overrides it: `inhibited/3`.
    /// `None` if the policy does not declare it.
    pub inhibited: Option<u32>,
    /// Whether the name `age` occurs in the program and the policy does not define `age/2`, so that agents must count
    /// their evaluations on their node.
    pub reads_age: bool,
}

impl MemoryDeclaration {
    /// The maximum of `requests`. Each agent stores these requests and transfers them when it migrates.
    pub const REQUESTS_MAX: u32 = 64;
    /// The maximum of `operations` and of `inhibited`.
    pub const OPERATIONS_MAX: u32 = 1_000;

    /// Whether agents remember nothing, apart from inhibitions.
    pub fn is_nothing(&self) -> bool {
        self.requests == 0 && self.operations == 0 && !self.reads_age
    }

    /// The declarations of a text, and whether it reads `age/2`; an error with all invalid declarations. Of several
    /// declarations about the same thing, the largest number is used.
    pub(crate) fn of(loaded: &Loaded) -> Result<MemoryDeclaration, LoadError> {
        let mut remembers = MemoryDeclaration::default();
        let mut errors = Vec::new();
        for declaration in &loaded.declarations {
            if let Err(problem) = remembers.declare(declaration) {
                errors.push(problem);
            }
        }
        if !errors.is_empty() {
            return Err(LoadError { errors, warnings: loaded.warnings.clone() });
        }
        let is_fact = matches!(loaded.program.meaning("age", 2), Meaning::Relation);
        remembers.reads_age = is_fact && loaded.program.mentions("age");
        Ok(remembers)
    }

    fn declare(&mut self, declaration: &SourceTree) -> Result<(), Problem> {
        let Some((_, [what, evaluations])) = declaration.tree.callable() else { return Ok(()) };
        let word = match &what.kind {
            TreeKind::Atom(word) => word.as_str(),
            _ => "",
        };
        let (kept, most) = match word {
            "requests" => (&mut self.requests, MemoryDeclaration::REQUESTS_MAX),
            "operations" => (&mut self.operations, MemoryDeclaration::OPERATIONS_MAX),
            "inhibited" => (self.inhibited.get_or_insert(0), MemoryDeclaration::OPERATIONS_MAX),
            _ => return Err(unknown(&declaration.place, word)),
        };
        match evaluations.kind {
            TreeKind::Integer(count) if (0..=i64::from(most)).contains(&count) => *kept = (*kept).max(count as u32),
            _ => {
                let message = format!("a policy remembers {word} of 0 to {most} evaluations");
                return Err(Problem::error(&declaration.place, message, None));
            }
        }
        Ok(())
    }
}

fn unknown(place: &Place, word: &str) -> Problem {
    let message = match word {
        "" => "a policy declares by name what it remembers".to_owned(),
        word => format!("a policy cannot remember `{word}`"),
    };
    let hint = match word {
        "age" => "age/2 needs no declaration",
        _ => "it can remember `requests`, `operations` and `inhibited`",
    };
    Problem::error(place, message, Some(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use mario_prolog::Engine;

    use super::*;
    use crate::policy::{Policy, PolicyError, PolicySettings};

    fn load(text: &str) -> Result<Policy, PolicyError> {
        let text = format!("{text}\noperation(undeploy, I, self) :- old(I).\n");
        Policy::load(&Engine::new(), "policy.pl", &text, None, PolicySettings::default())
    }

    #[test]
    fn a_text_declares_how_far_back_it_looks() {
        let nothing = MemoryDeclaration::default();
        for (text, expected) in [
            ("old(_).", nothing),
            (":- remembers(requests, 3). old(_).", MemoryDeclaration { requests: 3, ..nothing }),
            (
                ":- remembers(requests, 3), remembers(operations, 5). :- remembers(requests, 2). old(_).",
                MemoryDeclaration { requests: 3, operations: 5, ..nothing },
            ),
            (":- remembers(inhibited, 0). old(_).", MemoryDeclaration { inhibited: Some(0), ..nothing }),
            (":- dynamic age/2. old(I) :- age(I, N), N > 3.", MemoryDeclaration { reads_age: true, ..nothing }),
            ("old(I) :- call(age, I, 3).", MemoryDeclaration { reads_age: true, ..nothing }),
            ("old(I) :- age(I, 3). age(_, 4).", nothing),
            ("remembers(requests, 3). old(I) :- remembers(I, _).", nothing),
        ] {
            assert_eq!(load(text).expect(text).remembers(), expected, "{text}");
        }
    }

    #[test]
    fn an_invalid_declaration_is_an_error_with_its_place() {
        for (text, expected) in [
            (":- remembers(request, 3). old(_).", "a policy cannot remember `request`"),
            (":- remembers(age, 3). old(_).", "a policy cannot remember `age`"),
            (":- remembers(requests, -1). old(_).", "a policy remembers requests of 0 to 64 evaluations"),
            (":- remembers(requests, 65). old(_).", "a policy remembers requests of 0 to 64 evaluations"),
            (":- remembers(operations, many). old(_).", "a policy remembers operations of 0 to 1000 evaluations"),
            (":- remembers(_, 3). old(_).", "a policy declares by name what it remembers"),
        ] {
            let Err(PolicyError::Load { problems, .. }) = load(text) else { panic!("{text} is a policy") };
            assert_eq!(problems.errors.len(), 1);
            assert_eq!(problems.errors[0].message, expected);
            let written = &text[problems.errors[0].span.clone()];
            assert!(written.contains("remembers("), "{written}");
        }
    }
}
