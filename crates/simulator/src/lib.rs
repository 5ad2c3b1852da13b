//! Virtual time: scenarios, network, mobility, workload, churn and measurements.

mod position;

mod topology;

mod mobility;

pub use mobility::{Attachments, MobileUser, Presence, Traces};
pub use position::{Area, Position};
pub use topology::{Link, LinkIndex, NodeDescription, Topology, TopologyBuilder, TopologyError};
