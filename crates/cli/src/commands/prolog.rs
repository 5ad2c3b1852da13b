//! `mario prolog [FILE]... [--goal GOAL]`.

mod asking;
mod output;
mod sources;
mod terminal;
mod toplevel;

use std::path::PathBuf;

use clap::Args;
use mario_frontend::Diagnostic;
use mario_prolog::{Budget, Engine, Session};

use crate::{Console, Exit, Failure, Outcome};
use asking::{Asker, Ended};
use output::ProgramOutput;
use sources::Sources;

/// Arguments of `mario prolog`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario prolog policies/cost-aware.pl examples/late.pl --goal 'operation(Operation, s1, Target)'
  mario prolog facts.pl rules.pl --goal 'reachable(n1, Node)' --limit 10
  mario prolog --goal 'X is 2 ** 100'
  mario prolog facts.pl rules.pl")]
pub struct Arguments {
    /// Programs to load, in this order
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run this goal and exit, instead of reading goals
    #[arg(short, long, value_name = "GOAL", allow_hyphen_values = true)]
    pub goal: Option<String>,
    /// Print up to N answers of each goal; ignored at the prompt, where `;` asks for the next answer
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Stop a goal, or the directives of all programs together, after N inferences; the default is 100000000, and no
    /// limit for goals at the prompt
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Stop a goal or a directive that needs more memory than this
    #[arg(long, value_name = "BYTES", default_value_t = Budget::default().heap_bytes as u64,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub heap: u64,
    /// Stop a goal, or the directives of all programs together, after this many bytes of output
    #[arg(long, value_name = "BYTES", default_value_t = Budget::default().output_bytes as u64,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub output: u64,
}

pub(super) const LONG_ABOUT: &str = "Run Prolog: a single goal, or an interactive prompt.

With --goal, the output of the program goes to standard output, followed by the answers, one per line, as SWI-Prolog prints \
them: `X = 1, Y = f(_).`, or `true.` if no variable is bound. A goal without an answer prints `false.`, and the exit code is 1. \
The exit code is also 1 if the goal raises an error or exhausts its budget, which is reported on standard error. It is 2 if a \
file cannot be read, or if a file or the goal is not Prolog. `halt(N)` ends with code N if N is from 0 to 125 and not 101, which means a bug in mario; \
with any other N the code is 1, and standard error says so.

Without --goal, goals are read from standard input, each ended by a full stop. On a terminal, this is a prompt with history, \
where `;` asks for the next answer and Ctrl-C stops a goal. Otherwise answers are printed as with --goal, and the exit code is 1 \
if a goal had no answer or raised an error, or 2 if one was not Prolog.

Loading is bounded: the directives of all files share one --budget and one --output. Files may load other files up to 32 levels \
deep, 1000 times and 64 MiB in all. Reading stops after 100 errors.

Programs are sandboxed: they can read files only below the directories of the files named here, or below the current directory \
if no file is named. They have no access to the network, processes, environment variables or the clock.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    let output = ProgramOutput::new(console.clone());
    let mut sources = Sources::new(&engine, &arguments.files, arguments.limits(), output.clone());
    let loaded = sources.load(console);
    output.end()?;
    let loaded = loaded?;
    if let Some(status) = loaded.halted {
        return Ok(halted(status, console));
    }
    let mut session = Session::new(&engine, loaded.program);
    session.set_sink(Some(Box::new(output.clone())));
    session.set_interrupt(Some(output.interrupt().clone()));
    let mut asker = Asker { session, budget: arguments.limits(), output, console };
    match &arguments.goal {
        Some(goal) => {
            let ended = asker.ask(goal, &asking::Place::whole("--goal"), arguments.limit)?;
            match ended {
                Ended::NotAGoal(diagnostic) => Err(Failure::input(*diagnostic)),
                _ => Ok(ended.outcome(console)),
            }
        }
        None if console.is_conversation() => {
            if arguments.budget.is_none() {
                asker.budget.inferences = u64::MAX;
            }
            toplevel::converse(&mut asker, &mut sources)
        }
        None => toplevel::answer_all(&mut asker, &mut sources, arguments.limit),
    }
}

impl Arguments {
    /// The budget of each goal, and of the directives of all files together.
    fn limits(&self) -> Budget {
        let default = Budget::default();
        let heap_bytes = usize::try_from(self.heap).unwrap_or(usize::MAX);
        Budget {
            inferences: self.budget.unwrap_or(default.inferences),
            heap_bytes,
            // Keeps the default ratios of trail entries and choice points to the heap.
            trail_entries: heap_bytes / (default.heap_bytes / default.trail_entries),
            choice_points: heap_bytes / (default.heap_bytes / default.choice_points),
            output_bytes: usize::try_from(self.output).unwrap_or(usize::MAX),
            ..default
        }
    }
}

/// Returns the outcome for a program that chose `status`. A status that programs may not choose is reported on standard
/// error.
fn halted(status: i32, console: &Console) -> Outcome {
    if Exit::of_program(status).is_none() {
        let title = format!("the program ended with status {status}, which cannot be its exit code");
        let hint =
            "a program may end with 0 to 125, except 101, which means a bug in mario; anything else ends with code 1";
        console.show([&Diagnostic::error(title).hint(hint)]);
    }
    Outcome::Halted(status)
}
