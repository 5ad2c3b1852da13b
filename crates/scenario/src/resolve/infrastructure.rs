//! Resolves the infrastructure: nodes, links, settings of single nodes, and acceptance policies. Checks that every
//! access point can reach the homes of all applications.

use std::collections::BTreeSet;
use std::path::Path;

use mario_domain::{Capacity, Duration, Fact, Id};
use mario_settings::{At, Mistake, Place};

use super::Resolving;
use crate::index::NodeIndex;
use crate::policies::{self, Role};
use crate::position::{Area, Position};
use crate::settings::{
    AreaSettings, GraphFormat as WrittenFormat, TiledTreeSettings, Time, TopologyFileSettings, TopologySettings,
    TreeSettings, UnmarkedKind,
};
use crate::topology::{
    AccessPoints, ConnectedTopology, DefaultAccessPoints, GraphDefaults, GraphFormat, GraphProblem, Latency, Mesh,
    ShapeError, TiledTree, Topology, Tree, barabasi_albert, grid, random_geometric, read_graph, tiled_tree, tree,
};
use crate::{ApplicationPlan, PolicyText};

const TOPOLOGY: At<'static> = At::Key("topology");

/// The keys that all meshes have: hardware, latency, latency per kilometre, share of access points, area.
type MeshKeys<'a> = (&'a [Capacity], Time, Time, f64, &'a AreaSettings);

macro_rules! mesh {
    ($settings:ident) => {
        (&$settings.hardware, $settings.latency, $settings.latency_per_km, $settings.access_share, &$settings.area)
    };
}

