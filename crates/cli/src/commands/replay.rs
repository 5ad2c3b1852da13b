//! `mario replay`.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use mario_domain::AgentOperation;
use mario_frontend::checkpoint_interval::CheckpointInterval;
use mario_frontend::run::{NewRun, store};
use mario_policy::PolicyFunctions;
use mario_simulator::{Detail, IfExists, OutputOptions, Reuse, RunOptions};
use mario_trace::reader::{TraceReader, TraceRecord};
use mario_trace::{Actor, Change, State};

use super::run::Shown;
use super::snapshot;
use crate::scenarios::{Choices, Disk};
use crate::snapshots::{of_run, parse_time, unwritten};
use crate::traces::{cannot_read, open, refuse, trace_path};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario replay runs/paper-1 --until 20000 --policy latency-aware
  mario replay runs/live-1 --until 15000 --policy mine.pl --out what-if")]
pub struct Arguments {
    /// A trace, or the directory of a run
    #[arg(value_name = "TRACE|DIR")]
    pub run: PathBuf,
    /// The time at which the other policy takes over, in milliseconds: simulated time, or for a live run the time since
    /// its first record
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub until: f64,
    /// The policy of all applications from then on, or with APP=POLICY of one application: a path, or the name of a
    /// built-in policy
    #[arg(long = "policy", value_name = "POLICY|APP=POLICY", required = true,
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// The directory for the run; by default, the first unused one of `runs/SCENARIO-1`,
    /// `runs/SCENARIO-2`, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
}

pub(super) const LONG_ABOUT: &str = "Resume a recorded run at a given time under another policy.

This is `mario snapshot` and `mario run` in one. The resumed run continues to the end of its scenario; what happened in it after \
--until is compared with what happened in the recorded run. A simulated run in a directory is resumed exactly. A live run is \
resumed from the state that its trace records. If it ended before its scenario, only as much of the resumed run is compared with it; its \
client requests, which real clients measured, are not compared with simulated ones.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let snapshot = of_run(&arguments.run, arguments.until, console)?;
    if !snapshot.is_exact {
        snapshot::tell(&snapshot, console);
    }
    let mut document = snapshot.document(&unwritten());
    let choices = Choices { policies: arguments.policies.clone(), ..Choices::default() };
    choices.apply(&mut document);
    let request = NewRun {
        document,
        files: Box::new(Disk),
        functions: PolicyFunctions::default(),
        options: RunOptions { threads: 1, reuse: Reuse::Proposals },
        keep: OutputOptions { detail: Detail::Full, messages: false },
        regret: false,
        out: arguments.out.clone(),
        existing: if arguments.force { IfExists::Replace } else { IfExists::Refuse },
        every: CheckpointInterval::DEFAULT,
    };
    let directory = store(request, &mut Shown::without_notes(console))?.directory;
    let recorded = CountsSince::read(&trace_path(&arguments.run), arguments.until..f64::INFINITY, console)?;
    let from = if snapshot.is_exact { arguments.until } else { 0.0 };
    // A live run may have ended before its scenario: only as much of the resumed run is comparable.
    let to = if recorded.is_live { from + recorded.until } else { f64::INFINITY };
    let replayed = CountsSince::read(&trace_path(&directory), from..to, console)?;
    let text = table(arguments.until, &recorded, &replayed);
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    console.inform(format!("kept in {}", directory.display()));
    Ok(Outcome::Done)
}

/// Counts of what happened in a part of a run.
#[derive(Default)]
struct CountsSince {
    evaluations: u64,
    undeploy: u64,
    migrate: u64,
    replicate: u64,
    adapt: u64,
    sleep: u64,
    wake: u64,
    woken: u64,
    inhibited: u64,
    served: u64,
    lost: u64,
    response_sum: f64,
    until: f64,
    /// Whether live nodes recorded the trace.
    is_live: bool,
}

