//! The content of a scenario file, with all defaults filled in.
//!
//! A run stores its scenario as serialized [`Settings`], from which the same scenario can be resolved again.

mod application;
mod churn;
mod city;
mod drawn;
mod limits;
mod measures;
mod mobility;
mod number;
mod range;
mod start;
mod strategies;
mod topology;
mod workload;

pub use application::{
    ApplicationSettings, CallOrderWord, CallSettings, DeploySettings, Facts, FlavourSettings, SleepSettings,
};
pub use churn::{ChurnSettings, FailureSettings, LinkDown, LinkUp, NodeDown, NodeJoin, NodeLeave, RedeploySettings};
pub use city::{CitySettings, PlaceSettings};
pub use drawn::{DrawnApplications, SortSettings};
pub use limits::LimitSettings;
pub use measures::{CarbonSettings, EnergySettings, MeasureSettings, PriceSettings, RegionSettings};
pub use mobility::{
    AfterKind, AttachKind, AttachmentSettings, BetweenKind, ClockKind, FileSettings, GeneratedSettings, MobilityFormat,
    MobilitySettings, StaticSettings,
};
pub(crate) use number::UNITS;
pub use number::{Amount, Limit, Period, Positive, Size, Time};
pub use start::{CarriedFiles, StartSettings, UpdateSettings};
pub use strategies::{
    ArbitrationSettings, ArbitrationStrategy, ManagementSettings, ManagementStrategy, MemorySettings, MemoryStrategy,
    NumberingSettings, NumberingStrategy, ObservationSettings, ObservationStrategy, RoutingMetric, RoutingSettings,
    RoutingStrategy,
};
pub use topology::{
    AreaSettings, BarabasiAlbertSettings, GraphFormat, GridSettings, NodeSettings, NodeTableSettings, NodesSettings,
    RandomGeometricSettings, TierChoice, TiledTreeSettings, TopologyFileSettings, TopologySettings, TreeSettings,
    UnmarkedKind,
};
pub use workload::{
    AssignmentKind, OnOffSettings, PeriodicSettings, Phase, PhaseWord, PoissonSettings, UserSettings, WorkloadSettings,
};

use mario_domain::Capacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys of the top-level lists of tables. Later layers extend these lists, and replace all other lists.
pub(crate) const LISTS: [&str; 8] = ["application", "nodes", "node", "user", "deploy", "update", "churn", "failures"];

/// The content of a scenario file, with all defaults filled in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "A scenario of mario")]
pub struct Settings {
    /// The name of the scenario.
    pub name: String,
    /// The seed of all random numbers.
    #[schemars(with = "range::Seed")]
    pub seed: u64,
    /// The time at which the run ends; above 0. Events at exactly this time do not happen.
    pub duration: Time,
    /// Nodes and links.
    pub topology: TopologySettings,
    /// The names of the tiers, from the top down, for `[[nodes]]` and for figures. Figures use them only if there are
    /// as many names as tiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<String>,
    /// Settings of groups of nodes, selected by tier, by a pattern for their ids, or by both. Later entries override
    /// earlier ones, `[node_table]` overrides `[[nodes]]`, and `[[node]]` overrides both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodesSettings>,
    /// Capacities and facts of nodes, from a table.
    #[serde(skip_serializing_if = "NodeTableSettings::is_empty")]
    pub node_table: NodeTableSettings,
    /// Settings of single nodes, which override `[[nodes]]` and `[node_table]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<NodeSettings>,
    /// The applications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<ApplicationSettings>,
    /// Random applications, in addition to those in `[[application]]`.
    #[serde(skip_serializing_if = "DrawnApplications::are_none")]
    pub applications: DrawnApplications,
    /// When agents evaluate, and the budget of a decision.
    pub agents: AgentSettings,
    /// When managers judge, which proposals they accept, and how early they announce evictions.
    pub managers: ManagerSettings,
    /// When users send client requests, and how users are assigned to applications.
    pub workload: WorkloadSettings,
    /// Settings of single users, which override `[workload]` and `[mobility]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user: Vec<UserSettings>,
    /// How users move.
    pub mobility: MobilitySettings,
    /// How client requests travel, and how long it takes to serve one.
    pub network: NetworkSettings,
    /// What agents observe of the client requests to their instances.
    pub observation: ObservationSettings,
    /// How the instance for a client request is chosen.
    pub routing: RoutingSettings,
    /// Which component decides on operations.
    pub management: ManagementSettings,
    /// How proposals are judged.
    pub arbitration: ArbitrationSettings,
    /// How long agents remember inhibitions.
    pub memory: MemorySettings,
    /// How instances are numbered.
    pub numbering: NumberingSettings,
    /// Deployments by operators. An application that no entry names is deployed on its home at time 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deploy: Vec<DeploySettings>,
    /// Changes of the agents' policies during the run. Only for the management strategy `agents`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub update: Vec<UpdateSettings>,
    /// Nodes and links that go down or come up, event by event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub churn: Vec<ChurnSettings>,
    /// Random crashes and repairs of nodes. Nodes with events in `[[churn]]` or in an earlier entry are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSettings>,
    /// Whether and when operators redeploy an application that users need and that has no instance left.
    pub redeploy: RedeploySettings,
    /// Measures in addition to the usual figures.
    #[serde(skip_serializing_if = "MeasureSettings::is_empty")]
    pub measures: MeasureSettings,
    /// The power of nodes and the energy of links.
    #[serde(skip_serializing_if = "EnergySettings::is_empty")]
    pub energy: EnergySettings,
    /// The prices of hardware and traffic.
    #[serde(skip_serializing_if = "PriceSettings::is_empty")]
    pub price: PriceSettings,
    /// The carbon intensity of electricity. Requires `[energy]`.
    #[serde(skip_serializing_if = "CarbonSettings::is_empty")]
    pub carbon: CarbonSettings,
    /// The recorded past that the run resumes from, as written by `mario snapshot`.
    #[serde(skip_serializing_if = "StartSettings::is_none")]
    pub start: StartSettings,
    /// Texts of files, by their paths as written in other keys of this file. They are used instead of the files on
    /// disk.
    #[serde(skip_serializing_if = "CarriedFiles::is_empty")]
    pub files: CarriedFiles,
    /// Limits on the estimated cost of the run.
    #[serde(skip_serializing_if = "LimitSettings::are_default")]
    pub limits: LimitSettings,
}

