//! Makes one run of a study and computes its numbers.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use mario_domain::Fnv1a;
use mario_scenario::Resolved;
use mario_simulator::RunStatistics;

use super::{RunKey, StudyPlan};
use crate::figures::{RunFigures, TraceFigures, from_trace};
use crate::measures::{UNANSWERED, Values, measured_values, unanswered, values};
use crate::metric::{MetricCause, MetricError};
use crate::runs::{RunError, Stop, run_to_directory, run_with_trace, run_without_trace};

/// The directory of stored runs within that of a study.
const RUNS: &str = "runs";

/// The file with the optional measures of a stored run. `mario run` writes the same file.
const MEASURES: &str = "measures.json";

/// Makes a run and returns its numbers and statistics. The run is stored in `directory`, if there is one and the plan
/// keeps the seed. Otherwise it is stored temporarily if the plan has metrics. Fails with [`RunError::Stopped`] soon
/// after a stop is requested.
pub(super) fn make(
    plan: &StudyPlan<'_>,
    key: &RunKey,
    resolved: &Resolved,
    directory: Option<&Path>,
    stop: &Stop,
) -> Result<(Values, RunStatistics), RunError> {
    let place = directory.filter(|_| plan.kept_seeds.contains(&key.seed)).map(|study| study.join(RUNS).join(name(key)));
    if let Some(place) = &place {
        return in_directory(plan, resolved, place, stop);
    }
    if !plan.metrics.is_empty() {
        let place = Temporary::new(key);
        return in_directory(plan, resolved, &place.0, stop);
    }
    if resolved.scenario.is_measured() {
        let (figures, statistics) = run_with_trace(&resolved.scenario, &plan.functions, stop)?;
        return Ok((with_unanswered(all_values(&figures, resolved), &figures.figures, &statistics), statistics));
    }
    let (figures, statistics) = run_without_trace(&resolved.scenario, &plan.functions, stop)?;
    Ok((with_unanswered(values(&figures), &figures, &statistics), statistics))
}

/// Adds the number of requests that are neither served nor lost. A trace does not record it.
fn with_unanswered(mut values: Values, figures: &RunFigures, statistics: &RunStatistics) -> Values {
    values.insert(UNANSWERED.to_owned(), Some(unanswered(figures, statistics.emitted)));
    values
}

fn in_directory(
    plan: &StudyPlan<'_>,
    resolved: &Resolved,
    place: &Path,
    stop: &Stop,
) -> Result<(Values, RunStatistics), RunError> {
    let failed = |name: &str, message: String| {
        RunError::Metric(MetricError { name: name.to_owned(), cause: MetricCause::Keep(message) })
    };
    fs::create_dir_all(place).map_err(|error| failed("trace", error.to_string()))?;
    let statistics = run_to_directory(resolved, &plan.functions, place, stop)?;
    let trace = File::open(place.join("trace.jsonl")).map_err(|error| failed("trace", error.to_string()))?;
    let figures = from_trace(BufReader::new(trace)).map_err(|error| failed("trace", error.to_string()))?;
    if resolved.scenario.is_measured() {
        let json = format!("{:#}\n", serde_json::json!(figures.measured));
        fs::write(place.join(MEASURES), json).map_err(|error| failed("measures", error.to_string()))?;
    }
    let mut values = with_unanswered(all_values(&figures, resolved), &figures.figures, &statistics);
    for metric in &plan.metrics {
        let measured = metric.measure(place, plan.metric_timeout, stop);
        // After a request to stop, a failure is not reported as one of the metric: its program was killed, or received
        // the same signal as this process.
        let number =
            measured.map_err(|error| if stop.is_requested() { RunError::Stopped } else { RunError::Metric(error) })?;
        values.insert(metric.key(), Some(number));
    }
    Ok((values, statistics))
}

/// The figures of a run, and its optional measures if the scenario has any.
fn all_values(figures: &TraceFigures, resolved: &Resolved) -> Values {
    let mut all = values(&figures.figures);
    if resolved.scenario.is_measured() {
        all.extend(measured_values(&figures.measured));
    }
    all
}

/// The name of a run's directory: the words of its key joined by `-`, truncated to 100 characters, and a hash that
/// distinguishes runs with the same words.
fn name(key: &RunKey) -> String {
    let whole = format!("{key}");
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let words: String = whole.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let hash = whole.bytes().collect::<Fnv1a>().finish();
    let mut short = words.join("-");
    short.truncate(100);
    format!("{short}-{:06x}", hash & 0xff_ffff)
}

/// A directory that is removed on drop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(key: &RunKey) -> Temporary {
        Temporary(std::env::temp_dir().join(format!("mario-{}-{}", std::process::id(), name(key))))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
