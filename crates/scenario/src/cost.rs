//! Estimates the cost of a run: from the settings alone before the world is built, and from the built world afterwards.
//!
//! The behaviour of agents is not known in advance, so the estimate is rough. It is meant to detect runs that would
//! take years, or more memory than any machine has. [docs/scenarios.md](../../../docs/scenarios.md) says how events are
//! counted. The bytes per item were measured in worlds of up to a million users, which used between half and twice the
//! estimated memory.

use std::collections::BTreeSet;
use std::fmt;

use mario_domain::Duration;
use serde::Serialize;

use crate::position::{Area, Position};
use crate::settings::{
    FidelityKind, ManagementStrategy, MobilitySettings, Phase, Settings, TopologySettings, WorkloadSettings,
};

/// The estimated cost of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cost {
    /// The number of events.
    pub events: f64,
    /// The memory in bytes.
    pub memory_bytes: f64,
}

/// A part of the cost, and the keys of the settings on which it depends.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Part {
    pub(crate) what: &'static str,
    pub(crate) cost: Cost,
    pub(crate) keys: &'static [&'static str],
}

/// The size of a world, either estimated from the settings or as built.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) nodes: f64,
    /// Each link counts once.
    pub(crate) links: f64,
    /// An estimate of the mean number of hops from an access point to the cloud.
    pub(crate) hops: f64,
    pub(crate) users: f64,
    /// The number of mobility steps.
    pub(crate) steps: f64,
    /// The number of stored changes of users' access points. 0 if movements are generated during the run.
    pub(crate) changes: f64,
    /// The mean number of requests that one client request causes, itself included.
    pub(crate) caused: f64,
}

const PROGRAM_BYTES: f64 = 25e6;
const NODE_BYTES: f64 = 3_000.0;
const LINK_BYTES: f64 = 200.0;
const USER_BYTES: f64 = 500.0;
const INSTANCE_BYTES: f64 = 600.0;
const CHANGE_BYTES: f64 = 16.0;
const STEP_BYTES: f64 = 24.0;
/// The bytes of the figures that a run records in each step for each group of applications, including their copy at the
/// end of the run.
const STEP_FIGURE_BYTES: f64 = 128.0;
/// The bytes of the figures that a run records in each activation of the managers for each group of applications.
const ACTIVATION_FIGURE_BYTES: f64 = 170.0;
/// The bytes of a queued client request.
const REQUEST_BYTES: f64 = 50.0;

impl Extent {
    /// Estimates the size from the settings alone. Files are not read: a topology or users from a file count as 0, and
    /// so do the users of the paper's experiment. Calls between applications are ignored.
    pub(crate) fn estimated(settings: &Settings) -> Extent {
        let (nodes, links, hops) = infrastructure(&settings.topology);
        let steps_in_run = steps_in_run(settings);
        let (users, steps, changes) = match &settings.mobility {
            MobilitySettings::Generated(users) => {
                let (count, steps) = (f64::from(users.users), f64::from(users.steps));
                (count, steps, count * steps)
            }
            MobilitySettings::City(users) => (f64::from(users.users), steps_in_run, 0.0),
            MobilitySettings::Static(users) => (f64::from(users.users), 1.0, f64::from(users.users)),
            MobilitySettings::File(_) | MobilitySettings::Attachments(_) | MobilitySettings::Recorded(_) => {
                (0.0, 0.0, 0.0)
            }
        };
        Extent { nodes, links, hops, users, steps, changes, caused: 1.0 }
    }
}

/// Estimates the number of nodes, the number of links, and the mean number of hops from an access point to the cloud.
fn infrastructure(topology: &TopologySettings) -> (f64, f64, f64) {
    match topology {
        TopologySettings::TiledTree(tree) => {
            let access_points = f64::from(tree.size).powi(2);
            let nodes = (access_points * 4.0 - 1.0) / 3.0;
            (nodes, nodes - 1.0, f64::from(tree.size.max(1).ilog2()))
        }
        TopologySettings::Tree(tree) => {
            let (fan_out, depth) = (f64::from(tree.fan_out), tree.depth.min(64));
            let nodes: f64 = (0..=depth).map(|level| fan_out.powi(level as i32)).sum();
            (nodes, nodes - 1.0, f64::from(depth))
        }
        TopologySettings::Grid(grid) => {
            let (height, width) = (f64::from(grid.height), f64::from(grid.width));
            (height * width, 2.0 * height * width, (height + width) / 4.0)
        }
        TopologySettings::RandomGeometric(drawn) => {
            let corner = |[latitude, longitude]: [f64; 2]| Position { latitude, longitude };
            let area = Area { south_west: corner(drawn.area.south_west), north_east: corner(drawn.area.north_east) };
            let (nodes, radius) = (f64::from(drawn.nodes), drawn.radius.value());
            let (height, width) = (area.height_m().abs(), area.width_m().abs());
            let hops = ((height + width) / 4.0 / radius).max(1.0).min(nodes);
            (nodes, drawn_links(nodes, radius, height, width), hops)
        }
        TopologySettings::BarabasiAlbert(drawn) => {
            let nodes = f64::from(drawn.nodes);
            (nodes, nodes * f64::from(drawn.links), nodes.max(2.0).log2())
        }
        TopologySettings::File(_) => (0.0, 0.0, 0.0),
    }
}

