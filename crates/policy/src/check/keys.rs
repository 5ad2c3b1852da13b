//! Finds goals that read an extra fact, `fact(Subject, Key, Value)`, with a key that no fact of a scenario has.

use std::collections::BTreeSet;

use mario_domain::RANDOM;
use mario_prolog::{Engine, Tree, TreeKind};
use strsim::osa_distance;

use super::allow::apply_allowances;
use super::finding::{Finding, FindingKind};
use super::text::{Clause, Indicator, Text, each_part, exact_place};
use super::{Resolvers, Role, load};
use crate::acceptance::MANAGER_GOALS;
use crate::policy::PolicyError;

/// One typo per this number of letters, and at least one, is tolerated when a similar key is suggested.
const LETTERS_PER_MISTAKE: usize = 3;
/// The maximum number of known keys that a hint lists.
const LISTED_MAX: usize = 12;

/// Whether the policy provides for the case that a fact is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    Required,
    /// There is an alternative: another branch or clause, or a negation.
    Optional,
}

/// The goals of a policy that read `fact/3` with a key that is not among `known`, the first of each key. Only clauses
/// that the policy can reach are searched, because a library may have predicates for other scenarios. If the policy
/// provides for a missing fact, an unknown key is reported only if it is similar to a known one.
pub fn unknown_keys(
    engine: &Engine,
    name: &str,
    text: &str,
    resolvers: Resolvers<'_>,
    known: &BTreeSet<String>,
) -> Result<Vec<Finding>, PolicyError> {
    let (loaded, roles) = load(engine, name, text, resolvers)?;
    let text = Text::new(&loaded);
    let roots: Vec<Indicator> = match roles.role {
        Role::Policy => vec![("operation".to_owned(), 3)],
        Role::Acceptance => MANAGER_GOALS.iter().map(|&(name, arity)| (name.to_owned(), arity)).collect(),
        Role::Library => Vec::new(),
    };
    let reachable = (roles.role != Role::Library).then(|| reachable(&text, &roots));
    let (mut findings, mut reported) = (Vec::new(), BTreeSet::new());
    for (index, clause) in text.clauses.iter().enumerate() {
        let Some((head, arguments)) = clause.head.callable() else { continue };
        let Some(body) = clause.body.filter(|_| reachable.as_ref().is_none_or(|names| names.contains(head))) else {
            continue;
        };
        let own = (head.to_owned(), arguments.len());
        let has_alternative = !roots.contains(&own) && text.clauses[index + 1..].iter().any(|later| is_of(later, &own));
        let need = if has_alternative { Need::Optional } else { Need::Required };
        keys(body, need, &mut |goal, key, need| {
            let near = nearest(key, known);
            // The host draws the number for every policy of an agent that reads it.
            let is_drawn = key == RANDOM && roles.role != Role::Acceptance;
            if known.contains(key)
                || is_drawn
                || (need == Need::Optional && near.is_none())
                || !reported.insert(key.to_owned())
            {
                return;
            }
            let message = format!("this reads facts with the key `{key}`, which no fact of the scenario has");
            let finding = Finding::new(FindingKind::UnknownKey, exact_place(clause.place, goal), message);
            findings.push(finding.hint(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => listed(known),
            }));
        });
    }
    let (mut findings, _) = apply_allowances(findings, &loaded, name);
    findings.retain(|finding| finding.kind == FindingKind::UnknownKey);
    Ok(findings)
}

fn is_of(clause: &Clause<'_>, (name, arity): &Indicator) -> bool {
    clause.head.callable().is_some_and(|(head, arguments)| head == name && arguments.len() == *arity)
}

/// The names of the predicates that the roots may call. A predicate counts as called if its name occurs in a body, so
/// that calls through meta-predicates are included.
fn reachable<'t>(text: &'t Text<'t>, roots: &[Indicator]) -> BTreeSet<&'t str> {
    let is_root = |clause: &&Clause<'t>| roots.iter().any(|root| is_of(clause, root));
    let names = text.clauses.iter().filter(is_root).filter_map(|clause| Some(clause.head.callable()?.0));
    let mut reached: BTreeSet<&str> = names.collect();
    loop {
        let before = reached.len();
        for clause in &text.clauses {
            let Some((head, body)) = clause.head.callable().zip(clause.body) else { continue };
            if reached.contains(head.0) {
                each_part(body, &mut |part| reached.extend(part.callable().map(|(name, _)| name)));
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// Passes each goal `fact(_, Key, _)` whose key is a name, with the key, to `receive`.
fn keys<'t>(tree: &'t Tree, need: Need, receive: &mut dyn FnMut(&'t Tree, &'t str, Need)) {
    match tree.callable() {
        Some(("fact", [_, key, _])) => {
            if let TreeKind::Atom(key) = &key.kind {
                receive(tree, key, need);
            }
        }
        Some((";" | "|", [either, or])) => {
            keys(either, Need::Optional, receive);
            keys(or, Need::Optional, receive);
        }
        // The condition of `If -> Then` without an alternative is required, because the goal fails without it.
        Some(("\\+" | "not" | "ignore" | "forall" | "catch", parts)) => {
            parts.iter().for_each(|part| keys(part, Need::Optional, receive));
        }
        _ => match &tree.kind {
            TreeKind::Compound(_, parts) | TreeKind::List(parts) => {
                parts.iter().for_each(|part| keys(part, need, receive));
            }
            _ => {}
        },
    }
}

/// The known key that is most similar; `None` if none is similar enough.
fn nearest<'k>(key: &str, known: &'k BTreeSet<String>) -> Option<&'k str> {
    let allowed = (key.chars().count() / LETTERS_PER_MISTAKE).max(1);
    let distances = known.iter().map(|known| (osa_distance(key, known), known.as_str()));
    distances.filter(|(distance, _)| *distance <= allowed).min().map(|(_, known)| known)
}

fn listed(known: &BTreeSet<String>) -> String {
    let mut listed: Vec<String> = known.iter().take(LISTED_MAX).map(|key| format!("`{key}`")).collect();
    if known.len() > LISTED_MAX {
        listed.push(format!("and {} more", known.len() - LISTED_MAX));
    }
    format!("the keys of the scenario's facts are {}", listed.join(", "))
}
