//! The content of a scenario file, with all defaults filled in.
//!
//! [`Settings`] is what a run stores of its scenario: written out and read again, it is the same scenario.

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
pub(crate) use number::shown;
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

/// The keys that hold lists of tables. They grow from layer to layer, where everything else is replaced.
pub(crate) const LISTS: [&str; 8] = ["application", "nodes", "node", "user", "deploy", "update", "churn", "failures"];

/// What a scenario file says, with all defaults filled in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "A scenario of mario")]
pub struct Settings {
    /// What people call the scenario.
    pub name: String,
    /// What everything random is drawn from.
    #[schemars(with = "range::Seed")]
    pub seed: u64,
    /// When the run ends; what is due at this very moment does not happen.
    pub duration: Time,
    /// Nodes and links.
    pub topology: TopologySettings,
    /// What the tiers are called, from the top down, for figures; they count if there is one for each tier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<String>,
    /// What nodes of a tier, or with names of a pattern, have that the topology does not give them. What comes later takes the
    /// place of what came before, and what `[[node]]` says of a single node that of all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodesSettings>,
    /// What nodes have that the topology does not give them, from the columns of a table.
    #[serde(skip_serializing_if = "NodeTableSettings::is_empty")]
    pub node_table: NodeTableSettings,
    /// What single nodes have that the topology does not give them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<NodeSettings>,
    /// What is run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<ApplicationSettings>,
    /// Applications that are drawn from the seed, beside those that are listed.
    #[serde(skip_serializing_if = "DrawnApplications::are_none")]
    pub applications: DrawnApplications,
    /// When agents evaluate.
    pub agents: AgentSettings,
    /// When managers judge, and what they accept.
    pub managers: ManagerSettings,
    /// When users send client requests, and to which application.
    pub workload: WorkloadSettings,
    /// What single users do that differs from the workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user: Vec<UserSettings>,
    /// Where users are.
    pub mobility: MobilitySettings,
    /// How messages travel.
    pub network: NetworkSettings,
    /// What agents see of their clients' requests.
    pub observation: ObservationSettings,
    /// Which instance a client request goes to.
    pub routing: RoutingSettings,
    /// Who manages.
    pub management: ManagementSettings,
    /// How requests to manage are judged.
    pub arbitration: ArbitrationSettings,
    /// How long agents remember what was inhibited.
    pub memory: MemorySettings,
    /// Which numbers instances get.
    pub numbering: NumberingSettings,
    /// What operators deploy. An application that is not named here starts as one instance on its home.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deploy: Vec<DeploySettings>,
    /// Policies that agents get in the course of the run, in place of the one before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub update: Vec<UpdateSettings>,
    /// What goes wrong, event by event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub churn: Vec<ChurnSettings>,
    /// What goes wrong at random.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSettings>,
    /// When an operator redeploys an application that users want and that has no instance left.
    pub redeploy: RedeploySettings,
    /// What is measured beside the usual figures.
    #[serde(skip_serializing_if = "MeasureSettings::is_empty")]
    pub measures: MeasureSettings,
    /// The power of nodes and the energy of links.
    #[serde(skip_serializing_if = "EnergySettings::is_empty")]
    pub energy: EnergySettings,
    /// What hardware and traffic cost.
    #[serde(skip_serializing_if = "PriceSettings::is_empty")]
    pub price: PriceSettings,
    /// The carbon intensity of electricity.
    #[serde(skip_serializing_if = "CarbonSettings::is_empty")]
    pub carbon: CarbonSettings,
    /// The moment of a recorded run that this one resumes from. `mario snapshot` writes it.
    #[serde(skip_serializing_if = "StartSettings::is_none")]
    pub start: StartSettings,
    /// Texts of files that other keys name, by the path that is written there. They are read from here, and not from the disk.
    #[serde(skip_serializing_if = "CarriedFiles::is_empty")]
    pub files: CarriedFiles,
    /// How much the run may cost.
    #[serde(skip_serializing_if = "LimitSettings::are_default")]
    pub limits: LimitSettings,
}

/// When agents evaluate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// Agents of instances that are deployed before this time exist from this time on.
    pub start: Time,
    /// The time between two evaluations of an agent, and before its first.
    pub period: Period,
    /// The budget of one decision of an agent, in inferences. A policy that needs more fails to answer, and its agent
    /// does nothing. Without it, 10,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<range::Inferences>")]
    pub budget: Option<u64>,
}

/// When managers judge, and what they accept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ManagerSettings {
    /// The time between two activations; the first is at 0.
    pub period: Period,
    /// The managers' own policy: the name of a shipped one or the path of a `.pl` file. Without it, whatever fits is
    /// accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// How many evaluations an agent has left when the owner of its node announces that its instance is evicted: `leave/2` in a
    /// policy. Without it, 3.
    #[serde(skip_serializing_if = "ManagerSettings::is_usual_notice")]
    #[schemars(with = "range::Notice")]
    pub notice: u32,
}

/// How messages travel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// The size of a client request, in units of which `bandwidth` counts how many a link takes in one unit of time.
    pub message_size: Size,
    /// What each link takes in one unit of time; without it, sending takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Positive>,
    /// Whether messages are sent individually.
    pub fidelity: FidelityKind,
    /// How long a message occupies a link.
    pub occupancy: OccupancyKind,
    /// How long an instance takes to serve one client request, unless its application says otherwise.
    pub service_time: Time,
}

/// Whether messages are sent individually.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FidelityKind {
    /// They are.
    #[default]
    Messages,
    /// They are counted: traffic is rates, and a run costs what changes in it.
    Flow,
}

/// How long a message occupies a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OccupancyKind {
    /// Until it has arrived: a link carries one message at a time.
    Latency,
    /// Until it has been sent: its size over the bandwidth of the link.
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
    /// The default notice of owners.
    const NOTICE: u32 = 3;

    /// Whether the notice of owners is the default.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
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

/// Reads an enum whose tables state their variant in `kind`. serde's own support buffers the table first, which loses
/// its place in the file. Without a kind, such a table is of the first kind that is listed, unless a kind is required.
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

/// How a capacity is written.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes, and is never made")]
enum WrittenCapacity {
    Units(range::Units),
    Kinds(WrittenKinds),
    Unbounded(UnboundedWord),
}

/// How hardware that an application needs is written.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes, and is never made")]
enum WrittenHardware {
    Units(range::Units),
    Kinds(WrittenKinds),
}

/// Hardware of several kinds. What is not named is 0.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it describes, and is never made")]
struct WrittenKinds {
    /// Units, the first kind: what `service/4` and `node/2` show.
    units: Option<range::Units>,
    /// Bandwidth to the network, in megabits per second.
    bandwidth_mbps: Option<range::Units>,
    /// Graphics processors.
    gpu: Option<range::Units>,
    /// Memory, in megabytes.
    memory_mb: Option<range::Units>,
    /// Storage, in gigabytes.
    storage_gb: Option<range::Units>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code, reason = "it describes, and is never made")]
enum UnboundedWord {
    Unbounded,
}

/// How an id is written.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes, and is never made")]
enum WrittenId {
    Name(String),
    Number(i64),
}

/// This many units.
const fn units(units: u64) -> Capacity {
    Capacity::units(units)
}
