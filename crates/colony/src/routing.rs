//! How client requests find an instance, hop by hop.

mod message;

pub use message::{Label, RoutingMessage, SequenceRequest, ToldRoute, Update};
