//! The figures of a run as a flat list of numbers, each with a name: what is averaged, compared and put into tables.

mod extras;

use std::collections::BTreeMap;

use crate::figures::{GroupFigures, RunFigures};

/// One number of a group of applications.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Measure {
    /// Mean response time, in units of time.
    Response,
    /// Rate over what an instance handles.
    ServiceUsage,
    /// Accepted replications.
    Replicate,
    /// Accepted migrations.
    Migrate,
    /// Accepted undeploys.
    Undeploy,
    /// Inhibited proposals.
    Inhibited,
    /// Replications for every movement.
    ReplicatePerMovement,
    /// Migrations for every movement.
    MigratePerMovement,
    /// Undeploys for every movement.
    UndeployPerMovement,
    /// Mean number of instances.
    InstancesMean,
    /// Greatest number of instances.
    InstancesMax,
    /// Correlation of movements and operations by step, without the first step.
    PearsonR,
    /// The same with the first step.
    PearsonRWithStart,
    /// Cycles to a steady state, mean.
    CyclesMean,
    /// Cycles to a steady state, at most.
    CyclesMax,
    /// Handovers, arrivals and departures.
    Movements,
}

pub use extras::{Extra, METRIC, extra, measured_values};

/// One number of a run: of a group, or of the run as a whole.
pub type Values = BTreeMap<String, Option<f64>>;

impl Measure {
    /// All of them, in the order of tables.
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

    /// Those that policies are compared by. Ratios to movements are left out: the movements are those of the seed, so that a
    /// ratio says again what the count says, and a figure that is tested twice makes all others harder to prove.
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

    /// Its name in files.
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

    /// What a person calls it.
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

    /// How many decimals are worth showing.
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

    /// Its value for a group.
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

/// The name of the number of client requests that were lost.
pub const LOST: &str = "lost";

/// The name of a measure of a group in files.
pub fn key(group: &str, measure: Measure) -> String {
    format!("{group}.{}", measure.as_str())
}

/// Whether figures can be called so: `GROUP.FIGURE`, `lost`, or what is measured beside those.
pub fn is_name(name: &str) -> bool {
    let measure = name.rsplit_once('.').map(|(_, measure)| measure);
    name == LOST
        || extra(name).is_some()
        || measure.is_some_and(|name| Measure::ALL.iter().any(|measure| measure.as_str() == name))
}

/// The names of groups that a list of values is about, `all` first.
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

/// All numbers of a run by name.
pub fn values(figures: &RunFigures) -> Values {
    let mut values = Values::new();
    for group in &figures.groups {
        for measure in Measure::ALL {
            // Applications whose kind is called `all` are among all.
            values.entry(key(&group.group, measure)).or_insert_with(|| measure.of(group));
        }
    }
    values.insert(LOST.to_owned(), Some(figures.lost as f64));
    values
}

impl From<mario_simulator::Figures> for RunFigures {
    /// The same figures as the simulator counted them, for runs that leave no trace.
    fn from(counted: mario_simulator::Figures) -> RunFigures {
        let json = serde_json::to_value(&counted).expect("figures are plain data");
        serde_json::from_value(json).expect("both have the same names")
    }
}
