//! The first pass over all parts: collects the tables of the header, and the ids of all recorded transfers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mario_domain::{Capacity, Fact, NodeId};

use super::parts::{Line, Reader};
use super::{JoinError, JoinProblem, Open};
use crate::live::{Cause, LiveEvent, PART_VERSION_OF_ANCHORS, PartApplication, PartHeader, PartLine, Stamp};
use crate::record::{Neighbour, Outcome};
use crate::reference::NodeRef;

/// The result of the first pass.
pub(super) struct Survey<'a> {
    pub(super) directories: Vec<Directory<'a>>,
    pub(super) nodes: Vec<SurveyedNode>,
    /// All distinct descriptions of applications, with the texts of their policies.
    pub(super) applications: Vec<PartApplication>,
    /// The recorded events of transfers.
    pub(super) recorded: TransferEvents,
    pub(super) first: Stamp,
    pub(super) last: Stamp,
    pub(super) evaluation_ms: u64,
    pub(super) decision_budget: u64,
    pub(super) colony: String,
    pub(super) lines: u64,
    /// Whether a part has a version that can have anchors.
    pub(super) has_anchors: bool,
}

/// The parts of one data directory.
pub(super) struct Directory<'a> {
    pub(super) paths: &'a [PathBuf],
    pub(super) node: NodeRef,
    /// For each part, the index in the trace of each application in the part.
    pub(super) applications: Vec<Vec<u32>>,
}

pub(super) struct SurveyedNode {
    pub(super) id: NodeId,
    pub(super) capacity: Capacity,
    pub(super) neighbours: BTreeSet<u32>,
    pub(super) facts: Vec<Fact>,
    pub(super) have_facts_changed: bool,
    pub(super) has_acceptance: bool,
    pub(super) is_silent: bool,
}

/// The ids of transfers, by kind of event: those with an event in any part, or those whose event has been written. A
/// record waits only for an event that is in some part.
#[derive(Default)]
pub(super) struct TransferEvents {
    pub(super) departures: BTreeSet<String>,
    pub(super) arrivals: BTreeSet<String>,
    pub(super) taken: BTreeSet<String>,
}

/// What the first pass finds in one directory. `header` is that of the last part.
struct Read {
    header: PartHeader,
    have_facts_changed: bool,
    applications: Vec<Vec<PartApplication>>,
    named: BTreeSet<NodeId>,
    first: Stamp,
    last: Stamp,
    lines: u64,
}

impl<'a> Survey<'a> {
    pub(super) fn of(directories: &'a [Vec<PathBuf>], open: &Open<'_>) -> Result<Survey<'a>, JoinError> {
        let mut recorded = TransferEvents::default();
        let mut read = Vec::new();
        for paths in directories.iter().filter(|paths| !paths.is_empty()) {
            read.push((paths.as_slice(), read_directory(paths, open, &mut recorded)?));
        }
        // Sorted, so that the result does not depend on the order of the directories.
        read.sort_by(|(_, one), (_, other)| {
            (&one.header.node, &one.header.journal, one.first).cmp(&(
                &other.header.node,
                &other.header.journal,
                other.first,
            ))
        });
        let Some((_, any)) = read.first() else {
            return Err(JoinError { path: PathBuf::new(), line: 0, problem: JoinProblem::Empty });
        };
        let mut survey = Survey {
            directories: Vec::new(),
            nodes: nodes(&read),
            applications: Vec::new(),
            recorded,
            first: read
                .iter()
                .filter(|(_, read)| read.first <= read.last)
                .map(|(_, read)| read.first)
                .min()
                .unwrap_or_default(),
            last: read.iter().map(|(_, read)| read.last).max().unwrap_or_default(),
            evaluation_ms: any.header.evaluation_ms.max(1),
            decision_budget: any.header.decision_budget,
            colony: any.header.colony.clone(),
            lines: read.iter().map(|(_, read)| read.lines).sum(),
            has_anchors: read.iter().any(|(_, read)| read.header.mario_trace_part >= PART_VERSION_OF_ANCHORS),
        };
        let mut places: BTreeMap<String, u32> = BTreeMap::new();
        for (paths, read) in read {
            let node = survey.place(&read.header.node);
            let mut applications = Vec::new();
            for part in read.applications {
                let mut of_part = Vec::new();
                for application in part {
                    let text = serde_json::to_string(&application).unwrap_or_default();
                    let next = survey.applications.len() as u32;
                    let place = *places.entry(text).or_insert(next);
                    if place == next {
                        survey.applications.push(application);
                    }
                    of_part.push(place);
                }
                applications.push(of_part);
            }
            survey.directories.push(Directory { paths, node, applications });
        }
        Ok(survey)
    }

    /// The index of a node that occurs in a part.
    pub(super) fn place(&self, node: &NodeId) -> NodeRef {
        let place = self.nodes.binary_search_by(|known| known.id.cmp(node)).unwrap_or(0);
        NodeRef(place as u32)
    }

    /// The index of a node named by a policy; `None` if the trace does not have the node.
    pub(super) fn place_if_known(&self, node: &NodeId) -> Option<NodeRef> {
        self.nodes.binary_search_by(|known| known.id.cmp(node)).ok().map(|place| NodeRef(place as u32))
    }
}

