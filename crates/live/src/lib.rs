//! The live node: [`mario_colony::Node`] with real time, real links, real workloads and real clients.
//!
//! Start at [`seams`]: what the parts of the daemon hand each other.
//!
//! | module | what is in it |
//! |---|---|
//! | [`seams`] | the types between the daemon, the data plane and the drivers of workloads |
//! | [`traffic`] | the data plane: client requests, hop by hop |
//! | [`workloads`] | the drivers: copies of applications as processes |
//!
//! **Invariant:** this crate decides nothing: it supplies [`mario_colony::Node`] with what happens, and does what it says.
//! **Invariant:** no effect of a node is performed before every journal record ahead of it is on disk.

pub mod seams;
pub mod traffic;
pub mod workloads;
