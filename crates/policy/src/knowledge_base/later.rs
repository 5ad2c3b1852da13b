//! Facts beyond those of the paper: the past, hardware by kind, flavours, evictions, and sleep.

use mario_domain::{Capacity, FactPredicate, Flavour, Hardware, HardwareKind};
use mario_prolog::Value;

use super::{Constant, KnowledgeBase, quantity};

impl KnowledgeBase {
    /// Adds `earlier(Ago, Instance, Neighbour, Rate, Latency)`: client requests seen `Ago` evaluations ago.
    pub fn push_earlier(&mut self, ago: u32, instance: Constant, [neighbour, rate, latency]: [Constant; 3]) {
        self.push(FactPredicate::Earlier, &[Value::Integer(i64::from(ago)), instance, neighbour, rate, latency]);
    }

    /// Adds `done(Ago, Instance, Operation, Target)`: an operation of the agent that was accepted `Ago` evaluations
    /// ago.
    pub fn push_done(&mut self, ago: u32, instance: Constant, operation: Constant, target: Constant) {
        self.push(FactPredicate::Done, &[Value::Integer(i64::from(ago)), instance, operation, target]);
    }

    /// Adds `age(Instance, Evaluations)`: the number of evaluations that the agent has made on its node.
    pub fn push_age(&mut self, instance: Constant, evaluations: u32) {
        self.push(FactPredicate::Age, &[instance, Value::Integer(i64::from(evaluations))]);
    }

    /// Adds `free(Node, Kind, Amount)` for units and for each other kind in `free` or in `capacity`, the node's total
    /// hardware.
    pub fn push_free(&mut self, node: Constant, free: Capacity, capacity: Capacity) {
        for kind in HardwareKind::ALL {
            let is_named = |capacity: Capacity| match capacity {
                Capacity::Bounded(hardware) => kind == HardwareKind::Units || hardware.of(kind) > 0,
                Capacity::Unbounded => true,
            };
            if is_named(capacity) || is_named(free) {
                let amount = self.amount(free, kind);
                let kind = self.constant(kind.as_str());
                self.push(FactPredicate::Free, &[node, kind, amount]);
            }
        }
    }

    /// The constant for the amount of one kind: an integer, or `inf` if it is unbounded or exceeds `i64`.
    pub(crate) fn amount(&self, capacity: Capacity, kind: HardwareKind) -> Constant {
        match capacity {
            Capacity::Bounded(hardware) => self.capacity(Capacity::units(hardware.of(kind))),
            Capacity::Unbounded => self.capacity(Capacity::Unbounded),
        }
    }

    /// Adds `needs(Application, Kind, Amount)` for units and for each other kind that an application needs.
    pub(super) fn push_needs(&mut self, application: Constant, hardware: Hardware) {
        for (kind, _) in hardware.amounts() {
            let amount = self.amount(Capacity::Bounded(hardware), kind);
            let kind = self.constant(kind.as_str());
            self.push(FactPredicate::Needs, &[application, kind, amount]);
        }
    }

    /// Adds `flavour(Application, Flavour, Hardware, MaxRate, MaxLatency, Quality)` for each flavour of an application.
    pub(super) fn push_flavours(&mut self, application: Constant, flavours: &[Flavour]) {
        for flavour in flavours {
            let hardware = self.capacity(Capacity::Bounded(flavour.hardware));
            let [max_rate, max_latency, quality] =
                [flavour.max_rate, flavour.max_latency, flavour.quality].map(quantity);
            let id = self.id(flavour.id.id());
            self.push(FactPredicate::Flavour, &[application, id, hardware, max_rate, max_latency, quality]);
        }
    }

    /// Adds `running(Instance, Flavour)`.
    pub fn push_running(&mut self, instance: Constant, flavour: Constant) {
        self.push(FactPredicate::Running, &[instance, flavour]);
    }

    /// Adds `leave(Instance, Evaluations)`: how many evaluations the agent has left before its instance is evicted,
    /// including the one in progress.
    pub fn push_leave(&mut self, instance: Constant, evaluations: u32) {
        self.push(FactPredicate::Leave, &[instance, Value::Integer(i64::from(evaluations))]);
    }

    /// Adds `asleep(Instance)`: the fact that an instance sleeps.
    pub fn push_asleep(&mut self, instance: Constant) {
        self.push(FactPredicate::Asleep, &[instance]);
    }
}
