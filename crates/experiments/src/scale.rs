//! A scaling benchmark: how CPU time and memory of a run grow with the size of its world.
//!
//! The world is the paper's, scaled to a full tree of up to 12 levels: [`Size`]. With [`Growth::Town`] it grows by
//! districts. Each district is a town like the paper's, with the same distance between access points, its own hotspots
//! and users who stay in it. A larger world has more districts, under a deeper tree. The number of users per node is
//! the same for all sizes. [`measure`] runs one size in this process; for separate memory peaks, run each size in its
//! own process.

mod usage;

use std::error::Error;
use std::fmt;
use std::time::Instant;

use mario_domain::Time;
use mario_scenario::{Area, Document, Files, Position};
use mario_simulator::{NullRecorder, RunOptions, Simulation};
use serde::{Deserialize, Serialize};

use crate::runs::RunError;

/// A size of the world: the number of levels of a full tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size {
    /// The levels of the tree, from the cloud to the access points.
    levels: u32,
}

/// No full tree of at most 12 levels has this number of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchTree {
    /// The requested number of nodes.
    pub nodes: u64,
    /// The largest tree of at most 12 levels with fewer nodes; `None` if there is none.
    pub below: Option<Size>,
    /// The smallest tree of at most 12 levels with more nodes; `None` if there is none.
    pub above: Option<Size>,
}

/// What to measure.
#[derive(Clone, PartialEq, Debug)]
pub struct ScaleConfig {
    /// The size.
    pub size: Size,
    /// The policy of all applications.
    pub policy: String,
    /// The seed of the scenario.
    pub seed: u64,
    /// The number of threads that evaluate agents.
    pub threads: usize,
    /// What grows with the number of nodes.
    pub growth: Growth,
}

/// What grows with the number of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// The area of the town: it has more districts like the paper's town.
    Town,
    /// The density of access points in a town of constant area, so that users have more handovers.
    Density,
}

/// The measurements of one size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScaleMeasurement {
    /// The number of nodes.
    pub nodes: u64,
    /// The number of users.
    pub users: u64,
    /// The mean number of agents: `asked` divided by `cycles`.
    pub agents: u64,
    /// The number of whole evaluation periods from the first evaluation to the end of the run, at least 1. An agent
    /// decides once in each.
    pub cycles: u64,
    /// The number of decisions of all agents in the run.
    pub asked: u64,
    /// Decisions for which a policy was evaluated. The other decisions were reused, because the same or another agent
    /// had already decided from the same facts.
    pub evaluated: u64,
    /// The CPU time of all threads in the run that took the least, in nanoseconds, divided by `asked`.
    pub cpu_ns_per_agent_cycle: f64,
    /// The peak memory of the process up to the end of its first run, in bytes.
    pub peak_bytes: u64,
    /// The wall-clock time to build the world and to finish the first run, in seconds.
    pub wall_s: f64,
}

/// Why a size was not measured.
#[derive(Debug)]
pub enum MeasureError {
    /// The run failed.
    Run(RunError),
    /// The system does not report the time and memory of a process.
    NoUsage,
}

/// The number of children of an inner node.
const FAN_OUT: u64 = 4;

/// The maximum depth. A tree with 13 levels has more nodes than a scenario may have.
const LEVELS_MAX: u32 = 12;

/// Sets the number of users per node for all sizes: one million users on the tree with ten levels, 2.86 per node.
const USERS: u64 = 1_000_000;
const USERS_LEVELS: u32 = 10;

/// The distance between access points with [`Growth::Town`], in metres.
const SPACING_M: f64 = 500.0;

/// The centre of the town.
const CENTRE: Position = Position { latitude: 41.8986, longitude: 12.4806 };

/// The number of access points along each side of a district, as in the paper's town.
const DISTRICT_SIDE: u64 = 8;

/// Each size runs at least `RUNS_MIN` times, and until `REPEAT_UNTIL_NS` of CPU time were measured in total. The
/// minimum CPU time is reported, because the first run pays for page faults and cold caches, and other processes may
/// slow down any run. Memory and wall-clock time are those of the first run.
const RUNS_MIN: u32 = 3;
const REPEAT_UNTIL_NS: u64 = 1_000_000_000;

/// The default sizes as numbers of nodes, in the syntax of the option `--nodes`.
pub const DEFAULT_NODES: &str = "85,1365,21845,349525";

impl Size {
    /// Returns the size with this number of nodes.
    pub fn with_nodes(nodes: u64) -> Result<Size, NoSuchTree> {
        let sizes = || (1..=LEVELS_MAX).map(|levels| Size { levels });
        match sizes().find(|size| size.nodes() == nodes) {
            Some(size) => Ok(size),
            None => Err(NoSuchTree {
                nodes,
                below: sizes().rfind(|size| size.nodes() < nodes),
                above: sizes().find(|size| size.nodes() > nodes),
            }),
        }
    }

    /// The number of nodes.
    pub fn nodes(self) -> u64 {
        (FAN_OUT.pow(self.levels) - 1) / (FAN_OUT - 1)
    }

    /// The number of users, in proportion to the number of nodes.
    pub fn users(self) -> u64 {
        let most = Size { levels: USERS_LEVELS }.nodes();
        (2 * self.nodes() * USERS + most) / (2 * most)
    }

    /// The number of access points along each side of the town.
    fn side(self) -> u64 {
        1 << (self.levels - 1)
    }
}

