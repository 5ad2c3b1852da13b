//! What a router is set up with.

use mario_domain::{Duration, NodeId};

/// What a router is set up with.
#[derive(Clone, PartialEq, Debug)]
pub struct RouterConfig {
    /// The node that it is on.
    pub node: NodeId,
    /// When things happen by themselves.
    pub timing: RouterTiming,
    /// How much it keeps, and how little it tells.
    pub limits: RouterLimits,
}

/// When things happen by themselves. That no route leads in a circle rests on none of these.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RouterTiming {
    /// How often a node tells its neighbours what has changed and is not urgent.
    pub tick: Duration,
    /// After this number of ticks, all differences are told, also small ones.
    pub exact_every: u64,
    /// How long a node that has lost its route looks for another before it says so.
    pub hold_for: Duration,
    /// How long a node waits before it asks for a newer sequence, if its next hop has just said that it has no route: its other
    /// neighbours may be about to say the same.
    pub ask_after: Duration,
    /// The longest delay between two such requests; the delay doubles each time.
    pub ask_after_max: Duration,
    /// How long requests are sent after an instance that has moved while there is no route to it.
    pub moved_for: Duration,
    /// How long a node remembers the best label that it told of an application that is gone.
    pub forget_after: Duration,
}

/// How much a router keeps, so that no neighbour can fill it up, and how little it tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouterLimits {
    /// Applications that are known at one time. Those on the node itself are always known.
    pub applications_max: usize,
    /// Applications that one neighbour may tell of.
    pub routes_per_neighbour_max: usize,
    /// Routes in one message.
    pub routes_per_update_max: usize,
    /// Applications of which names are known. Those on the node itself are always known.
    pub names_max: usize,
    /// Applications of which names are told in one message.
    pub names_per_update_max: usize,
    /// A metric is told at a tick if it has changed by this part of itself: 4 for a quarter.
    pub drift_part: u32,
}

impl Default for RouterTiming {
    /// Defaults for live use. Times are in milliseconds.
    fn default() -> RouterTiming {
        RouterTiming {
            tick: Duration::of(5_000.0),
            exact_every: 120,
            hold_for: Duration::of(1_000.0),
            ask_after: Duration::of(100.0),
            ask_after_max: Duration::of(10_000.0),
            moved_for: Duration::of(30_000.0),
            forget_after: Duration::of(120_000.0),
        }
    }
}

impl Default for RouterLimits {
    fn default() -> RouterLimits {
        RouterLimits {
            applications_max: 16_384,
            routes_per_neighbour_max: 16_384,
            routes_per_update_max: 512,
            names_max: 4_096,
            names_per_update_max: 32,
            drift_part: 2,
        }
    }
}

impl RouterConfig {
    /// Settings with defaults.
    pub fn new(node: NodeId) -> RouterConfig {
        RouterConfig { node, timing: RouterTiming::default(), limits: RouterLimits::default() }
    }

    /// When the first tick is: different nodes tick at different times.
    pub(super) fn first_tick(&self) -> Duration {
        let name = self.node.to_string();
        // FNV-1a, which is the same everywhere.
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        self.timing.tick * (f64::from(hash % 1_000 + 1) / 1_000.0)
    }
}
