//! Small worlds: a tree of nodes, clients that do not move, and instances of one application.

use std::fmt::Write as _;

use mario_domain::{
    Application, ApplicationId, Capacity, Fact, FactValue, Flavour, FlavourId, Hardware, HardwareKind, Id, Quantity,
    RANDOM, Sleep,
};
use mario_policy::KeyValues;

use super::names::Names;
use super::shape::Shape;
use super::variations::Variations;

/// The number of requests that a client sends in one cycle.
pub(super) const RATE: u32 = 5;
/// The latency of one link, in milliseconds.
pub(super) const LINK_LATENCY: u32 = 3;
/// The units of hardware that one instance needs in the default flavour.
const HARDWARE: u32 = 1;

/// The rate that one instance handles, and the latency that a client request tolerates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Limits {
    pub(super) max_rate: u32,
    pub(super) max_latency: u32,
}

/// The limits of a load-sensitive application, and of a latency-sensitive one.
pub(super) const LIMITS: [Limits; 2] =
    [Limits { max_rate: RATE, max_latency: 10 }, Limits { max_rate: 40, max_latency: 1 }];

/// The units of hardware of each node: room for several instances, or for one.
pub(super) const CAPACITIES: [u32; 2] = [4, 1];

/// The distribution of an extra fact over its subjects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Spread {
    /// No subject has the fact.
    None,
    /// All subjects have the same value.
    Same,
    /// The nodes have the values in turn; the application has the first.
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
    pub(super) names: &'a Names,
    pub(super) shape: &'a Shape,
    /// The node of each client.
    pub(super) clients: Vec<usize>,
    /// The node of each instance.
    pub(super) instances: Vec<usize>,
    pub(super) limits: Limits,
    pub(super) gpus: Gpus,
    /// The application with these limits, which needs GPUs or not.
    pub(super) application: Application,
    /// The units of hardware of each node.
    pub(super) units: u32,
    /// How many evaluations agents remember inhibitions.
    pub(super) memory: u32,
    pub(super) extra: &'a [KeyValues],
    pub(super) spread: Spread,
    /// The random number that every agent gets for each evaluation; `None` unless the policy reads it.
    pub(super) drawn: Option<u32>,
    /// The number of evaluations that the first instance has left before its announced eviction; `None` if no eviction
    /// is announced.
    pub(super) notice: Option<u32>,
    /// Whether the first instance sleeps at the start.
    pub(super) begins_asleep: bool,
}

/// The units of hardware that one instance needs in a flavour. The flavour after the default needs none, and each
/// further one needs more than the one before it.
const fn needed_in(flavour: usize) -> u32 {
    match flavour {
        0 => HARDWARE,
        1 => 0,
        larger => larger as u32 * HARDWARE,
    }
}

/// The request rate that an instance handles in a flavour, as a multiple of that of the default flavour.
const fn handled_in(flavour: usize) -> u32 {
    if flavour < 2 { 1 } else { flavour as u32 }
}

/// Units and, if asked for, a GPU.
fn hardware(units: u32, gpus: Gpus) -> Hardware {
    let hardware = Hardware::units(u64::from(units));
    match gpus {
        Gpus::NotAsked => hardware,
        Gpus::One => hardware.with(HardwareKind::Gpu, 1).expect("one is not too many"),
    }
}

/// The application of the worlds with these limits. A sleeping instance keeps no hardware.
pub(super) fn application(variations: &Variations, limits: Limits, gpus: Gpus) -> Application {
    let max_latency = Quantity::whole(limits.max_latency);
    let flavour = |(index, id): (usize, &FlavourId)| Flavour {
        id: id.clone(),
        hardware: hardware(needed_in(index), gpus),
        max_rate: Quantity::whole(handled_in(index) * limits.max_rate),
        max_latency,
        quality: Quantity::whole(needed_in(index) + 1),
    };
    Application {
        id: ApplicationId::name("app").expect("it is not empty"),
        owner: None,
        hardware: hardware(HARDWARE, gpus),
        max_rate: Quantity::whole(limits.max_rate),
        max_latency,
        flavours: variations.flavours.iter().enumerate().map(flavour).collect(),
        sleep: variations.can_sleep.then(Sleep::default),
    }
}

