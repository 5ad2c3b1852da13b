//! Checks that the indices in a record are within the tables of the header.

use super::header::Header;
use super::record::TraceRecord;
use crate::live::{Cause, LiveEvent, NodeState};
use crate::record::{FactsAndDecision, Neighbour, Outcome, Proposal, Solution, Target};

/// Why a record cannot be used: an index is out of range.
type Fault = Result<(), String>;

/// The sizes of the tables of a header.
struct Tables<'a>(&'a Header);

fn within(index: u32, count: usize, one: &str, many: &str) -> Fault {
    if (index as usize) < count {
        return Ok(());
    }
    Err(format!("it names the {one} {index}, and the header has {count} {many}"))
}

impl Tables<'_> {
    fn node(&self, index: u32) -> Fault {
        within(index, self.0.nodes.len(), "node", "nodes")
    }

    fn nodes(&self, indices: impl IntoIterator<Item = u32>) -> Fault {
        indices.into_iter().try_for_each(|node| self.node(node))
    }

    fn application(&self, index: u32) -> Fault {
        within(index, self.0.applications.len(), "application", "applications")
    }

    fn applications(&self, indices: impl IntoIterator<Item = u32>) -> Fault {
        indices.into_iter().try_for_each(|application| self.application(application))
    }

    fn policy(&self, index: u32) -> Fault {
        within(index, self.0.policies.len(), "policy", "policies")
    }

    fn user(&self, index: u32) -> Fault {
        within(index, self.0.users.len(), "user", "users")
    }

    fn proposal(&self, proposal: &Proposal) -> Fault {
        match proposal.target {
            Target::Node(node) => self.node(node),
            Target::Own | Target::Unknown(_) | Target::Flavour(_) => Ok(()),
        }
    }

    fn seen(&self, seen: &FactsAndDecision) -> Fault {
        for fact in &seen.requests {
            match fact.neighbour {
                Neighbour::Node(node) => self.node(node)?,
                Neighbour::Own => {}
            }
        }
        seen.inhibited.iter().try_for_each(|proposal| self.proposal(proposal))?;
        seen.solutions.iter().try_for_each(|solution| match solution {
            Solution::Proposal { proposal, .. } => self.proposal(proposal),
            Solution::Invalid { .. } => Ok(()),
        })
    }

    fn outcome(&self, outcome: &Outcome) -> Fault {
        match outcome {
            Outcome::Nop(_) => Ok(()),
            Outcome::Judged { proposal, .. } => self.proposal(proposal),
            Outcome::Deploy { node, application, policy, .. } => {
                self.node(*node)?;
                self.application(*application)?;
                policy.map_or(Ok(()), |policy| self.policy(policy))
            }
        }
    }

    fn live(&self, event: &LiveEvent<u32>) -> Fault {
        match event {
            LiveEvent::State(state) => self.state(state),
            LiveEvent::Own { owned, cause } => {
                self.application(owned.application)?;
                match cause {
                    Cause::Taken { from, .. } => self.node(*from),
                    Cause::Deployed | Cause::Replicated { .. } | Cause::NotTaken { .. } | Cause::Adopted { .. } => {
                        Ok(())
                    }
                }
            }
            LiveEvent::Reserved(reserved) => self.application(reserved.application),
            LiveEvent::Updated { application, .. } => self.application(*application),
            LiveEvent::Custody { target, .. } | LiveEvent::Prepare { target, .. } => self.node(*target),
            LiveEvent::Offer(offer) => self.node(offer.target),
            LiveEvent::Peer { node, .. } | LiveEvent::Outdated { by: node, .. } => self.node(*node),
            LiveEvent::Neighbours { up, told } => self.nodes(up.iter().chain(told).copied()),
            LiveEvent::Boot { .. }
            | LiveEvent::CustodyEnded { .. }
            | LiveEvent::Taken { .. }
            | LiveEvent::NotTaken { .. }
            | LiveEvent::Undeployed { .. }
            | LiveEvent::Stopped { .. }
            | LiveEvent::Forgotten { .. }
            | LiveEvent::Pinned { .. }
            | LiveEvent::Anchored { .. }
            | LiveEvent::Undeploying { .. }
            | LiveEvent::Adapted { .. }
            | LiveEvent::Slept { .. }
            | LiveEvent::Woke { .. }
            | LiveEvent::WakeRefused { .. }
            | LiveEvent::Shrunk { .. }
            | LiveEvent::Drained { .. }
            | LiveEvent::Lost { .. }
            | LiveEvent::Aborted { .. }
            | LiveEvent::Released { .. }
            | LiveEvent::Freed { .. }
            | LiveEvent::Draining { .. } => Ok(()),
        }
    }

    fn state(&self, state: &NodeState<u32>) -> Fault {
        let owned = state.owned.iter().chain(state.custody.iter().map(|custody| &custody.owned));
        self.applications(owned.map(|owned| owned.application))?;
        self.applications(state.reserved.iter().map(|reserved| reserved.application))?;
        self.nodes(state.custody.iter().map(|custody| custody.target))?;
        self.nodes(state.offers.iter().map(|offer| offer.target))
    }
}

/// Returns an error in words if an index of the record is out of range.
pub(super) fn check(record: &TraceRecord, header: &Header) -> Result<(), String> {
    let tables = Tables(header);
    match record {
        TraceRecord::Deployed(record) => {
            tables.node(record.node)?;
            tables.application(record.application)?;
            tables.policy(record.policy)
        }
        TraceRecord::Handover(record) => {
            tables.user(record.user)?;
            tables.nodes(record.from.into_iter().chain(record.to))
        }
        TraceRecord::Evaluation(record) => {
            tables.node(record.node)?;
            record.seen.as_ref().map_or(Ok(()), |seen| tables.seen(seen))
        }
        TraceRecord::Cycle(record) => record.outcomes.iter().try_for_each(|outcome| tables.outcome(outcome)),
        TraceRecord::NodeDown(record) => tables.node(record.node),
        TraceRecord::NodeLeaving(record) | TraceRecord::NodeUp(record) => tables.node(record.node),
        TraceRecord::Owner(record) => tables.node(record.node),
        TraceRecord::Owners(record) => tables.applications(record.rows.iter().map(|row| row.application)),
        TraceRecord::LinkDown(record) | TraceRecord::LinkUp(record) => tables.nodes([record.one, record.other]),
        TraceRecord::Update(record) => {
            tables.application(record.application)?;
            tables.policy(record.policy)
        }
        TraceRecord::Responses(record) => tables.application(record.application),
        TraceRecord::Latency(record) => tables.application(record.application),
        TraceRecord::Usage(record) => tables.application(record.application),
        TraceRecord::Clients(record) => tables.application(record.application),
        TraceRecord::Wakings(record) => tables.application(record.application),
        TraceRecord::Client(record) => tables.user(record.user),
        TraceRecord::Handovers(record) => tables.applications(record.moves.iter().map(|(application, _)| *application)),
        TraceRecord::Counts(record) => {
            tables.applications(record.outcomes.iter().map(|counts| counts.application))?;
            tables.applications(record.placed.iter().map(|placed| placed.application))
        }
        TraceRecord::Gone(record) => tables.applications(record.placed.iter().map(|placed| placed.application)),
        TraceRecord::Calls(record) => within(record.call, header.calls.len(), "call", "calls"),
        TraceRecord::Live(record) => {
            tables.node(record.node)?;
            tables.live(&record.event)
        }
        TraceRecord::Woken(_) | TraceRecord::Regret(_) | TraceRecord::Traffic(_) | TraceRecord::End(_) => Ok(()),
    }
}
