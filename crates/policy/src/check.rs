//! Finds problems in the text of a policy or an acceptance policy.
//!
//! Start at [`analyse`]. It finds undefined predicates, facts that no agent sees, clauses that never fire. It runs no
//! policy: the crate `check` runs those of agents in all small worlds, chosen by their [`Interests`].
//!
//! The author of a policy can allow a finding with a comment that states the reason:
//!
//! ```prolog
//! % mario: allow ping-pong, clients of this application never stay for long
//! ```

mod allow;
mod finding;
mod interests;
mod keys;
mod kinds;
mod names;
mod reach;
mod supply;
mod text;
mod truth;
mod values;

use mario_domain::FactPredicate;
use mario_prolog::{Engine, LoadError, Loaded, Place, Problem, Resolver, Topic, Tree, TreeKind};

use crate::acceptance::MANAGER_GOALS;
use crate::knowledge_base::declare_facts;
use crate::policy::PolicyError;
use crate::{function, remembers};
use text::{Text, calls};

pub use allow::AllowedFinding;
pub use finding::{Finding, FindingKind};
pub use interests::{Interests, KeyValues};
pub use keys::unknown_keys;
pub use names::undefined_calls;

/// The static analysis of a text.
pub struct Analysis {
    /// The findings, those of the main file first, then by file and position; last [`FindingKind::NoOperation`], for a
    /// text that is neither a policy nor an acceptance policy and names no policy function. Findings that comments allow
    /// are included.
    pub findings: Vec<Finding>,
    /// What the policy reads and proposes; `None` if the text is not a policy of agents.
    pub interests: Option<Interests>,
    name: String,
    loaded: Loaded,
}

impl Analysis {
    /// Separates the findings that comments in the text allow from the others. Invalid comments become the first
    /// findings.
    pub fn apply_allowances(self) -> (Vec<Finding>, Vec<AllowedFinding>) {
        allow::apply_allowances(self.findings, &self.loaded, &self.name)
    }
}

/// The role of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// A policy of agents.
    Policy,
    /// An acceptance policy.
    Acceptance,
    /// Neither: a file of predicates for policies, or a text that only names a policy function.
    Library,
}

/// The role of a text, and the facts that it may read.
#[derive(Debug)]
struct Known {
    role: Role,
    facts: &'static [FactPredicate],
}

impl Known {
    fn of(role: Role) -> Known {
        let facts = match role {
            Role::Policy | Role::Library => &FactPredicate::OF_AGENTS[..],
            Role::Acceptance => &FactPredicate::OF_MANAGERS[..],
        };
        Known { role, facts }
    }

    fn fact(&self, name: &str, arity: usize) -> Option<FactPredicate> {
        self.facts.iter().copied().find(|fact| fact.name() == name && fact.arity() == arity)
    }
}

/// Creates resolvers, because a text may be loaded more than once.
pub type Resolvers<'a> = &'a dyn Fn() -> Box<dyn Resolver>;

/// Analyses a policy, an acceptance policy or a library of predicates.
pub fn analyse(engine: &Engine, name: &str, text: &str, resolvers: Resolvers<'_>) -> Result<Analysis, PolicyError> {
    let (loaded, known) = load(engine, name, text, resolvers)?;
    let mut findings: Vec<Finding> = loaded.warnings.iter().map(warning).collect();
    let interests = check_text(engine, &loaded, &known, &mut findings);
    findings.sort_by_key(|finding| {
        (finding.place.source_name() != name, finding.place.source_name().to_owned(), finding.place.span.start)
    });
    // If the text declares that a function of the host decides, a missing `operation/3` is not a finding.
    let is_outside = function::declared(&loaded)
        .map_err(|problems| PolicyError::Load { name: name.to_owned(), problems })?
        .is_some();
    if known.role == Role::Library && !is_outside {
        findings.push(no_operation(&loaded, name)?);
    }
    let interests = (known.role == Role::Policy).then_some(interests);
    Ok(Analysis { findings, interests, name: name.to_owned(), loaded })
}

