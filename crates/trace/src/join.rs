//! Joins the parts written by the daemons of a colony into one trace.
//!
//! ```text
//! parts of each node, in their order ──► survey: tables of the header, ids of recorded transfers
//!                                   └──► merge: by hybrid logical clock, with causes before effects ──► trace
//! ```
//!
//! The hybrid logical clocks order causes before effects, unless a clock was set back, or a daemon wrote its last
//! records only after a restart. Therefore, the records of a transfer also wait for each other: an arrival for its
//! departure, a confirmation for its arrival, and the end of a transfer for its confirmation.
//!
//! Records that contradict each other are not rejected here: they end up in the trace, and `mario_audit` reports them.
//!
//! Each pass reads the parts line by line, and holds one line of each node, of at most 64 MiB. Memory thus does not grow
//! with the number of evaluations, but with the numbers of nodes, of instances that exist at a time, of descriptions of
//! applications, and of transfers, whose ids are kept.

mod clients;
mod header;
mod merge;
mod parts;
mod survey;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use mario_domain::{ApplicationId, NodeId};

pub use clients::{ClientLog, ContextNode, RunContext};

/// Opens a part by its path.
pub type Open<'a> = dyn Fn(&Path) -> io::Result<Box<dyn BufRead>> + 'a;

/// The result of joining parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    /// The number of nodes in the header, including those without a part.
    pub nodes: usize,
    /// The nodes without a part.
    pub silent: Vec<NodeId>,
    /// The number of lines read.
    pub lines: u64,
    /// How often a record was written before a record with an earlier timestamp, because the earlier one had to wait
    /// for its cause.
    pub reordered: u64,
    /// Records that were written before their causes, because of a cyclic dependency.
    pub unordered: u64,
    /// The number of evaluations in the trace.
    pub evaluations: u64,
    /// Instances at the end, by application.
    pub instances: BTreeMap<ApplicationId, usize>,
}

/// Why parts cannot be joined.
#[derive(Debug)]
pub struct JoinError {
    /// The part; empty if the error does not concern a single part.
    pub path: PathBuf,
    /// The line, from 1; 0 for the whole part.
    pub line: u64,
    /// The problem.
    pub problem: JoinProblem,
}

/// A problem of a part.
#[derive(Debug)]
pub enum JoinProblem {
    /// The part cannot be read, or the trace cannot be written.
    Io(io::Error),
    /// Its first line is not the header of a part.
    NotAPart,
    /// Its version is not supported.
    Version(u32),
    /// A line is not a record.
    Record(String),
    /// It belongs to a different node than the earlier parts in its directory.
    Mixed {
        /// The node of the earlier parts.
        expected: NodeId,
        /// The node of this part.
        found: NodeId,
    },
    /// There are no parts to join.
    Empty,
}

/// Joins the parts of several nodes. Each list has the parts of one data directory, in the order of writing. The result
/// does not depend on the order of the lists.
pub fn join<W: Write>(directories: &[Vec<PathBuf>], open: &Open<'_>, out: W) -> Result<(W, Joined), JoinError> {
    let survey = survey::Survey::of(directories, open)?;
    merge::merge(&survey, None, open, out)
}

/// As [`join`], for a run of which more is known than its nodes recorded: the trace also has the users of its scenario,
/// what their client requests came to, and the tiers and positions of the nodes.
pub fn join_run<W: Write>(
    directories: &[Vec<PathBuf>],
    run: &RunContext,
    open: &Open<'_>,
    out: W,
) -> Result<(W, Joined), JoinError> {
    let survey = survey::Survey::of(directories, open)?;
    merge::merge(&survey, Some(run), open, out)
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(formatter, "line {}: ", self.line)?;
        }
        match &self.problem {
            JoinProblem::Io(_) => formatter.write_str("it cannot be read or written"),
            JoinProblem::NotAPart => formatter.write_str("this is not the header of a part of a trace"),
            JoinProblem::Version(version) => {
                write!(formatter, "this part has format {version}; this mario reads 1 to {}", crate::live::PART_VERSION)
            }
            JoinProblem::Record(message) => write!(formatter, "this is not a record: {message}"),
            JoinProblem::Mixed { expected, found } => {
                write!(formatter, "this part is of node {found}, and those before it are of node {expected}")
            }
            JoinProblem::Empty => formatter.write_str("there are no parts of traces"),
        }
    }
}

impl Error for JoinError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            JoinProblem::Io(error) => Some(error),
            _ => None,
        }
    }
}
