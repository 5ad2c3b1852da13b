//! `mario policy bench`.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use mario_frontend::Diagnostic;
use mario_policy::{Constant, Decider, Ending, KnowledgeBase, Policy, RecordedSituation, SolutionLimit};
use mario_prolog::Engine;
use serde_json::json;

use super::batch::Batch;
use super::inputs::{Format, InputArguments, find_instance, read_facts};
use super::trouble::{Descriptors, failure};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario policy bench`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "mario policy bench [OPTIONS] --policy <POLICY> --facts <FILE>\n       mario policy bench [OPTIONS] --policy <POLICY> --batch <FILE>",
    after_help = "Examples:
  mario policy bench --policy policies/workload-aware.pl --facts examples/video.pl --repeat 100000
  mario policy bench --policy policy.pl --batch agents.jsonl.gz --services services.pl --repeat 10 --format json"
)]
pub struct Arguments {
    /// The policy and the facts to decide with.
    #[command(flatten)]
    pub inputs: InputArguments,
    /// Make every decision N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

pub(super) const LONG_ABOUT: &str = "Measure how long a policy takes to decide.

All facts are read into memory first. Then each decision is made N times in one process: the facts of the agent are reloaded, \
all solutions are found, and no decision is reused. Reading and printing are not measured. `at best` is the minimum of the N times, \
which is least affected by other load on the machine.";

/// A knowledge base that can be loaded repeatedly.
enum Situation {
    Recorded(Box<RecordedSituation>),
    Facts(Box<KnowledgeBase>, Constant),
}

struct Case {
    /// The source of the knowledge base: a line of the batch, or the file of facts.
    origin: String,
    situation: Situation,
}

impl Case {
    /// Replaces the facts in `facts` by those of this case; a line of a batch keeps the shared ones. Returns the
    /// instance to decide for.
    fn load(&self, facts: &mut KnowledgeBase) -> Constant {
        match &self.situation {
            Situation::Recorded(recorded) => {
                recorded.fill(facts);
                recorded.instance
            }
            Situation::Facts(own, instance) => {
                facts.copy_from(own);
                *instance
            }
        }
    }
}

/// The cost of deciding one knowledge base.
#[derive(Clone, Copy)]
struct Cost {
    /// The minimum time over all repeats, including loading the facts. Other load on the machine can only add time.
    time: Duration,
    /// The number of inferences, which is the same in all repeats.
    inferences: u64,
}

struct Measured {
    decisions: u64,
    time: Duration,
    inferences: u64,
    inferences_max: u64,
    solutions: u64,
    /// The mean of the knowledge bases' minimum times.
    time_best: Duration,
    slowest: usize,
    slowest_cost: Cost,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    let policy = arguments.inputs.load_policy(&engine, console)?;
    let mut facts = arguments.inputs.shared_facts(&engine)?;
    let cases = cases(arguments, &engine)?;
    if cases.is_empty() {
        let path = arguments.inputs.batch.clone().unwrap_or_default();
        return Err(Failure::input(Diagnostic::error(format!("`{}` has no knowledge base", path.display()))));
    }
    let mut descriptors = Descriptors::default();
    for case in &cases {
        let instance = case.load(&mut facts);
        descriptors.note(&facts, instance);
    }
    descriptors.report(&arguments.inputs, console);
    let measured = measure(&engine, &policy, &mut facts, &cases, arguments, console)?;
    let origin = &cases[measured.slowest].origin;
    console.write_data(|stdout| match arguments.format {
        Format::Text => write_text(stdout, &measured, origin, arguments.repeat),
        Format::Json => writeln!(stdout, "{}", as_json(&measured, origin, arguments.repeat)),
    })?;
    Ok(Outcome::Done)
}

fn cases(arguments: &Arguments, engine: &Engine) -> Result<Vec<Case>, Failure> {
    let inputs = &arguments.inputs;
    let mut cases = Vec::new();
    if let Some(path) = &inputs.batch {
        let mut batch = Batch::open(path)?;
        while let Some(recorded) = batch.next(engine.symbols())? {
            let origin = format!("line {}", batch.line);
            cases.push(Case { origin, situation: Situation::Recorded(Box::new(recorded)) });
        }
    } else if let Some(path) = &inputs.facts {
        let mut facts = KnowledgeBase::new(engine.symbols());
        read_facts(engine, path, &mut facts)?;
        let instance = find_instance(&facts, inputs.instance.as_deref(), path)?;
        let situation = Situation::Facts(Box::new(facts), instance);
        cases.push(Case { origin: path.display().to_string(), situation });
    }
    Ok(cases)
}

fn measure(
    engine: &Engine,
    policy: &Policy,
    facts: &mut KnowledgeBase,
    cases: &[Case],
    arguments: &Arguments,
    console: &Console,
) -> Result<Measured, Failure> {
    let mut decider = Decider::new(engine);
    let mut costs = vec![Cost { time: Duration::MAX, inferences: 0 }; cases.len()];
    let (mut decisions, mut solutions) = (0_u64, 0_u64);
    let mut progress = console.progress("decided");
    let start = Instant::now();
    let mut before = start;
    for _ in 0..arguments.repeat {
        for (case, cost) in cases.iter().zip(&mut costs) {
            let instance = case.load(facts);
            let decision = decider.decide(policy, facts, instance, SolutionLimit::All);
            if decision.ending != Ending::Complete {
                let problem = failure(&decision.ending, policy.name(), &arguments.inputs, engine);
                let hint = format!("the knowledge base is that of {}", case.origin);
                return Err(Failure::Input(problem.into_iter().map(|it| it.hint(hint.clone())).collect()));
            }
            solutions += decision.solutions.len() as u64;
            decisions += 1;
            cost.inferences = decision.inferences;
            // One reading of the clock ends this decision and starts the next.
            let now = Instant::now();
            cost.time = cost.time.min(now - before);
            before = now;
        }
        progress.done(decisions as usize);
        before = Instant::now();
    }
    let time = start.elapsed();
    let slowest = (0..costs.len()).max_by_key(|&index| costs[index].time).unwrap_or(0);
    Ok(Measured {
        decisions,
        time,
        inferences: costs.iter().map(|cost| cost.inferences).sum::<u64>() * u64::from(arguments.repeat),
        inferences_max: costs.iter().map(|cost| cost.inferences).max().unwrap_or(0),
        solutions,
        time_best: costs.iter().map(|cost| cost.time).sum::<Duration>() / costs.len() as u32,
        slowest,
        slowest_cost: costs[slowest],
    })
}

impl Measured {
    fn per_second(&self) -> f64 {
        self.decisions as f64 / self.time.as_secs_f64()
    }

    fn nanoseconds_each(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.decisions as f64
    }

    fn inferences_each(&self) -> f64 {
        self.inferences as f64 / self.decisions as f64
    }
}

fn write_text(stdout: &mut dyn Write, measured: &Measured, origin: &str, repeat: u32) -> io::Result<()> {
    let cases = measured.decisions / u64::from(repeat);
    let bases = if cases == 1 { "base" } else { "bases" };
    let times = if repeat == 1 { "once".to_owned() } else { format!("{repeat} times") };
    writeln!(stdout, "{} decisions: {cases} knowledge {bases}, {times} each", measured.decisions)?;
    writeln!(
        stdout,
        "{:.0} decisions per second, {:.0} ns each, {} ns at best",
        measured.per_second(),
        measured.nanoseconds_each(),
        measured.time_best.as_nanos()
    )?;
    writeln!(
        stdout,
        "{:.1} inferences per decision, {} at most; {} solutions",
        measured.inferences_each(),
        measured.inferences_max,
        measured.solutions / u64::from(repeat)
    )?;
    writeln!(
        stdout,
        "slowest knowledge base: {origin}, {} ns at best, {} inferences",
        measured.slowest_cost.time.as_nanos(),
        measured.slowest_cost.inferences
    )
}

fn as_json(measured: &Measured, origin: &str, repeat: u32) -> serde_json::Value {
    json!({
        "decisions": measured.decisions,
        "knowledge_bases": measured.decisions / u64::from(repeat),
        "repeat": repeat,
        "solutions": measured.solutions / u64::from(repeat),
        "seconds": measured.time.as_secs_f64(),
        "decisions_per_second": measured.per_second(),
        "nanoseconds_per_decision": measured.nanoseconds_each(),
        "nanoseconds_per_decision_best": measured.time_best.as_nanos() as u64,
        "inferences_per_decision": measured.inferences_each(),
        "inferences_max": measured.inferences_max,
        "slowest": {
            "knowledge_base": origin,
            "nanoseconds": measured.slowest_cost.time.as_nanos() as u64,
            "inferences": measured.slowest_cost.inferences,
        },
    })
}
