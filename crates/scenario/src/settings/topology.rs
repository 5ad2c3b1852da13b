//! Nodes and links.

use mario_domain::{Capacity, NodeId, OwnerId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{Degrees, Depth, GridSize, NodeCount, Share, Units};
use super::{Facts, Positive, Time, WrittenCapacity, WrittenId, read_by_kind, units};

/// Nodes and links.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySettings {
    /// A tree over a square grid of access points: four neighbours share a parent, up to the cloud.
    TiledTree(TiledTreeSettings),
    /// A tree in which every node but the deepest has equally many children.
    Tree(TreeSettings),
    /// A grid in which every node has a link to the nodes beside it.
    Grid(GridSettings),
    /// Nodes at random positions, linked when they are close.
    RandomGeometric(RandomGeometricSettings),
    /// Nodes that join one after the other, by preferential attachment.
    BarabasiAlbert(BarabasiAlbertSettings),
    /// A file.
    File(TopologyFileSettings),
}

read_by_kind!(TopologySettings {
    "tiled-tree" => TiledTree(TiledTreeSettings),
    "tree" => Tree(TreeSettings),
    "grid" => Grid(GridSettings),
    "random-geometric" => RandomGeometric(RandomGeometricSettings),
    "barabasi-albert" => BarabasiAlbert(BarabasiAlbertSettings),
    "file" => File(TopologyFileSettings),
});

/// A tree over a square grid of access points. A grid of 2^k × 2^k has L = k + 1 levels, from 0, the cloud, to k.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TiledTreeSettings {
    /// How many access points there are in each direction; a power of two.
    #[schemars(with = "GridSize")]
    pub size: u32,
    /// The hardware of the cloud.
    #[schemars(with = "WrittenCapacity")]
    pub cloud_hardware: Capacity,
    /// Level l between cloud and access points has L − l times this hardware.
    #[schemars(with = "Units")]
    pub hardware_step: u64,
    /// The hardware of an access point.
    #[schemars(with = "WrittenCapacity")]
    pub access_hardware: Capacity,
    /// The link from level l down to l + 1 has L − l − 1 times this latency.
    pub latency_step: Time,
    /// The latency of the link to an access point; as any other link unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_latency: Option<Time>,
    /// The hardware of each level, from the cloud down, instead of the three keys above.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<WrittenCapacity>>")]
    pub hardware: Option<Vec<Capacity>>,
    /// The latency of the links below each level, from the cloud down, instead of the two keys above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Vec<Time>>,
    /// What the grid covers.
    pub area: AreaSettings,
}

/// A rectangle on the map, by two of its corners, each latitude and longitude in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AreaSettings {
    /// The corner with the least latitude and longitude.
    #[schemars(with = "[Degrees; 2]")]
    pub south_west: [f64; 2],
    /// The corner with the greatest latitude and longitude.
    #[schemars(with = "[Degrees; 2]")]
    pub north_east: [f64; 2],
}

/// A tree in which every node but the deepest has equally many children. The leaves are access points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSettings {
    /// How many levels there are below the cloud.
    #[schemars(with = "Depth")]
    pub depth: u32,
    /// How many children a node has.
    #[schemars(with = "NodeCount")]
    pub fan_out: u32,
    /// The hardware of each level, from the cloud down; the last given is that of all levels below.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of the links below each level, from the cloud down; the last given is that of all below.
    pub latency: Vec<Time>,
    /// Where the access points are.
    pub area: AreaSettings,
}

/// A grid in which every node has a link to the nodes beside it. The node in the middle is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridSettings {
    /// How many nodes there are from south to north.
    #[schemars(with = "NodeCount")]
    pub height: u32,
    /// How many nodes there are from west to east.
    #[schemars(with = "NodeCount")]
    pub width: u32,
    /// The hardware of the nodes of each tier, from the hub outwards; the last holds for all tiers beyond.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link, whatever its length.
    pub latency: Time,
    /// What each kilometre adds to the latency of a link.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// Where the nodes are.
    pub area: AreaSettings,
}

/// Nodes at random positions, linked when they are close. The node closest to the middle is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomGeometricSettings {
    /// How many nodes there are.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// Nodes within this distance are linked, in metres. Parts that remain disconnected are linked where they are
    /// closest.
    pub radius: Positive,
    /// The hardware of the nodes of each tier, from the hub outwards; the last holds for all tiers beyond.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link, whatever its length.
    pub latency: Time,
    /// What each kilometre adds to the latency of a link.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// Where the nodes are.
    pub area: AreaSettings,
}

/// Nodes that join one after the other, by preferential attachment. The node with most links is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarabasiAlbertSettings {
    /// How many nodes there are.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// The number of links of a joining node.
    #[schemars(with = "NodeCount")]
    pub links: u32,
    /// The hardware of the nodes of each tier, from the hub outwards; the last holds for all tiers beyond.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link, whatever its length.
    pub latency: Time,
    /// What each kilometre adds to the latency of a link.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// Where the nodes are.
    pub area: AreaSettings,
}

/// A graph from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopologyFileSettings {
    /// The path of the file, from the directory of the scenario.
    pub file: String,
    /// What is in it; told by the ending of its name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<GraphFormat>,
    /// The hardware of nodes whose hardware the file does not tell.
    #[serde(default = "one_unit")]
    #[schemars(with = "WrittenCapacity")]
    pub hardware: Capacity,
    /// The latency of links whose latency the file does not tell.
    #[serde(default = "one_millisecond")]
    pub latency: Time,
    /// Which nodes are access points when the file marks none.
    #[serde(default)]
    pub access_points: UnmarkedKind,
    /// The place, latitude and longitude, from which the attributes `x` and `y` of nodes count metres east and north; unless
    /// given, they are facts like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[Degrees; 2]>")]
    pub origin: Option<[f64; 2]>,
}

