//! Writes the elements of records, which traces and parts share.
//!
//! Not by serde: in a trace, numbers have no needless fraction, and lists may be iterators.

use mario_domain::{Capacity, FlavourId, Id, Inhibition, InstanceId, NodeId};
use serde::Serialize;

use super::decision::{FactsAndDecision, Neighbour, Proposal, RequestFact, Solution, Target};
use super::outcome::{Outcome, OwnerAct, OwnerActKind, Verdict};
use crate::json::{id, natural, number, string};
use crate::reference::NodeRef;

/// An element of a record.
pub trait Element {
    /// Appends the element to a line.
    fn write(&self, line: &mut Vec<u8>);
}

/// Appends a list.
pub(crate) fn list<E: Element>(line: &mut Vec<u8>, elements: impl IntoIterator<Item = E>) {
    line.push(b'[');
    for (position, element) in elements.into_iter().enumerate() {
        if position > 0 {
            line.push(b',');
        }
        element.write(line);
    }
    line.push(b']');
}

/// Appends any other value.
pub(crate) fn value(line: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(line, value).expect("writing to memory does not fail");
}

/// Appends an object with one key, whose value is an id.
fn keyed(line: &mut Vec<u8>, key: &str, of: &Id) {
    line.push(b'{');
    string(line, key);
    line.push(b':');
    id(line, of);
    line.push(b'}');
}

/// Appends `self`.
fn own(line: &mut Vec<u8>) {
    string(line, mario_domain::SELF);
}

impl<E: Element> Element for &E {
    fn write(&self, line: &mut Vec<u8>) {
        (**self).write(line);
    }
}

impl Element for NodeRef {
    fn write(&self, line: &mut Vec<u8>) {
        natural(line, u64::from(self.0));
    }
}

impl Element for NodeId {
    fn write(&self, line: &mut Vec<u8>) {
        id(line, self.id());
    }
}

impl Element for InstanceId {
    fn write(&self, line: &mut Vec<u8>) {
        id(line, self.id());
    }
}

impl Element for Capacity {
    fn write(&self, line: &mut Vec<u8>) {
        match self {
            Capacity::Bounded(free) if !free.has_further() => natural(line, free.as_units()),
            Capacity::Bounded(free) => value(line, free),
            Capacity::Unbounded => string(line, "unbounded"),
        }
    }
}

impl<N: Element> Element for Neighbour<N> {
    fn write(&self, line: &mut Vec<u8>) {
        match self {
            Neighbour::Own => own(line),
            Neighbour::Node(node) => node.write(line),
        }
    }
}

impl<N: Element> Element for Target<N> {
    fn write(&self, line: &mut Vec<u8>) {
        match self {
            Target::Own => own(line),
            Target::Node(node) => node.write(line),
            Target::Unknown(name) => keyed(line, "unknown", name),
            Target::Flavour(flavour) => keyed(line, "flavour", flavour),
        }
    }
}

impl Element for mario_domain::Target {
    fn write(&self, line: &mut Vec<u8>) {
        match self {
            mario_domain::Target::Own => own(line),
            mario_domain::Target::Node(node) => node.write(line),
            mario_domain::Target::Flavour(flavour) => keyed(line, "flavour", flavour.id()),
        }
    }
}

impl<N: Element> Element for RequestFact<N> {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        self.neighbour.write(line);
        line.push(b',');
        number(line, self.rate.value());
        line.push(b',');
        number(line, self.latency.value());
        line.push(b']');
    }
}

impl<T: Element> Element for Proposal<T> {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        string(line, self.operation.as_str());
        line.push(b',');
        self.target.write(line);
        line.push(b']');
    }
}

impl<T: Element> Element for Solution<T> {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        let clause = match self {
            Solution::Proposal { proposal, clause } => {
                string(line, proposal.operation.as_str());
                line.push(b',');
                proposal.target.write(line);
                clause
            }
            Solution::Invalid { why, clause } => {
                string(line, "invalid");
                line.push(b',');
                string(line, why);
                clause
            }
        };
        line.push(b',');
        natural(line, *clause);
        line.push(b']');
    }
}

impl<R, M, S> FactsAndDecision<R, M, S>
where
    R: IntoIterator<Item: Element>,
    M: IntoIterator<Item: Element>,
    S: IntoIterator<Item: Element>,
{
    /// Appends the facts and the decision, as the last elements of an evaluation.
    pub(crate) fn write(self, line: &mut Vec<u8>) {
        list(line, self.requests);
        line.push(b',');
        list(line, self.inhibited);
        line.push(b',');
        list(line, self.solutions);
        match (&self.ending, self.random) {
            (Some(ending), _) => {
                line.push(b',');
                string(line, ending);
            }
            (None, Some(_)) => line.extend_from_slice(b",null"),
            (None, None) => {}
        }
        if let Some(drawn) = self.random {
            line.push(b',');
            natural(line, u64::from(drawn));
        }
    }
}

/// Appends the word of a verdict and, of an inhibition, its reason.
pub(crate) fn write_verdict(line: &mut Vec<u8>, inhibited: Option<&Inhibition>) {
    match inhibited {
        None => string(line, "accepted"),
        Some(inhibition) => {
            string(line, "inhibited");
            line.push(b',');
            value(line, inhibition);
        }
    }
}

/// With the created instance, if any.
impl Element for Verdict {
    fn write(&self, line: &mut Vec<u8>) {
        write_verdict(line, self.inhibition());
        if let Verdict::Accepted(Some(created)) = self {
            line.push(b',');
            created.write(line);
        }
    }
}

impl<N: Element, T: Element> Element for Outcome<N, T> {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        match self {
            Outcome::Nop(instance) => {
                instance.write(line);
                line.extend_from_slice(b",\"nop\"");
            }
            Outcome::Judged { instance, proposal: Proposal { operation, target }, verdict } => {
                instance.write(line);
                line.push(b',');
                string(line, operation.as_str());
                if operation.has_target() || verdict.inhibition().is_some() {
                    line.push(b',');
                    target.write(line);
                }
                line.push(b',');
                verdict.write(line);
            }
            Outcome::Deploy { node, application, policy, verdict } => {
                line.extend_from_slice(b"null,\"deploy\",");
                node.write(line);
                line.push(b',');
                verdict.write(line);
                for index in [Some(*application), *policy].into_iter().flatten() {
                    line.push(b',');
                    natural(line, u64::from(index));
                }
            }
        }
        line.push(b']');
    }
}

/// The flavour of an act in a trace.
impl Element for FlavourId {
    fn write(&self, line: &mut Vec<u8>) {
        keyed(line, "flavour", self.id());
    }
}

/// The flavour of an act in a part.
impl Element for u32 {
    fn write(&self, line: &mut Vec<u8>) {
        natural(line, u64::from(*self));
    }
}

impl<F: Element> Element for OwnerAct<F> {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        string(line, self.kind.as_str());
        line.push(b',');
        self.instance.write(line);
        line.push(b',');
        match &self.kind {
            OwnerActKind::Evicted => {}
            OwnerActKind::Shrunk(flavour) => {
                flavour.write(line);
                line.push(b',');
            }
            OwnerActKind::Announced(evaluations) => {
                natural(line, *evaluations);
                line.push(b',');
            }
        }
        string(line, &self.reason);
        line.push(b']');
    }
}
