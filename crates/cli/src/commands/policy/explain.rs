//! `mario policy explain`.

mod from_snapshot;
mod judged;
mod kept;
mod page;
mod text;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use mario_frontend::Diagnostic;
use mario_policy::{Ending, ExplainedDecision, Explainer, KnowledgeBase};
use mario_prolog::Engine;
use mario_simulator::write_atomically;

use super::batch::Batch;
use super::inputs::{Format, InputArguments, find_instance, read_facts};
use super::trouble::{Descriptors, failure};
use crate::arguments::parse_time;
use crate::replacing::{contains, refuse_to_replace};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario policy explain`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "mario policy explain [OPTIONS] --policy <POLICY> --facts <FILE>\n       mario policy explain [OPTIONS] --policy <POLICY> --batch <FILE>\n       mario policy explain [OPTIONS] --run <DIR> --instance <ID>\n       mario policy explain [OPTIONS] --snapshot <SCENARIO> --instance <ID>\n       mario policy explain [OPTIONS] --acceptance <POLICY> --facts <FILE> --request <TERM>",
  after_help = "Examples:
  mario policy explain --policy policies/workload-aware.pl --facts examples/video.pl
  mario policy explain --policy policy.pl --facts facts.pl --instance s1 --format json
  mario policy explain --policy policy.pl --facts facts.pl --html why.html
  mario policy explain --policy policy.pl --batch agents.jsonl.gz --services services.pl > reasons.jsonl
  mario policy explain --run runs/paper-1 --instance 3 --time 2300
  mario policy explain --snapshot here.toml --instance 3 --policy latency-aware
  mario policy explain --acceptance accept-what-fits --facts manager.pl --request 'request(deploy, none, video, none, n42)'",
  mut_arg("policy", |policy| policy.required(false).required_unless_present_any(["run", "acceptance", "snapshot"])),
  mut_arg("facts", |facts| facts.required(false).required_unless_present_any(["batch", "run", "snapshot"])))]
pub struct Arguments {
    /// The policy and the facts to decide with.
    #[command(flatten)]
    pub inputs: InputArguments,
    /// Explain a decision of the run in this directory; the policy and the facts are those of its trace
    #[arg(long, value_name = "DIR", requires = "instance",
        conflicts_with_all = ["policy", "facts", "batch", "services", "acceptance", "html"])]
    pub run: Option<PathBuf>,
    /// With --run: explain the last decision up to this time, in milliseconds: simulated time, or for a live run the time
    /// since its first record; by default, the last one of the run
    #[arg(long, value_name = "TIME", requires = "run", value_parser = parse_time)]
    pub time: Option<f64>,
    /// Explain the next decision of an instance after this snapshot; with --policy, the decision of that policy
    #[arg(long, value_name = "SCENARIO", requires = "instance",
        conflicts_with_all = ["run", "facts", "batch", "services", "acceptance", "html"])]
    pub snapshot: Option<PathBuf>,
    /// Explain what a manager with this acceptance policy answers to a request
    #[arg(long, value_name = "POLICY", requires = "request", conflicts_with_all = ["policy", "batch", "services", "instance", "html"])]
    pub acceptance: Option<PathBuf>,
    /// With --acceptance: the request, as `request(Operation, Instance, Application, From, To)`, or `initiative`
    #[arg(long, value_name = "TERM", requires = "acceptance")]
    pub request: Option<String>,
    /// How to print the explanation [default: text]; a batch is always printed as JSON lines
    #[arg(long, value_name = "FORMAT", conflicts_with = "html")]
    pub format: Option<Format>,
    /// Write an HTML page to this file instead of printing
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

pub(super) const LONG_ABOUT: &str = "Show why an agent proposes an operation, and why no other.

The input is that of `mario policy decide`. For each proposal, the output has its proof: the clause of the policy, the facts \
that it used, and the numbers that it compared. For each operation that is not proposed, the output has every clause that could \
have proposed it, with the goal where it failed, the values of its variables there, and, if one is found, the smallest change of \
facts that would make the clause succeed. Every such change has been verified by deciding again.

With --run, a decision of a stored run is explained: the facts of the agent come from the trace, and the verdicts of the \
managers are shown too. With --snapshot, the next decision after a state written by `mario snapshot` is explained.

With --acceptance, the verdict of a node's manager is explained: the facts are those that the manager sees, as in the tests of \
an acceptance policy. For an inhibited request, the output has the clause that rejected it, or the goals where the accepting \
clauses failed, and the smallest changes of facts that would get it accepted, each verified by judging again. With `--request \
initiative`, the output explains which instances the owner of the node would evict or shrink.

With --policy and --facts or --batch, the exit code is 2 if the policy raises an exception or exhausts its --budget; the rest of a \
batch is still explained. With --run, --snapshot or --acceptance, this is part of the explanation, the exit code is 0, and --budget \
has no effect.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    if let Some(directory) = &arguments.run {
        return kept::run(arguments, directory, console);
    }
    if let Some(snapshot) = &arguments.snapshot {
        return from_snapshot::run(arguments, snapshot, console);
    }
    if let (Some(policy), Some(facts)) = (&arguments.acceptance, &arguments.inputs.facts) {
        return judged::run(arguments, &engine, policy, facts, console);
    }
    match (&arguments.inputs.facts, &arguments.inputs.batch) {
        (_, Some(path)) => explain_batch(arguments, &engine, path, console),
        (Some(path), None) => explain_one(arguments, &engine, path, console),
        (None, None) => Err(Failure::input(Diagnostic::error("missing `--facts` or `--batch`"))),
    }
}

fn explain_one(arguments: &Arguments, engine: &Engine, path: &Path, console: &Console) -> Result<Outcome, Failure> {
    let mut explainer = arguments.inputs.load_explainer(engine, console)?;
    let mut facts = KnowledgeBase::new(engine.symbols());
    read_facts(engine, path, &mut facts)?;
    let instance = find_instance(&facts, arguments.inputs.instance.as_deref(), path)?;
    let explained = explainer.explain(&facts, instance);
    let policy = explainer.policy().name();
    let mut descriptors = Descriptors::default();
    descriptors.note(&facts, instance);
    descriptors.report(&arguments.inputs, console);
    if let Some(page_path) = &arguments.html {
        let title = format!("{}: {policy}", path.display());
        write_page(page_path, &title, |page| page::section(page, &explained, None))?;
    } else {
        console.write_data(|stdout| match arguments.format.unwrap_or(Format::Text) {
            Format::Text => text::write(stdout, &explained, console.colours_data()),
            Format::Json => writeln!(stdout, "{}", json(&explained)),
        })?;
    }
    match failure(&explained.ending, policy, &arguments.inputs, engine) {
        Some(diagnostic) => Err(Failure::input(diagnostic)),
        None => Ok(Outcome::Done),
    }
}

fn explain_batch(arguments: &Arguments, engine: &Engine, path: &Path, console: &Console) -> Result<Outcome, Failure> {
    if arguments.format == Some(Format::Text) {
        let diagnostic = Diagnostic::error("`--format text` cannot be used with `--batch`");
        return Err(Failure::input(
            diagnostic.hint("a batch is printed as JSON lines, or written as a page with `--html`"),
        ));
    }
    let mut explainer = arguments.inputs.load_explainer(engine, console)?;
    let mut facts = arguments.inputs.shared_facts(engine)?;
    let mut explanation = BatchExplanation {
        batch: Batch::open(path)?,
        descriptors: Descriptors::default(),
        failure: None,
        first_ending: None,
    };
    match &arguments.html {
        Some(page_path) => {
            let title = format!("{}: {}", path.display(), explainer.policy().name());
            write_page(page_path, &title, |page| {
                explanation.each(engine, &mut explainer, &mut facts, console, |line, explained| {
                    page::section(page, explained, Some(line))
                })
            })?;
        }
        None => console.write_data(|stdout| {
            explanation.each(engine, &mut explainer, &mut facts, console, |_, explained| {
                writeln!(stdout, "{}", json(explained))
            })
        })?,
    }
    explanation.descriptors.report(&arguments.inputs, console);
    if let Some(failure) = explanation.failure {
        return Err(failure);
    }
    let Some((line, ending)) = explanation.first_ending else { return Ok(Outcome::Done) };
    match failure(&ending, explainer.policy().name(), &arguments.inputs, engine) {
        Some(diagnostic) => {
            let title = format!("{} for line {line}", diagnostic.title);
            Err(Failure::input(Diagnostic { title, ..diagnostic }))
        }
        None => Ok(Outcome::Done),
    }
}

/// A batch to explain, and the problems so far.
struct BatchExplanation {
    batch: Batch,
    descriptors: Descriptors,
    failure: Option<Failure>,
    /// The first line for which the policy reached no decision, and why.
    first_ending: Option<(usize, Ending)>,
}

impl BatchExplanation {
    fn each(
        &mut self,
        engine: &Engine,
        explainer: &mut Explainer,
        facts: &mut KnowledgeBase,
        console: &Console,
        mut write: impl FnMut(usize, &ExplainedDecision) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut progress = console.progress("explained");
        let mut count = 0;
        loop {
            let recorded = match self.batch.next(engine.symbols()) {
                Ok(Some(recorded)) => recorded,
                Ok(None) => return Ok(()),
                Err(failure) => {
                    self.failure = Some(failure);
                    return Ok(());
                }
            };
            recorded.fill(facts);
            let explained = explainer.explain(facts, recorded.instance);
            write(self.batch.line, &explained)?;
            self.descriptors.note(facts, recorded.instance);
            if explained.ending != Ending::Complete {
                self.first_ending.get_or_insert_with(|| (self.batch.line, explained.ending.clone()));
            }
            count += 1;
            progress.done(count);
        }
    }
}

fn json(explained: &ExplainedDecision) -> serde_json::Value {
    serde_json::json!(explained)
}

fn write_page(path: &Path, title: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    refuse_to_replace(path, |opening| contains(opening, page::MARK), "a page of explanations", "--html")?;
    let written = write_atomically(path, |file| {
        let mut page = BufWriter::new(file);
        page::start(&mut page, title)?;
        write(&mut page)?;
        page::end(&mut page)?;
        page.flush()
    });
    written.map_err(|error| Failure::file(format!("cannot write `{}`", path.display()), &error))
}
