//! `mario policy decide`.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use mario_diagnostics::printable_line;
use mario_frontend::Diagnostic;
use mario_frontend::policies::{add_faults, decision_json, operations, place};
use mario_policy::{Decider, Decision, Ending, KnowledgeBase, Policy, Solution, SolutionLimit};
use mario_prolog::{Engine, Symbols};
use serde_json::json;

use super::batch::Batch;
use super::inputs::{Format, InputArguments, find_instance, read_facts};
use super::trouble::{Descriptors, failure};
use crate::console::column_width;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario policy decide`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "mario policy decide [OPTIONS] --policy <POLICY> --facts <FILE>\n       mario policy decide [OPTIONS] --policy <POLICY> --batch <FILE>",
    after_help = "Examples:
  mario policy decide --policy policies/workload-aware.pl --facts examples/video.pl
  mario policy decide --policy policy.pl --facts facts.pl --instance s1 --all --format json
  mario policy decide --policy policy.pl --batch agents.jsonl.gz --services services.pl --all > decisions.jsonl"
)]
pub struct Arguments {
    /// The policy and the facts to decide with.
    #[command(flatten)]
    pub inputs: InputArguments,
    /// Show all solutions in order, not only the first, which is the agent's proposal
    #[arg(long)]
    pub all: bool,
    /// How to print one decision [default: text]; a batch is always printed as JSON lines
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
}

pub(super) const LONG_ABOUT: &str = "Show what an agent proposes, given its facts.

The facts are what the agent observes: its instance, the node and its neighbours, and the client requests. docs/policies.md \
describes each of them, and examples/video.pl is a sample. Each proposal is shown with the clause of the policy that produced it; \
`nop` (no operation) means that the policy proposes nothing.

In a batch, each line is a JSON object: `si` (the instance), `app`, `node`, `free_hw` (free hardware by node: of `node` itself, and of \
each neighbour, whose amount the agent does not see), `requests` (lists of neighbour, rate, latency) and, optionally, `refused` \
(inhibited requests: lists of operation, instance, target). docs/policies.md lists further optional keys; unknown keys are ignored. \
Each line of the batch yields one line of output: {\"ops\":[[\"replicate\",\"7\",\"n1\"]]}.

If a policy raises an exception or exhausts its budget, the exit code is 2; the rest of a batch is still decided. Solutions that \
are not operations are shown with a warning.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    let limit = if arguments.all { SolutionLimit::All } else { SolutionLimit::First };
    match (&arguments.inputs.facts, &arguments.inputs.batch) {
        (_, Some(path)) => decide_batch(arguments, &engine, path, limit, console),
        (Some(path), None) => decide_one(arguments, &engine, path, limit, console),
        (None, None) => Err(Failure::input(Diagnostic::error("missing `--facts` or `--batch`"))),
    }
}

fn decide_one(
    arguments: &Arguments,
    engine: &Engine,
    path: &Path,
    limit: SolutionLimit,
    console: &Console,
) -> Result<Outcome, Failure> {
    let policy = arguments.inputs.load_policy(engine, console)?;
    let mut facts = KnowledgeBase::new(engine.symbols());
    read_facts(engine, path, &mut facts)?;
    let instance = find_instance(&facts, arguments.inputs.instance.as_deref(), path)?;
    let mut decider = Decider::new(engine);
    let decision = decider.decide(&policy, &facts, instance, limit);
    console.write_data(|stdout| match arguments.format.unwrap_or(Format::Text) {
        Format::Text => write_text(stdout, decision, &policy),
        Format::Json => writeln!(stdout, "{}", decision_json(decision, &policy)),
    })?;
    for solution in &decision.solutions {
        warn_invalid(solution, &policy, console);
    }
    let mut descriptors = Descriptors::default();
    descriptors.note(&facts, instance);
    descriptors.report(&arguments.inputs, console);
    match failure(&decision.ending, policy.name(), &arguments.inputs, engine) {
        Some(diagnostic) => Err(Failure::input(diagnostic)),
        None => Ok(Outcome::Done),
    }
}

fn write_text(stdout: &mut dyn Write, decision: &Decision, policy: &Policy) -> io::Result<()> {
    if decision.solutions.is_empty() && decision.ending == Ending::Complete {
        return writeln!(stdout, "nop");
    }
    let shown: Vec<String> = decision.solutions.iter().map(|solution| shown(solution, policy.symbols())).collect();
    let width = column_width(&shown);
    for (solution, shown) in decision.solutions.iter().zip(&shown) {
        match place(solution, policy) {
            Some((file, line)) => writeln!(stdout, "{shown:width$}  {file}:{line}")?,
            None => writeln!(stdout, "{shown}")?,
        }
    }
    Ok(())
}

/// The operation, instance and target of a solution, on one line.
fn shown(solution: &Solution, symbols: &Symbols) -> String {
    solution.texts(symbols).map(|text| printable_line(&text).into_owned()).join(" ")
}

fn warn_invalid(solution: &Solution, policy: &Policy, console: &Console) {
    if let Solution::Invalid(invalid) = solution {
        let [operation, instance, target] = &invalid.arguments;
        let title = format!("operation({operation}, {instance}, {target}) is not an operation");
        let mut diagnostic = Diagnostic::warning(title);
        diagnostic.causes.push(invalid.fault.description().to_owned());
        if let Some((file, line)) = place(solution, policy) {
            diagnostic = diagnostic.hint(format!("see the clause in {file}:{line}"));
        }
        console.show(&[diagnostic]);
    }
}

/// The failed decisions and invalid solutions of a batch: their numbers, and the first of each with its line.
#[derive(Default)]
struct BatchFailures {
    failed: usize,
    first_failure: Option<(usize, Ending)>,
    invalid: usize,
    first_invalid: Option<(usize, Solution)>,
}

impl BatchFailures {
    fn note(&mut self, line: usize, decision: &Decision) {
        if decision.ending != Ending::Complete {
            self.failed += 1;
            self.first_failure.get_or_insert_with(|| (line, decision.ending.clone()));
        }
        for solution in &decision.solutions {
            if let Solution::Invalid(_) = solution {
                self.invalid += 1;
                self.first_invalid.get_or_insert_with(|| (line, solution.clone()));
            }
        }
    }

    fn report(
        self,
        policy: &Policy,
        inputs: &InputArguments,
        engine: &Engine,
        console: &Console,
    ) -> Result<Outcome, Failure> {
        if let Some((line, solution)) = self.first_invalid {
            warn_invalid(&solution, policy, console);
            console.inform(format_args!("{} solutions are not operations, the first for line {line}", self.invalid));
        }
        let Some((line, ending)) = self.first_failure else { return Ok(Outcome::Done) };
        match failure(&ending, policy.name(), inputs, engine) {
            None => Ok(Outcome::Done),
            Some(diagnostic) => {
                console.inform(format_args!("{} decisions failed; the first:", self.failed));
                let title = format!("{} for line {line}", diagnostic.title);
                Err(Failure::input(Diagnostic { title, ..diagnostic }))
            }
        }
    }
}

fn decide_batch(
    arguments: &Arguments,
    engine: &Engine,
    path: &Path,
    limit: SolutionLimit,
    console: &Console,
) -> Result<Outcome, Failure> {
    if arguments.format == Some(Format::Text) {
        let diagnostic = Diagnostic::error("`--format text` cannot be used with `--batch`");
        return Err(Failure::input(diagnostic.hint("a batch is printed as JSON lines")));
    }
    let policy = arguments.inputs.load_policy(engine, console)?;
    let mut facts = arguments.inputs.shared_facts(engine)?;
    let mut batch = Batch::open(path)?;
    let mut decider = Decider::new(engine);
    let mut failures = BatchFailures::default();
    let mut descriptors = Descriptors::default();
    let mut progress = console.progress("decided");
    let mut read_failure = None;
    let mut count = 0;
    let written = console.write_data(|stdout| {
        loop {
            let recorded = match batch.next(engine.symbols()) {
                Ok(Some(recorded)) => recorded,
                Ok(None) => return Ok(()),
                Err(failure) => {
                    read_failure = Some(failure);
                    return Ok(());
                }
            };
            recorded.fill(&mut facts);
            let decision = decider.decide(&policy, &facts, recorded.instance, limit);
            let mut object = json!({"ops": operations(decision, policy.symbols())});
            add_faults(&mut object, decision);
            writeln!(stdout, "{object}")?;
            failures.note(batch.line, decision);
            descriptors.note(&facts, recorded.instance);
            count += 1;
            progress.done(count);
        }
    });
    drop(progress);
    written?;
    descriptors.report(&arguments.inputs, console);
    match read_failure {
        Some(failure) => Err(failure),
        None => failures.report(&policy, &arguments.inputs, engine, console),
    }
}