/// Which nodes are access points when a file marks none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmarkedKind {
    /// Those with one link; all where there are none such.
    #[default]
    Leaves,
    /// All.
    All,
    /// None.
    None,
}

fn one_unit() -> Capacity {
    units(1)
}

fn one_millisecond() -> Time {
    Time::of(1.0)
}

/// What the hub, the nodes around it and those farther out have.
fn mesh_hardware() -> Vec<Capacity> {
    vec![Capacity::Unbounded, units(6), units(1)]
}

/// What is in a file with a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// `GraphML`.
    Graphml,
    /// GEXF.
    Gexf,
    /// GML.
    Gml,
    /// Node-link JSON of networkx.
    NodeLink,
}

/// What nodes have that the topology does not give them, from the columns of a table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeTableSettings {
    /// The path of the table, from the directory of the scenario: CSV with a column `id` or `node`, and perhaps `capacity` or
    /// `hardware`. Each other column is a fact of the node, `fact(Node, Column, Value)`; an empty field says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Which of the other columns are facts; all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<String>>,
}

impl NodeTableSettings {
    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        *self == NodeTableSettings::default()
    }
}

/// What one node has that the topology does not give it. What is not given stays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// Which node.
    #[schemars(with = "WrittenId")]
    pub id: NodeId,
    /// All the hardware it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenCapacity>")]
    pub capacity: Option<Capacity>,
    /// Its manager's own policy: the name of a shipped one or the path of a `.pl` file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// Who owns it: `fact(Node, owner, Owner)` in a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// What else is known about it: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, WrittenId>")]
    pub facts: Facts,
}

/// What some nodes have that the topology does not give them. They are chosen by their tier, by a pattern of their names, or
/// by both. What is not given stays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodesSettings {
    /// The nodes of this tier: its number, from the top down, or its name in `tiers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierChoice>,
    /// The nodes whose ids match this, where `*` stands for any characters and `?` for one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// All the hardware each of them has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenCapacity>")]
    pub capacity: Option<Capacity>,
    /// Their managers' own policy: the name of a shipped one or the path of a `.pl` file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// Who owns them: `fact(Node, owner, Owner)` in a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// What else is known about each of them: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, WrittenId>")]
    pub facts: Facts,
}

/// A tier of nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TierChoice {
    /// How far it is from the top.
    Number(#[schemars(with = "super::range::TierNumber")] u16),
    /// Its name in `tiers`.
    Name(String),
}

impl TopologySettings {
    /// What the topology covers, where its settings say so.
    pub fn area(&self) -> Option<AreaSettings> {
        match self {
            TopologySettings::TiledTree(settings) => Some(settings.area),
            TopologySettings::Tree(settings) => Some(settings.area),
            TopologySettings::Grid(settings) => Some(settings.area),
            TopologySettings::RandomGeometric(settings) => Some(settings.area),
            TopologySettings::BarabasiAlbert(settings) => Some(settings.area),
            TopologySettings::File(_) => None,
        }
    }
}

impl Default for TopologySettings {
    fn default() -> TopologySettings {
        TopologySettings::TiledTree(TiledTreeSettings::default())
    }
}

impl Default for TiledTreeSettings {
    fn default() -> TiledTreeSettings {
        TiledTreeSettings {
            size: 8,
            cloud_hardware: Capacity::Unbounded,
            hardware_step: 3,
            access_hardware: units(1),
            latency_step: Time::of(1.0),
            access_latency: None,
            hardware: None,
            latency: None,
            area: AreaSettings::default(),
        }
    }
}

impl Default for AreaSettings {
    /// Four by four kilometres of Rome.
    fn default() -> AreaSettings {
        AreaSettings { south_west: [41.880_613_593, 12.456_435_37], north_east: [41.916_586_407, 12.504_764_63] }
    }
}

impl Default for TreeSettings {
    fn default() -> TreeSettings {
        TreeSettings {
            depth: 3,
            fan_out: 4,
            hardware: vec![Capacity::Unbounded, units(9), units(6), units(1)],
            latency: [3.0, 2.0, 3.0].map(Time::of).to_vec(),
            area: AreaSettings::default(),
        }
    }
}

impl Default for GridSettings {
    fn default() -> GridSettings {
        GridSettings {
            height: 8,
            width: 8,
            hardware: mesh_hardware(),
            latency: Time::of(1.0),
            latency_per_km: Time::of(1.0),
            access_share: 0.75,
            area: AreaSettings::default(),
        }
    }
}

impl Default for RandomGeometricSettings {
    fn default() -> RandomGeometricSettings {
        RandomGeometricSettings {
            nodes: 64,
            radius: Positive::of(1_000.0),
            hardware: mesh_hardware(),
            latency: Time::of(1.0),
            latency_per_km: Time::of(1.0),
            access_share: 0.75,
            area: AreaSettings::default(),
        }
    }
}

impl Default for BarabasiAlbertSettings {
    fn default() -> BarabasiAlbertSettings {
        BarabasiAlbertSettings {
            nodes: 64,
            links: 2,
            hardware: mesh_hardware(),
            latency: Time::of(1.0),
            latency_per_km: Time::of(1.0),
            access_share: 0.75,
            area: AreaSettings::default(),
        }
    }
}
