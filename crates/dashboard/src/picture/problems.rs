//! The problems that the page shows.

use std::collections::BTreeMap;

use mario_live::api::{Confirmation, CopyState, Link, Status};
use serde::Serialize;

use super::source::{Reach, Source};
use super::{Picture, clipped, named};

/// A node that inhibited at least this many requests in a row, within the last [`REFUSALS_WITHIN_MS`], is reported as
/// full or as refusing everything.
const REFUSALS_MIN: usize = 5;
const REFUSALS_WITHIN_MS: u64 = 120_000;
/// The maximum number of problems that are listed.
const PROBLEMS_MAX: usize = 100;

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Severity {
    /// Something does not work.
    Bad,
    /// Something works, but an operator should know about it.
    Notice,
}

/// A problem.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Problem {
    /// Its severity.
    pub severity: Severity,
    /// The description of the problem.
    pub text: String,
    /// The node concerned, or one end of the link concerned; `None` if several nodes are concerned.
    pub node: Option<String>,
    /// The instance concerned.
    pub instance: Option<String>,
    /// One part for each node, if several nodes have the problem; otherwise empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub parts: Vec<Part>,
}

/// A problem that several nodes have, as it concerns one of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Part {
    /// The description of the problem.
    pub text: String,
    /// The node.
    pub node: String,
}

pub(super) fn find(picture: &Picture, now_ms: u64) -> Vec<Problem> {
    let mut found = Found(Vec::new());
    silent(&mut found, picture, now_ms);
    for source in picture.sources.iter().filter(|source| source.answers()) {
        of_node(&mut found, source);
    }
    links(&mut found, picture);
    verdicts(&mut found, picture, now_ms);
    versions(&mut found, picture);
    let mut problems = found.0;
    problems.sort_by_key(|problem| problem.severity);
    problems.truncate(PROBLEMS_MAX);
    problems
}

struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, severity: Severity, node: Option<String>, instance: Option<&str>, text: String) {
        self.0.push(Problem { severity, text, node, instance: instance.map(str::to_owned), parts: Vec::new() });
    }

    /// Adds a problem of several nodes as a single entry, because one entry per node would hide other problems. `words`
    /// returns the text for two or more nodes, given their number. Adds nothing if there are no nodes.
    fn add_together(&mut self, severity: Severity, mut parts: Vec<Part>, words: impl FnOnce(usize) -> String) {
        match parts.len() {
            0 => {}
            1 => {
                let Part { text, node } = parts.remove(0);
                self.add(severity, Some(node), None, text);
            }
            count => {
                let text = words(count);
                self.0.push(Problem { severity, text, node: None, instance: None, parts });
            }
        }
    }
}

/// Adds the nodes that do not answer, as a single entry.
fn silent(found: &mut Found, picture: &Picture, now_ms: u64) {
    let mut parts = Vec::new();
    for source in &picture.sources {
        let Reach::Silent { since_ms, cause } = &source.reach else { continue };
        let node = source.name();
        let seconds = now_ms.saturating_sub(*since_ms) / 1_000;
        let since = if seconds < 2 { String::new() } else { format!(" for {seconds} s") };
        parts.push(Part { text: format!("Node {node} has not answered{since}: {cause}"), node });
    }
    let polled = picture.sources.len();
    found.add_together(Severity::Bad, parts, |count| match count {
        _ if count == polled => format!("None of the {count} nodes answers"),
        _ => format!("{count} of {polled} nodes do not answer"),
    });
}

/// Adds the problems of a node that answers.
fn of_node(found: &mut Found, source: &Source) {
    let name = source.name();
    if let Some(status) = &source.status {
        of_status(found, source, status);
    }
    for (topic, cause) in &source.unreadable {
        let words = format!("The answer of {name} to {} cannot be read: {cause}", topic.path());
        found.add(Severity::Bad, Some(name.clone()), None, words);
    }
    let unknown = source.unknown();
    if !unknown.is_empty() {
        let words = format!(
            "Node {name} reports what this dashboard does not know (from a newer version): {}",
            unknown.join(", ")
        );
        found.add(Severity::Notice, Some(name.clone()), None, words);
    }
    for (instance, told) in &source.instances {
        let Some(owned) = told.owned() else { continue };
        if Source::has_no_answer(owned) {
            let application = named(&owned.application);
            let words = format!("The policy of {application} has no valid answer for {instance} on {name}");
            found.add(Severity::Bad, Some(name.clone()), Some(instance), words);
        }
        if owned.copy_state().is_some_and(|state| state.is(&CopyState::Ended)) {
            let why = owned.restart.as_ref().map(|restart| format!(": {}", restart.cause)).unwrap_or_default();
            let words = clipped(&format!("The copy of {instance} on {name} has ended{why}"));
            found.add(Severity::Bad, Some(name.clone()), Some(instance), words);
        }
    }
}

