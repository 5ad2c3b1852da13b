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
    /// A grid in which every node is linked to its neighbours.
    Grid(GridSettings),
    /// Nodes at random positions, linked when they are close.
    RandomGeometric(RandomGeometricSettings),
    /// Nodes that join one by one, by preferential attachment.
    BarabasiAlbert(BarabasiAlbertSettings),
    /// A graph from a file.
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
    /// The number of access points in each direction; a power of two.
    #[schemars(with = "GridSize")]
    pub size: u32,
    /// The hardware of the cloud.
    #[schemars(with = "WrittenCapacity")]
    pub cloud_hardware: Capacity,
    /// The hardware of level l between cloud and access points is L − l times this.
    #[schemars(with = "Units")]
    pub hardware_step: u64,
    /// The hardware of an access point.
    #[schemars(with = "WrittenCapacity")]
    pub access_hardware: Capacity,
    /// The latency of a link from level l to l + 1 is L − l − 1 times this.
    pub latency_step: Time,
    /// The latency of the links to access points. Default: as given by `latency_step`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_latency: Option<Time>,
    /// The hardware of each level, from the cloud down, instead of `cloud_hardware`, `hardware_step` and
    /// `access_hardware`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<WrittenCapacity>>")]
    pub hardware: Option<Vec<Capacity>>,
    /// The latency of the links below each level, from the cloud down, instead of `latency_step` and `access_latency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Vec<Time>>,
    /// The area of the grid.
    pub area: AreaSettings,
}

/// A rectangle on the map, by two of its corners, each latitude and longitude in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AreaSettings {
    /// The corner with the lowest latitude and longitude.
    #[schemars(with = "[Degrees; 2]")]
    pub south_west: [f64; 2],
    /// The corner with the highest latitude and longitude.
    #[schemars(with = "[Degrees; 2]")]
    pub north_east: [f64; 2],
}

/// A tree in which every node but the deepest has equally many children. The leaves are access points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSettings {
    /// The number of levels below the cloud.
    #[schemars(with = "Depth")]
    pub depth: u32,
    /// The number of children of a node.
    #[schemars(with = "NodeCount")]
    pub fan_out: u32,
    /// The hardware of each level, from the cloud down; the last value applies to all further levels.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of the links below each level, from the cloud down; the last value applies to all further levels.
    pub latency: Vec<Time>,
    /// The area of the access points.
    pub area: AreaSettings,
}

/// A grid in which every node is linked to its neighbours. The node in the middle is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridSettings {
    /// The number of nodes from south to north.
    #[schemars(with = "NodeCount")]
    pub height: u32,
    /// The number of nodes from west to east.
    #[schemars(with = "NodeCount")]
    pub width: u32,
    /// The hardware of the nodes of each tier, from the hub outwards; the last value applies to all further tiers.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// Nodes at random positions, linked when they are close. The node closest to the middle is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomGeometricSettings {
    /// The number of nodes.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// Nodes within this distance are linked, in metres. Parts that remain disconnected are linked where they are
    /// closest.
    pub radius: Positive,
    /// The hardware of the nodes of each tier, from the hub outwards; the last value applies to all further tiers.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// Nodes that join one by one, by preferential attachment. The node with the most links is the hub.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarabasiAlbertSettings {
    /// The number of nodes.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// The number of links of a joining node.
    #[schemars(with = "NodeCount")]
    pub links: u32,
    /// The hardware of the nodes of each tier, from the hub outwards; the last value applies to all further tiers.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1: those farthest from the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// A graph from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopologyFileSettings {
    /// The path of the file, relative to the scenario.
    pub file: String,
    /// The format of the file. Default: detected by the extension of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<GraphFormat>,
    /// The hardware of nodes without hardware in the file.
    #[serde(default = "one_unit")]
    #[schemars(with = "WrittenCapacity")]
    pub hardware: Capacity,
    /// The latency of links without latency in the file.
    #[serde(default = "one_millisecond")]
    pub latency: Time,
    /// Which nodes are access points if the file marks none.
    #[serde(default)]
    pub access_points: UnmarkedKind,
    /// The origin, latitude and longitude, of the metres east and north in the attributes `x` and `y` of nodes. Without
    /// it, `x` and `y` are facts like any other attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[Degrees; 2]>")]
    pub origin: Option<[f64; 2]>,
}

/// Which nodes are access points if a file marks none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmarkedKind {
    /// Nodes with one link; all nodes if there are none.
    #[default]
    Leaves,
    /// All nodes.
    All,
    /// No nodes.
    None,
}

fn one_unit() -> Capacity {
    units(1)
}

fn one_millisecond() -> Time {
    Time::of(1.0)
}

/// The default hardware of the hub, of its neighbours, and of all other nodes.
fn mesh_hardware() -> Vec<Capacity> {
    vec![Capacity::Unbounded, units(6), units(1)]
}

/// The format of a file with a graph.
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

/// Settings of nodes from the columns of a table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeTableSettings {
    /// The path of the table, relative to the scenario: CSV with a column `id` or `node`, and optionally `capacity`,
    /// `hardware` or `units`, and kinds of hardware such as `memory_mb`. Each other column is a fact of the node,
    /// `fact(Node, Column, Value)`; empty fields are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The other columns that are facts. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<String>>,
}

impl NodeTableSettings {
    /// Whether nothing is configured.
    pub(super) fn is_empty(&self) -> bool {
        *self == NodeTableSettings::default()
    }
}

/// Settings of one node. Omitted keys do not change it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// The id of the node.
    #[schemars(with = "WrittenId")]
    pub id: NodeId,
    /// The total hardware of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenCapacity>")]
    pub capacity: Option<Capacity>,
    /// Its manager's own policy: the name of a shipped one or the path of a `.pl` file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The owner of the node: `fact(Node, owner, Owner)` in a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// Further facts about the node: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, WrittenId>")]
    pub facts: Facts,
}

/// Settings of a group of nodes, chosen by tier, by a pattern of names, or by both. Omitted keys do not change them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodesSettings {
    /// The tier of the nodes: its number, from the top down, or its name in `tiers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierChoice>,
    /// A pattern that the ids of the nodes match, where `*` stands for any characters and `?` for one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The total hardware of each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenCapacity>")]
    pub capacity: Option<Capacity>,
    /// Their managers' own policy: the name of a shipped one or the path of a `.pl` file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The owner of the nodes: `fact(Node, owner, Owner)` in a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// Further facts about each of them: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, WrittenId>")]
    pub facts: Facts,
}

/// A tier of nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TierChoice {
    /// Its distance from the top.
    Number(#[schemars(with = "super::range::TierNumber")] u16),
    /// Its name in `tiers`.
    Name(String),
}

impl TopologySettings {
    /// The area of the topology, if its settings have one.
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
