//! Scenario files: parses settings, topologies, mobility and workloads, and resolves them into a checked [`Scenario`].
//!
//! Start at [`Document`], which is a preset or a scenario file with its includes and overrides. [`Document::settings`]
//! returns its settings with all defaults filled in. [`Document::resolve`] returns the [`Scenario`], which has
//! everything that a run depends on as plain data, or an error with the [`Mistake`]s found and their places:
//!
//! ```
//! use mario_scenario::{Document, NoFiles};
//!
//! let mut document = Document::preset("paper")?;
//! document.set(&["topology.size=4".to_owned()]);
//! let resolved = document.resolve(&mut NoFiles)?;
//! assert_eq!(resolved.scenario.topology.node_count(), 21);
//! println!("a run costs {}", resolved.cost);
//! # Ok::<(), mario_scenario::ScenarioError>(())
//! ```
//!
//! Infrastructures and users can also be made without a document, by the functions of [`topology`] and [`mobility`].
//!
//! **Invariant:** a scenario is a pure function of its texts, overrides and files. The seed, which is one of the
//! settings, is the only source of randomness.
//!
//! **Invariant:** this crate opens no files: the caller's [`Files`] reads the files that scenarios name.
//!
//! **Invariant:** bad input yields a list of errors, never a panic. A generated infrastructure that is too large is
//! rejected before it is built.
//!
//! Not here: running a scenario (crate `mario_simulator`) and evaluating policies (crate `mario_policy`). This crate
//! loads policies only to check them and to find out which features of a run they use.

mod index;
mod position;
mod scenario;

pub mod settings;

mod document;
mod emitter;
mod error;
mod layers;
mod presets;
mod schema;
mod units;
mod updating;

mod attachments;
mod calls;
mod cost;
mod dependents;
mod engine;
mod overview;
mod policies;
mod resolve;

pub mod topology;

pub mod mobility;

mod xml;

pub use mario_policy::PolicyText;

pub use calls::{Call, CallOrder, Stage};
pub use cost::Cost;
pub use document::Document;
pub use emitter::Emitter;
// For `simulator`, which compiles policies with the engine that checked them.
#[doc(hidden)]
pub use engine::engine;
pub use error::ScenarioError;
pub use index::{ApplicationIndex, NodeIndex, PolicyIndex, UserIndex};
pub use layers::{Files, NoFiles};
pub use mario_settings::{Mistake, Place, Text};
pub use mobility::{Attachments, MobileUser, Presence, Trajectories};
pub use overview::{ApplicationOverview, Overview, Tier};
pub use policies::{
    acceptance_names, baseline_names, is_path, policy_names, shipped_library, shipped_policy, shipped_tests,
};
// For `simulator`: which features of a run a policy uses.
#[doc(hidden)]
pub use policies::{PolicyWarning, PolicyWarningKind, adapts, asks_for, has_initiative, remembers, sleeps};
pub use position::{Area, Position};
pub use presets::{names as preset_names, starting_text};
pub use resolve::Resolved;
pub use scenario::{
    AgentTiming, ApplicationPlan, Arbitration, Deploy, Disturbance, DisturbanceEvent, Fidelity, Management, Measures,
    Memory, Metric, Network, Numbering, Observation, Occupancy, RecordedPast, Routing, Scenario, Search, Update,
    UserPlan, Workload,
};
pub use schema::{schema, schema_text};
pub use settings::Settings;
pub use topology::{Link, LinkIndex, NodeDescription, Topology, TopologyBuilder, TopologyError};
pub use units::{in_one_unit, with_spaced_unit};
