//! The deterministic state machine of one node: its agents, its manager, and the transfer of instances between nodes.
//! The router of client requests is a second state machine beside it, in [`routing`].
//!
//! Start at [`Node::handle`]: time and inputs come in, effects come out.
//!
//! ```text
//! Input: observations, messages, copies that started or stopped, operators, time
//!    │
//!    ▼
//! Node::handle(now, input, &mut effects)        evaluate ─► judge ─► prepare ─► custody ─► gone      (source)
//!    │                                                             judge ─► reserve ─► own           (target)
//!    ▼
//! Effect: journal this, then send that; start, drain or stop a copy; report to the trace
//! ```
//!
//! A shell performs the effects in order, and passes their outcomes back as inputs. Here, a node starts with an empty
//! ledger; the first effect writes a `Boot` record to its journal:
//!
//! ```
//! use std::sync::Arc;
//!
//! use mario_colony::{Config, Effect, Input, JournalId, Ledger, NodeLimits, Node, Start, Timing, Unconfirmed};
//! use mario_domain::{Capacity, NodeId, Time};
//! use mario_prolog::{Budget, Engine};
//!
//! let config = Config {
//!     node: NodeId::name("n1")?,
//!     capacity: Capacity::units(10),
//!     facts: Vec::new(),
//!     acceptance: None,
//!     catalogue: Vec::new(),
//!     budget: Budget::default(),
//!     timing: Timing::default(),
//!     limits: NodeLimits::default(),
//!     unconfirmed: Unconfirmed::default(),
//! };
//! let start = Start { config: Arc::new(config), ledger: Ledger::default(), new_journal: JournalId(1), seed: 7 };
//! let mut effects = Vec::new();
//! let mut node = Node::start(&Engine::new(), start, Time::ZERO, &mut effects)?;
//! assert!(matches!(effects[0], Effect::Journal(_)));
//!
//! // The shell has stopped all copies without an owner.
//! effects.clear();
//! node.handle(Time::at(1.0), Input::Swept, &mut effects);
//! assert_eq!(node.manager().free(), Capacity::units(10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rules that both nodes and simulators apply are functions in [`rules`], such as [`rules::judge`],
//! [`rules::remember`] and [`rules::know`]. The simulator's population applies them to all nodes at once; a daemon
//! drives one [`Node`] with messages. Tests check that both accept and inhibit the same requests.
//!
//! **Transfer.** The transfer of an instance is crash-safe and idempotent: the source keeps the instance in custody
//! until the target has answered. Messages that need an answer are resent until they are answered; late and duplicate
//! ones do no harm. The migration takes effect with a single record in the target's journal, so safety does not depend
//! on clocks, leases or failure detection. `docs/transfer.md` has the protocol and its invariants.
//!
//! **Invariant:** no clock, no I/O, no ambient randomness, and no table of all nodes.
//!
//! **Invariant:** hardware used and reserved on a node never exceeds its capacity.
//!
//! **Invariant:** judging is total and fails closed: it never panics, and a request that cannot be judged is inhibited
//! with a reason.
//!
//! **Invariant:** routing is free of loops at every moment, also while nodes disagree.
//!
//! **Invariant:** only [`Ledger`] survives a crash, and only records of the journal change it.
//!
//! In other crates: how messages travel and workloads run (`live`), simulated worlds (`simulator`), and the evaluation
//! of policies (`policy`).
//!
//! This crate is internal to mario: its interface changes without notice.

mod ids;

mod descriptor;
mod manager;

pub mod rules;

mod message;

mod journal;

mod input;

mod node;

pub mod routing;

pub use descriptor::{Copies, Descriptor};
pub use ids::{DeployKey, Epoch, JournalId, Token, TransferId, WorkloadId};
pub use input::{
    Command, Effect, FactsAndDecision, Failure, FirstSolution, Input, Observation, Proposal, RequestFact, TraceEvent,
};
pub use journal::{
    Custody, Draining, Evidence, Grant, JournalRecord, Ledger, Outdated, OwnCause, Owned, PeerRecord, StoredBoot,
    StoredConcern, StoredDeploy, StoredDraining, StoredFormer, StoredLedger, StoredPeer, StoredPrevious,
    StoredShrinking, StoredTaken,
};
pub use manager::{AccountingError, Availability, Manager, Reservation};
pub use mario_policy::PolicyText;
pub use message::{AgentSnapshot, HELD_MAX, HeldInstance, Hello, Message, Prepare, TransferKind};
pub use node::{Config, Confirmation, Knowledge, Node, NodeLimits, Restart, Start, StartError, Timing, Unconfirmed};