/// When agents evaluate, and the budget of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The agents of all instances that exist at this time start then. Agents that are created later start at once.
    pub start: Time,
    /// The time between two evaluations of an agent, and from its start to its first evaluation.
    pub period: Period,
    /// The maximum number of inferences for one decision of an agent. If the policy needs more, the decision fails, and
    /// the agent does nothing. Default: 10,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<range::Inferences>")]
    pub budget: Option<u64>,
}

/// When managers judge, which proposals they accept, and how early they announce evictions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ManagerSettings {
    /// The time between two activations of the managers, and from time 0 to the first. Deployments at time 0 are judged
    /// before the run starts.
    pub period: Period,
    /// The acceptance policy of all nodes for which neither `[[nodes]]` nor `[[node]]` sets one: the name of a shipped
    /// policy or the path of a `.pl` file. Without a policy, a manager accepts every proposal that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The number of evaluations that an agent has left when the owner of its node announces the eviction of its
    /// instance. The agent's policy sees the number in `leave/2`. Default: 3.
    #[serde(skip_serializing_if = "ManagerSettings::is_usual_notice")]
    #[schemars(with = "range::Notice")]
    pub notice: u32,
}

/// How client requests travel, and how long it takes to serve one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// The size of a client request, in size units of `energy.size_bits` bits, or with a unit such as `"10 kB"`.
    #[schemars(extend("x-quantity" = "size"))]
    pub message_size: Size,
    /// The bandwidth of links for which the topology file states none: with a unit such as `"100 Mbps"`, or as a number
    /// of size units per millisecond. A size unit has `energy.size_bits` bits, by default 8, so a number counts bytes
    /// per millisecond, and 12500 is 100 Mbps. Without it, sending over these links takes no time.
    #[schemars(extend("x-quantity" = "bandwidth"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Positive>,
    /// Whether messages are simulated individually.
    pub fidelity: FidelityKind,
    /// How long a message occupies a link.
    pub occupancy: OccupancyKind,
    /// The time that an instance takes to serve one client request, unless its application sets its own.
    pub service_time: Time,
}

/// Whether messages are simulated individually.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FidelityKind {
    /// Individually.
    #[default]
    Messages,
    /// As rates: the cost of a run depends on the number of changes, not on the number of messages. Requires the
    /// observation strategy `arrivals` and the routing strategy `nearest`.
    Flow,
}

