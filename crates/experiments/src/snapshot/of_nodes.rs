//! Combines what the nodes of a live colony know about themselves.

use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{ApplicationId, NodeId};

use super::{ColonySnapshot, SnapshotApplication, SnapshotNode};

/// What one node knows.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeState {
    /// The node.
    pub node: SnapshotNode,
    /// The time between two evaluations of an agent, in milliseconds.
    pub evaluation_period: f64,
    /// Its neighbours, with the latency of the link in milliseconds if it is known.
    pub links: Vec<(NodeId, Option<f64>)>,
    /// The applications that it hosts.
    pub applications: Vec<SnapshotApplication>,
    /// The instances that it owns.
    pub instances: Vec<NodeInstance>,
    /// How many of its instances are being transferred.
    pub transferring: usize,
}

/// An instance on a node.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeInstance {
    /// Its application.
    pub application: ApplicationId,
    /// The client requests that its agent observed last: the id of the node before the last hop, or another word for
    /// the instance's own node, and their number per evaluation period.
    pub requests: Vec<(String, f64)>,
}

impl ColonySnapshot {
    /// The current state of these nodes.
    pub fn of_nodes(known: &[NodeState]) -> ColonySnapshot {
        let mut colony = ColonySnapshot { name: "colony-now".to_owned(), ..ColonySnapshot::default() };
        let mut places = BTreeMap::new();
        for state in known {
            places.insert(state.node.id.to_string(), colony.nodes.len());
            colony.nodes.push(state.node.clone());
            colony.evaluation_period = colony.evaluation_period.max(state.evaluation_period);
        }
        let mut beyond = BTreeSet::new();
        for (place, state) in known.iter().enumerate() {
            colony.add_links(&places, &mut beyond, place, &state.links);
            colony.add_applications(&state.applications);
            for instance in &state.instances {
                colony.add_instance(&places, place, instance);
            }
        }
        colony.left_out = vec![
            "users: the client requests that agents observed last come from the node before the last hop, and no user moves"
                .to_owned(),
            "the memory of agents, and client requests in transit".to_owned(),
            "acceptance policies of nodes, pins, anchors, and replication budgets".to_owned(),
        ];
        let transferring: usize = known.iter().map(|state| state.transferring).sum();
        if transferring > 0 {
            colony
                .left_out
                .push(format!("{transferring} transfers in progress: these instances are still on their source nodes"));
        }
        if !beyond.is_empty() {
            let names: Vec<String> = beyond.into_iter().collect();
            colony.left_out.push(format!("nodes that were not queried: {}", names.join(", ")));
        }
        colony
    }

    fn add_links(
        &mut self,
        places: &BTreeMap<String, usize>,
        beyond: &mut BTreeSet<String>,
        place: usize,
        links: &[(NodeId, Option<f64>)],
    ) {
        for (neighbour, latency) in links {
            let neighbour = neighbour.to_string();
            let Some(other) = places.get(&neighbour) else {
                beyond.insert(neighbour);
                continue;
            };
            let known = self.links.entry((place.min(*other), place.max(*other))).or_default();
            *known = known.or(*latency);
        }
    }

    fn add_applications(&mut self, hosted: &[SnapshotApplication]) {
        for application in hosted {
            if !self.applications.iter().any(|known| known.id == application.id) {
                self.applications.push(application.clone());
            }
        }
    }

    /// Adds an instance, with the client requests that its agent observed last. Requests through nodes that are not
    /// part of the snapshot count as requests from the instance's own node.
    fn add_instance(&mut self, places: &BTreeMap<String, usize>, place: usize, instance: &NodeInstance) {
        let Some(application) = self.applications.iter().position(|known| known.id == instance.application) else {
            return;
        };
        self.instances.push((application, place));
        for (neighbour, rate) in &instance.requests {
            let from = places.get(neighbour).copied().unwrap_or(place);
            match self.demand.iter_mut().find(|(of, at, _)| (*of, *at) == (application, from)) {
                Some((_, _, sum)) => *sum += rate,
                None if *rate > 0.0 => self.demand.push((application, from, *rate)),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::{Capacity, Hardware, Quantity};
    use mario_policy::PolicyText;

    use super::*;

    fn state(id: &str, links: &[(&str, Option<f64>)], requests: &[(&str, f64)]) -> NodeState {
        let id_of = |word: &str| NodeId::name(word).expect("an id");
        let application = SnapshotApplication {
            id: ApplicationId::name("shop").expect("an id"),
            kind: String::new(),
            hardware: Hardware::default(),
            max_rate: Quantity::whole(10),
            max_latency: Quantity::whole(20),
            flavours: Vec::new(),
            sleep: None,
            facts: Vec::new(),
            policy: PolicyText { name: "p".to_owned(), files: Vec::new(), memory: 0 },
        };
        NodeState {
            node: SnapshotNode { id: id_of(id), capacity: Capacity::Unbounded, tier: 0, facts: Vec::new() },
            evaluation_period: 1_000.0,
            links: links.iter().map(|(word, latency)| (id_of(word), *latency)).collect(),
            instances: vec![NodeInstance {
                application: application.id.clone(),
                requests: requests.iter().map(|(word, rate)| ((*word).to_owned(), *rate)).collect(),
            }],
            applications: vec![application],
            transferring: 0,
        }
    }

    #[test]
    fn answers_of_neighbours_are_joined_and_nodes_that_were_not_asked_are_named() {
        let one = state("a", &[("b", None), ("z", Some(9.0))], &[("self", 2.0), ("b", 3.0), ("z", 4.0)]);
        let other = state("b", &[("a", Some(2.5))], &[("a", 1.0), ("self", 0.0)]);
        let colony = ColonySnapshot::of_nodes(&[one, other]);
        assert_eq!(colony.links, BTreeMap::from([((0, 1), Some(2.5))]), "either end may know the latency");
        assert_eq!(colony.applications.len(), 1);
        assert_eq!(colony.instances, [(0, 0), (0, 1)]);
        assert_eq!(colony.demand, [(0, 0, 2.0 + 4.0 + 1.0), (0, 1, 3.0)]);
        assert!(colony.left_out.iter().any(|line| line == "nodes that were not queried: z"), "{:?}", colony.left_out);
    }
}
