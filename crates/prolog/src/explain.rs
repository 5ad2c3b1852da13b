//! Explains uncaught exceptions in plain words, and suggests similar names.

use crate::answer::{DESCRIPTION_BYTES, cut};
use crate::core::Core;
use crate::program::{Definition, Origin};
use crate::query::{Exception, Query};
use crate::store::View;
use crate::stored::StoredTerm;
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};
use crate::writer::{WriteOptions, name_variables};
use strsim::levenshtein;

/// Longer names, in bytes, are not compared: the time of a comparison grows with the product of the lengths.
const NAME_BYTES_MAX: usize = 64;

/// An explanation of an exception.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// What went wrong and, if known, in which predicate.
    pub message: String,
    /// The exception term, as text.
    pub term: String,
    /// A hint that may help.
    pub hint: Option<String>,
}

impl Query<'_> {
    /// Explains an exception of this query.
    pub fn explain(&mut self, exception: &Exception) -> Explanation {
        self.parts().machine.core.explain(&exception.ball)
    }
}

impl Core {
    /// Explains an uncaught exception term.
    pub(crate) fn explain(&mut self, ball: &StoredTerm) -> Explanation {
        let meter = self.start_aside();
        let ball = self.store.paste(ball);
        let (message, hint) = self.explain_ball(ball);
        let term = self.error_text(ball);
        self.end_aside(meter);
        Explanation { message, term, hint }
    }

    fn explain_ball(&mut self, ball: Term) -> (String, Option<String>) {
        let (formal, context) = match self.store.view(ball) {
            View::Compound(functor, arguments) if functor == Functor::new(atoms::ERROR, 2) => {
                (self.store.argument(arguments, 0), self.store.argument(arguments, 1))
            }
            _ => return (format!("nobody caught `{}`", self.error_text(ball)), None),
        };
        let (name, arguments) = match self.store.view(formal) {
            View::Atom(name) => (name, Vec::new()),
            View::Compound(functor, start) => {
                (functor.name(), (0..functor.arity()).map(|index| self.store.argument(start, index)).collect())
            }
            _ => return (format!("nobody caught the error `{}`", self.error_text(formal)), None),
        };
        if let (atoms::EXISTENCE_ERROR, &[kind, culprit, ..]) = (name, &arguments[..])
            && kind == Term::atom(atoms::PROCEDURE)
        {
            return self.unknown_procedure(culprit);
        }
        let mut message = self.formal_message(name, &arguments, formal);
        if let Some(place) = self.context_place(context) {
            message = format!("{message}, in {place}");
        }
        if let Some(detail) = self.context_message(context) {
            message = format!("{message}: {detail}");
        }
        (message, None)
    }

    /// A term as text, cut with `...` if it is long. Variables are shown as `_` or letters instead of
    /// numbers, which mean nothing to users.
    fn error_text(&mut self, term: Term) -> String {
        let variable_names = name_variables(&mut self.store, term).unwrap_or_default();
        let mut text = String::new();
        let options = WriteOptions { variable_names, ..WriteOptions::answer() };
        self.write_description(&mut text, term, &options);
        text
    }

