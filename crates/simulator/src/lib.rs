//! Virtual time: scenarios, network, mobility, workload, churn and measurements.

mod chance;
mod engine;
mod position;
mod xml;

pub mod topology;

pub mod mobility;

pub mod scenario;

mod network;
mod observation;
mod optimum;
mod paths;
mod placement;
mod queue;
mod routing;
mod workload;

mod recorder;
mod simulation;

mod figures;
mod output;

pub use figures::{Counts, Figures, GroupFigures, Ratios, Regret, RegretFigures, Spread, StepCounts, Tally, Versus};
pub use mario_colony::{Arbitration, Memory};
pub use mobility::{Attachments, MobileUser, Presence, Traces};
pub use optimum::{Search, TooLarge, Value};
pub use output::{Detail, Existing, Keep, KeepError, RunDirectory, Summary, TableOutputs, Tables, TraceWriter};
pub use position::{Area, Position};
pub use queue::EventQueue;
pub use recorder::{Cause, Recorder, Served};
pub use scenario::{
    AgentTiming, ApplicationPlan, Deploy, Disturbance, DisturbanceEvent, Management, Metric, Network, Numbering,
    Observation, Occupancy, PolicyText, Routing, Scenario, UserPlan, Workload,
};
pub use simulation::{Effort, Reuse, RunOptions, Simulation, SimulationError};
pub use topology::{Link, LinkIndex, NodeDescription, Topology, TopologyBuilder, TopologyError};
