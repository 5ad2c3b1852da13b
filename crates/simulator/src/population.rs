//! All nodes and agents of a simulated world, in tables.
//!
//! The population applies the rules of `mario_colony` to all nodes. Its two main functions are the rules of the
//! semantics: [`Population::r2`] applies a change of the context, and [`Population::r1`] judges the proposals of agents
//! and operators and enacts the accepted ones. In between, an [`Evaluator`] evaluates an agent's policy, and
//! [`Population::propose`] takes its proposal:
//!
//! ```text
//! context ──► r2 ──► Evaluator::evaluate ──► propose ──► r1 ──► label: all outcomes, with reasons for inhibitions
//! ```
//!
//! | what | where |
//! |---|---|
//! | the rules: judging, memory, what an agent knows | `mario_colony::rules` |
//! | the tables, rule r2 | `state`, `agent`, `simulated_node` |
//! | rule r1 | `cycle`, `enact`, `label` |
//! | an evaluation: what an agent knows, and its policy's decision | `evaluate`, `names` |
//! | acceptance policies of nodes | `acceptance` |
//! | owners who evict or shrink instances | `owners` |
//! | agents that switch to another policy | `update` |
//! | checkpoints | `saved` |
//! | alternatives to judging by managers: the prototype's arbitration, a central planner | `strategies` |
//! | optimisations, and their speedups | `layers` |
//!
//! **Order.** With the default arbitration, a cycle judges operators' deployments first, then agents in the order of
//! their evaluations. Each manager reserves hardware for what it has accepted in this cycle. Hardware freed in a cycle
//! is available from the next cycle on.
//!
//! **Invariant:** with the default arbitration, separate nodes that exchange messages produce the same labels.
//! `tests/it/nodes.rs` compares the two.
//!
//! **Invariant:** no optimisation in `layers` changes a result.
//!
//! Not here: the order of events ([`Simulation`](crate::Simulation)), and the language of policies (`mario_policy`).

mod index;
mod label;
mod numbers;
mod proposal;

mod agent;
mod names;
mod simulated_node;
mod state;

mod acceptance;
mod cycle;
mod enact;
mod evaluate;
mod layers;
mod owners;
mod saved;
mod strategies;
mod update;

pub use agent::{Agent, Body, Neighbour, RequestFact};
pub use evaluate::Evaluator;
pub use index::AgentIndex;
pub use label::CycleLabel;
pub(crate) use layers::decision_cache::{DecisionCache, Lookup, SlotId};
pub use owners::{OwnerAct, OwnerActKind, OwnerActs};
pub use proposal::{CompactVerdict, Deployed, Deployment, Judged, Outcome, Proposal, Target};
pub use state::Population;
pub(crate) use strategies::Plan;

// Hidden, because outside this crate only its integration tests name these types.
#[doc(hidden)]
pub use acceptance::{AcceptanceContext, AcceptanceCounts, AcceptanceQuery};
#[doc(hidden)]
pub use layers::parking::ParkedCounts;
#[doc(hidden)]
pub use layers::proposal_cache::Basis;
#[doc(hidden)]
pub use numbers::InstanceNumbers;
#[doc(hidden)]
pub use simulated_node::{AcceptedOperation, SimulatedNode};
#[doc(hidden)]
pub use state::{ContextChange, PopulationConfig};