impl Resolving<'_> {
    /// Nodes and links, with the settings of `[[nodes]]`, of the node table and of `[[node]]` applied in this order.
    /// Links without a bandwidth get that of `[network]`. If the infrastructure cannot be built, reports an error and
    /// returns `None`; other errors are only reported.
    pub(super) fn infrastructure(&mut self) -> Option<Topology> {
        let mut topology = match &self.settings.topology {
            TopologySettings::TiledTree(tree) => self.tiled_tree(tree)?,
            TopologySettings::Tree(tree) => self.tree(tree)?,
            TopologySettings::Grid(settings) => {
                let mesh = self.mesh(mesh!(settings))?;
                let made = grid(settings.height, settings.width, &mesh);
                self.shaped(made)?
            }
            TopologySettings::RandomGeometric(settings) => {
                let mesh = self.mesh(mesh!(settings))?;
                let made = random_geometric(settings.nodes, settings.radius.value(), &mesh, self.settings.seed);
                let ConnectedTopology { topology, links_added } = self.shaped(made)?;
                if links_added > 0 {
                    self.notes.push(format!("{links_added} longer links connect what the radius leaves apart"));
                }
                topology
            }
            TopologySettings::BarabasiAlbert(settings) => {
                let mesh = self.mesh(mesh!(settings))?;
                let made = barabasi_albert(settings.nodes, settings.links, &mesh, self.settings.seed);
                self.shaped(made)?
            }
            TopologySettings::File(settings) => self.graph(settings)?,
        };
        if let Some(bandwidth) = self.settings.network.bandwidth {
            topology.limit_bandwidth(bandwidth.value());
        }
        self.groups_of_nodes(&mut topology);
        self.node_table(&mut topology);
        for (position, node) in self.settings.node.iter().enumerate() {
            let Some(index) = topology.find(&node.id) else {
                let known = topology.nodes().map(|(_, node)| &node.id);
                let mistake = self.unknown("node", node.id.id(), &["node".into(), position.into(), "id".into()], known);
                self.mistakes.push(mistake);
                continue;
            };
            if let Some(capacity) = node.capacity {
                topology.set_capacity(index, capacity);
            }
            let subject = Id::from(node.id.clone());
            let mut facts = self.facts(&subject, &node.facts, "node", position);
            if let Some(owner) = &node.owner {
                let key = Id::name("owner").expect("it is not empty");
                facts.push(Fact { subject, key, value: mario_domain::FactValue::Id(owner.id().clone()) });
            }
            for fact in facts {
                topology.set_fact(index, fact);
            }
        }
        Some(topology)
    }

    /// The facts that a scenario lists about a node or application. Errors are placed at element `position` of `list`.
    pub(super) fn facts(
        &mut self,
        subject: &Id,
        facts: &crate::settings::Facts,
        list: &str,
        position: usize,
    ) -> Vec<Fact> {
        let mut known = Vec::new();
        for (key, value) in facts {
            match Id::name(key) {
                Ok(key) => known.push(Fact { subject: subject.clone(), key, value: value.clone() }),
                Err(error) => {
                    let at = [At::Key(list), position.into(), "facts".into()];
                    let mistake = self.mistake(format!("this is not a key of a fact: {error}"), &at);
                    self.mistakes.push(mistake.hint("write `facts = { key = value }`"));
                }
            }
        }
        known
    }

    fn tiled_tree(&mut self, tree: &TiledTreeSettings) -> Option<Topology> {
        let area = self.area(&tree.area, &[TOPOLOGY, "area".into()]);
        if !tree.size.is_power_of_two() {
            let at = [TOPOLOGY, "size".into()];
            let mistake = self.mistake(format!("the size of a tiled tree is a power of two, not {}", tree.size), &at);
            self.mistakes.push(mistake.hint("write 1, 2, 4, 8, 16 and so on"));
            return None;
        }
        for (list, keys) in [
            ("hardware", &["cloud_hardware", "hardware_step", "access_hardware"][..]),
            ("latency", &["latency_step", "access_latency"][..]),
        ] {
            self.check_list_is_latest(list, keys);
        }
        let capacities = tree.hardware.clone().unwrap_or_else(|| hardware_of_levels(tree));
        let latencies: Vec<Duration> = match &tree.latency {
            Some(latencies) => latencies.iter().copied().map(Time::span).collect(),
            None => latency_of_levels(tree),
        };
        let shape = TiledTree { size: tree.size, capacities, latencies, area: Some(area?) };
        let made = tiled_tree(&shape);
        self.shaped(made)
    }

    /// Reports each of `keys` that is set in a later layer than `list`. Such a key has no effect, because the list has
    /// the values of all levels.
    fn check_list_is_latest(&mut self, list: &str, keys: &[&str]) {
        let written = |key: &str| self.document.written(&format!("topology.{key}"));
        let Some(values) = written(list) else { return };
        let later = keys.iter().filter_map(|key| Some((*key, written(key)?)));
        let mistakes: Vec<Mistake> = later
            .filter(|(_, node)| node.layer > values.layer)
            .map(|(key, node)| {
                let message = format!("`{key}` has no effect: `{list}` lists the values of all levels");
                let mistake = Mistake::new(message).at(Some(node.place.clone()));
                let mistake = mistake.beside(Some(values.place.clone()), "the list");
                mistake.hint(format!("set `topology.{list}`, which lists one value for each level from the cloud down"))
            })
            .collect();
        self.mistakes.extend(mistakes);
    }

    fn tree(&mut self, settings: &TreeSettings) -> Option<Topology> {
        let area = self.area(&settings.area, &[TOPOLOGY, "area".into()]);
        let levels = settings.depth as usize + 1;
        let mut is_complete = true;
        for (key, count, needed) in
            [("hardware", settings.hardware.len(), levels), ("latency", settings.latency.len(), levels - 1)]
        {
            if count == 0 && needed > 0 {
                is_complete = false;
                let mistake = self.mistake(format!("`{key}` lists nothing"), &[TOPOLOGY, key.into()]);
                self.mistakes.push(mistake.hint("list one value for each level; the last holds for all below"));
            }
        }
        if !is_complete {
            return None;
        }
        let shape = Tree {
            children: vec![settings.fan_out; settings.depth as usize],
            capacities: stretched(&settings.hardware, levels),
            latencies: stretched(&settings.latency, levels - 1).into_iter().map(Time::span).collect(),
            area: Some(area?),
        };
        let made = tree(&shape);
        self.shaped(made)
    }

    fn mesh(&mut self, (hardware, latency, per_km, access_share, area): MeshKeys<'_>) -> Option<Mesh> {
        let area = self.area(area, &[TOPOLOGY, "area".into()])?;
        Some(Mesh {
            area,
            capacities: hardware.to_vec(),
            latency: Latency::PerKilometre { base: latency.span(), per_kilometre: per_km.span() },
            access_points: AccessPoints::Farthest(access_share),
        })
    }

    /// Returns the result of a generator. Reports its error, if any, at the key that probably caused it.
    fn shaped<T>(&mut self, made: Result<T, ShapeError>) -> Option<T> {
        let error = match made {
            Ok(made) => return Some(made),
            Err(error) => error,
        };
        let (key, hint) = match &error {
            ShapeError::Levels { values, needed, .. } => {
                let key = if *values == "latencies" { "latency" } else { "hardware" };
                (key, format!("list {needed}, or omit `{key}`, and a rule determines them"))
            }
            ShapeError::TooLarge => (self.size_key(), "make the topology smaller".to_owned()),
            ShapeError::Value { what, expected } => {
                let keys =
                    [("share", "access_share"), ("capacities", "hardware"), ("radius", "radius"), ("links", "links")];
                let key = keys.into_iter().find(|(word, _)| what.contains(word)).map_or("kind", |(_, key)| key);
                (key, format!("write one that is {expected}"))
            }
            _ => ("kind", "mend the values of `[topology]`".to_owned()),
        };
        let mistake = self.mistake(error.to_string(), &[TOPOLOGY, key.into()]);
        self.mistakes.push(mistake.hint(hint));
        None
    }

    /// The key at which a topology that is too large is reported.
    fn size_key(&self) -> &'static str {
        match &self.settings.topology {
            TopologySettings::TiledTree(_) => "size",
            TopologySettings::Tree(_) => "fan_out",
            TopologySettings::Grid(_) => "width",
            TopologySettings::RandomGeometric(_) | TopologySettings::BarabasiAlbert(_) => "nodes",
            TopologySettings::File(_) => "file",
        }
    }

    fn graph(&mut self, settings: &TopologyFileSettings) -> Option<Topology> {
        let at = [TOPOLOGY, "file".into()];
        let name = settings.file.strip_suffix(".gz").unwrap_or(&settings.file);
        let detected = match Path::new(name).extension().and_then(|ending| ending.to_str()) {
            Some("graphml") => Some(GraphFormat::GraphMl),
            Some("gexf") => Some(GraphFormat::Gexf),
            Some("gml") => Some(GraphFormat::Gml),
            Some("json") => Some(GraphFormat::NodeLink),
            _ => None,
        };
        let format = settings.format.map(|format| match format {
            WrittenFormat::Graphml => GraphFormat::GraphMl,
            WrittenFormat::Gexf => GraphFormat::Gexf,
            WrittenFormat::Gml => GraphFormat::Gml,
            WrittenFormat::NodeLink => GraphFormat::NodeLink,
        });
        // Read first: for a file that does not exist, its format does not matter.
        let text = self.file_text(&settings.file, &at)?;
        let Some(format) = format.or(detected) else {
            let message = format!("unknown format: `{}`; known: .graphml, .gexf, .gml, .json", settings.file);
            let hint = "add `format = …`: one of \"graphml\", \"gexf\", \"gml\", \"node-link\"";
            self.mistakes.push(self.mistake(message, &at).hint(hint));
            return None;
        };
        let origin = match settings.origin {
            None => None,
            Some(origin) => Some(self.origin(origin, &[TOPOLOGY, "origin".into()])?),
        };
        let defaults = GraphDefaults {
            origin,
            capacity: settings.hardware,
            latency: settings.latency.span(),
            bandwidth: None,
            size_bits: self.settings.energy.size_bits.value(),
            access_points: match settings.access_points {
                UnmarkedKind::Leaves => DefaultAccessPoints::Leaves,
                UnmarkedKind::All => DefaultAccessPoints::All,
                UnmarkedKind::None => DefaultAccessPoints::None,
            },
        };
        match read_graph(text.text.as_bytes(), format, &defaults) {
            Ok(topology) => Some(topology),
            Err(error) => {
                let place = Place { text, span: error.span.clone() };
                let hint = match &error.problem {
                    GraphProblem::Unit { hint, .. } => hint,
                    _ => "mend the file, or say its `format`",
                };
                self.mistakes.push(Mistake::new(error.to_string()).at(Some(place)).hint(hint));
                None
            }
        }
    }

    /// The origin of coordinates in metres. Reports an error if it is not on the map.
    pub(super) fn origin(&mut self, [latitude, longitude]: [f64; 2], at: &[At<'_>]) -> Option<Position> {
        let origin = Position::checked(latitude, longitude);
        if origin.is_none() {
            let mistake = self.mistake(format!("[{latitude}, {longitude}] is not a place on the map"), at);
            self.mistakes.push(mistake.hint("write [latitude, longitude] in degrees"));
        }
        origin
    }

    /// The rectangle between two corners. Reports an error if they are not on the map, or are in the wrong order.
    pub(super) fn area(&mut self, area: &AreaSettings, at: &[At<'_>]) -> Option<Area> {
        let corner = |[latitude, longitude]: [f64; 2]| Position::checked(latitude, longitude);
        let mut is_on_the_map = true;
        for (key, value) in [("south_west", area.south_west), ("north_east", area.north_east)] {
            if corner(value).is_none() {
                is_on_the_map = false;
                let at: Vec<At<'_>> = at.iter().copied().chain([At::Key(key)]).collect();
                let mistake = self.mistake(format!("{value:?} is not a place on the map"), &at);
                self.mistakes
                    .push(mistake.hint("write [latitude, longitude] in degrees, from -90 to 90 and from -180 to 180"));
            }
        }
        if !is_on_the_map {
            return None;
        }
        let area = Area::between(corner(area.south_west)?, corner(area.north_east)?);
        if area.is_none() {
            let mistake = self.mistake("the south-west corner of the area is not south-west of the other", at);
            self.mistakes.push(mistake.hint("exchange the corners; each is [latitude, longitude]"));
        }
        area
    }

    /// The acceptance policies, and for each node the index of its policy; `None` for a node without one. `[[nodes]]`
    /// overrides `[managers]`, and `[[node]]` overrides both. Reports errors.
    pub(super) fn acceptances(&mut self, topology: &Topology) -> (Vec<PolicyText>, Vec<Option<u32>>) {
        let mut texts: Vec<PolicyText> = Vec::new();
        let mut written: Vec<String> = Vec::new();
        let mut place_of = |resolving: &mut Resolving<'_>, policy: &str, at: &[At<'_>]| {
            let path = resolving.document.path(at, policy);
            let key = if policies::is_path(policy) { path.display().to_string() } else { policy.to_owned() };
            if let Some(known) = written.iter().position(|written| *written == key) {
                return Some(known as u32);
            }
            let text = resolving.policy_text(Role::Manager, policy, at)?;
            texts.push(text);
            written.push(key);
            Some(texts.len() as u32 - 1)
        };
        let general = match &self.settings.managers.acceptance {
            Some(policy) => place_of(self, policy, &["managers".into(), "acceptance".into()]),
            None => None,
        };
        let mut acceptance_of = vec![general; topology.node_count()];
        for (position, group) in self.settings.nodes.iter().enumerate() {
            let Some(policy) = &group.acceptance else { continue };
            let at = ["nodes".into(), position.into(), "acceptance".into()];
            let place = place_of(self, policy, &at);
            for index in self.chosen(topology, group) {
                acceptance_of[index.position()] = place;
            }
        }
        for (position, node) in self.settings.node.iter().enumerate() {
            if let (Some(policy), Some(index)) = (&node.acceptance, topology.find(&node.id)) {
                let at = ["node".into(), position.into(), "acceptance".into()];
                acceptance_of[index.position()] = place_of(self, policy, &at);
            }
        }
        (texts, acceptance_of)
    }

    /// Checks that there is a path from the home of every application to every access point. Reports the first home
    /// from which an access point cannot be reached.
    pub(super) fn check_reachability(&mut self, topology: &Topology, applications: &[ApplicationPlan]) {
        let homes: BTreeSet<NodeIndex> = applications.iter().map(|plan| plan.home).collect();
        for home in homes {
            let mut is_reached = vec![false; topology.node_count()];
            is_reached[home.position()] = true;
            let mut open = vec![home];
            while let Some(node) = open.pop() {
                for (_, link) in topology.links_from(node) {
                    if !std::mem::replace(&mut is_reached[link.to.position()], true) {
                        open.push(link.to);
                    }
                }
            }
            let cut_off: Vec<String> = topology
                .access_points()
                .filter(|node| !is_reached[node.position()])
                .map(|node| format!("`{}`", topology.node(node).id))
                .collect();
            if let Some(first) = cut_off.first() {
                let others = match cut_off.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                let home = &topology.node(home).id;
                let message =
                    format!("access point {first}{others} cannot be reached from `{home}`, where applications start");
                let mistake = self.mistake(message, &[TOPOLOGY]);
                self.mistakes.push(mistake.hint("link the parts of the topology, or make them no access points"));
                return;
            }
        }
    }
}

/// The first `count` values of a list. A shorter list is extended by repeating its last value. Empty for an empty list.
fn stretched<T: Copy>(values: &[T], count: usize) -> Vec<T> {
    (0..count).filter_map(|position| values.get(position).or(values.last()).copied()).collect()
}

/// The number of levels of a tiled tree: k + 1 for a size of 2^k.
fn levels(size: u32) -> u64 {
    u64::from(size.trailing_zeros()) + 1
}

fn hardware_of_levels(tree: &TiledTreeSettings) -> Vec<Capacity> {
    let levels = levels(tree.size);
    let hardware = |level: u64| match level {
        0 => tree.cloud_hardware,
        _ if level + 1 == levels => tree.access_hardware,
        _ => Capacity::units(tree.hardware_step.saturating_mul(levels - level)),
    };
    (0..levels).map(hardware).collect()
}

fn latency_of_levels(tree: &TiledTreeSettings) -> Vec<Duration> {
    let levels = levels(tree.size);
    let latency = |level: u64| match tree.access_latency {
        Some(latency) if level + 2 == levels => latency.span(),
        _ => tree.latency_step.span() * (levels - level - 1) as f64,
    };
    (0..levels - 1).map(latency).collect()
}
