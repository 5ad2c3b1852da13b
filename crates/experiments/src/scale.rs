//! How the cost of a run grows with the size of its world.
//!
//! The world is the paper's, at any size that a full tree has: [`Size`]. It grows by districts: each is a town like the
//! paper's, with access points as far apart, hotspots of its own and users who stay in it, and there are as many users for
//! each node, so that only the tree above the districts becomes deeper. [`measure`] runs one size in this process; for
//! separate memory peaks, run each size in a process of its own.

mod usage;

use std::error::Error;
use std::fmt;
use std::time::Instant;

use mario_domain::Time;
use mario_scenario::{Area, Document, Files, Position};
use mario_simulator::{NullRecorder, RunOptions, Simulation};
use serde::{Deserialize, Serialize};

use crate::runs::RunError;

/// A size that the world can have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size {
    /// How many levels the tree has, the cloud and the access points included.
    levels: u32,
}

/// There is no full tree with this many nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchTree {
    /// How many nodes.
    pub nodes: u64,
    /// The largest that has fewer.
    pub below: Option<Size>,
    /// The smallest that has more.
    pub above: Option<Size>,
}

/// What to measure.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// At which size.
    pub size: Size,
    /// The policy of all applications.
    pub policy: String,
    /// What everything random is drawn from.
    pub seed: u64,
    /// How many threads evaluate agents.
    pub threads: usize,
    /// What of the world grows.
    pub growth: Growth,
}

/// What of the world grows with the number of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// The town: it has more districts like the paper's town.
    Town,
    /// The network in the same town: access points come closer to each other, and users pass more of them.
    Density,
}

/// The result of a run at one size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// How many nodes there are.
    pub nodes: u64,
    /// How many users there are.
    pub users: u64,
    /// How many agents there were on average: decisions asked in each cycle.
    pub agents: u64,
    /// How many cycles there were: periods in which every agent evaluates once.
    pub cycles: u64,
    /// Decisions asked: one for each agent and cycle.
    pub asked: u64,
    /// Decisions for which a policy was really evaluated; the others were known from the same facts, of the same agent or
    /// of another.
    pub evaluated: u64,
    /// The CPU time of the run, of all threads, over `asked`.
    pub cpu_ns_per_agent_cycle: f64,
    /// The most memory that the process had until the end of its first run.
    pub peak_bytes: u64,
    /// How long it took to make the world and to run it for the first time, in seconds.
    pub wall_s: f64,
}

/// Why a size was not measured.
#[derive(Debug)]
pub enum MeasureError {
    /// The run did not take place.
    Run(RunError),
    /// The system does not report the time and memory of a process.
    NoUsage,
}

/// How many children a node has.
const FAN_OUT: u64 = 4;

/// More levels than this make more nodes than the simulator takes.
const LEVELS_MAX: u32 = 12;

/// A million users on the tree of ten levels: 2.86 for each node.
const USERS: u64 = 1_000_000;
const USERS_LEVELS: u32 = 10;

/// How far apart access points are, in metres.
const SPACING_M: f64 = 500.0;

/// The middle of the town.
const CENTRE: Position = Position { latitude: 41.8986, longitude: 12.4806 };

/// How many access points a district has in each direction: as many as the paper's town.
const DISTRICT_SIDE: u64 = 8;

/// A run is made so often at least, and until this much CPU time was measured, and its least time counts: the first pages and the
/// first instructions cost more than all that follow, and now and then others want the same memory. That is so at all sizes.
const RUNS_MIN: u32 = 3;
const REPEAT_UNTIL_NS: u64 = 1_000_000_000;

/// The sizes that are measured unless others are asked for, as they are asked for.
pub const DEFAULT_NODES: &str = "85,1365,21845,349525";

impl Size {
    /// The size with this many nodes.
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

    /// How many nodes there are.
    pub fn nodes(self) -> u64 {
        (FAN_OUT.pow(self.levels) - 1) / (FAN_OUT - 1)
    }

    /// How many users there are.
    pub fn users(self) -> u64 {
        let most = Size { levels: USERS_LEVELS }.nodes();
        (2 * self.nodes() * USERS + most) / (2 * most)
    }

    /// How many access points there are in each direction.
    fn side(self) -> u64 {
        1 << (self.levels - 1)
    }
}

impl Question {
    /// The scenario of the question.
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
            // How much a world of this size takes is what is asked.
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

/// Runs one size in this process, and reports its progress.
pub fn measure(
    question: &Question,
    files: &mut dyn Files,
    progress: &mut dyn FnMut(Time, Time, u64),
) -> Result<Measured, MeasureError> {
    /// In how many parts a run is done, with a look at the clock after each.
    const PARTS: u32 = 200;
    let began = Instant::now();
    let resolved = question.document().resolve(files).map_err(|error| MeasureError::Run(RunError::Scenario(error)))?;
    let scenario = &resolved.scenario;
    let options = RunOptions { threads: question.threads, ..RunOptions::default() };
    let (mut runs, mut least, mut total, mut first) = (0, u64::MAX, 0, None);
    while runs < RUNS_MIN || total < REPEAT_UNTIL_NS {
        let mut simulation =
            Simulation::new(scenario, options).map_err(|error| MeasureError::Run(RunError::Simulation(error)))?;
        let before = usage::cpu_ns().ok_or(MeasureError::NoUsage)?;
        for part in 1..=PARTS {
            // What a trace costs is not the cost of agents.
            let until = Time::ZERO + scenario.duration * f64::from(part) / f64::from(PARTS);
            simulation.run_until(until, &mut NullRecorder);
            progress(simulation.now(), scenario.end(), simulation.effort().emitted);
        }
        let cpu = usage::cpu_ns().ok_or(MeasureError::NoUsage)?.saturating_sub(before).max(1);
        (runs, least, total) = (runs + 1, least.min(cpu), total + cpu);
        if first.is_none() {
            let peak_bytes = usage::peak_bytes().ok_or(MeasureError::NoUsage)?;
            first = Some((simulation.effort(), peak_bytes, began.elapsed().as_secs_f64()));
        }
    }
    let (effort, peak_bytes, wall_s) = first.expect("there was a first run");
    let cycles = ((scenario.end() - scenario.agents.start) / scenario.agents.period).max(1.0) as u64;
    Ok(Measured {
        nodes: scenario.topology.node_count() as u64,
        users: scenario.users.len() as u64,
        agents: (effort.asked + cycles / 2) / cycles,
        cycles,
        asked: effort.asked,
        evaluated: effort.evaluated,
        cpu_ns_per_agent_cycle: least as f64 / effort.asked.max(1) as f64,
        peak_bytes,
        wall_s,
    })
}

/// What was measured, as a table, with how the largest compares to the smallest.
pub fn table(measured: &[Measured]) -> String {
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
