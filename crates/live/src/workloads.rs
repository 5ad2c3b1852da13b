//! Runs the copies of applications that a node hosts.
//!
//! Start at [`ProcessDriver`], a [`Driver`](crate::seams::Driver) that runs programs, including `mario`'s own [sample
//! service](sample).
//!
//! ```text
//! daemon ── ProcessDriver ──spawn──► shim (own session) ──spawn──► exec stage ──exec──► the program
//!                 │                    │ reads stdout and stderr, rotates the logs, notes the exit status
//!                 └ start record, on disk before the shim receives its plan
//! ```
//!
//! The shim receives its plan through a pipe, after its start record is on disk. If the daemon dies in between, the
//! pipe ends early and the shim exits: no program ever runs without a record. Programs outlive the daemon, because the
//! shim holds their pipes; the next daemon adopts them by their records.
//!
//! **Invariant:** a process is signalled only through a pidfd, and only if its start time, session or mark was checked
//! after the pidfd was opened. So a process with a recycled id is never signalled.
//!
//! **Invariant:** a workload receives values from the node's store only in its environment or in private files. The
//! plan, which contains them, is never written to disk.

mod driver_kind;
mod process;
mod settings;

mod cgroup;
mod former;
mod health;
mod identity;
mod logs;
mod ports;
mod record;
mod starting;

pub mod launch;
pub mod sample;

pub use cgroup::{CgroupLimits, Cgroups, Enforcement, Enforcer};
pub use driver_kind::DriverKind;
pub use health::probe;
pub use identity::{MARK, Process};
pub use logs::{LogBounds, RotatingLog, tail};
pub use ports::Ports;
pub use process::{Launcher, ProcessDriver};
pub use record::{RecordError, StartRecord, Workspace};
pub use settings::{Protocol, SettingFault, WorkloadSettings, protocol};
