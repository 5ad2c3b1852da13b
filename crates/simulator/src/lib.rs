//! Virtual time: scenarios, network, mobility, workload, churn and measurements.

mod position;

pub mod topology;

pub mod mobility;

mod scenario;

mod xml;

pub use mobility::{Attachments, MobileUser, Presence, Traces};
pub use position::{Area, Position};
pub use scenario::{
    AgentTiming, ApplicationPlan, Arbitration, Deploy, Disturbance, DisturbanceEvent, Memory, Metric, Network,
    Numbering, Observation, Occupancy, PolicyText, Routing, Scenario, UserPlan, Workload,
};
pub use topology::{Link, LinkIndex, NodeDescription, Topology, TopologyBuilder, TopologyError};
