//! Small worlds: a tree of nodes, clients that do not move, and instances of one application.

use std::fmt::Write as _;

use mario_domain::{FlavourId, Id};
use mario_policy::KeyValues;

use super::shape::Shape;

/// The number of requests that a client sends in one cycle.
pub(super) const RATE: i64 = 5;
/// The latency of one link, in milliseconds.
pub(super) const LINK_LATENCY: i64 = 3;
/// The units of hardware that one instance needs in the default flavour.
pub(super) const HARDWARE: i64 = 1;

/// The rate that one instance handles, and the latency that a client request tolerates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Application {
    pub(super) max_rate: i64,
    pub(super) max_latency: i64,
}

/// A load-sensitive application, and a latency-sensitive one.
pub(super) const APPLICATIONS: [Application; 2] =
    [Application { max_rate: RATE, max_latency: 10 }, Application { max_rate: 40, max_latency: 1 }];

/// The units of hardware of each node: room for several instances, or for one.
pub(super) const CAPACITIES: [i64; 2] = [4, 1];

/// The distribution of an extra fact over its subjects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    /// No subject has the fact.
    None,
    /// All subjects have the same value.
    Same,
    /// The nodes have the values in turn; the application and its instances have the first.
    InTurn,
}

/// Whether there is a second kind of hardware: GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Gpus {
    /// There are no GPUs, and no instance needs one.
    NotAsked,
    /// An instance needs one GPU, and each node has one, regardless of its other hardware.
    One,
}

/// The initial state of a world.
#[derive(Clone, Debug)]
pub(super) struct World<'a> {
    pub(super) shape: &'a Shape,
    /// The node of each client.
    pub(super) clients: Vec<usize>,
    /// The node of each instance.
    pub(super) instances: Vec<usize>,
    pub(super) application: Application,
    pub(super) capacity: i64,
    pub(super) memory: u32,
    pub(super) extra: &'a [KeyValues],
    pub(super) spread: Spread,
    pub(super) gpus: Gpus,
    /// The names of the application's flavours, the default first; empty unless the policy uses flavours.
    pub(super) flavours: &'a [FlavourId],
    /// The number of evaluations that the first instance has left before its announced eviction; `None` if no eviction
    /// is announced.
    pub(super) notice: Option<u32>,
    /// Whether instances may sleep. A sleeping instance occupies no hardware.
    pub(super) can_sleep: bool,
    /// Whether the first instance sleeps at the start.
    pub(super) begins_asleep: bool,
}

/// The units of hardware that one instance needs in a flavour. The flavour after the default needs none, and each
/// further one needs more than the one before it.
pub(super) const fn needed_in(flavour: usize) -> i64 {
    match flavour {
        0 => HARDWARE,
        1 => 0,
        larger => larger as i64 * HARDWARE,
    }
}

/// The request rate that an instance handles in a flavour, as a multiple of that of the default flavour.
pub(super) const fn handled_in(flavour: usize) -> i64 {
    if flavour < 2 { 1 } else { flavour as i64 }
}

impl World<'_> {
    /// The number of instances that suffices for all clients, wherever the clients are: one per client, as an instance
    /// handles at least [`RATE`].
    pub(super) fn instances_needed(&self) -> usize {
        let each = (RATE as usize).div_ceil(self.application.max_rate as usize);
        self.clients.len() * each
    }

    /// The part of `units`, the hardware of an empty node, that instances can use. If each instance needs the node's
    /// only GPU, it is the hardware of one instance.
    pub(super) fn room(&self, units: i64) -> i64 {
        match self.gpus {
            Gpus::NotAsked => units,
            Gpus::One => units.min(HARDWARE),
        }
    }

    /// The number of free GPUs on a node with `free` units of free hardware. The GPU counts as used if any unit is.
    pub(super) fn free_gpus(&self, free: i64) -> i64 {
        (1 - (self.capacity - free) / HARDWARE).max(0)
    }

    /// The value of an extra fact for a node, or for the application and its instances if `node` is `None`. Returns
    /// `None` if the fact is missing.
    pub(super) fn extra_value<'e>(&self, fact: &'e KeyValues, node: Option<usize>) -> Option<&'e Id> {
        let index = match (self.spread, node) {
            (Spread::None, _) => return None,
            (Spread::Same, _) | (Spread::InTurn, None) => 0,
            (Spread::InTurn, Some(node)) => node % fact.values.len(),
        };
        fact.values.get(index)
    }

    /// Describes the world for users, in lines.
    pub(super) fn description(&self) -> Vec<String> {
        let mut links = Vec::new();
        for (node, neighbours) in self.shape.neighbours.iter().enumerate() {
            let further = neighbours.iter().filter(|neighbour| **neighbour > node);
            links.extend(further.map(|neighbour| format!("{}-{}", node_name(node), node_name(*neighbour))));
        }
        let mut nodes = format!("nodes: {}, {} of hardware each", links.join(", "), units(self.capacity));
        if links.is_empty() {
            nodes = format!("nodes: n1 alone, {} of hardware", units(self.capacity));
        }
        let Application { max_rate, max_latency } = self.application;
        let mut lines = vec![
            format!("{nodes}; a link takes {LINK_LATENCY}"),
            format!(
                "application: an instance needs {}, handles {max_rate} requests and tolerates a latency of {max_latency}",
                units(HARDWARE)
            ),
            match self.clients.len() {
                0 => "clients: none".to_owned(),
                1 => format!("clients: {}, with {RATE} requests in a cycle", on_nodes("c", &self.clients)),
                _ => format!("clients: {}, each with {RATE} requests in a cycle", on_nodes("c", &self.clients)),
            },
            format!("instances: {}", on_nodes("i", &self.instances)),
        ];
        if self.gpus == Gpus::One {
            lines.push("hardware: an instance needs 1 gpu, and each node has 1".to_owned());
        }
        if !self.flavours.is_empty() {
            let each = |(flavour, name): (usize, &FlavourId)| format!("{name} needs {}", units(needed_in(flavour)));
            let each: Vec<String> = self.flavours.iter().enumerate().map(each).collect();
            lines.push(format!("flavours: {}", each.join(", ")));
        }
        if let Some(evaluations) = self.notice {
            lines.push(format!("i1 has been given notice of its eviction, and has {evaluations} evaluations left"));
        }
        if self.begins_asleep {
            lines.push("i1 sleeps".to_owned());
        }
        if self.memory > 0 {
            lines.push(format!("agents remember the last {}", cycles(self.memory)));
        }
        if self.spread != Spread::None {
            for fact in self.extra {
                lines.push(self.extra_description(fact));
            }
        }
        lines
    }

    fn extra_description(&self, fact: &KeyValues) -> String {
        let shown = |node| self.extra_value(fact, node).map(Id::to_string).unwrap_or_default();
        let mut line = format!("{}: application {}", fact.key, shown(None));
        for node in 0..self.shape.nodes() {
            // Writing to a string does not fail.
            let _ = write!(line, ", {} {}", node_name(node), shown(Some(node)));
        }
        line
    }
}

pub(super) fn node_name(node: usize) -> String {
    format!("n{}", node + 1)
}

fn on_nodes(letter: &str, nodes: &[usize]) -> String {
    let named = nodes.iter().enumerate().map(|(index, node)| format!("{letter}{} on {}", index + 1, node_name(*node)));
    named.collect::<Vec<_>>().join(", ")
}

fn units(amount: i64) -> String {
    if amount == 1 { "1 unit".to_owned() } else { format!("{amount} units") }
}

fn cycles(count: u32) -> String {
    if count == 1 { "cycle".to_owned() } else { format!("{count} cycles") }
}
