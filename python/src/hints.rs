//! Words the hints of the libraries with the functions and keyword arguments of the package.

use std::borrow::Cow;
use std::path::Path;

use mario_frontend::Hint;
use pyo3::prelude::*;

/// What the user can do, in the words of the package.
pub(crate) fn words(hint: &Hint) -> String {
    const AGAIN: &str = "start the run again, with `force=True` to replace what it left";
    let text: Cow<'_, str> = match hint {
        Hint::Text(text) => text.into(),
        Hint::Replace => "name another directory, or replace the run in it with `force=True`".into(),
        Hint::Resume(directory) => format!("resume it: `mario.resume({})`", literal(directory)).into(),
        Hint::RestoreFile => format!("put the file back as it was, or {AGAIN}").into(),
        Hint::SameVersion => format!("resume it with the version of mario that wrote it, or {AGAIN}").into(),
        Hint::SameProgram => format!("resume it with the program that wrote it, or {AGAIN}").into(),
        Hint::NoCheckpoint => format!("{AGAIN}; `checkpoint_every=…` says how often it is saved").into(),
        Hint::NameRun => "name a directory that `mario.run` has made".into(),
        Hint::NameRunOrLive => {
            "name a directory that `mario.run`, or on the command line `mario live`, has made".into()
        }
        Hint::ShowRun(directory) => {
            format!("there is nothing to resume; `mario.Run({})` opens it", literal(directory)).into()
        }
        Hint::FindTrace => "`mario.run` leaves a trace as trace.jsonl in the directory of the run".into(),
        Hint::Audit => "on the command line, `mario audit` tells what is wrong with its trace".into(),
        Hint::SimulateMessages => {
            "omit `messages=True`, or set the key: `set={\"network.fidelity\": \"messages\"}`".into()
        }
        Hint::PassFunction => "pass the function itself: `policy=function`".into(),
        Hint::ListPolicies => "`mario.policy_names()` lists the policies that ship".into(),
        Hint::TestAcceptance => {
            "this is the acceptance policy of a node's manager: on the command line, `mario policy test` judges \
             requests with it"
                .into()
        }
        Hint::TryAcceptance => {
            "a full trace has the reason each time; on the command line, `mario policy check` and `mario policy test` \
             try a policy alone"
                .into()
        }
        Hint::CheckPolicies => "`mario.Policy.check()` finds policies that do not end".into(),
        Hint::LowerBudget => {
            "`budget=N` has a decision end after N inferences: the shipped policies take some hundred".into()
        }
        Hint::RaiseBudget => "does it loop? `budget=N` allows more inferences".into(),
        Hint::NameInstance => "name one of them with `instance=…`".into(),
        Hint::Explain(run) => format!("to see why, on the command line: {}", run.command()).into(),
        Hint::RecordPlacement => "make the run again without `trace=\"summary\"`".into(),
        Hint::MetricProgram => "write `metrics={NAME: COMMAND}` with a program that is installed, or its path".into(),
        Hint::MetricTime => "give it more time with `metric_timeout=SECONDS`".into(),
        Hint::RepeatMetric => "the same call computes it again".into(),
        Hint::RepeatStudy => "the same call makes the runs that are missing".into(),
        Hint::KeepStudy => "with `out=DIR`, what was done would be kept".into(),
        Hint::FewerSeeds => "ask for fewer seeds with `seeds=N`".into(),
        Hint::VarySeeds => "ask for `seeds=N`, from `seed=N` on".into(),
        Hint::WriteKeys => "write `keys={KEY: [VALUE, VALUE]}`, e.g. `keys={\"workload.period\": [20, 40, 80]}`".into(),
        Hint::KeepShard => "say where with `out=DIR`; `mario.merge` joins the parts".into(),
        Hint::NameStudies => "name directories that `mario.sweep` or `mario.compare` made with `out=DIR`; those of \
                              `mario.run` are single runs"
            .into(),
    };
    text.into_owned()
}

/// A path as a literal of Python.
fn literal(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The words of one hint of each kind, by the name of the kind, for tests.
#[pyfunction]
pub(crate) fn hints() -> Vec<(String, String)> {
    let name = |hint: &Hint| {
        let shown = format!("{hint:?}");
        shown.split('(').next().unwrap_or_default().to_owned()
    };
    Hint::examples().iter().map(|hint| (name(hint), words(hint))).collect()
}
