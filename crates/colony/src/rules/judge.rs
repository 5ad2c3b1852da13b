//! Acceptance: the verdict of one manager on one request.

use mario_domain::{Hardware, NodeId, Request, Rule, Verdict};
use mario_policy::{Acceptance, AcceptanceFailure, ManagerView};
use mario_prolog::Machine;

use crate::manager::Manager;

/// How a request concerns the node whose manager judges it.
///
/// The manager of the agent's own node judges first, then the manager of the target. A replica on the same node, an
/// adapt, a sleep, a wake, an undeploy and an operator's deploy concern only one manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Concern<'a> {
    /// The proposed target if it is out of reach: neither a neighbour nor, for a replication, this node. Otherwise
    /// `None`.
    pub out_of_reach: Option<&'a NodeId>,
    /// Whether the instance would leave this node, or end, although an operator pinned it.
    pub is_pinned: bool,
    /// The hardware of the instance, if it would come to this node; the additional hardware, if it would hold more
    /// here; otherwise `None`.
    pub arrives: Option<Hardware>,
}

/// Why a request is inhibited, and the failure if the acceptance policy did not answer.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The rule that inhibits the request.
    pub rule: Rule,
    /// The failure of the acceptance policy; `None` if it did not fail.
    pub failure: Option<Box<AcceptanceFailure>>,
}

/// Judges a request. The error is the first rule that inhibits it: reach, then pin, then, if the request needs hardware
/// here, availability and free hardware, where reserved hardware counts as used. `consent` evaluates the node's own
/// acceptance policy; it is called only if none of these rules inhibits the request.
pub fn judge<K, E: From<Rule>>(
    manager: &Manager<K>,
    concern: Concern<'_>,
    consent: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    if let Some(target) = concern.out_of_reach {
        return Err(Rule::Neighbourhood { target: target.clone() }.into());
    }
    if concern.is_pinned {
        return Err(Rule::Pinned.into());
    }
    if let Some(needed) = concern.arrives {
        manager.has_room(needed)?;
    }
    consent()
}

/// Evaluates the acceptance policy of a node. Fails closed: if the policy has no valid answer, or the view could not be
/// built, the request is inhibited.
pub fn consent(
    acceptance: &Acceptance,
    machine: &mut Machine,
    view: Result<ManagerView, AcceptanceFailure>,
    request: &Request,
    needed: Hardware,
) -> Result<(), Refusal> {
    let answer = view.and_then(|view| acceptance.ask(machine, &view, request, needed));
    match answer {
        Ok(Verdict::Accepted) => Ok(()),
        Ok(Verdict::Inhibited(inhibition)) => Err(inhibition.rule.into()),
        Err(failure) => {
            let rule = Rule::AcceptanceFailed { cause: failure.cause.clone() };
            Err(Refusal { rule, failure: Some(Box::new(failure)) })
        }
    }
}

impl From<Rule> for Refusal {
    fn from(rule: Rule) -> Refusal {
        Refusal { rule, failure: None }
    }
}
