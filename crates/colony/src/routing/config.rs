//! The configuration of a router.

use mario_domain::{Duration, NodeId};

/// The configuration of a router.
#[derive(Clone, PartialEq, Debug)]
pub struct RouterConfig {
    /// The node that it is on.
    pub node: NodeId,
    /// Periods and timeouts.
    pub timing: RouterTiming,
    /// The limits of its state and of its announcements.
    pub limits: RouterLimits,
}

/// Periods and timeouts. Loop freedom depends on none of these.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RouterTiming {
    /// How often a node announces changes that are not urgent.
    pub tick: Duration,
    /// All differences, including small ones, are announced at every Nth tick, where N is this number.
    pub exact_every: u64,
    /// How long a node that has lost its route keeps its announcements, while it searches for another one, before it
    /// withdraws them; [`RouterTiming::moved_for`] instead if an instance moved to a neighbour. Also how long a
    /// neighbour is not asked again for the same or an older sequence, except in a search.
    pub hold_for: Duration,
    /// How long a node waits before it asks for a newer sequence, if its next hop has just withdrawn its route: its
    /// other neighbours may be about to do the same. Also the first backoff between such requests.
    pub ask_after: Duration,
    /// The maximum backoff between two requests for a newer sequence; the delay doubles each time.
    pub ask_after_max: Duration,
    /// How long requests are forwarded to the neighbour that took an instance, unless a route is known earlier.
    pub moved_for: Duration,
    /// How long a node remembers an application without routes and instances, with its best label.
    pub forget_after: Duration,
}

/// The limits of a router's state, so that no neighbour can exhaust its memory, and of its announcements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouterLimits {
    /// The maximum number of known applications. Applications on the node itself are added even if it is reached.
    pub applications_max: usize,
    /// The maximum number of routes of one neighbour that are stored, one for each application.
    pub routes_per_neighbour_max: usize,
    /// The maximum number of routes in one message.
    pub routes_per_update_max: usize,
    /// The maximum number of applications whose names are known. The names of applications on the node itself are added
    /// even if it is reached.
    pub names_max: usize,
    /// The maximum number of applications whose names are announced in one message.
    pub names_per_update_max: usize,
    /// A metric is announced at a tick if it changed by at least 1/N of its announced value, where N is this number. If
    /// it may not be announced with the current sequence, the next hop is asked for a newer one.
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
    /// The default configuration of the router of a node.
    pub fn new(node: NodeId) -> RouterConfig {
        RouterConfig { node, timing: RouterTiming::default(), limits: RouterLimits::default() }
    }

    /// The delay until the first tick. It depends on the node's id, so that nodes do not all tick at once.
    pub(super) fn first_tick(&self) -> Duration {
        let name = self.node.to_string();
        // FNV-1a, which is the same on every platform.
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        self.timing.tick * (f64::from(hash % 1_000 + 1) / 1_000.0)
    }
}
