//! Virtual time: scenarios, network, mobility, workload, churn and measurements.

mod position;

mod topology;

mod mobility;

mod scenario;

pub use mario_colony::{Arbitration, Memory};
pub use mobility::{Attachments, MobileUser, Presence, Traces};
pub use position::{Area, Position};
pub use scenario::{
    AgentTiming, ApplicationPlan, Deploy, Disturbance, DisturbanceEvent, Metric, Network, Numbering, Observation,
    Occupancy, PolicyText, Routing, Scenario, UserPlan, Workload,
};
pub use topology::{Link, LinkIndex, NodeDescription, Topology, TopologyBuilder, TopologyError};
