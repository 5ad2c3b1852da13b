//! Builds an infrastructure from the nodes, edges and attributes of a graph.

use std::collections::VecDeque;
use std::ops::Range;

use mario_domain::{Capacity, Duration, Fact, FactValue, HardwareKind, Id, NodeId};
use mario_settings::Mistake;
use mario_settings::tree::Value;
use rustc_hash::FxHashMap;

use super::{
    Attribute, DefaultAccessPoints, Graph, GraphDefaults, GraphEdge, GraphError, GraphNode, GraphProblem, Scalar,
};
use crate::index::NodeIndex;
use crate::position::Position;
use crate::topology::{NodeDescription, Topology, TopologyBuilder};
use crate::units::plain_number;

/// A node as read. Properties without an attribute are `None`; all but the position get a default later.
struct Read {
    id: NodeId,
    capacity: Option<Capacity>,
    tier: Option<u16>,
    position: Option<Position>,
    access_point: Option<bool>,
    facts: Vec<Fact>,
}

/// A link between two nodes.
#[derive(Clone, Debug)]
struct ReadLink {
    /// The source of the first of its edges.
    source: u32,
    target: u32,
    latency: Duration,
    bandwidth: Option<f64>,
    span: Range<usize>,
}

pub(super) fn topology(graph: Graph, defaults: &GraphDefaults) -> Result<Topology, GraphError> {
    if graph.nodes.is_empty() {
        return Err(GraphError::new(graph.span, GraphProblem::Empty));
    }
    let mut by_key = FxHashMap::default();
    let mut by_id = FxHashMap::default();
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for node in graph.nodes {
        let (key, span) = (node.key.clone(), node.span.clone());
        let read = interpret_node(node, defaults)?;
        let known = by_id.insert(read.id.clone(), nodes.len()).is_some();
        if by_key.insert(key, nodes.len() as u32).is_some() || known {
            return Err(GraphError::new(span, GraphProblem::NodeTwice(read.id.to_string())));
        }
        nodes.push(read);
    }
    let links = interpret_edges(graph.edges, &by_key, defaults)?;
    let tiers = tiers(&nodes, &links, defaults);
    let is_access_point = access_points(&nodes, &links, defaults);
    let mut builder = TopologyBuilder::default();
    for (node, read) in nodes.into_iter().enumerate() {
        let description = NodeDescription {
            id: read.id,
            capacity: read.capacity.unwrap_or(defaults.capacity),
            tier: tiers[node],
            position: read.position,
            is_access_point: is_access_point[node],
            facts: read.facts,
        };
        let twice = |_| GraphError::new(graph.span.clone(), GraphProblem::Expected("nodes with different ids"));
        builder.node(description).map_err(twice)?;
    }
    for link in &links {
        let linked = builder.link(NodeIndex(link.source), NodeIndex(link.target), link.latency, link.bandwidth);
        linked.map_err(|_| GraphError::new(link.span.clone(), LATENCY))?;
    }
    builder.build().map_err(|_| GraphError::new(graph.span, GraphProblem::Empty))
}

const LATENCY: GraphProblem = GraphProblem::Value {
    attribute: "latency",
    expected: "a number of milliseconds, or a time such as `5 ms`, that is not negative",
};

