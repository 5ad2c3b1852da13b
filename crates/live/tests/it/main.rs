//! The parts of the live node, and whole daemons, with real processes and real connections on loopback.

mod colony;
mod nodes;

mod crashes;
mod daemons;
mod hostile_clients;
mod load;
mod strangers;
mod traffic;
mod workloads;
