//! The figures of a run as a flat list of named numbers, to be averaged, compared and tabulated.

mod extras;

use std::collections::BTreeMap;

use crate::figures::{GroupFigures, RunFigures};

/// A figure of a group of applications.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Measure {
    /// Mean response time, in milliseconds.
    Response,
    /// The mean ratio of the request rate at an instance to the rate that it can handle.
    ServiceUsage,
    /// Accepted replications.
    Replicate,
    /// Accepted migrations.
    Migrate,
    /// Accepted undeploys.
    Undeploy,
    /// Inhibited proposals.
    Inhibited,
    /// Replications per movement.
    ReplicatePerMovement,
    /// Migrations per movement.
    MigratePerMovement,
    /// Undeploys per movement.
    UndeployPerMovement,
    /// Mean number of instances.
    InstancesMean,
    /// Maximum number of instances.
    InstancesMax,
    /// Pearson's correlation of the number of movements and the number of changes of the placement per step, without
    /// the first step.
    PearsonR,
    /// The same correlation with the first step.
    PearsonRWithStart,
    /// Cycles to a steady state, mean.
    CyclesMean,
    /// Cycles to a steady state, maximum.
    CyclesMax,
    /// Handovers, arrivals and departures after the first step.
    Movements,
}

pub use extras::{ExtraMeasure, METRIC, UNANSWERED, extra, extra_names, measured_values};

/// The numbers of a run by name; `None` if undefined.
pub type Values = BTreeMap<String, Option<f64>>;

impl Measure {
    /// All measures, in the order of tables.
    pub const ALL: [Measure; 16] = [
        Measure::Response,
        Measure::ServiceUsage,
        Measure::Replicate,
        Measure::Migrate,
        Measure::Undeploy,
        Measure::Inhibited,
        Measure::ReplicatePerMovement,
        Measure::MigratePerMovement,
        Measure::UndeployPerMovement,
        Measure::InstancesMean,
        Measure::InstancesMax,
        Measure::PearsonR,
        Measure::PearsonRWithStart,
        Measure::CyclesMean,
        Measure::CyclesMax,
        Measure::Movements,
    ];

    /// The measures by which policies are compared. Ratios to movements are omitted: the seed determines the movements,
    /// so a ratio is redundant with the count, and testing both would only lower the power of all other tests.
    pub const COMPARED: [Measure; 8] = [
        Measure::Response,
        Measure::ServiceUsage,
        Measure::Replicate,
        Measure::Migrate,
        Measure::Undeploy,
        Measure::Inhibited,
        Measure::InstancesMean,
        Measure::CyclesMean,
    ];

    /// The name of the measure in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Measure::Response => "response",
            Measure::ServiceUsage => "service_usage",
            Measure::Replicate => "replicate",
            Measure::Migrate => "migrate",
            Measure::Undeploy => "undeploy",
            Measure::Inhibited => "inhibited",
            Measure::ReplicatePerMovement => "replicate_per_movement",
            Measure::MigratePerMovement => "migrate_per_movement",
            Measure::UndeployPerMovement => "undeploy_per_movement",
            Measure::InstancesMean => "instances_mean",
            Measure::InstancesMax => "instances_max",
            Measure::PearsonR => "pearson_r",
            Measure::PearsonRWithStart => "pearson_r_with_start",
            Measure::CyclesMean => "cycles_mean",
            Measure::CyclesMax => "cycles_max",
            Measure::Movements => "movements",
        }
    }

    /// The name shown to users.
    pub const fn title(self) -> &'static str {
        match self {
            Measure::Response => "response time",
            Measure::ServiceUsage => "service usage",
            Measure::Replicate => "replicate",
            Measure::Migrate => "migrate",
            Measure::Undeploy => "undeploy",
            Measure::Inhibited => "inhibited",
            Measure::ReplicatePerMovement => "replicate per movement",
            Measure::MigratePerMovement => "migrate per movement",
            Measure::UndeployPerMovement => "undeploy per movement",
            Measure::InstancesMean => "instances, mean",
            Measure::InstancesMax => "instances, at most",
            Measure::PearsonR => "r",
            Measure::PearsonRWithStart => "r with the start",
            Measure::CyclesMean => "cycles to steady state, mean",
            Measure::CyclesMax => "cycles to steady state, at most",
            Measure::Movements => "movements",
        }
    }

    /// The number of decimals to show.
    pub const fn decimals(self) -> usize {
        match self {
            Measure::Replicate
            | Measure::Migrate
            | Measure::Undeploy
            | Measure::Inhibited
            | Measure::InstancesMax
            | Measure::CyclesMax
            | Measure::Movements => 0,
            Measure::InstancesMean => 1,
            Measure::CyclesMean => 2,
            _ => 3,
        }
    }

    /// The value for a group; `None` if undefined.
    pub fn of(self, group: &GroupFigures) -> Option<f64> {
        let whole = |count: u64| Some(count as f64);
        match self {
            Measure::Response => group.response,
            Measure::ServiceUsage => group.service_usage,
            Measure::Replicate => whole(group.operations.replicate),
            Measure::Migrate => whole(group.operations.migrate),
            Measure::Undeploy => whole(group.operations.undeploy),
            Measure::Inhibited => whole(group.operations.inhibited),
            Measure::ReplicatePerMovement => group.per_movement.map(|ratios| ratios.replicate),
            Measure::MigratePerMovement => group.per_movement.map(|ratios| ratios.migrate),
            Measure::UndeployPerMovement => group.per_movement.map(|ratios| ratios.undeploy),
            Measure::InstancesMean => Some(group.instances.mean),
            Measure::InstancesMax => whole(group.instances.max),
            Measure::PearsonR => group.pearson_r,
            Measure::PearsonRWithStart => group.pearson_r_with_start,
            Measure::CyclesMean => group.cycles_to_steady_state.map(|cycles| cycles.mean),
            Measure::CyclesMax => group.cycles_to_steady_state.map(|cycles| cycles.max as f64),
            Measure::Movements => whole(group.movements),
        }
    }
}