impl CountsSince {
    fn read(path: &Path, part: Range<f64>, console: &Console) -> Result<CountsSince, Failure> {
        let input = open(path, "reading", console).map_err(|error| cannot_read(path, &error))?;
        let mut reader = TraceReader::new(input).map_err(|error| refuse(path, &error))?;
        let header = reader.header();
        let mut counts = CountsSince { is_live: header.live.is_some(), ..CountsSince::default() };
        let mut state = State::new(Arc::clone(header));
        while let Some(record) = reader.next_record().map_err(|error| refuse(path, &error))? {
            if record.time() > part.end {
                break;
            }
            counts.until = record.time();
            let is_counted = record.time() >= part.start;
            state.apply(&record, &mut |_, change| {
                if is_counted {
                    counts.apply(change);
                }
            });
            if is_counted {
                counts.count(&record);
            }
        }
        counts.until -= part.start;
        Ok(counts)
    }

    fn apply(&mut self, change: Change<'_>) {
        match change {
            Change::Accepted { proposal, .. } => match proposal.operation {
                AgentOperation::Undeploy => self.undeploy += 1,
                AgentOperation::Migrate => self.migrate += 1,
                AgentOperation::Replicate => self.replicate += 1,
                AgentOperation::Adapt => self.adapt += 1,
                AgentOperation::Sleep => self.sleep += 1,
                AgentOperation::Wake => self.wake += 1,
            },
            Change::Inhibited { .. } => self.inhibited += 1,
            Change::Woke { by: Actor::Client, .. } => self.woken += 1,
            Change::Woke { by: Actor::Agent | Actor::Owner(_) | Actor::LiveNode, .. }
            | Change::Appeared { .. }
            | Change::Moved { .. }
            | Change::Left { .. }
            | Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::Nop { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    fn count(&mut self, record: &TraceRecord) {
        if let TraceRecord::Evaluation(_) = record {
            self.evaluations += 1;
        }
        if let TraceRecord::Responses(responses) = record {
            self.served += responses.served;
            self.lost += responses.lost;
            self.response_sum += responses.sum;
        }
    }

    fn response(&self) -> String {
        match self.served {
            0 => "n/a".to_owned(),
            served => format!("{:.2}", self.response_sum / served as f64),
        }
    }
}

fn table(until: f64, recorded: &CountsSince, replayed: &CountsSince) -> String {
    let mut text = format!("from {until} ms on\n");
    let mut row = |title: &str, recorded: String, replayed: String| {
        let _ = writeln!(text, "{title:<22} {recorded:>12} {replayed:>12}");
    };
    row("", "recorded".to_owned(), "replayed".to_owned());
    row("time, ms", format!("{:.0}", recorded.until), format!("{:.0}", replayed.until));
    let counts = [
        ("evaluations", recorded.evaluations, replayed.evaluations),
        ("undeploy", recorded.undeploy, replayed.undeploy),
        ("migrate", recorded.migrate, replayed.migrate),
        ("replicate", recorded.replicate, replayed.replicate),
        ("adapt", recorded.adapt, replayed.adapt),
        ("inhibited", recorded.inhibited, replayed.inhibited),
    ];
    let of_sleep = [
        ("sleep", recorded.sleep, replayed.sleep),
        ("wake", recorded.wake, replayed.wake),
        ("woken by requests", recorded.woken, replayed.woken),
    ];
    let of_sleep = of_sleep.into_iter().filter(|(_, recorded, replayed)| recorded + replayed > 0);
    for (title, recorded, replayed) in counts.into_iter().chain(of_sleep) {
        row(title, recorded.to_string(), replayed.to_string());
    }
    if recorded.is_live {
        text += "client requests and response times are not compared: the clients of the recorded run measured theirs, and \
                 those of the replayed run are simulated\n";
        return text;
    }
    row("client requests served", recorded.served.to_string(), replayed.served.to_string());
    row("client requests lost", recorded.lost.to_string(), replayed.lost.to_string());
    row("mean response, ms", recorded.response(), replayed.response());
    text
}

#[cfg(test)]
mod tests {
    use super::{CountsSince, table};

    #[test]
    fn measured_requests_of_a_live_run_are_not_compared_with_simulated_ones() {
        let replayed = CountsSince { served: 12, response_sum: 33.0, ..CountsSince::default() };
        let simulated = CountsSince { served: 10, response_sum: 20.0, ..CountsSince::default() };
        let live = CountsSince { is_live: true, ..CountsSince { served: 10, ..CountsSince::default() } };
        assert!(table(0.0, &simulated, &replayed).contains("mean response, ms              2.00         2.75"));
        let text = table(0.0, &live, &replayed);
        assert!(!text.contains("mean response") && text.contains("are not compared"), "{text}");
    }
}
