//! Checks a header for contradictions.

use std::collections::BTreeSet;
use std::fmt::Display;

use rustc_hash::FxHashSet;

use crate::reader::{Arbitration, Header, Memory};

/// The format that adds anchors. It may have everything that earlier formats have.
pub(super) const ANCHORS: u64 = 8;

/// A fault of a header: the subject, the expected content, and the found content.
pub(super) type Fault = (String, String, String);

/// The names of the observation strategies that a header may have.
const OBSERVATIONS: [&str; 2] = ["arrivals", "route-entries"];
/// The names of the routing strategies that a header may have.
const ROUTINGS: [&str; 2] = ["nearest", "least-used"];

/// All contradictions in a header.
pub(super) fn faults(header: &Header) -> Vec<Fault> {
    let mut faults = Vec::new();
    let positive = [
        ("the duration", header.duration),
        ("the step", header.step),
        ("the evaluation period", header.evaluation_period),
    ];
    for (who, value) in positive {
        if value.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            faults.push((who.to_owned(), "more than 0".to_owned(), value.to_string()));
        }
    }
    let words = [("the observation", &header.observation, OBSERVATIONS), ("the routing", &header.routing, ROUTINGS)];
    for (who, word, known) in words {
        if !known.contains(&word.as_str()) {
            faults.push((who.to_owned(), known.join(" or "), word.clone()));
        }
    }
    if header.memory == Memory::Sliding
        && let Some(every) = header.forgets_every
    {
        let expected = "no `forgets_every` with a sliding memory".to_owned();
        faults.push(("the memory".to_owned(), expected, every.to_string()));
    }
    if header.mario_trace < 2 && !header.tiers.is_empty() {
        faults.push((
            "the tiers".to_owned(),
            "no names of tiers in a trace of format 1".to_owned(),
            "names".to_owned(),
        ));
    }
    let tier_count = header.nodes.iter().map(|node| node.tier as usize + 1).max().unwrap_or(0);
    if !header.tiers.is_empty() && header.tiers.len() != tier_count {
        let found = header.tiers.len().to_string();
        faults.push(("the tiers".to_owned(), format!("as many names as tiers, {tier_count}"), found));
    }
    let is_fourth = header.mario_trace == 4;
    if header.mario_trace < ANCHORS && is_fourth != header.live.is_some() {
        let words = |is_live: bool| if is_live { "`live`" } else { "no `live`" }.to_owned();
        let who = format!("format {}", header.mario_trace);
        faults.push((who, words(is_fourth), words(header.live.is_some())));
    }
    // A live application that was updated occurs once for each description.
    if header.live.is_none() {
        same_ids("application", header.applications.iter().map(|application| &application.id), &mut faults);
    }
    same_ids("node", header.nodes.iter().map(|node| &node.id), &mut faults);
    same_ids("user", header.users.iter().map(|user| &user.id), &mut faults);
    links(header, &mut faults);
    owners(header, &mut faults);
    flavours(header, &mut faults);
    sleep(header, &mut faults);
    anchors(header, &mut faults);
    super::calls::faults(header, &mut faults);
    faults
}

/// Checks that a header of format 5 has `notice`, and that one before format 5 has none; later formats may have it.
/// If there is a `notice`, checks that acceptance policies are evaluated, and that it is at least 1.
fn owners(header: &Header, faults: &mut Vec<Fault>) {
    let words = |has_notice: bool| if has_notice { "`notice`" } else { "no `notice`" }.to_owned();
    // Headers of later formats have `notice` only if owners may evict and shrink instances.
    let is_fifth = header.mario_trace == 5;
    if header.mario_trace < 6 && is_fifth != header.notice.is_some() {
        faults.push((format!("format {}", header.mario_trace), words(is_fifth), words(header.notice.is_some())));
    }
    let may_have =
        header.arbitration != Arbitration::Central && header.nodes.iter().any(|node| node.acceptance.is_some());
    if header.notice.is_some() && !may_have {
        let expected = "no `notice`, because no acceptance policy is evaluated".to_owned();
        faults.push(("the notice".to_owned(), expected, words(true)));
    }
    if header.notice == Some(0) {
        faults.push(("the notice".to_owned(), "at least one evaluation".to_owned(), "0".to_owned()));
    }
}

