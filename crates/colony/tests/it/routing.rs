//! Routers in simulated networks.
//!
//! `MARIO_ROUTING_SEEDS=100000` draws that many networks with faults. `MARIO_ROUTING_SEED=1234` replays one; a failure
//! prints that command. `MARIO_ROUTING_NODES=21845` measures larger networks than the suite does, and prints a table.

mod cost;
mod faults;
mod network;
mod pair;
mod shapes;