fn interpret_node(node: GraphNode, defaults: &GraphDefaults) -> Result<Read, GraphError> {
    let origin = defaults.origin;
    let id = match node.name {
        Scalar::Whole(number) => NodeId::number(number),
        Scalar::Text(name) => {
            NodeId::name(&name).map_err(|error| GraphError::new(node.span.clone(), GraphProblem::Id(error)))?
        }
        Scalar::Number(_) | Scalar::Truth(_) => {
            let expected = GraphProblem::Expected("the id of a node: a name or an integer");
            return Err(GraphError::new(node.span, expected));
        }
    };
    let mut read = Read { id, capacity: None, tier: None, position: None, access_point: None, facts: Vec::new() };
    let (mut latitude, mut longitude) = (None, None);
    let (mut east, mut north) = (None, None);
    let mut kinds = Vec::new();
    for attribute in &node.attributes {
        match attribute.name.to_ascii_lowercase().as_str() {
            "capacity" | "hardware" | "units" => read.capacity = Some(capacity(attribute)?),
            "tier" | "level" => {
                let tier = attribute.whole().and_then(|tier| u16::try_from(tier).ok());
                let tier = tier.ok_or_else(|| attribute.error("tier", "an integer from 0 to 65535"));
                read.tier = Some(tier?);
            }
            "latitude" | "lat" => latitude = Some(degrees(attribute, "latitude", 90.0, "a number from -90 to 90")?),
            "longitude" | "lon" => {
                longitude = Some(degrees(attribute, "longitude", 180.0, "a number from -180 to 180")?);
            }
            "x" if origin.is_some() => east = Some(metres(&attribute.plain("metres", defaults)?, "x")?),
            "y" if origin.is_some() => north = Some(metres(&attribute.plain("metres", defaults)?, "y")?),
            "access_point" => {
                let truth = attribute.truth().ok_or_else(|| attribute.error("access_point", "true or false"));
                read.access_point = Some(truth?);
            }
            name => match HardwareKind::with_name(name) {
                Some(kind) => kinds.push((kind, attribute)),
                None => read.facts.extend(fact(&read.id, attribute)),
            },
        }
    }
    for (kind, attribute) in kinds {
        let known = read.capacity.unwrap_or(defaults.capacity);
        let attribute = match quantity_of(kind) {
            Some(quantity) => &attribute.plain(quantity, defaults)?,
            None => attribute,
        };
        read.capacity = Some(with_kind(known, kind, attribute)?);
    }
    read.position = match (latitude, longitude, east, north, origin) {
        (Some(latitude), Some(longitude), None, None, _) => Some(Position { latitude, longitude }),
        (None, None, Some(east), Some(north), Some(origin)) => match origin.moved_m(north, east) {
            Some(position) => Some(position),
            None => return Err(GraphError::new(node.span, GraphProblem::OffTheMap)),
        },
        (None, None, None, None, _) => None,
        _ => return Err(GraphError::new(node.span, GraphProblem::HalfPosition)),
    };
    Ok(read)
}

fn capacity(attribute: &Attribute) -> Result<Capacity, GraphError> {
    let expected = "a number of units, or `unbounded`";
    match &attribute.value {
        Scalar::Text(text) if ["unbounded", "inf", "infinity"].contains(&text.to_ascii_lowercase().as_str()) => {
            Ok(Capacity::Unbounded)
        }
        _ => match attribute.whole().map(u64::try_from) {
            Some(Ok(units)) => Ok(Capacity::units(units)),
            _ => Err(attribute.error("capacity", expected)),
        },
    }
}

/// The capacity with the amount of one kind of hardware replaced by that of an attribute; an error if the capacity is
/// unbounded or the amount is invalid.
fn with_kind(capacity: Capacity, kind: HardwareKind, attribute: &Attribute) -> Result<Capacity, GraphError> {
    let Capacity::Bounded(hardware) = capacity else {
        return Err(attribute.error(kind.as_str(), "left out where the capacity is unbounded"));
    };
    let amount = attribute.whole().and_then(|amount| u64::try_from(amount).ok());
    let hardware = amount.and_then(|amount| hardware.with(kind, amount));
    let hardware = hardware.ok_or_else(|| attribute.error(kind.as_str(), "a whole number from 0 to 4294967295"))?;
    Ok(Capacity::Bounded(hardware))
}

/// The quantity of a kind of hardware that may have a unit.
fn quantity_of(kind: HardwareKind) -> Option<&'static str> {
    match kind {
        HardwareKind::BandwidthMbps => Some("mbps"),
        HardwareKind::MemoryMb => Some("megabytes"),
        HardwareKind::StorageGb => Some("gigabytes"),
        _ => None,
    }
}

fn degrees(attribute: &Attribute, name: &'static str, limit: f64, expected: &'static str) -> Result<f64, GraphError> {
    let value = attribute.number().filter(|value| (-limit..=limit).contains(value));
    value.ok_or_else(|| attribute.error(name, expected))
}

fn metres(attribute: &Attribute, name: &'static str) -> Result<f64, GraphError> {
    /// A limit above the circumference of the earth.
    const METRES_MAX: f64 = 1e8;
    let value = attribute.number().filter(|value| value.abs() <= METRES_MAX);
    value.ok_or_else(|| attribute.error(name, "a number of metres from -1e8 to 1e8"))
}

