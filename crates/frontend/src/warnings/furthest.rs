//! How far clauses of policies came in a run in which no agent proposed anything.

use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use mario_diagnostics::printable_line;
use mario_report::decision::{DecisionError, DecisionOfRun, explain_decision};
use mario_trace::reader::TraceReader;

/// The maximum size of a trace that is searched, because a run should not take much longer for a hint.
const TRACE_BYTES_MAX: u64 = 16 << 20;

/// The number of instances whose last decisions are explained.
const INSTANCES_MAX: usize = 4;

/// The clause that came furthest in the last decisions of some instances.
pub(super) struct Furthest {
    /// The instance.
    pub(super) instance: String,
    time: f64,
    /// The file and the line of the clause, if known.
    place: Option<(String, usize)>,
    /// The position of the goal that failed.
    goal: usize,
    text: String,
}

impl Furthest {
    /// Explains decisions of the run in a directory. `None` if its trace has no evaluations, is too large, or cannot be
    /// read.
    pub(super) fn in_run(directory: &Path) -> Option<Furthest> {
        let trace = directory.join("trace.jsonl");
        if fs::metadata(&trace).ok()?.len() > TRACE_BYTES_MAX {
            return None;
        }
        let explain = |instance: &str| -> Result<DecisionOfRun, Option<DecisionError>> {
            let input = BufReader::new(File::open(&trace).map_err(|_| None::<DecisionError>)?);
            let reader = TraceReader::new(input).map_err(|error| Some(DecisionError::Read(error)))?;
            explain_decision(reader, instance, None).map_err(Some)
        };
        // No instance has an empty id, so the error names those that there are.
        let Err(Some(DecisionError::NoInstance(instances))) = explain("") else { return None };
        let decisions = instances.iter().take(INSTANCES_MAX).filter_map(|instance| explain(instance).ok());
        let candidates = decisions.flat_map(|decision| Furthest::of(&decision));
        // Of several, the first: its line in the policy is the first, too.
        candidates.reduce(|furthest, other| if other.goal > furthest.goal { other } else { furthest })
    }

    fn of(decision: &DecisionOfRun) -> Vec<Furthest> {
        let clauses = decision.explained.missed.iter().flat_map(|missed| &missed.clauses);
        let furthest = |clause: &mario_policy::MissedClause| {
            let step = clause.steps.iter().max_by_key(|step| step.goal)?;
            Some(Furthest {
                instance: decision.explained.instance.clone(),
                time: decision.time,
                place: clause.clause.file.clone().zip(clause.clause.line),
                goal: step.goal?,
                text: step.text.clone(),
            })
        };
        clauses.filter_map(furthest).collect()
    }
}

impl fmt::Display for Furthest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Furthest { instance, time, place, goal, text } = self;
        write!(formatter, "instance {instance} at time {time}, for example: the clause ")?;
        if let Some((file, line)) = place {
            write!(formatter, "at {file}:{line} ")?;
        }
        write!(formatter, "came furthest, and failed at its goal {goal}: {}", printable_line(text))
    }
}