/// How long a message occupies a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OccupancyKind {
    /// Until it has arrived: a link carries one message at a time.
    Latency,
    /// Until it has been sent: its size divided by the bandwidth of the link. Requires a bandwidth of every link, from the
    /// topology file or from `bandwidth`.
    Transmission,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            name: "scenario".to_owned(),
            seed: 1,
            duration: Time::of(52_000.0),
            topology: TopologySettings::default(),
            tiers: Vec::new(),
            nodes: Vec::new(),
            node_table: NodeTableSettings::default(),
            node: Vec::new(),
            application: Vec::new(),
            applications: DrawnApplications::default(),
            agents: AgentSettings::default(),
            managers: ManagerSettings::default(),
            workload: WorkloadSettings::default(),
            user: Vec::new(),
            mobility: MobilitySettings::default(),
            network: NetworkSettings::default(),
            observation: ObservationSettings::default(),
            routing: RoutingSettings::default(),
            management: ManagementSettings::default(),
            arbitration: ArbitrationSettings::default(),
            memory: MemorySettings::default(),
            numbering: NumberingSettings::default(),
            deploy: Vec::new(),
            update: Vec::new(),
            churn: Vec::new(),
            failures: Vec::new(),
            redeploy: RedeploySettings::default(),
            measures: MeasureSettings::default(),
            energy: EnergySettings::default(),
            price: PriceSettings::default(),
            carbon: CarbonSettings::default(),
            start: StartSettings::default(),
            files: CarriedFiles::new(),
            limits: LimitSettings::default(),
        }
    }
}

impl Default for AgentSettings {
    fn default() -> AgentSettings {
        AgentSettings { start: Time::of(100.0), period: Period::of(200.0), budget: None }
    }
}

impl Default for ManagerSettings {
    fn default() -> ManagerSettings {
        ManagerSettings { period: Period::of(100.0), acceptance: None, notice: ManagerSettings::NOTICE }
    }
}

impl ManagerSettings {
    /// The default of `notice`, in evaluations.
    const NOTICE: u32 = 3;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_usual_notice(notice: &u32) -> bool {
        *notice == ManagerSettings::NOTICE
    }
}

impl Default for NetworkSettings {
    fn default() -> NetworkSettings {
        NetworkSettings {
            message_size: Size::of(1.0),
            bandwidth: None,
            fidelity: FidelityKind::default(),
            occupancy: OccupancyKind::Latency,
            service_time: Time::of(0.01),
        }
    }
}

/// Implements `Deserialize` for an enum whose tables state their variant in `kind`. A derived implementation with a tag
/// would buffer the table first, and lose the places of its values. A table without a kind has the first kind, unless
/// the macro is called with `required`.
macro_rules! read_by_kind {
    (required $name:ident { $($rest:tt)* }) => { read_by_kind!("kind is required", $name { $($rest)* }); };
    ($name:ident { $($rest:tt)* }) => { read_by_kind!("kind", $name { $($rest)* }); };
    ($container:literal, $name:ident { $($word:literal => $variant:ident($inner:ty),)* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename = $container)]
                enum Written {
                    $(#[serde(rename = $word)] $variant($inner),)*
                }
                Ok(match Written::deserialize(deserializer)? {
                    $(Written::$variant(inner) => $name::$variant(inner),)*
                })
            }
        }
    };
}
use read_by_kind;

/// The ways to write a capacity.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum WrittenCapacity {
    Units(range::Units),
    Kinds(WrittenKinds),
    Unbounded(UnboundedWord),
}

/// The ways to write an application's hardware.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum WrittenHardware {
    Units(range::Units),
    Kinds(WrittenKinds),
}

/// Hardware of several kinds. Kinds that are not named are 0.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is used")]
struct WrittenKinds {
    /// Units, the kind of hardware that `service/4`, `node/2` and `node/3` show.
    units: Option<range::Units>,
    /// Network bandwidth, in megabits per second, or with a unit such as `"1 Gbps"`.
    #[schemars(extend("x-quantity" = "mbps"))]
    bandwidth_mbps: Option<range::Units>,
    /// Graphics processors.
    gpu: Option<range::Units>,
    /// Memory, in megabytes, or with a unit such as `"2 GB"`.
    #[schemars(extend("x-quantity" = "megabytes"))]
    memory_mb: Option<range::Units>,
    /// Storage, in gigabytes, or with a unit such as `"1 TB"`.
    #[schemars(extend("x-quantity" = "gigabytes"))]
    storage_gb: Option<range::Units>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code, reason = "only its schema is used")]
enum UnboundedWord {
    Unbounded,
}

/// The ways to write an id.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum WrittenId {
    Name(String),
    Number(i64),
}

const fn units(units: u64) -> Capacity {
    Capacity::units(units)
}