/// Converts an attribute without a defined meaning into a fact for policies; `None` for an empty name or text.
fn fact(node: &NodeId, attribute: &Attribute) -> Option<Fact> {
    let value = match &attribute.value {
        Scalar::Text(text) => FactValue::name(text).ok()?,
        Scalar::Whole(number) => FactValue::Id(Id::number(*number)),
        Scalar::Number(number) => FactValue::Number(*number),
        Scalar::Truth(truth) => FactValue::name(if *truth { "true" } else { "false" }).ok()?,
    };
    Some(Fact { subject: node.id().clone(), key: Id::name(&attribute.name).ok()?, value })
}

/// The links, in the order of their first edges. An undirected edge is a link, and so is a pair of opposite directed
/// edges with the same latency and bandwidth. All other directed edges are errors.
fn interpret_edges(
    edges: Vec<GraphEdge>,
    by_key: &FxHashMap<String, u32>,
    defaults: &GraphDefaults,
) -> Result<Vec<ReadLink>, GraphError> {
    let mut place_of: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut links: Vec<ReadLink> = Vec::with_capacity(edges.len());
    let mut is_complete = Vec::with_capacity(edges.len());
    for edge in edges {
        let find = |key: &String| {
            let unknown = || GraphError::new(edge.span.clone(), GraphProblem::UnknownNode(key.clone()));
            by_key.get(key).copied().ok_or_else(unknown)
        };
        let (source, target) = (find(&edge.source)?, find(&edge.target)?);
        let link = interpret_edge(&edge, source, target, defaults)?;
        let problem = |problem| Err(GraphError::new(edge.span.clone(), problem));
        if source == target {
            return problem(GraphProblem::LinkToItself);
        }
        let ends = (source.min(target), source.max(target));
        let Some(place) = place_of.get(&ends).copied() else {
            place_of.insert(ends, links.len());
            is_complete.push(!edge.directed);
            links.push(link);
            continue;
        };
        let other = &links[place];
        if is_complete[place] || !edge.directed || other.source == source {
            return problem(GraphProblem::LinkTwice);
        }
        if (link.latency, link.bandwidth) != (other.latency, other.bandwidth) {
            return problem(GraphProblem::TwoWays);
        }
        is_complete[place] = true;
    }
    match is_complete.iter().position(|complete| !complete) {
        Some(place) => Err(GraphError::new(links[place].span.clone(), GraphProblem::OneWay)),
        None => Ok(links),
    }
}

fn interpret_edge(
    edge: &GraphEdge,
    source: u32,
    target: u32,
    defaults: &GraphDefaults,
) -> Result<ReadLink, GraphError> {
    let (mut latency, mut bandwidth) = (defaults.latency, defaults.bandwidth);
    for attribute in &edge.attributes {
        match attribute.name.to_ascii_lowercase().as_str() {
            "latency" => {
                let value = attribute.plain("milliseconds", defaults)?.number().filter(|value| *value >= 0.0);
                let value = value.ok_or_else(|| GraphError::new(attribute.span.clone(), LATENCY));
                latency = Duration::of(value?);
            }
            "bandwidth" => {
                let value = attribute.plain("bandwidth", defaults)?.number().filter(|value| *value > 0.0);
                let expected = "a positive number, or a bandwidth such as `100 Mbps`";
                let value = value.ok_or_else(|| attribute.error("bandwidth", expected));
                bandwidth = Some(value?);
            }
            _ => {}
        }
    }
    Ok(ReadLink { source, target, latency, bandwidth, span: edge.span.clone() })
}