/// All mentioned nodes, ordered by id.
fn nodes(read: &[(&[PathBuf], Read)]) -> Vec<SurveyedNode> {
    let ids: BTreeSet<&NodeId> = read.iter().flat_map(|(_, read)| &read.named).collect();
    let mut nodes: Vec<SurveyedNode> = ids
        .into_iter()
        .map(|id| SurveyedNode {
            id: id.clone(),
            capacity: Capacity::Unbounded,
            neighbours: BTreeSet::new(),
            facts: Vec::new(),
            have_facts_changed: false,
            has_acceptance: false,
            is_silent: true,
        })
        .collect();
    for (_, read) in read {
        let find = |id: &NodeId| nodes.binary_search_by(|node| node.id.cmp(id));
        let Ok(place) = find(&read.header.node) else { continue };
        let neighbours: Vec<usize> = read.header.neighbours.iter().filter_map(|id| find(id).ok()).collect();
        let node = &mut nodes[place];
        node.have_facts_changed |= read.have_facts_changed || (!node.is_silent && node.facts != read.header.facts);
        node.capacity = read.header.capacity;
        node.facts.clone_from(&read.header.facts);
        node.has_acceptance |= read.header.has_acceptance;
        node.is_silent = false;
        // A link exists in both directions, even if only one end has it configured.
        for neighbour in neighbours.into_iter().filter(|neighbour| *neighbour != place) {
            nodes[place].neighbours.insert(neighbour as u32);
            nodes[neighbour].neighbours.insert(place as u32);
        }
    }
    nodes
}

fn read_directory(paths: &[PathBuf], open: &Open<'_>, recorded: &mut TransferEvents) -> Result<Read, JoinError> {
    let mut reader = Reader::new(paths, open);
    let mut read: Option<Read> = None;
    while let Some(line) = reader.next()? {
        match (line, &mut read) {
            (Line::Header(header), None) => {
                let named = header.neighbours.iter().cloned().chain([header.node.clone()]).collect();
                read = Some(Read {
                    header: *header,
                    have_facts_changed: false,
                    applications: vec![Vec::new()],
                    named,
                    first: Stamp(u64::MAX, 0),
                    last: Stamp::default(),
                    lines: 1,
                });
            }
            (Line::Header(header), Some(read)) => {
                // The journal may differ if the disk of the node was replaced.
                if header.node != read.header.node {
                    let (expected, found) = (read.header.node.clone(), header.node);
                    return Err(reader.error(JoinProblem::Mixed { expected, found }));
                }
                read.have_facts_changed |= header.facts != read.header.facts;
                read.named.extend(header.neighbours.iter().cloned());
                read.header = *header;
                read.applications.resize(reader.part() + 1, Vec::new());
                read.lines += 1;
            }
            (Line::Record(record), Some(read)) => {
                read.lines += 1;
                (read.first, read.last) = (read.first.min(record.0), read.last.max(record.0));
                let part = reader.part();
                read.applications.resize(part + 1, Vec::new());
                let known = read.applications[part].len();
                if let Some(application) = named_application(&record.2).find(|place| *place as usize >= known) {
                    let message =
                        format!("it names application {application}, and the part describes {known} before it");
                    return Err(reader.error(JoinProblem::Record(message)));
                }
                match record.2 {
                    PartLine::Application(application) => read.applications[part].push(*application),
                    PartLine::Event(event) => {
                        recorded.note(&event);
                        let named = &mut read.named;
                        event.map(&mut |node| named.insert(node), &mut |place| place);
                    }
                    PartLine::Evaluation(evaluation) => {
                        let hops = evaluation.seen.requests.into_iter().map(|fact| fact.neighbour);
                        read.named.extend(hops.filter_map(|hop| match hop {
                            Neighbour::Node(node) => Some(node),
                            Neighbour::Own => None,
                        }));
                    }
                    PartLine::Cycle(outcomes) => {
                        read.named.extend(outcomes.into_iter().filter_map(|outcome| match outcome {
                            Outcome::Deploy { node, .. } => Some(node),
                            Outcome::Nop(_) | Outcome::Judged { .. } => None,
                        }));
                    }
                    PartLine::Owner(_) => {}
                }
            }
            // The reader ensures that each part starts with its header.
            (Line::Record(_), None) => return Err(reader.error(JoinProblem::NotAPart)),
        }
    }
    let mut read = read.ok_or_else(|| reader.error(JoinProblem::NotAPart))?;
    read.applications.resize(paths.len(), Vec::new());
    Ok(read)
}

/// The indices of the applications in a line.
fn named_application(line: &PartLine) -> impl Iterator<Item = u32> {
    let mut named = Vec::new();
    match line {
        PartLine::Application(_) | PartLine::Owner(_) => {}
        PartLine::Cycle(outcomes) => named.extend(outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Deploy { application, .. } => Some(*application),
            Outcome::Nop(_) | Outcome::Judged { .. } => None,
        })),
        PartLine::Evaluation(evaluation) => named.push(evaluation.application),
        PartLine::Event(event) => {
            event.clone().map(&mut |node| node, &mut |place| {
                named.push(place);
                place
            });
        }
    }
    named.into_iter()
}

impl TransferEvents {
    fn note<N>(&mut self, event: &LiveEvent<N>) {
        match event {
            LiveEvent::Custody { transfer, .. } => self.departures.insert(transfer.clone()),
            LiveEvent::Offer(offer) => self.departures.insert(offer.transfer.clone()),
            LiveEvent::Own { cause: Cause::Taken { transfer, .. }, .. } => self.arrivals.insert(transfer.clone()),
            LiveEvent::Taken { transfer } => self.taken.insert(transfer.clone()),
            _ => false,
        };
    }
}