/// Adds the problems that the status of a node reports.
fn of_status(found: &mut Found, source: &Source, status: &Status) {
    let name = source.name();
    let mut add = |severity, text: String| found.add(severity, Some(name.clone()), None, clipped(&text));
    if let Some(fault) = &status.journal_fault {
        let words = format!("The journal of {name} cannot be written, so the node makes no new reservations: {fault}");
        add(Severity::Bad, words);
    }
    if let Some(cause) = &status.outdated {
        add(Severity::Bad, format!("Nothing runs on {name} any more: {cause}"));
    }
    if status.confirmation.is(&Confirmation::Unconfirmed) {
        add(Severity::Notice, format!("No neighbour has confirmed the journal of {name} since it restarted"));
    }
    if let Some(fault) = &status.id_fault {
        add(Severity::Bad, format!("Another node has the id of {name}, so instances may run twice: {fault}"));
    }
    if let Some(fault) = &status.trace_fault {
        add(Severity::Notice, format!("The trace of {name} cannot be written: {fault}"));
    }
    if status.is_draining {
        let left = source.instances.len();
        let words = format!("Node {name} is draining: it accepts no new instances; {left} instances are left on it");
        add(Severity::Notice, words);
    }
}

/// Adds the links that are down or pass no client requests, each once.
fn links(found: &mut Found, picture: &Picture) {
    let mut told: BTreeMap<(String, String), (&'static str, Option<String>)> = BTreeMap::new();
    for source in picture.sources.iter().filter(|source| source.answers()) {
        let name = source.name();
        for link in &source.links {
            let Link { neighbour, is_up, has_data, is_rejected, fault, .. } = link;
            let neighbour = named(neighbour);
            let trouble = match (*is_up, *has_data) {
                (true, true) if *is_rejected => "is up, and one rejects the other",
                (true, true) if fault.is_some() => "is up",
                (true, true) => continue,
                (true, false) => "passes no client requests",
                (false, _) => "is down",
            };
            let pair = if name < neighbour { (name.clone(), neighbour) } else { (neighbour, name.clone()) };
            let known = told.entry(pair).or_insert((trouble, None));
            if trouble == "is down" {
                known.0 = trouble;
            }
            known.1 = known.1.take().or_else(|| fault.as_deref().map(clipped));
        }
    }
    for ((one, other), (trouble, cause)) in told {
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        found.add(Severity::Bad, Some(one.clone()), None, format!("The link {one} – {other} {trouble}{cause}"));
    }
}

/// Adds the nodes whose managers inhibited at least the last [`REFUSALS_MIN`] requests, all of them within the last
/// [`REFUSALS_WITHIN_MS`]. A node that did so only for lack of hardware is reported as full, because it may accept a
/// smaller or a later request; any other is reported as refusing everything.
fn verdicts(found: &mut Found, picture: &Picture, now_ms: u64) {
    let (mut full, mut refusing) = (Vec::new(), Vec::new());
    for (node, verdicts) in &picture.verdicts {
        let recent =
            verdicts.iter().rev().take_while(|verdict| now_ms.saturating_sub(verdict.time_ms) < REFUSALS_WITHIN_MS);
        let refused: Vec<_> = recent.take_while(|verdict| !verdict.is_accepted).collect();
        if refused.len() < REFUSALS_MIN {
            continue;
        }
        let count = refused.len();
        let last = verdicts.back().map(|verdict| verdict.text.clone()).unwrap_or_default();
        let node = node.clone();
        if refused.iter().all(|verdict| verdict.is_for_room) {
            let text = format!("Node {node} is full: it had no room for the last {count} requests");
            full.push(Part { text, node });
        } else {
            let text = format!(
                "Node {node} refuses everything: the last {count} requests were inhibited, the last one: {last}"
            );
            refusing.push(Part { text, node });
        }
    }
    found.add_together(Severity::Notice, refusing, |count| format!("{count} nodes refuse everything"));
    found.add_together(Severity::Notice, full, |count| {
        format!("{count} nodes are full: they had no room for the last requests")
    });
}

/// Adds a problem if nodes run different versions.
fn versions(found: &mut Found, picture: &Picture) {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in picture.sources.iter().filter(|source| source.answers()) {
        if let Some(status) = source.status.as_ref().filter(|status| !status.version.is_empty()) {
            versions.entry(clipped(&status.version)).or_default().push(source.name());
        }
    }
    if versions.len() > 1 {
        let told = versions.iter().map(|(version, nodes)| match nodes.as_slice() {
            [one] => format!("{one} runs {version}"),
            [one, rest @ ..] => format!("{one} and {} more run {version}", rest.len()),
            [] => String::new(),
        });
        let words = format!("Nodes run different versions: {}", told.collect::<Vec<_>>().join(", "));
        found.add(Severity::Notice, None, None, words);
    }
}