/// The expected number of links of a random geometric graph: the pairs of `nodes` random nodes in a rectangle that are
/// within `radius` of each other, but at least `nodes - 1`. Boundary effects are ignored.
fn drawn_links(nodes: f64, radius: f64, height: f64, width: f64) -> f64 {
    let (reach_north, reach_east) = ((2.0 * radius).min(height), (2.0 * radius).min(width));
    let area = height * width;
    let share =
        if area > 0.0 { (std::f64::consts::PI * radius * radius).min(reach_north * reach_east) / area } else { 1.0 };
    (nodes * (nodes - 1.0) / 2.0 * share.min(1.0)).max(nodes - 1.0)
}

fn steps_in_run(settings: &Settings) -> f64 {
    (settings.duration.span() / step(settings)).ceil().max(1.0)
}

/// The time between two mobility steps.
pub(crate) fn step(settings: &Settings) -> Duration {
    match &settings.mobility {
        MobilitySettings::Generated(users) => users.step.span(),
        MobilitySettings::City(users) => users.step.span(),
        MobilitySettings::File(users) => users.step.span(),
        MobilitySettings::Attachments(users) => users.step.span(),
        MobilitySettings::Recorded(users) => users.step.span(),
        MobilitySettings::Static(users) => users.step.span(),
    }
}

/// The cost of a run, divided into parts.
pub(crate) fn parts(settings: &Settings, extent: &Extent) -> Vec<Part> {
    let part = |what, keys, events, memory_bytes| Part { what, cost: Cost { events, memory_bytes }, keys };
    let Extent { nodes, links, users, .. } = *extent;
    let duration = settings.duration.value();
    let drawn = f64::from(settings.applications.count);
    let applications = settings.application.len() as f64 + drawn;
    let sorts = settings.applications.mix.iter().filter(|_| drawn > 0.0).map(|sort| &sort.kind);
    let kinds: BTreeSet<&String> = settings.application.iter().map(|listed| &listed.kind).chain(sorts).collect();
    let groups = (kinds.len() + 1) as f64;
    let instances = users.min(3.0 * nodes).max(applications);
    let activations = duration / settings.managers.period.value();
    let looked_at = match settings.management.strategy {
        ManagementStrategy::Agents | ManagementStrategy::EdgeFirstFit => 1.0,
        ManagementStrategy::CentralGreedy | ManagementStrategy::CentralExact => 1.0 + users + nodes,
    };
    let failures: f64 = (settings.failures.iter())
        .map(|failures| {
            let round = failures.mean_repair.map(|repair| failures.mean_time_between.value() + repair.value());
            nodes * round.map_or(1.0, |round| 2.0 * duration / round)
        })
        .sum();
    let figures = steps_in_run(settings) * groups * STEP_FIGURE_BYTES;
    let (requests, waiting) = requests(settings, extent, applications);
    vec![
        part("nodes and links", SIZE_KEYS, nodes + links, PROGRAM_BYTES + nodes * NODE_BYTES + links * LINK_BYTES),
        part("users", &["mobility.users"], users, users * USER_BYTES + instances * INSTANCE_BYTES),
        part(
            "steps of users",
            &["mobility.steps", "mobility.step", "mobility.users", "duration"],
            users * extent.steps,
            extent.changes * CHANGE_BYTES + extent.steps * STEP_BYTES,
        ),
        part("figures of steps", &["mobility.step", "duration"], steps_in_run(settings), figures),
        part(
            "activations of the managers",
            &["managers.period", "duration"],
            activations * looked_at,
            activations * groups * ACTIVATION_FIGURE_BYTES,
        ),
        part(
            "evaluations of agents",
            &["agents.period", "duration"],
            instances * (duration - settings.agents.start.value()).max(0.0) / settings.agents.period.value(),
            0.0,
        ),
        part(
            "client requests",
            &["workload.period", "workload.mean_on", "workload.mean_off", "mobility.users", "duration"],
            requests,
            waiting,
        ),
        part("failures", &["failures", "duration"], failures, failures * STEP_BYTES),
    ]
}

const SIZE_KEYS: &[&str] = &[
    "topology.size",
    "topology.depth",
    "topology.fan_out",
    "topology.height",
    "topology.width",
    "topology.nodes",
    "topology.links",
    "topology.radius",
    "topology.file",
];

