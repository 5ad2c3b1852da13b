//! What a record changes.

use mario_domain::Inhibition;

use crate::reader::{Cause, Proposal};
use crate::reference::InstanceRef;

/// One change that a record brings, or the verdict on a request. A cycle brings several, in the order of judging. Nodes, applications, flavours and policies are indices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change<'r> {
    /// An instance appeared.
    Appeared {
        /// The instance.
        instance: InstanceRef,
        /// How it came to be.
        origin: Origin,
    },
    /// An instance migrated.
    Moved {
        /// The instance. If it got another id, it no longer exists.
        instance: InstanceRef,
        /// Its node before.
        from: u32,
        /// Its node now.
        to: u32,
        /// The instance that it became, if it got another id.
        became: Option<InstanceRef>,
    },
    /// An instance no longer exists.
    Left {
        /// The instance.
        instance: InstanceRef,
        /// The node on which it was.
        node: u32,
        /// Why it ended.
        end: InstanceEnd<'r>,
    },
    /// An instance runs in another flavour.
    Adapted {
        /// The instance.
        instance: InstanceRef,
        /// Its flavour before.
        from: u32,
        /// Who changed it.
        by: Actor<'r>,
    },
    /// An instance fell asleep.
    Slept {
        /// The instance.
        instance: InstanceRef,
        /// Who put it to sleep.
        by: Actor<'r>,
    },
    /// An instance woke.
    Woke {
        /// The instance.
        instance: InstanceRef,
        /// Who woke it.
        by: Actor<'r>,
    },
    /// An instance became an anchor, or is no longer one.
    Anchored {
        /// The instance.
        instance: InstanceRef,
        /// Whether it is an anchor.
        is_anchor: bool,
    },
    /// The owner of a node announced that an instance will be evicted.
    EvictionAnnounced {
        /// The instance.
        instance: InstanceRef,
        /// The number of evaluations that its agent has left.
        evaluations: u64,
        /// The reason that the owner's policy states.
        reason: &'r str,
    },
    /// An operator updated an instance to another description of its application.
    Updated {
        /// The instance.
        instance: InstanceRef,
        /// The description before.
        from: u32,
    },
    /// The agents of an application switched to another policy, with an empty memory.
    PolicyChanged {
        /// The application.
        application: u32,
        /// The policy.
        policy: u32,
    },
    /// An agent proposed nothing.
    Nop {
        /// Its instance.
        instance: InstanceRef,
    },
    /// The proposal of an agent was accepted. What it changes follows, if its target exists.
    Accepted {
        /// Its instance.
        instance: InstanceRef,
        /// The proposal.
        proposal: &'r Proposal,
    },
    /// The proposal of an agent was inhibited.
    Inhibited {
        /// Its instance.
        instance: InstanceRef,
        /// The proposal.
        proposal: &'r Proposal,
        /// The reason.
        inhibition: &'r Inhibition,
    },
    /// The deploy of an operator was inhibited.
    DeployInhibited {
        /// The application.
        application: u32,
        /// The node.
        node: u32,
        /// The reason.
        inhibition: &'r Inhibition,
    },
    /// A client request reached a sleeping instance, which was not allowed to wake.
    WakeInhibited {
        /// The instance.
        instance: InstanceRef,
        /// The reason.
        inhibition: &'r Inhibition,
    },
    /// A node went down, after its instances were lost.
    NodeDown {
        /// The node.
        node: u32,
        /// The cause.
        cause: Cause,
    },
    /// A node came up.
    NodeUp {
        /// The node.
        node: u32,
    },
    /// A node announced that it will leave.
    NodeLeaving {
        /// The node.
        node: u32,
    },
    /// An operator started or ended draining a live node.
    Draining {
        /// The node.
        node: u32,
        /// Whether it is draining.
        is_draining: bool,
    },
    /// A link went down.
    LinkDown {
        /// Its two ends.
        nodes: [u32; 2],
    },
    /// A link came up.
    LinkUp {
        /// Its two ends.
        nodes: [u32; 2],
    },
}

/// How an instance came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It exists since the start of the run.
    Initial,
    /// An operator deployed it.
    Deployed,
    /// The agent of this instance replicated.
    Replicated(InstanceRef),
}

/// Why an instance ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceEnd<'r> {
    /// Its agent undeployed it.
    Undeployed,
    /// The owner of its node evicted it, for this reason.
    Evicted(&'r str),
    /// It was lost with its node.
    Lost,
}

/// Who changed an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actor<'r> {
    /// Its agent, by an operation that was accepted.
    Agent,
    /// The owner of its node, for this reason.
    Owner(&'r str),
    /// A client request.
    Client,
    /// A live node, whose record does not say who asked.
    LiveNode,
}
