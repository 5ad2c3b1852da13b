//! The clauses of policies as text, with the meanings of the predicates that they call.
//!
//! A clause is shown as written in its file. The meaning of a predicate is the first sentence of a comment
//! `% name(Argument): what it means.` in the policy or in a file that it loads.

use std::collections::BTreeMap;

use mario_policy::{Policy, PolicySettings};
use mario_prolog::{Allowance, Engine};
use mario_trace::reader::TracedPolicy;
use serde::Serialize;

use crate::recorded::resolver;

/// A policy as shown on the page.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PolicyText {
    pub(crate) name: String,
    pub(crate) memory: u64,
    /// The clauses of `operation/3`, in order of priority; empty if the policy cannot be loaded, or if directives
    /// change them.
    pub(crate) clauses: Vec<ClauseText>,
}

/// One clause.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ClauseText {
    /// The clause as written in its file.
    pub(crate) text: String,
    /// The name of the file, and the line.
    pub(crate) place: String,
    /// The names of predicates in the clause whose meaning is known, each with its meaning.
    pub(crate) words: Vec<(String, String)>,
}

impl PolicyText {
    /// Extracts the clauses of a policy from its files in a trace. A policy that can no longer be loaded has none.
    pub(crate) fn new(policy: &TracedPolicy, allowance: &Allowance) -> PolicyText {
        let mut meanings = BTreeMap::new();
        policy.files.iter().for_each(|(_, text)| collect_meanings(text, &mut meanings));
        let loaded = policy.files.first().and_then(|(name, text)| {
            let settings = PolicySettings::default();
            Policy::load_within(&Engine::new(), name, text, Some(resolver(policy)), settings, allowance).ok()
        });
        let clause = |place: &mario_prolog::Place| {
            let text = place.source_text().get(place.span.clone()).unwrap_or_default();
            let file = place.source_name().rsplit('/').next().unwrap_or_default();
            ClauseText {
                text: format!("{}.", text.trim_end_matches('.')),
                place: format!("{file}, line {}", place.position().0),
                words: called(text, &meanings),
            }
        };
        let clauses = loaded.as_ref().map(|policy| policy.clauses().iter().map(clause).collect());
        PolicyText { name: policy.name.clone(), memory: policy.memory, clauses: clauses.unwrap_or_default() }
    }
}

/// Adds the meanings of predicates in the comments of a file, unless they are already known.
fn collect_meanings(text: &str, meanings: &mut BTreeMap<String, String>) {
    let mut open: Option<(String, String)> = None;
    for line in text.lines().chain([""]) {
        let comment = line.strip_prefix('%').map(str::trim);
        if let (Some(comment), Some((_, meaning))) = (comment, open.as_mut())
            && !comment.is_empty()
            && !meaning.ends_with('.')
        {
            meaning.push(' ');
            meaning.push_str(comment);
            continue;
        }
        if let Some((name, meaning)) = open.take() {
            let sentence = meaning.split_once(". ").map_or(meaning.as_str(), |(first, _)| first);
            meanings.entry(name).or_insert_with(|| sentence.trim_end_matches('.').to_owned());
        }
        open = comment.and_then(|comment| {
            let (head, meaning) = comment.split_once("): ")?;
            let (name, _) = head.split_once('(')?;
            is_name(name).then(|| (name.to_owned(), meaning.trim().to_owned()))
        });
    }
}

/// The names of predicates in a clause whose meaning is known, each with its meaning, in order of first occurrence.
fn called(clause: &str, meanings: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let words = clause.split(|character: char| !character.is_alphanumeric() && character != '_');
    for word in words {
        let Some(meaning) = meanings.get(word) else { continue };
        if found.iter().all(|(name, _)| name != word) {
            found.push((word.to_owned(), meaning.clone()));
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "% About this file.\n\n% idle(Instance): no client request reaches\n% the instance. Nothing \
                           more.\nidle(I) :- \\+ requests(I, _, _, _).\n";

    fn policy() -> TracedPolicy {
        let text = ":- ensure_loaded('library.pl').\n\noperation(undeploy, I, self) :-\n    idle(I).\n";
        TracedPolicy {
            name: "p".to_owned(),
            memory: 2,
            files: vec![("p.pl".to_owned(), text.to_owned()), ("library.pl".to_owned(), LIBRARY.to_owned())],
        }
    }

    #[test]
    fn a_clause_has_its_text_its_place_and_its_meanings() {
        let shown = PolicyText::new(&policy(), &Allowance::new(1_000_000));
        let expected = ClauseText {
            text: "operation(undeploy, I, self) :-\n    idle(I).".to_owned(),
            place: "p.pl, line 3".to_owned(),
            words: vec![("idle".to_owned(), "no client request reaches the instance".to_owned())],
        };
        assert_eq!(shown.clauses, [expected]);
    }

    #[test]
    fn a_policy_that_does_not_load_has_no_clauses() {
        let mut broken = policy();
        broken.files[0].1 = "operation(".to_owned();
        assert_eq!(PolicyText::new(&broken, &Allowance::new(1_000_000)).clauses, []);
    }
}
