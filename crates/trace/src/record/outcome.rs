//! Outcomes of judging, and acts of owners.

use mario_domain::{FlavourId, Inhibition, InstanceId};

use super::decision::{Proposal, Target};

/// The outcome of one agent, or of one operator's deployment, in a cycle. In a joined trace, an operator's command to
/// migrate or undeploy an instance is recorded like a proposal of its agent.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome<N = u32, T = Target<N>> {
    /// The agent proposed nothing.
    Nop(InstanceId),
    /// The proposal of the agent was judged.
    Judged {
        /// The instance of the agent.
        instance: InstanceId,
        /// The proposal.
        proposal: Proposal<T>,
        /// The verdict of the managers.
        verdict: Verdict,
    },
    /// The deployment of an operator was judged.
    Deploy {
        /// The node.
        node: N,
        /// The application.
        application: u32,
        /// The policy of the new agent; `None` if the deployment was inhibited.
        policy: Option<u32>,
        /// The verdict of the manager.
        verdict: Verdict,
    },
}

/// The verdict of managers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Accepted, with the id of the created instance, if any.
    Accepted(Option<InstanceId>),
    /// Inhibited, for this reason.
    Inhibited(Inhibition),
}

/// The action of an owner on an instance. `F` identifies flavours: by id in a trace. A part has indices, because a node
/// reports them so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerAct<F = FlavourId> {
    /// The instance.
    pub instance: InstanceId,
    /// The action.
    pub kind: OwnerActKind<F>,
    /// The reason, as stated by the owner's policy.
    pub reason: String,
}

/// The kind of an owner's action on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerActKind<F = FlavourId> {
    /// The instance was evicted.
    Evicted,
    /// The instance now runs in this flavour, which needs no more hardware than the previous one.
    Shrunk(F),
    /// The instance will be evicted after this many further evaluations of its agent.
    Announced(u64),
}

impl Verdict {
    /// The verdict on an operation, with the instance that it created.
    pub fn new(verdict: mario_domain::Verdict, created: Option<InstanceId>) -> Verdict {
        match verdict {
            mario_domain::Verdict::Accepted => Verdict::Accepted(created),
            mario_domain::Verdict::Inhibited(inhibition) => Verdict::Inhibited(inhibition),
        }
    }

    /// Why the operation was inhibited; `None` if it was accepted.
    pub fn inhibition(&self) -> Option<&Inhibition> {
        match self {
            Verdict::Accepted(_) => None,
            Verdict::Inhibited(inhibition) => Some(inhibition),
        }
    }
}

impl<F> OwnerActKind<F> {
    /// The name of the action in traces.
    pub const fn as_str(&self) -> &'static str {
        match self {
            OwnerActKind::Evicted => "evicted",
            OwnerActKind::Shrunk(_) => "shrunk",
            OwnerActKind::Announced(_) => "leave",
        }
    }
}
