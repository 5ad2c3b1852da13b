//! What a user can do about a problem.
//!
//! Hints that name options or functions are data, because each front end has its own: the command line words them with
//! its options, the Python package with its keyword arguments.

use std::path::PathBuf;

use mario_domain::Time;

/// A problem, with hints that a front end words.
pub type Diagnostic = mario_diagnostics::Diagnostic<Hint>;

/// Defines [`Hint`] with an example of each variant, so that the tests of front ends miss none.
macro_rules! hints {
    ($($(#[$about:meta])* $name:ident $(($data:ty): ($example:expr))?,)*) => {
        /// What a user can do.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Hint {
            /// A sentence that is the same in all front ends.
            Text(String),
            $($(#[$about])* $name $(($data))?,)*
        }

        impl Hint {
            /// One hint of each variant except [`Hint::Text`], for tests.
            pub fn examples() -> Vec<Hint> {
                vec![$(Hint::$name $(($example))?,)*]
            }
        }
    };
}

hints! {
    /// Store the run in another directory, or replace the one in it.
    Replace,
    /// Resume the run in this directory.
    Resume(PathBuf): (PathBuf::from("runs/paper 1")),
    /// Restore a file as it was, or start the run again and replace what is left of it.
    RestoreFile,
    /// Resume the run with the version that wrote its checkpoint, or start it again.
    SameVersion,
    /// Resume the run with the program that wrote its checkpoint, or start it again.
    SameProgram,
    /// Start a run again that has no checkpoint, perhaps with more frequent ones.
    NoCheckpoint,
    /// Name the directory of a stored run.
    NameRun,
    /// Name the directory of a stored run, simulated or live.
    NameRunOrLive,
    /// Show the complete run in this directory instead of resuming it.
    ShowRun(PathBuf): (PathBuf::from("runs/paper 1")),
    /// Find the trace of a run in its directory.
    FindTrace,
    /// Audit a trace, to find what is wrong with it.
    Audit,
    /// Do not store single messages, or simulate them.
    SimulateMessages,
    /// Choose a function for a policy that is a function of Python.
    PassFunction,
    /// List the policies that ship.
    ListPolicies,
    /// Test an acceptance policy with requests.
    TestAcceptance,
    /// Check and test an acceptance policy that failed in a run.
    TryAcceptance,
    /// Find policies that do not end.
    CheckPolicies,
    /// Lower the budget of decisions.
    LowerBudget,
    /// Raise the budget of a decision, unless its policy loops.
    RaiseBudget,
    /// Name one of several instances.
    NameInstance,
    /// Explain a decision of a stored run.
    Explain(ExplainedRun): (ExplainedRun {
        directory: PathBuf::from("runs/paper 1"),
        instance: "3".to_owned(),
        time: Some(Time::at(2_300.0)),
    }),
    /// Record more than counts.
    RecordPlacement,
    /// Name a program that can be started as a metric.
    MetricProgram,
    /// Give a metric more time.
    MetricTime,
    /// Repeat the call, to compute a metric that was stopped.
    RepeatMetric,
    /// Repeat the call, to make the missing runs.
    RepeatStudy,
    /// Store runs, so that they are kept after an interruption.
    KeepStudy,
    /// Ask for fewer seeds.
    FewerSeeds,
    /// Vary the seed by the number of seeds instead of by a key.
    VarySeeds,
    /// Write keys and values of a sweep.
    WriteKeys,
    /// Store a shard of a sweep, so that it can be merged.
    KeepShard,
    /// Name the directories of studies.
    NameStudies,
}

/// A decision of a stored run.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedRun {
    /// The directory of the run.
    pub directory: PathBuf,
    /// The instance whose agent decided; `ID` if any may be meant.
    pub instance: String,
    /// The time of the decision; `None` for the last one.
    pub time: Option<Time>,
}

impl ExplainedRun {
    /// The command that explains the decision, quoted for a shell.
    pub fn command(&self) -> String {
        let ExplainedRun { directory, instance, time } = self;
        let time = time.map_or_else(String::new, |time| format!(" --time {time}"));
        format!("mario policy explain --run {} --instance {instance}{time}", quoted(&directory.display().to_string()))
    }
}

/// A word quoted for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_alphanumeric() || "/._-+~".contains(letter));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint::Text(text)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Hint {
        Hint::Text(text.to_owned())
    }
}
