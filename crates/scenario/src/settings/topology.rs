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
    /// A tree over a square grid of access points: on each level, four adjacent nodes share a parent, up to the cloud.
    /// A grid of 2^k × 2^k access points has L = k + 1 levels, from 0, the cloud, to k.
    TiledTree(TiledTreeSettings),
    /// A tree in which all nodes except the leaves have the same number of children. The leaves are access points.
    Tree(TreeSettings),
    /// A grid in which every node is linked to its neighbours. The node in the middle is the hub, which is the cloud.
    Grid(GridSettings),
    /// Nodes at random positions, linked if they are close. The node closest to the middle is the hub, which is the
    /// cloud.
    RandomGeometric(RandomGeometricSettings),
    /// Nodes that join one by one, by preferential attachment. The node with the most links is the hub, which is the
    /// cloud.
    BarabasiAlbert(BarabasiAlbertSettings),
    /// A graph that is read from a file.
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

/// A tree over a square grid of access points. A grid of 2^k × 2^k access points has L = k + 1 levels, from 0, the
/// cloud, to k.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TiledTreeSettings {
    /// The number of access points in each direction; a power of two.
    #[schemars(with = "GridSize")]
    pub size: u32,
    /// The hardware of the cloud.
    #[schemars(with = "WrittenCapacity")]
    pub cloud_hardware: Capacity,
    /// The hardware of a node on level l, between the cloud and the access points, is L − l times this, in units.
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
    /// The hardware of a node on each level, from the cloud down. Replaces `cloud_hardware`, `hardware_step` and
    /// `access_hardware`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<WrittenCapacity>>")]
    pub hardware: Option<Vec<Capacity>>,
    /// The latency of the links below each level, from the cloud down. Replaces `latency_step` and `access_latency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Vec<Time>>,
    /// The area of the grid.
    pub area: AreaSettings,
}

/// A rectangle on the map, given by two of its corners.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AreaSettings {
    /// The corner with the lowest latitude and longitude: `[latitude, longitude]`, in degrees.
    #[schemars(with = "[Degrees; 2]")]
    pub south_west: [f64; 2],
    /// The corner with the highest latitude and longitude: `[latitude, longitude]`, in degrees.
    #[schemars(with = "[Degrees; 2]")]
    pub north_east: [f64; 2],
}

/// A tree in which all nodes except the leaves have the same number of children. The leaves are access points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSettings {
    /// The number of levels below the cloud.
    #[schemars(with = "Depth")]
    pub depth: u32,
    /// The number of children of each node that is not a leaf.
    #[schemars(with = "NodeCount")]
    pub fan_out: u32,
    /// The hardware of a node on each level, from the cloud down; the last value applies to all further levels.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of the links below each level, from the cloud down; the last value applies to all further levels.
    pub latency: Vec<Time>,
    /// The area of the tree.
    pub area: AreaSettings,
}

/// A grid in which every node is linked to its neighbours. The node in the middle is the hub, which is the cloud.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridSettings {
    /// The number of nodes from south to north.
    #[schemars(with = "NodeCount")]
    pub height: u32,
    /// The number of nodes from west to east.
    #[schemars(with = "NodeCount")]
    pub width: u32,
    /// The hardware of a node by its number of hops from the hub, starting with the hub; the last value applies to all
    /// nodes farther away.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1, rounded to at least one node: those with the most hops
    /// to the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// Nodes at random positions, linked if they are close. The node closest to the middle is the hub, which is the cloud.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomGeometricSettings {
    /// The number of nodes.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// The distance up to which two nodes are linked, in metres. Parts that remain disconnected are linked where they
    /// are closest.
    #[schemars(extend("x-quantity" = "metres"))]
    pub radius: Positive,
    /// The hardware of a node by its number of hops from the hub, starting with the hub; the last value applies to all
    /// nodes farther away.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1, rounded to at least one node: those with the most hops
    /// to the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// Nodes that join one by one, by preferential attachment. The node with the most links is the hub, which is the cloud.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarabasiAlbertSettings {
    /// The number of nodes.
    #[schemars(with = "NodeCount")]
    pub nodes: u32,
    /// The number of links with which a node joins; less than `nodes`.
    #[schemars(with = "NodeCount")]
    pub links: u32,
    /// The hardware of a node by its number of hops from the hub, starting with the hub; the last value applies to all
    /// nodes farther away.
    #[schemars(with = "Vec<WrittenCapacity>")]
    pub hardware: Vec<Capacity>,
    /// The latency of a link of length 0.
    pub latency: Time,
    /// The additional latency of a link per kilometre.
    pub latency_per_km: Time,
    /// The share of nodes that are access points, from 0 to 1, rounded to at least one node: those with the most hops
    /// to the hub.
    #[schemars(with = "Share")]
    pub access_share: f64,
    /// The area of the nodes.
    pub area: AreaSettings,
}

/// A graph that is read from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopologyFileSettings {
    /// The path of the file, relative to the directory of the scenario file.
    pub file: String,
    /// The format of the file. Default: detected from the extension of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<GraphFormat>,
    /// The hardware of nodes for which the file states none.
    #[serde(default = "one_unit")]
    #[schemars(with = "WrittenCapacity")]
    pub hardware: Capacity,
    /// The latency of links for which the file states none.
    #[serde(default = "one_millisecond")]
    pub latency: Time,
    /// Which nodes are access points if the file marks none.
    #[serde(default)]
    pub access_points: UnmarkedKind,
    /// The latitude and longitude, in degrees, of the origin of the attributes `x` and `y` of nodes, which are metres
    /// east and north of it. Without an origin, `x` and `y` are facts like any other attribute.
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

/// The format of a graph file.
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

/// Capacities and facts of nodes, from a table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeTableSettings {
    /// The path of a CSV file, relative to the directory of the scenario file. Its column `id` or `node` states the
    /// node, a column `capacity`, `hardware` or `units` the hardware units, and columns such as `memory_mb` other kinds
    /// of hardware. Each other column is a fact of the node, `fact(Node, Column, Value)`. Empty fields are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The columns that are facts. Default: all columns without another meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<String>>,
}

impl NodeTableSettings {
    /// Whether nothing is configured.
    pub(super) fn is_empty(&self) -> bool {
        *self == NodeTableSettings::default()
    }
}

/// Settings of a single node. Omitted keys change nothing.
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
    /// The acceptance policy of the node: the name of a shipped one or the path of a `.pl` file.
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

/// Settings of a group of nodes, selected by `tier`, by `match`, or by both. Other keys that are omitted change
/// nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodesSettings {
    /// The tier of the nodes: its number, from 0 at the top, or its name in `tiers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierChoice>,
    /// A pattern that the ids of the nodes match, where `*` stands for any characters and `?` for one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The total hardware of each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenCapacity>")]
    pub capacity: Option<Capacity>,
    /// The acceptance policy of each node: the name of a shipped one or the path of a `.pl` file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The owner of the nodes: `fact(Node, owner, Owner)` in a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// Further facts about each node: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, WrittenId>")]
    pub facts: Facts,
}

/// A tier of nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TierChoice {
    /// Its number, from 0 at the top.
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