    fn formal_message(&mut self, name: Atom, arguments: &[Term], formal: Term) -> String {
        let texts: Vec<String> = arguments.iter().map(|&argument| self.error_text(argument)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match (name, &texts[..]) {
            (atoms::INSTANTIATION_ERROR, []) => "an argument has no value yet, but needs one".to_owned(),
            (atoms::UNINSTANTIATION_ERROR, [culprit]) => {
                format!("expected an unbound variable, found `{culprit}`")
            }
            (atoms::TYPE_ERROR, ["evaluable", culprit]) => format!("`{culprit}` is not a function of arithmetic"),
            (atoms::TYPE_ERROR, [kind, culprit]) => format!("type error: expected `{kind}`, found `{culprit}`"),
            (atoms::DOMAIN_ERROR, [domain, culprit]) => {
                format!("domain error: expected `{domain}`, found `{culprit}`")
            }
            (atoms::EXISTENCE_ERROR, ["matching_rule", culprit, ..]) => format!("no rule matches `{culprit}`"),
            (atoms::EXISTENCE_ERROR, [kind, culprit, ..]) => format!("there is no {kind} `{culprit}`"),
            (atoms::PERMISSION_ERROR, [action, kind, culprit]) => {
                format!("no permission to {action} {} `{culprit}`", kind.replace('_', " "))
            }
            (atoms::REPRESENTATION_ERROR, [limit]) => format!("this goes beyond the limit `{limit}`"),
            (atoms::EVALUATION_ERROR, ["zero_divisor"]) => "arithmetic: division by zero".to_owned(),
            (atoms::EVALUATION_ERROR, ["undefined"]) => "arithmetic: the value is undefined".to_owned(),
            (atoms::EVALUATION_ERROR, [what]) => format!("arithmetic: {}", what.replace('_', " ")),
            (atoms::RESOURCE_ERROR, [what]) => format!("not enough `{what}`"),
            (atoms::SYNTAX_ERROR, [what]) => format!("syntax error: {}", what.replace('_', " ")),
            _ => format!("nobody caught the error `{}`", self.error_text(formal)),
        }
    }

    /// `Name/Arity` in `context(Module:Name/Arity, _)` or `context(Name/Arity, _)`, as text; `None` if the term has
    /// another form.
    fn context_place(&mut self, context: Term) -> Option<String> {
        let mut place = match self.store.view(context) {
            View::Compound(functor, arguments) if functor == Functor::new(atoms::CONTEXT, 2) => {
                self.store.argument(arguments, 0)
            }
            _ => return None,
        };
        if let View::Compound(functor, arguments) = self.store.view(place)
            && functor == Functor::new(atoms::COLON, 2)
        {
            place = self.store.argument(arguments, 1);
        }
        self.indicator(place)?;
        Some(self.error_text(place))
    }

    /// The message in `context(_, Message)`; `None` if there is no text.
    fn context_message(&mut self, context: Term) -> Option<String> {
        let View::Compound(functor, arguments) = self.store.view(context) else { return None };
        if functor != Functor::new(atoms::CONTEXT, 2) {
            return None;
        }
        let message = self.store.argument(arguments, 1);
        let mut text = match self.store.view(message) {
            View::Atom(name) => self.atoms.name(name).to_owned(),
            View::Text => self.store.text(message),
            _ => return None,
        };
        if text.len() > DESCRIPTION_BYTES {
            cut(&mut text, DESCRIPTION_BYTES);
            text.push_str("...");
        }
        Some(text)
    }

    fn indicator(&self, term: Term) -> Option<(Atom, i64)> {
        let View::Compound(functor, arguments) = self.store.view(term) else { return None };
        if functor != Functor::new(atoms::SLASH, 2) {
            return None;
        }
        match (self.store.view(self.store.argument(arguments, 0)), self.store.view(self.store.argument(arguments, 1))) {
            (View::Atom(name), View::Small(arity)) => Some((name, arity)),
            _ => None,
        }
    }

    fn unknown_procedure(&mut self, culprit: Term) -> (String, Option<String>) {
        let message = format!("unknown procedure {}", self.error_text(culprit));
        (message, self.indicator(culprit).and_then(|(name, arity)| self.similar(name, arity)))
    }

    /// A hint with up to three defined predicates that have this name, or this arity and a name with an edit distance
    /// of at most a quarter of the length. Names that start with `$` are not suggested. `None` if there are no such
    /// predicates, or the name is too long to compare.
    fn similar(&self, name: Atom, arity: i64) -> Option<String> {
        let wanted = self.atoms.name(name);
        if wanted.len() > NAME_BYTES_MAX {
            return None;
        }
        let mut found: Vec<(usize, String)> = Vec::new();
        for (functor, &id) in &self.program.lookup {
            let predicate = &self.program.predicates[id as usize];
            if matches!(predicate.definition, Definition::Undefined) {
                continue;
            }
            let other = self.atoms.name(functor.name());
            if other.len() > NAME_BYTES_MAX {
                continue;
            }
            let distance = levenshtein(wanted, other);
            let same_arity = functor.arity() as i64 == arity;
            let is_near = distance == 0 || (same_arity && distance * 4 <= wanted.chars().count());
            if is_near && !other.starts_with('$') {
                let from_library = usize::from(predicate.origin != Origin::User);
                found.push((distance * 2 + from_library, format!("{other}/{}", functor.arity())));
            }
        }
        found.sort();
        let names: Vec<String> = found.into_iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
    }
}

/// A hint for a variable that occurs once, given the other variables of the clause.
pub(crate) fn singleton_hint<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> String {
    match nearest_name(name, others) {
        Some(near) => format!("did you mean `{near}`? write `_{name}` if it is meant to occur once"),
        None => format!("write `_{name}` or `_` if it is meant to occur once"),
    }
}

/// The name that was probably intended instead of `wanted`: the nearest other name, if its edit distance, regardless of
/// case, is at most a third of the length of `wanted`. `None` for names of less than three characters.
fn nearest_name<'a>(wanted: &str, others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The maximum number of names to compare; a hand-written clause rarely has more variables.
    const COMPARED_MAX: usize = 64;
    let length = wanted.chars().count();
    if wanted.len() > NAME_BYTES_MAX || length < 3 {
        return None;
    }
    let near = others.filter(|other| other.len() <= NAME_BYTES_MAX).take(COMPARED_MAX);
    let near = near.map(|other| (levenshtein(&wanted.to_lowercase(), &other.to_lowercase()), other));
    near.filter(|(cost, _)| cost * 3 <= length).min_by_key(|(cost, _)| *cost).map(|(_, other)| other)
}