/// A clause as text: its head, its goals, and its place.
pub(crate) struct ClauseGoals {
    pub(crate) head: String,
    pub(crate) goals: Vec<String>,
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// The clauses of `predicate` in an acceptance policy, with their heads and goals as they are written. `None` if the
/// text cannot be loaded or `predicate` is not in [`MANAGER_GOALS`].
pub(crate) fn clauses_with_goals(
    engine: &Engine,
    name: &str,
    text: &str,
    resolvers: Resolvers<'_>,
    predicate: &str,
) -> Option<Vec<ClauseGoals>> {
    let (loaded, _) = load(engine, name, text, resolvers).ok()?;
    let text = Text::new(&loaded);
    let (_, arity) = *MANAGER_GOALS.iter().find(|(name, _)| *name == predicate)?;
    let written = |place: &Place, tree: &Tree| match &tree.kind {
        // The span of an atom is that of the enclosing term.
        TreeKind::Atom(name) => name.clone(),
        _ => place.source_text().get(tree.span.clone()).unwrap_or_default().to_owned(),
    };
    let clauses = text.clauses_of(predicate, arity).map(|clause| ClauseGoals {
        head: written(clause.place, clause.head),
        goals: text::conjunction(clause.body).into_iter().map(|goal| written(clause.place, goal)).collect(),
        file: clause.place.source_name().to_owned(),
        line: clause.place.position().0,
    });
    Some(clauses.collect())
}

/// Finds the first call of the undefined predicate `indicator` (`name/arity`) in a text. `None` if the text cannot be
/// loaded or has no such call. Needed because an exception names the predicate, but not the goal that called it.
pub fn find_unknown_call(
    engine: &Engine,
    name: &str,
    text: &str,
    resolvers: Resolvers<'_>,
    indicator: &str,
) -> Option<Finding> {
    let (loaded, known) = load(engine, name, text, resolvers).ok()?;
    let text = Text::new(&loaded);
    let mut found = names::unknown_calls(&text, &loaded.program, &known);
    found.find(|(called, _)| called == indicator).map(|(_, finding)| finding)
}

fn load(engine: &Engine, name: &str, text: &str, resolvers: Resolvers<'_>) -> Result<(Loaded, Known), PolicyError> {
    let load_as = |role: Role| {
        let known = Known::of(role);
        let mut loader = engine.loader();
        declare_facts(&mut loader, known.facts);
        loader.declaration(remembers::DIRECTIVE, 2);
        loader.declaration(function::DIRECTIVE, 1);
        loader.resolver(resolvers()).keep_trees().load(name, text);
        let loaded =
            loader.finish().map_err(|problems: LoadError| PolicyError::Load { name: name.to_owned(), problems })?;
        if loaded.halted.is_some() {
            return Err(PolicyError::Halted { name: name.to_owned() });
        }
        Ok((loaded, known))
    };
    // The roles have different facts, and the role is known only after loading, so the text may be loaded twice.
    let first = load_as(Role::Policy);
    let accepts = |loaded: &Loaded| {
        let defines = |predicate: &str, arity| loaded.program.defines(predicate, arity);
        !defines("operation", 3) && MANAGER_GOALS.iter().any(|(predicate, arity)| defines(predicate, *arity))
    };
    match first {
        Ok((loaded, _)) if accepts(&loaded) => load_as(Role::Acceptance),
        Ok((loaded, _)) if !loaded.program.defines("operation", 3) => Ok((loaded, Known::of(Role::Library))),
        other => other,
    }
}

/// Runs the static checks. Returns the facts and operations that the policy uses.
fn check_text(engine: &Engine, loaded: &Loaded, known: &Known, findings: &mut Vec<Finding>) -> Interests {
    let text = Text::new(loaded);
    names::check(&text, &loaded.program, known, findings);
    kinds::check(&text, known, findings);
    supply::check(&text, known, findings);
    values::check(&text, findings);
    if known.role == Role::Policy {
        reach::check(&text, known, engine, findings);
    }
    let mut interests = Interests::default();
    for call in text.clauses.iter().filter_map(|clause| clause.body).flat_map(calls) {
        interests.note(call.name, call.arguments);
    }
    let heads = text.clauses.iter().filter_map(|clause| clause.head.callable());
    for (name, arguments) in heads.filter(|(name, _)| *name == "operation") {
        interests.note(name, arguments);
    }
    interests
}

fn warning(problem: &Problem) -> Finding {
    let kind = match problem.topic {
        Topic::Singleton => FindingKind::SingletonVariable,
        Topic::Order => FindingKind::ScatteredClauses,
        Topic::Directive | Topic::Other => FindingKind::FailedDirective,
    };
    let mut finding = Finding::new(kind, problem.place(), problem.message.clone());
    finding.hint.clone_from(&problem.hint);
    finding
}

fn no_operation(loaded: &Loaded, name: &str) -> Result<Finding, PolicyError> {
    let mut places = loaded.trees.iter().map(|tree| &tree.place);
    // If the file is empty, there is no place for a finding, so it is an error.
    let first: Option<&Place> = places.find(|place| place.source_name() == name);
    let first = first.ok_or_else(|| PolicyError::NoOperation { name: name.to_owned() })?;
    let message = "this text has no clause of operation/3, so it proposes nothing";
    let hint = "add a clause `operation(Operation, Instance, Target) :- …`; a library allows this with \
                `% mario: allow no-operation, REASON`";
    Ok(Finding::new(FindingKind::NoOperation, first.clone(), message).hint(hint))
}
