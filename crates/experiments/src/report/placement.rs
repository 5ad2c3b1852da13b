//! Tracks the placement of instances, and which nodes and links are down, from the records of a trace.

use std::collections::BTreeSet;

use mario_audit::reader::{Header, Target, TraceRecord};
use mario_domain::InstanceId;
use rustc_hash::FxHashMap;

/// All instances so far, including those that have disappeared, in the order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    places: FxHashMap<InstanceId, u32>,
    pub(crate) instances: Vec<Placed>,
}

/// One instance.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) id: InstanceId,
    pub(crate) application: u32,
    pub(crate) policy: u32,
    /// Its node; `None` if it has disappeared.
    pub(crate) node: Option<u32>,
    /// The index of its flavour.
    pub(crate) flavour: u32,
    pub(crate) is_asleep: bool,
}

impl Placement {
    /// The number of sleeping instances of each application.
    pub(crate) fn asleep(&self, applications: usize) -> Vec<u64> {
        let mut counts = vec![0; applications];
        for placed in self.instances.iter().filter(|placed| placed.is_asleep && placed.node.is_some()) {
            counts[placed.application as usize] += 1;
        }
        counts
    }

    /// Adds an instance, and returns its index in `instances`.
    pub(crate) fn appear(&mut self, id: InstanceId, application: u32, policy: u32, node: u32) -> u32 {
        let place = self.instances.len() as u32;
        self.places.insert(id.clone(), place);
        self.instances.push(Placed { id, application, policy, node: Some(node), flavour: 0, is_asleep: false });
        place
    }

    /// Returns the index in `instances` of an existing instance; `None` if the id is unknown, which the auditor
    /// reports, or if the instance has disappeared.
    pub(crate) fn find(&self, id: &InstanceId) -> Option<u32> {
        let place = *self.places.get(id)?;
        self.instances[place as usize].node.map(|_| place)
    }

    /// Switches all existing agents of an application to another policy.
    pub(crate) fn update(&mut self, application: u32, policy: u32) {
        let is_concerned = |placed: &&mut Placed| placed.application == application && placed.node.is_some();
        self.instances.iter_mut().filter(is_concerned).for_each(|placed| placed.policy = policy);
    }

    pub(crate) fn get(&self, place: u32) -> &Placed {
        &self.instances[place as usize]
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Placed {
        &mut self.instances[place as usize]
    }
}

/// The nodes and links that are down.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    nodes: BTreeSet<u32>,
    /// Links with the smaller index first.
    links: BTreeSet<[u32; 2]>,
}

impl Reach {
    /// Processes a record, if it is about a node or a link that goes down or comes up.
    pub(crate) fn read(&mut self, record: &TraceRecord) {
        let ordered = |[one, other]: [u32; 2]| [one.min(other), one.max(other)];
        match record {
            TraceRecord::NodeDown(down) => _ = self.nodes.insert(down.node),
            TraceRecord::NodeUp(up) => _ = self.nodes.remove(&up.node),
            TraceRecord::LinkDown(link) => _ = self.links.insert(ordered(link.nodes)),
            TraceRecord::LinkUp(link) => _ = self.links.remove(&ordered(link.nodes)),
            _ => {}
        }
    }

    /// The neighbours of a node that are down, or whose link to it is down.
    pub(crate) fn unreached(&self, header: &Header, node: u32) -> Vec<u32> {
        if self.nodes.is_empty() && self.links.is_empty() {
            return Vec::new();
        }
        let neighbours = header.nodes[node as usize].neighbours.iter().copied();
        let is_lost =
            |other: &u32| self.nodes.contains(other) || self.links.contains(&[node.min(*other), node.max(*other)]);
        neighbours.filter(is_lost).collect()
    }
}

/// The node that a target denotes for an instance on `own`; `None` for an unknown name and for a flavour.
pub(crate) fn resolve(target: &Target, own: u32) -> Option<u32> {
    match target {
        Target::Own => Some(own),
        Target::Node(node) => Some(*node),
        Target::Unknown(_) | Target::Flavour(_) => None,
    }
}

/// For each node, its neighbour in the highest tier, of several the one with the lowest index; `None` if no neighbour
/// is in a higher tier than the node itself.
pub(crate) fn parents(header: &Header) -> Vec<Option<u32>> {
    let tier = |node: u32| header.nodes[node as usize].tier;
    let parent = |node: &mario_audit::reader::TracedNode| {
        let above = node.neighbours.iter().copied().filter(|neighbour| tier(*neighbour) < node.tier);
        above.min_by_key(|neighbour| (tier(*neighbour), *neighbour))
    };
    header.nodes.iter().map(parent).collect()
}
