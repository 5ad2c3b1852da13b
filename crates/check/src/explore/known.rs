//! What an agent of a small world knows when it evaluates its policy.

use mario_colony::rules::{History, Situation};
use mario_domain::{AgentOperation, Capacity, Fact, FlavourIndex, SELF, Target, Wakefulness};
use mario_policy::{Constant, KnowledgeBase};

use super::names::LastHop;
use super::world::{Gpus, Limits, Spread, World};

/// Client requests of one latency that reach an instance through one last hop, in one evaluation period.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ReceivedRequests {
    pub(super) hop: LastHop,
    pub(super) rate: u32,
    pub(super) latency: u32,
}

/// Everything that an agent's decision depends on and that differs between worlds or evaluations: the key of the cache
/// of decisions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Known {
    pub(super) instance: usize,
    pub(super) node: usize,
    pub(super) neighbours: Vec<usize>,
    /// The number of nodes of the world, which the agent does not see: the same knowledge in worlds of different size
    /// counts as different situations.
    pub(super) nodes: usize,
    /// The free hardware of its node.
    pub(super) free: Capacity,
    pub(super) limits: Limits,
    pub(super) gpus: Gpus,
    pub(super) spread: Spread,
    pub(super) flavour: FlavourIndex,
    pub(super) wakefulness: Wakefulness,
    pub(super) received: Vec<ReceivedRequests>,
    /// The inhibited operations that it remembers, in the order in which it sees them.
    pub(super) inhibited: Vec<(AgentOperation, Target)>,
    /// Its history without operations: the requests of earlier evaluations.
    pub(super) earlier: History<ReceivedRequests, Target>,
    /// Its accepted operations, the latest first: how many evaluations ago, operation and target.
    pub(super) done: Vec<(u32, AgentOperation, Target)>,
    pub(super) age: Option<u32>,
    /// The number of evaluations left before its eviction; `None` if none was announced.
    pub(super) leave: Option<u32>,
}

/// An agent in its world, from which the rules build its knowledge base. What it reads of the world is the same in all
/// worlds whose agents have equal [`Known`]s.
pub(super) struct Around<'a> {
    pub(super) known: &'a Known,
    pub(super) world: &'a World<'a>,
    /// Has no facts; interns names as constants.
    pub(super) names: &'a KnowledgeBase,
    /// Whether the policy reads hardware by kind.
    pub(super) reads_kinds: bool,
    /// Extra facts about the application, about the node and about its neighbours.
    pub(super) facts: Vec<Fact>,
}

impl Around<'_> {
    fn node_constant(&self, node: usize) -> Constant {
        self.names.id(self.world.names.node(node).id())
    }

    fn target_constant(&self, target: &Target) -> Constant {
        self.names.id(&target.id())
    }

    fn seen(&self, received: &ReceivedRequests) -> (Constant, f64, f64) {
        let hop = match received.hop {
            LastHop::Own => self.names.constant(SELF),
            LastHop::Node(node) => self.node_constant(node),
        };
        (hop, f64::from(received.rate), f64::from(received.latency))
    }
}

impl Situation for Around<'_> {
    fn instance(&self) -> Constant {
        self.names.constant(&format!("i{}", self.known.instance))
    }

    fn application(&self) -> Constant {
        self.names.id(self.world.application.id.id())
    }

    fn node(&self) -> Constant {
        self.node_constant(self.known.node)
    }

    fn free(&self) -> Capacity {
        self.known.free
    }

    fn capacity(&self) -> Option<Capacity> {
        self.reads_kinds.then(|| self.world.capacity())
    }

    fn neighbours(&self) -> impl Iterator<Item = Constant> {
        self.known.neighbours.iter().map(|neighbour| self.node_constant(*neighbour))
    }

    fn requests(&self) -> impl Iterator<Item = (Constant, f64, f64)> {
        self.known.received.iter().map(|received| self.seen(received))
    }

    fn inhibited(&self) -> impl Iterator<Item = (Constant, Constant)> {
        let inhibited = self.known.inhibited.iter();
        inhibited.map(|(operation, target)| (self.names.constant(operation.as_str()), self.target_constant(target)))
    }

    fn earlier(&self) -> impl Iterator<Item = (u32, Constant, f64, f64)> {
        self.known.earlier.earlier().map(|(ago, received)| {
            let (hop, rate, latency) = self.seen(received);
            (ago, hop, rate, latency)
        })
    }

    fn done(&self) -> impl Iterator<Item = (u32, Constant, Constant)> {
        let done = self.known.done.iter();
        done.map(|(ago, operation, target)| {
            (*ago, self.names.constant(operation.as_str()), self.target_constant(target))
        })
    }

    fn age(&self) -> Option<u32> {
        self.known.age
    }

    fn running(&self) -> Option<Constant> {
        let flavour = self.world.application.flavour(self.known.flavour)?;
        Some(self.names.id(flavour.id.id()))
    }

    fn wakefulness(&self) -> Wakefulness {
        self.known.wakefulness
    }

    fn leave(&self) -> Option<u32> {
        self.known.leave
    }

    fn random(&self) -> Option<u32> {
        self.world.drawn
    }

    fn facts(&self) -> Option<impl Iterator<Item = &Fact>> {
        Some(self.facts.iter())
    }
}
