//! Many runs: comparisons, sweeps, and the merging of their shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mario_experiments::comparison::Comparison;
use mario_experiments::metric::Metric;
use mario_experiments::study::{Results, Shard};
use mario_experiments::sweep;
use mario_frontend::Diagnostic;
use mario_frontend::Failure;
use mario_frontend::scenarios::Choices;
use mario_frontend::studies::{
    Study, check_figures, check_outcomes, check_shard, comparison_json, join, keep_comparison, keep_sweep, read_shard,
    variants,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{exception, warn};
use crate::function::{PythonMetric, Raised, policies};
use crate::progress::Progress;
use crate::run::interrupted;
use crate::scenario::{ScenarioText, Texts};

/// The results of many runs: JSON, the table of runs, the table of results, a text for people, the number of missing
/// runs, and notes.
type StudyOutput = (String, String, String, String, u64, Vec<String>);

/// Makes the missing runs of a comparison, or of a sweep if `keys` is given; with `shard`, only those of the shard.
/// Returns the results.
#[pyfunction]
#[pyo3(signature = (scenario, *, contenders, keys, seeds, seed, overrides, attachments, files, functions, metrics, metric_timeout, figures, keep_runs, jobs, shard, out, progress))]
#[allow(clippy::too_many_arguments, reason = "each is a keyword of the Python function, which names it")]
pub(crate) fn study(
    py: Python<'_>,
    scenario: &ScenarioText,
    contenders: Vec<String>,
    keys: Option<Vec<String>>,
    seeds: u64,
    seed: Option<u64>,
    overrides: Vec<String>,
    attachments: Option<PathBuf>,
    files: BTreeMap<String, String>,
    functions: Option<&Bound<'_, PyDict>>,
    metrics: Vec<(String, Py<PyAny>, String)>,
    metric_timeout: f64,
    figures: Vec<String>,
    keep_runs: Vec<u64>,
    jobs: usize,
    shard: Option<&str>,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<StudyOutput> {
    let raised = Raised::default();
    let study = Study {
        policies: contenders,
        seeds,
        metrics: metrics.into_iter().map(|metric| read_metric(py, metric, &raised)).collect::<PyResult<_>>()?,
        metric_timeout: Duration::try_from_secs_f64(metric_timeout)
            .map_err(|error| PyValueError::new_err(format!("metric_timeout: {error}")))?,
        outcomes: figures,
        kept_seeds: keep_runs,
        functions: policies(functions, &raised)?,
        jobs,
        out,
    };
    let shard = shard.map(read_shard).transpose().map_err(PyValueError::new_err)?.unwrap_or(Shard::WHOLE);
    let choices = Choices { overrides, seed, attachments, ..Choices::default() };
    let mut observer = Progress::new(progress.as_ref(), 0.0, &raised);
    let done = py.detach(|| {
        let of_keys = match &keys {
            Some(keys) => variants(keys)?,
            None => {
                check_compared(&study.policies)?;
                check_figures(&study.outcomes)?;
                vec![Vec::new()]
            }
        };
        check_shard(shard, study.out.as_deref())?;
        let document = scenario.chosen(&choices);
        let results = study.carry_out(&document, of_keys, shard, || Texts(&files), &mut |done, total| {
            observer.tell(done as f64, total as f64)
        })?;
        check_outcomes(&results, &results.identity.outcomes)?;
        let warnings = results.warnings.iter().map(Diagnostic::warning).collect::<Vec<_>>();
        Ok((study_output(&results, study.out.as_deref())?, warnings))
    });
    match (done, observer.into_error()) {
        (Err(failure @ Failure::Interrupted(_)), Some(error)) => Err(interrupted(py, &failure, error)),
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(exception(py, &failure)),
        (Ok((told, warnings)), None) => warn(py, &warnings).map(|()| told),
    }
}

/// Rejects a comparison of fewer than two policies.
fn check_compared(policies: &[String]) -> Result<(), Failure> {
    let title = match policies.len() {
        0 => "there is nothing to compare: `policies` is empty",
        1 => "one policy has nothing to be compared with",
        _ => return Ok(()),
    };
    Err(Failure::input(Diagnostic::error(title).hint("name at least two in `policies`")))
}

/// Merges the runs in directories, and stores them in `out` if that is given.
#[pyfunction]
#[pyo3(signature = (directories, out))]
pub(crate) fn merge(py: Python<'_>, directories: Vec<PathBuf>, out: Option<PathBuf>) -> PyResult<StudyOutput> {
    let joined = py.detach(|| {
        let results = join(&directories, out.as_deref(), &[])?;
        results.map(|results| study_output(&results, out.as_deref())).transpose()
    });
    let told = joined.map_err(|failure| exception(py, &failure))?;
    told.ok_or_else(|| PyValueError::new_err("there is nothing to merge: name at least one directory"))
}

/// Converts a metric, which is given as three values: its name, its function or command, and an identity that
/// distinguishes functions of the same name.
fn read_metric(py: Python<'_>, metric: (String, Py<PyAny>, String), raised: &Raised) -> PyResult<Metric> {
    let (name, maker, identity) = metric;
    if let Ok(command) = maker.extract::<String>(py) {
        return Metric::read(&format!("{name}={command}")).map_err(|error| PyValueError::new_err(error.to_string()));
    }
    let function = PythonMetric { name: name.clone(), function: maker, identity, raised: raised.clone() };
    Metric::function(&name, Arc::new(function)).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the results of runs, and stores them in `out` if that is given.
fn study_output(results: &Results, out: Option<&Path>) -> Result<StudyOutput, Failure> {
    let (missing, notes) = (results.missing(), results.identity.notes.clone());
    if results.identity.variants.iter().all(Vec::is_empty) {
        let comparison = Comparison::of(results, &[]);
        if let Some(directory) = out {
            keep_comparison(directory, &comparison)?;
        }
        return Ok((comparison_json(&comparison), results.csv(), comparison.csv(), comparison.text(), missing, notes));
    }
    if let Some(directory) = out {
        keep_sweep(directory, results)?;
    }
    let text = sweep::text(results, &sweep::usual_figures(results));
    Ok((sweep::json(results).to_string(), results.csv(), sweep::csv(results), text, missing, notes))
}
