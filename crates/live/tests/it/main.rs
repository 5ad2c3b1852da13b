//! The parts of the live node with real processes and real connections on loopback.

mod nodes;

mod hostile_clients;
mod traffic;
mod workloads;