/// The tier of each node: its attribute, or else its distance in hops from the closest node whose attribute is 0. If
/// there is no such node, it is the distance from the first node with unbounded hardware or, if there is none, from the
/// first node with the most units. A node that is not reachable from there is one tier below the farthest reachable
/// node.
fn tiers(nodes: &[Read], links: &[ReadLink], defaults: &GraphDefaults) -> Vec<u16> {
    let mut neighbours = vec![Vec::new(); nodes.len()];
    for link in links {
        neighbours[link.source as usize].push(link.target as usize);
        neighbours[link.target as usize].push(link.source as usize);
    }
    let mut queue: VecDeque<usize> = (0..nodes.len()).filter(|node| nodes[*node].tier == Some(0)).collect();
    if queue.is_empty() {
        let hardware = |node: &usize| match nodes[*node].capacity.unwrap_or(defaults.capacity) {
            Capacity::Unbounded => (1, 0, std::cmp::Reverse(*node)),
            Capacity::Bounded(hardware) => (0, hardware.as_units(), std::cmp::Reverse(*node)),
        };
        queue.extend((0..nodes.len()).max_by_key(hardware));
    }
    let mut hops: Vec<Option<u16>> = vec![None; nodes.len()];
    let mut deepest = 0;
    for node in &queue {
        hops[*node] = Some(0);
    }
    while let Some(node) = queue.pop_front() {
        let next = hops[node].unwrap_or(0).saturating_add(1);
        for neighbour in &neighbours[node] {
            if hops[*neighbour].is_none() {
                hops[*neighbour] = Some(next);
                deepest = next;
                queue.push_back(*neighbour);
            }
        }
    }
    let beyond = deepest.saturating_add(1);
    nodes.iter().zip(hops).map(|(node, hops)| node.tier.or(hops).unwrap_or(beyond)).collect()
}

fn access_points(nodes: &[Read], links: &[ReadLink], defaults: &GraphDefaults) -> Vec<bool> {
    if nodes.iter().any(|node| node.access_point.is_some()) {
        return nodes.iter().map(|node| node.access_point.unwrap_or(false)).collect();
    }
    match defaults.access_points {
        DefaultAccessPoints::All => vec![true; nodes.len()],
        DefaultAccessPoints::None => vec![false; nodes.len()],
        DefaultAccessPoints::Leaves => {
            let mut degrees = vec![0_u32; nodes.len()];
            for link in links {
                degrees[link.source as usize] += 1;
                degrees[link.target as usize] += 1;
            }
            let none = !degrees.contains(&1);
            degrees.into_iter().map(|degree| none || degree == 1).collect()
        }
    }
}

impl Attribute {
    fn error(&self, attribute: &'static str, expected: &'static str) -> GraphError {
        GraphError::new(self.span.clone(), GraphProblem::Value { attribute, expected })
    }

    /// The attribute with its value as a number, if that is a text with a unit of the quantity with this name.
    fn plain(&self, quantity: &str, defaults: &GraphDefaults) -> Result<Attribute, GraphError> {
        let as_written = || self.value.clone();
        let value = match &self.value {
            // `1e3` is a number, and not the unit `e3`.
            Scalar::Text(text) if text.trim().parse::<f64>().is_err() => {
                match plain_number(quantity, text, defaults.size_bits) {
                    Some(Ok(Value::Integer(number))) => Scalar::Whole(number),
                    Some(Ok(Value::Float(number))) => Scalar::Number(number),
                    Some(Err(Mistake { message, hint, .. })) => {
                        let problem = GraphProblem::Unit { message, hint: hint.unwrap_or_default() };
                        return Err(GraphError::new(self.span.clone(), problem));
                    }
                    _ => as_written(),
                }
            }
            _ => as_written(),
        };
        Ok(Attribute { name: self.name.clone(), value, span: self.span.clone() })
    }

    fn number(&self) -> Option<f64> {
        match &self.value {
            Scalar::Whole(number) => Some(*number as f64),
            Scalar::Number(number) => Some(*number),
            Scalar::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            Scalar::Truth(_) => None,
        }
    }

    /// The integer value; `None` for other values. The number `4.0` counts as an integer, because some tools have only
    /// one number type, and so does the text `4`.
    fn whole(&self) -> Option<i64> {
        match &self.value {
            Scalar::Whole(number) => Some(*number),
            Scalar::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
            Scalar::Text(text) => text.trim().parse().ok(),
            Scalar::Number(_) | Scalar::Truth(_) => None,
        }
    }

    fn truth(&self) -> Option<bool> {
        match &self.value {
            Scalar::Truth(truth) => Some(*truth),
            Scalar::Whole(0) => Some(false),
            Scalar::Whole(1) => Some(true),
            Scalar::Text(text) => text.trim().to_ascii_lowercase().parse().ok(),
            Scalar::Whole(_) | Scalar::Number(_) => None,
        }
    }
}