/// The number of events that client requests cause, and the bytes of the requests that are queued at the end. With the
/// fidelity `flow`, requests are not simulated: only pauses of on-off workloads are counted, and nothing is queued.
fn requests(settings: &Settings, extent: &Extent, applications: f64) -> (f64, f64) {
    let duration = settings.duration.value();
    let (period, pauses) = match &settings.workload {
        WorkloadSettings::Periodic(workload) => (workload.period.value(), 0.0),
        WorkloadSettings::Poisson(workload) => (workload.period.value(), 0.0),
        WorkloadSettings::OnOff(workload) => {
            let round = workload.mean_on.value() + workload.mean_off.value();
            (workload.period.value(), workload.period.value() / round)
        }
    };
    let own = settings.user.iter().filter_map(|user| user.period);
    let own: f64 = own.map(|own| (1.0 / own.value() - 1.0 / period).max(0.0)).sum();
    let rate = extent.users / period + own;
    if settings.network.fidelity == FidelityKind::Flow {
        return (extent.users * pauses, 0.0);
    }
    let count = duration * rate * extent.caused;
    // Each request is sent, served, and forwarded once per hop. With on-off workloads, each pause is also an event.
    let events = count * (extent.hops + 2.0) + (count + extent.users) * pauses;
    // Assumes one instance of each application. If requests arrive faster than it serves them, the surplus is still
    // queued at the end.
    let load = settings.network.service_time.value() * rate * extent.caused / applications.max(1.0);
    (events, count * (1.0 - 1.0 / load.max(1.0)) * REQUEST_BYTES)
}

/// A lower bound on the time of the first client request under `[workload]`, in milliseconds. Settings in `[[user]]`
/// are ignored.
pub(crate) fn first_request(settings: &Settings) -> f64 {
    match &settings.workload {
        WorkloadSettings::Periodic(workload) => match workload.phase {
            Phase::After(phase) => phase.value(),
            Phase::Word(crate::settings::PhaseWord::Simultaneous) => workload.period.value(),
            Phase::Word(crate::settings::PhaseWord::Spread) => 0.0,
        },
        WorkloadSettings::Poisson(_) | WorkloadSettings::OnOff(_) => 0.0,
    }
}

impl Cost {
    pub(crate) fn of(parts: &[Part]) -> Cost {
        let sum = |of: fn(&Cost) -> f64| parts.iter().map(|part| of(&part.cost)).sum();
        Cost { events: sum(|cost| cost.events), memory_bytes: sum(|cost| cost.memory_bytes) }
    }

    /// Whether the cost exceeds 10^9 events or 4 GB. Such a cost is reported to the user before the run.
    pub fn is_large(&self) -> bool {
        const EVENTS: f64 = 1e9;
        const BYTES: f64 = 4e9;
        self.events > EVENTS || self.memory_bytes > BYTES
    }
}

/// A number as text, rounded to two significant digits or, below 10, to an integer. Uses words such as `million`, and
/// scientific notation from 10^15 on.
pub(crate) fn about(number: f64) -> String {
    const WORDS: [(f64, &str); 3] = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
    if number >= 1e15 {
        return format!("{number:.1e}");
    }
    let scale = if number >= 10.0 { 10_f64.powf(number.log10().floor() - 1.0) } else { 1.0 };
    let rounded = (number / scale).round() * scale;
    match WORDS.into_iter().find(|(size, _)| rounded >= *size) {
        Some((size, word)) => format!("{} {word}", (rounded / size * 100.0).round() / 100.0),
        None => format!("{rounded:.0}"),
    }
}

/// An amount of memory as text, in MiB or GiB. Less than 1 MiB is shown as 1 MiB.
pub(crate) fn memory(bytes: f64) -> String {
    const UNITS: [(f64, &str); 2] = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB")];
    let (size, unit) = if bytes >= UNITS[0].0 { UNITS[0] } else { UNITS[1] };
    let amount = bytes / size;
    if amount < 10.0 {
        return format!("{} {unit}", (amount.max(1.0) * 10.0).round() / 10.0);
    }
    format!("{} {unit}", about(amount))
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "about {} events and {}", about(self.events), memory(self.memory_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, NoFiles};

    #[test]
    fn numbers_are_rounded_to_two_digits() {
        for (number, words) in [
            (0.0, "0"),
            (7.0, "7"),
            (1_234.0, "1200"),
            (123_456.0, "120000"),
            (1_960_000.0, "2 million"),
            (3.14e9, "3.1 billion"),
            (2.5e13, "25 trillion"),
            (1.25e20, "1.2e20"),
        ] {
            assert_eq!(about(number), words, "{number}");
        }
        assert_eq!(memory(3.0), "1 MiB");
        assert_eq!(memory(5e9), "4.7 GiB");
    }

    #[test]
    fn the_estimated_links_are_close_to_the_generated_ones() {
        for (nodes, radius) in [(400, 150.0), (400, 600.0), (200, 9_000.0)] {
            let mut document = Document::preset("paper").expect("a preset");
            let keys = ["topology.kind=random-geometric", "mobility.kind=static", "mobility.users=1"];
            document.set(&keys.map(str::to_owned));
            document.set(&[format!("topology.nodes={nodes}"), format!("topology.radius={radius}")]);
            let resolved = document.resolve(&mut NoFiles).expect("no mistakes");
            let estimated = Extent::estimated(&resolved.settings).links;
            let made = resolved.scenario.topology.link_count() as f64 / 2.0;
            assert!(estimated / made > 0.7 && estimated / made < 1.5, "{nodes} {radius}: {estimated} for {made}");
        }
    }
}