impl World<'_> {
    /// The number of instances that suffices for all clients, wherever the clients are: one per client, as an instance
    /// handles at least [`RATE`].
    pub(super) fn instances_needed(&self) -> usize {
        self.clients.len() * RATE.div_ceil(self.limits.max_rate) as usize
    }

    /// The hardware of each node.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity::Bounded(hardware(self.units, self.gpus))
    }

    /// Whether the hardware suffices for the instances at the start, all awake.
    pub(super) fn has_room(&self) -> bool {
        let fits = |node: usize| {
            let mut instances = self.instances.iter().filter(|other| **other == node);
            instances.try_fold(self.capacity(), |free, _| free.take(self.application.hardware)).is_some()
        };
        (0..self.shape.nodes()).all(fits)
    }

    /// The value of an extra fact for a node, or for the application if `node` is `None`. Returns `None` if the fact is
    /// missing.
    fn extra_value<'e>(&self, fact: &'e KeyValues, node: Option<usize>) -> Option<&'e Id> {
        let index = match (self.spread, node) {
            (Spread::None, _) => return None,
            (Spread::Same, _) | (Spread::InTurn, None) => 0,
            (Spread::InTurn, Some(node)) => node % fact.values.len(),
        };
        fact.values.get(index)
    }

    /// The extra facts about the application, about a node and about its neighbours.
    pub(super) fn facts_near(&self, node: usize) -> Vec<Fact> {
        let near = std::iter::once(&node).chain(&self.shape.neighbours[node]).map(|node| Some(*node));
        std::iter::once(None).chain(near).flat_map(|node| self.facts_about(node)).collect()
    }

    /// The extra facts about a node, or about the application if `node` is `None`.
    pub(super) fn facts_about(&self, node: Option<usize>) -> Vec<Fact> {
        let subject = node.map_or(self.application.id.id(), |node| self.names.node(node).id());
        let facts =
            self.extra.iter().filter_map(|fact| Some((fact.key.clone(), self.extra_value(fact, node)?.clone())));
        facts.map(|(key, value)| Fact { subject: subject.clone(), key, value: FactValue::Id(value) }).collect()
    }

    /// Describes the world for users, in lines.
    pub(super) fn description(&self) -> Vec<String> {
        let mut links = Vec::new();
        for (node, neighbours) in self.shape.neighbours.iter().enumerate() {
            let further = neighbours.iter().filter(|neighbour| **neighbour > node);
            links.extend(further.map(|neighbour| format!("{}-{}", self.names.node(node), self.names.node(*neighbour))));
        }
        let mut nodes = format!("nodes: {}, {} of hardware each", links.join(", "), units(self.units));
        if links.is_empty() {
            nodes = format!("nodes: n1 alone, {} of hardware", units(self.units));
        }
        let Limits { max_rate, max_latency } = self.limits;
        let mut lines = vec![
            format!("{nodes}; a link takes {LINK_LATENCY}"),
            format!(
                "application: an instance needs {}, handles {max_rate} requests and tolerates a latency of {max_latency}",
                units(HARDWARE)
            ),
            match self.clients.len() {
                0 => "clients: none".to_owned(),
                1 => format!("clients: {}, with {RATE} requests in a cycle", self.on_nodes("c", &self.clients)),
                _ => format!("clients: {}, each with {RATE} requests in a cycle", self.on_nodes("c", &self.clients)),
            },
            format!("instances: {}", self.on_nodes("i", &self.instances)),
        ];
        if self.gpus == Gpus::One {
            lines.push("hardware: an instance needs 1 gpu, and each node has 1".to_owned());
        }
        if !self.application.flavours.is_empty() {
            let each =
                |(index, flavour): (usize, &Flavour)| format!("{} needs {}", flavour.id, units(needed_in(index)));
            let each: Vec<String> = self.application.flavours.iter().enumerate().map(each).collect();
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
        if let Some(drawn) = self.drawn {
            lines.push(format!("{RANDOM}: {drawn}, drawn at every evaluation"));
        }
        if self.spread != Spread::None {
            for fact in self.extra {
                lines.push(self.extra_description(fact));
            }
        }
        lines
    }

    fn on_nodes(&self, letter: &str, nodes: &[usize]) -> String {
        let placed = nodes.iter().enumerate();
        let placed = placed.map(|(index, node)| format!("{letter}{} on {}", index + 1, self.names.node(*node)));
        placed.collect::<Vec<_>>().join(", ")
    }

    fn extra_description(&self, fact: &KeyValues) -> String {
        let shown = |node| self.extra_value(fact, node).map(Id::to_string).unwrap_or_default();
        let mut line = format!("{}: application {}", fact.key, shown(None));
        for node in 0..self.shape.nodes() {
            // Writing to a string does not fail.
            let _ = write!(line, ", {} {}", self.names.node(node), shown(Some(node)));
        }
        line
    }
}

fn units(amount: u32) -> String {
    if amount == 1 { "1 unit".to_owned() } else { format!("{amount} units") }
}

fn cycles(count: u32) -> String {
    if count == 1 { "cycle".to_owned() } else { format!("{count} cycles") }
}