/// The name of the number of lost client requests.
pub const LOST: &str = "lost";

/// The name in files of a measure of a group: `GROUP.MEASURE`.
pub fn key(group: &str, measure: Measure) -> String {
    format!("{group}.{}", measure.as_str())
}

/// Whether a name is a valid name of a figure: `GROUP.MEASURE` with any group, `lost`, or a name that [`extra`] knows.
pub fn is_name(name: &str) -> bool {
    let measure = name.rsplit_once('.').map(|(_, measure)| measure);
    name == LOST
        || extra(name).is_some()
        || measure.is_some_and(|name| Measure::ALL.iter().any(|measure| measure.as_str() == name))
}

/// The names of figures that may be meant by a wrong name: those of its group, or else of `all`, and of its application.
pub fn candidates(wrong: &str) -> Vec<String> {
    let of = wrong.rsplit_once('.').map_or("all", |(of, _)| of);
    let of_groups = Measure::ALL.iter().flat_map(|measure| [key(of, *measure), key("all", *measure)]);
    let id = of.strip_prefix("application/").unwrap_or("ID");
    let extras = extra_names().into_iter().map(|name| name.replacen("ID", id, 1));
    of_groups.chain([LOST.to_owned()]).chain(extras).collect()
}

/// The groups that the names of these values mention: `all` first, the others in reverse alphabetical order.
pub fn groups(values: &Values) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for name in values.keys() {
        if let Some((group, _)) = name.rsplit_once('.')
            && extra(name).is_none()
            && !groups.iter().any(|known| known == group)
        {
            groups.push(group.to_owned());
        }
    }
    groups.sort_by_key(|group| (group != "all", std::cmp::Reverse(group.clone())));
    groups
}

/// Returns the figures of all groups and the number of lost client requests, by name.
pub fn values(figures: &RunFigures) -> Values {
    let mut values = Values::new();
    for group in &figures.groups {
        for measure in Measure::ALL {
            values.insert(key(&group.group, measure), measure.of(group));
        }
    }
    values.insert(LOST.to_owned(), Some(figures.lost as f64));
    values
}

/// The number of client requests that were neither served nor lost, of a run in which `emitted` were sent.
pub fn unanswered(figures: &RunFigures, emitted: u64) -> f64 {
    emitted.saturating_sub(figures.served).saturating_sub(figures.lost) as f64
}

impl From<mario_simulator::Figures> for RunFigures {
    /// Converts the simulator's counts, for runs without a trace.
    fn from(counted: mario_simulator::Figures) -> RunFigures {
        let json = serde_json::to_value(&counted).expect("figures are plain data");
        serde_json::from_value(json).expect("both have the same names")
    }
}