impl ScaleConfig {
    /// Returns the scenario to measure.
    pub fn document(&self) -> Document {
        let mut document = Document::preset("paper").expect("it ships");
        let users = self.size.users();
        let side = self.size.side();
        let mut overrides = vec![
            format!("name=scale-{}", self.size.nodes()),
            format!("topology.size={side}"),
            format!("mobility.users={users}"),
            format!("mobility.first_users={users}"),
            "network.fidelity=flow".to_owned(),
            // Practically no limits, because the resources that a world of this size needs are what is measured.
            "limits.events=1e18".to_owned(),
            "limits.memory_mib=1e18".to_owned(),
        ];
        if self.growth == Growth::Town {
            let metres = side as f64 * SPACING_M;
            let area = Area::around(CENTRE, metres, metres).expect("the largest town is smaller than Europe");
            let corner = |position: Position| format!("[{}, {}]", position.latitude, position.longitude);
            overrides.push(format!("topology.area.south_west={}", corner(area.south_west)));
            overrides.push(format!("topology.area.north_east={}", corner(area.north_east)));
            overrides.push(format!("mobility.districts={}", (side / DISTRICT_SIDE).max(1)));
        }
        document.set(&overrides);
        document.set_policy(&self.policy);
        document.set_seed(self.seed);
        document
    }
}

/// Runs one size several times in this process. `progress` is called with the current simulated time, the time at which
/// the run ends, and the number of client requests that the run has sent so far.
pub fn measure(
    config: &ScaleConfig,
    files: &mut dyn Files,
    progress: &mut dyn FnMut(Time, Time, u64),
) -> Result<ScaleMeasurement, MeasureError> {
    /// The number of parts of a run, with a progress report after each.
    const PARTS: u32 = 200;
    let began = Instant::now();
    let resolved = config.document().resolve(files).map_err(|error| MeasureError::Run(RunError::Scenario(error)))?;
    let scenario = &resolved.scenario;
    let options = RunOptions { threads: config.threads, ..RunOptions::default() };
    let (mut runs, mut least, mut total, mut first) = (0, u64::MAX, 0, None);
    while runs < RUNS_MIN || total < REPEAT_UNTIL_NS {
        let mut simulation =
            Simulation::new(scenario, options).map_err(|error| MeasureError::Run(RunError::Simulation(error)))?;
        let before = usage::cpu_ns().ok_or(MeasureError::NoUsage)?;
        for part in 1..=PARTS {
            // No trace is written, because its cost would be attributed to the agents.
            let until = Time::ZERO + scenario.duration * f64::from(part) / f64::from(PARTS);
            simulation.run_until(until, &mut NullRecorder);
            progress(simulation.now(), scenario.end(), simulation.statistics().emitted);
        }
        let cpu = usage::cpu_ns().ok_or(MeasureError::NoUsage)?.saturating_sub(before).max(1);
        (runs, least, total) = (runs + 1, least.min(cpu), total + cpu);
        if first.is_none() {
            let peak_bytes = usage::peak_bytes().ok_or(MeasureError::NoUsage)?;
            first = Some((simulation.statistics(), peak_bytes, began.elapsed().as_secs_f64()));
        }
    }
    let (statistics, peak_bytes, wall_s) = first.expect("there was a first run");
    let cycles = ((scenario.end() - scenario.agents.start) / scenario.agents.period).max(1.0) as u64;
    Ok(ScaleMeasurement {
        nodes: scenario.topology.node_count() as u64,
        users: scenario.users.len() as u64,
        agents: (statistics.due + cycles / 2) / cycles,
        cycles,
        asked: statistics.due,
        evaluated: statistics.evaluated,
        cpu_ns_per_agent_cycle: least as f64 / statistics.due.max(1) as f64,
        peak_bytes,
        wall_s,
    })
}

/// Returns the measurements as a table. If there are several sizes, the ratio of the CPU times per agent and cycle of
/// the largest and the smallest size follows.
pub fn table(measured: &[ScaleMeasurement]) -> String {
    let headings =
        ["nodes", "users", "agents", "cycles", "asked", "evaluated", "CPU ns/agent/cycle", "peak MiB", "wall s"];
    let mut rows = vec![headings.map(str::to_owned)];
    for size in measured {
        rows.push([
            size.nodes.to_string(),
            size.users.to_string(),
            size.agents.to_string(),
            size.cycles.to_string(),
            size.asked.to_string(),
            size.evaluated.to_string(),
            format!("{:.0}", size.cpu_ns_per_agent_cycle),
            format!("{:.1}", size.peak_bytes as f64 / f64::from(1 << 20)),
            format!("{:.2}", size.wall_s),
        ]);
    }
    let widths: Vec<usize> =
        (0..headings.len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text += &cells.join("  ");
        text.push('\n');
    }
    let smallest = measured.iter().min_by_key(|size| size.nodes);
    let largest = measured.iter().max_by_key(|size| size.nodes);
    if let (Some(smallest), Some(largest)) = (smallest, largest)
        && smallest.nodes < largest.nodes
    {
        text += &format!(
            "CPU per agent and cycle, {} nodes against {}: {:.2} times\n",
            largest.nodes,
            smallest.nodes,
            largest.cpu_ns_per_agent_cycle / smallest.cpu_ns_per_agent_cycle
        );
    }
    text
}

impl fmt::Display for NoSuchTree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.above {
            Some(_) => {
                write!(formatter, "no full tree in which a node has {FAN_OUT} children has {} nodes", self.nodes)
            }
            None => write!(formatter, "a tree of {} nodes is too large", self.nodes),
        }
    }
}

impl Error for NoSuchTree {}

impl fmt::Display for MeasureError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasureError::Run(error) => error.fmt(formatter),
            MeasureError::NoUsage => {
                formatter.write_str("this system does not tell how much time and memory a process takes")
            }
        }
    }
}

impl Error for MeasureError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            MeasureError::Run(error) => error.source(),
            MeasureError::NoUsage => None,
        }
    }
}

#[cfg(test)]
mod tests;