/// Checks that the flavours of an application have distinct names, that the first has the numbers of the application,
/// and that there are none before format 3.
fn flavours(header: &Header, faults: &mut Vec<Fault>) {
    for application in header.applications.iter().filter(|application| !application.flavours.is_empty()) {
        let what = format!("application {}: flavour", application.id);
        same_ids(&what, application.flavours.iter().map(|flavour| &flavour.id), faults);
        let first = &application.flavours[0];
        let own = (application.hardware, application.max_rate, application.max_latency);
        if (first.hardware, first.max_rate, first.max_latency) != own {
            let expected = "the numbers of the application in its first flavour".to_owned();
            faults.push((format!("{what} {}", first.id), expected, "different numbers".to_owned()));
        }
        if header.mario_trace < 3 {
            let expected = "no flavours before format 3".to_owned();
            faults.push((what, expected, format!("flavours in a trace of format {}", header.mario_trace)));
        }
    }
}

/// Checks that applications sleep only in format 6 or later or in a trace of live nodes, and that start times are not
/// negative.
fn sleep(header: &Header, faults: &mut Vec<Fault>) {
    for application in &header.applications {
        let Some(sleep) = application.sleep else { continue };
        let what = format!("application {}: sleep", application.id);
        if sleep.start.value() < 0.0 {
            faults.push((what.clone(), "a start of 0 or more".to_owned(), sleep.start.to_string()));
        }
        if header.mario_trace < 6 && header.live.is_none() {
            let found = format!("sleep in a trace of format {}", header.mario_trace);
            faults.push((what, "no sleep before format 6".to_owned(), found));
        }
    }
}

/// Checks that applications have anchors only in [format 8](ANCHORS), and that a simulated run of that format has some.
fn anchors(header: &Header, faults: &mut Vec<Fault>) {
    let has_anchors = header.applications.iter().any(|application| application.anchor);
    let may_have = header.mario_trace >= ANCHORS;
    if header.live.is_none() && has_anchors != may_have {
        let words = |are_there: bool| if are_there { "anchors" } else { "no anchors" }.to_owned();
        faults.push((format!("format {}", header.mario_trace), words(may_have), words(has_anchors)));
    }
}

/// Checks that ids are unique, and adds a fault for each duplicate.
fn same_ids<'a, T: Ord + Display + 'a>(what: &str, ids: impl Iterator<Item = &'a T>, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for id in ids.filter(|id| !seen.insert(*id)).collect::<Vec<_>>() {
        faults.push((format!("{what} {id}"), "a unique id".to_owned(), "the id of another".to_owned()));
    }
}

/// Checks that links exist in both directions, and that no node has a neighbour twice.
fn links(header: &Header, faults: &mut Vec<Fault>) {
    let mut links: FxHashSet<(u32, u32)> = FxHashSet::default();
    let ends = |place: usize| header.nodes[place].neighbours.iter().map(move |to| (place as u32, *to));
    for (from, to) in (0..header.nodes.len()).flat_map(ends) {
        if !links.insert((from, to)) {
            let node = |place: u32| &header.nodes[place as usize].id;
            faults.push((
                format!("node {}", node(from)),
                "each neighbour once".to_owned(),
                format!("{} twice", node(to)),
            ));
        }
    }
    for (from, to) in (0..header.nodes.len()).flat_map(ends) {
        if !links.contains(&(to, from)) {
            let node = |place: u32| &header.nodes[place as usize].id;
            let expected = format!("the neighbour {}, which has a link to it", node(from));
            faults.push((format!("node {}", node(to)), expected, "no such neighbour".to_owned()));
        }
    }
}
