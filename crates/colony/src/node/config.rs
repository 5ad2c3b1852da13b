//! The configuration of a node.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use mario_domain::{Capacity, Duration, Fact, NodeId};
use mario_policy::Acceptance;
use mario_prolog::Budget;

use crate::descriptor::Descriptor;

/// The configuration of a node. It does not change while the node runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its id.
    pub node: NodeId,
    /// Its hardware.
    pub capacity: Capacity,
    /// Facts about it, which its own agents, its neighbours' agents and its acceptance policy see.
    pub facts: Vec<Fact>,
    /// Its own acceptance policy; without one, its manager applies only the built-in rules, such as free hardware.
    pub acceptance: Option<Arc<Acceptance>>,
    /// Applications that its agents know even if no instance of them is on the node. Empty on a live node.
    pub catalogue: Vec<Arc<Descriptor>>,
    /// The budget of one evaluation of a policy: inferences, memory and output.
    pub budget: Budget,
    /// Periods and timeouts.
    pub timing: Timing,
    /// The limits of its state.
    pub limits: NodeLimits,
    /// What it serves after a restart until a neighbour has confirmed its journal.
    pub unconfirmed: Unconfirmed,
}

/// What a node serves after a restart until a neighbour has confirmed its journal: its disk may have been restored from
/// a backup, and its instances may live elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unconfirmed {
    /// All instances but those of exclusive applications. It accepts no new instance.
    #[default]
    AllButExclusive,
    /// All instances, and it accepts new ones.
    All,
    /// It needs no confirmation, because it has no neighbours.
    NotAsked,
}

/// Periods and timeouts. Safety depends on none of these.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timing {
    /// The time between two evaluations of an agent; `None` if the shell triggers evaluations.
    pub evaluation_period: Option<Duration>,
    /// How many evaluations an agent has left when the owner of the node announces the eviction of its instance.
    pub notice: u32,
    /// How long the source prepares a transfer: until the target is ready and, if the instance of an exclusive
    /// application migrates, the copy on the source has stopped.
    pub prepare_timeout: Duration,
    /// How long the target keeps a reservation.
    pub reservation_timeout: Duration,
    /// After how long an unanswered message is first resent; the delay doubles each time.
    pub resend_after: Duration,
    /// The maximum backoff between resends.
    pub resend_after_max: Duration,
    /// How long a copy that has ended or not started twice in a row waits for its restart, which follows at once the
    /// first time; the delay doubles each time.
    pub restart_after: Duration,
    /// The maximum delay of a restart.
    pub restart_after_max: Duration,
    /// How long a copy must be healthy before its next failure counts as the first again.
    pub restart_reset_after: Duration,
}

/// The limits of a node's state, so that no neighbour can exhaust its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeLimits {
    /// The maximum number of reservations for instances that have not arrived yet.
    pub incoming_max: usize,
    /// The maximum number of transfers that were taken and whose sources have not sent
    /// [`Message::Forget`](crate::Message::Forget), without sources that were declared lost. While it is reached, no
    /// further instance is accepted from a neighbour.
    pub taken_max: usize,
    /// The maximum size of an arriving agent's snapshot, in bytes.
    pub snapshot_bytes_max: u64,
}

impl Default for Timing {
    /// Defaults for live use. Times are in milliseconds.
    fn default() -> Timing {
        Timing {
            evaluation_period: Some(Duration::of(5_000.0)),
            notice: 3,
            prepare_timeout: Duration::of(30_000.0),
            reservation_timeout: Duration::of(60_000.0),
            resend_after: Duration::of(200.0),
            resend_after_max: Duration::of(30_000.0),
            restart_after: Duration::of(500.0),
            restart_after_max: Duration::of(10_000.0),
            restart_reset_after: Duration::of(60_000.0),
        }
    }
}

impl Default for NodeLimits {
    fn default() -> NodeLimits {
        NodeLimits { incoming_max: 64, taken_max: 4_096, snapshot_bytes_max: 64 << 10 }
    }
}

/// A configuration that all states of a node share, so it always compares equal.
#[derive(Clone, Debug)]
pub(super) struct ConfigRef(pub(super) Arc<Config>);

impl Deref for ConfigRef {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.0
    }
}

impl PartialEq for ConfigRef {
    fn eq(&self, _: &ConfigRef) -> bool {
        true
    }
}

impl Eq for ConfigRef {}

impl Hash for ConfigRef {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
