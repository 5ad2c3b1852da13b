//! The transition system: management cycles, context changes, acceptance and memory.
//!
//! Start at [`Colony`]. Its two rules are those of the semantics, under the same names: [`Colony::r2`], new data becomes
//! available to a node, and [`Colony::r1`], what agents and operators ask for is judged and all that is accepted is
//! enacted. Between the two, an [`Evaluator`] asks the policy of an agent, and [`Colony::propose`] takes down what it said:
//!
//! ```text
//! context ──► r2 ──► Evaluator::evaluate ──► propose ──► r1 ──► label: who did what, who was inhibited and why
//! ```
//!
//! Nothing here assumes that all nodes step together. A shell may evaluate one agent, or all; a [`Manager`] can be asked by
//! itself ([`Manager::has_room`], [`Manager::promise`], [`Manager::settle`]), as a live node will do, or for a whole round
//! at once by `r1`, as a simulator does.
//!
//! **Order.** A cycle judges operators' deployments first, then agents in the order in which they evaluated. Each manager
//! counts what it has promised in this cycle; room that is freed in it counts from the next one on.
//!
//! **Invariant:** no clock, no I/O, no ambient randomness. Time and context come in, effects go out.
//! **Invariant:** hardware used on a node never exceeds its capacity.
//! **Invariant:** judging is total: a bad request is inhibited with a reason, never a panic.
//!
//! Not here: what becomes true when (`simulator`, or a live node), and what policies say (`policy`).

mod index;
mod intent;
mod label;
mod numbers;
mod wish;

mod agent;
mod names;
mod simulated_node;

mod colony;
mod cycle;
mod decisions;
mod evaluate;
mod judge;
mod recall;
mod rest;
mod rooms;
mod saved;
mod waiting;

pub use agent::{Agent, Neighbour, RequestFact};
pub use colony::{Colony, ContextChange, Founding};
pub use decisions::{Decisions, Entrance, Found, SavedDecisions};
pub use evaluate::Evaluator;
pub use index::AgentIndex;
pub use judge::{Asked, Judge};
pub use label::Label;
pub use numbers::Numbers;
pub use rest::Resting;
pub use saved::SavedColony;
pub use simulated_node::{Promise, SimulatedNode};
pub use wish::{Deployed, Deployment, Judged, Outcome, Plan, Ruling, Target, Wish};
