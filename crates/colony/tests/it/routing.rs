//! Routers in simulated networks.
//!
//! `MARIO_ROUTING_SEEDS=100000` draws that number of networks with faults. `MARIO_ROUTING_SEED=1234` replays one; a
//! failure prints that command. `MARIO_ROUTING_NODES=21845` measures costs in networks of up to that number of nodes
//! instead of 400. The costs are printed as the rows of a table.

mod cost;
mod faults;
mod network;
mod pair;
mod shapes;
