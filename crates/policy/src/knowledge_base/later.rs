//! Facts beyond those of the paper: the past, hardware by kind, flavours, evictions, and sleep.

use mario_domain::{Capacity, Flavour, Hardware, HardwareKind};
use mario_prolog::{Table, Value};

use super::{Constant, KnowledgeBase, quantity, rows};

/// The past. Agents have `earlier/5` and `done/4` only if their policy declares them with `remembers/2`, and `age/2`
/// only if the policy may read it.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) earlier: Table,
    pub(super) done: Table,
    pub(super) age: Table,
}

/// Hardware by kind.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    pub(super) needs: Table,
    pub(super) free: Table,
}

/// The flavours of applications, and the flavours in which instances run.
#[derive(Clone, Debug)]
pub(super) struct Flavours {
    pub(super) known: Table,
    pub(super) running: Table,
}

impl History {
    pub(super) fn new() -> History {
        History { earlier: Table::new(5), done: Table::new(4), age: Table::new(2) }
    }

    pub(super) fn clear(&mut self) {
        self.earlier.clear();
        self.done.clear();
        self.age.clear();
    }
}

impl Kinds {
    pub(super) fn new() -> Kinds {
        Kinds { needs: Table::new(3), free: Table::new(3) }
    }
}

impl Flavours {
    pub(super) fn new() -> Flavours {
        Flavours { known: Table::new(6), running: Table::new(2) }
    }
}

impl KnowledgeBase {
    /// Adds `earlier(Ago, Instance, Neighbour, Rate, Latency)`: client requests seen `Ago` evaluations ago.
    pub fn push_earlier(&mut self, ago: u32, instance: Constant, [neighbour, rate, latency]: [Constant; 3]) {
        self.history.earlier.push(&[Value::Integer(i64::from(ago)), instance, neighbour, rate, latency]);
    }

    /// Adds `done(Ago, Instance, Operation, Target)`: an operation of the agent that was accepted `Ago` evaluations
    /// ago.
    pub fn push_done(&mut self, ago: u32, instance: Constant, operation: Constant, target: Constant) {
        self.history.done.push(&[Value::Integer(i64::from(ago)), instance, operation, target]);
    }

    /// Adds `age(Instance, Evaluations)`: the number of evaluations that the agent has made on its node.
    pub fn push_age(&mut self, instance: Constant, evaluations: u32) {
        self.history.age.push(&[instance, Value::Integer(i64::from(evaluations))]);
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
                self.kinds.free.push(&[node, kind, amount]);
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

    /// Adds a row to the table of `predicate`. Only the predicates of this module are accepted; rows of others are
    /// ignored.
    pub(crate) fn push_row(&mut self, predicate: &str, row: &[Constant]) {
        if let Some(table) = self.later_table(predicate) {
            table.push(row);
        }
    }

    pub(super) fn later_table(&mut self, predicate: &str) -> Option<&mut Table> {
        Some(match predicate {
            "earlier" => &mut self.history.earlier,
            "done" => &mut self.history.done,
            "age" => &mut self.history.age,
            "needs" => &mut self.kinds.needs,
            "free" => &mut self.kinds.free,
            "flavour" => &mut self.flavours.known,
            "running" => &mut self.flavours.running,
            "leave" => &mut self.leaving,
            "asleep" => &mut self.asleep,
            _ => return None,
        })
    }

    /// Adds `needs(Application, Kind, Amount)` for units and for each other kind that an application needs.
    pub(super) fn push_needs(&mut self, application: Constant, hardware: Hardware) {
        for (kind, _) in hardware.amounts() {
            let amount = self.amount(Capacity::Bounded(hardware), kind);
            let kind = self.constant(kind.as_str());
            self.kinds.needs.push(&[application, kind, amount]);
        }
    }

    /// Adds `flavour(Application, Flavour, Hardware, MaxRate, MaxLatency, Quality)` for each flavour of an application.
    pub(super) fn push_flavours(&mut self, application: Constant, flavours: &[Flavour]) {
        for flavour in flavours {
            let hardware = self.capacity(Capacity::Bounded(flavour.hardware));
            let [max_rate, max_latency, quality] =
                [flavour.max_rate, flavour.max_latency, flavour.quality].map(quantity);
            let id = self.id(flavour.id.id());
            self.flavours.known.push(&[application, id, hardware, max_rate, max_latency, quality]);
        }
    }

    /// Adds `running(Instance, Flavour)`.
    pub fn push_running(&mut self, instance: Constant, flavour: Constant) {
        self.flavours.running.push(&[instance, flavour]);
    }

    /// Adds `leave(Instance, Evaluations)`: how many evaluations the agent has left before its instance is evicted,
    /// including the one in progress.
    pub fn push_leave(&mut self, instance: Constant, evaluations: u32) {
        self.leaving.push(&[instance, Value::Integer(i64::from(evaluations))]);
    }

    /// Adds `asleep(Instance)`: the fact that an instance sleeps.
    pub fn push_asleep(&mut self, instance: Constant) {
        self.asleep.push(&[instance]);
    }

    /// The `asleep/1` facts.
    pub fn asleep(&self) -> impl ExactSizeIterator<Item = [Constant; 1]> {
        rows(&self.asleep)
    }

    /// The `leave/2` facts.
    pub fn leaving(&self) -> impl ExactSizeIterator<Item = [Constant; 2]> {
        rows(&self.leaving)
    }

    /// The `flavour/6` facts.
    pub fn flavours(&self) -> impl ExactSizeIterator<Item = [Constant; 6]> {
        rows(&self.flavours.known)
    }

    /// The `running/2` facts.
    pub fn running(&self) -> impl ExactSizeIterator<Item = [Constant; 2]> {
        rows(&self.flavours.running)
    }

    /// The `earlier/5` facts.
    pub fn earlier(&self) -> impl ExactSizeIterator<Item = [Constant; 5]> {
        rows(&self.history.earlier)
    }

    /// The `done/4` facts.
    pub fn done(&self) -> impl ExactSizeIterator<Item = [Constant; 4]> {
        rows(&self.history.done)
    }

    /// The `needs/3` facts.
    pub fn needs(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        rows(&self.kinds.needs)
    }

    /// The `free/3` facts.
    pub fn free(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        rows(&self.kinds.free)
    }

    /// The `age/2` facts.
    pub fn ages(&self) -> impl ExactSizeIterator<Item = [Constant; 2]> {
        rows(&self.history.age)
    }
}
