//! `mario compare` of stored runs, simulated or live: their figures side by side.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mario_experiments::figures::from_trace;
use mario_frontend::Diagnostic;
use serde_json::{Value, json};

use super::{Arguments, Format};
use crate::console::column_width;
use crate::traces::{cannot_read, open, refuse, trace_path};
use crate::{Console, Failure, Outcome, read_text};

/// A figure and its value for each run; `None` if a run does not have it.
type Row = (&'static str, Vec<Option<f64>>);

/// Whether the path is the directory of a stored run.
pub(super) fn is_run(path: &Path) -> bool {
    path.is_dir() && trace_path(path).is_file()
}

pub(super) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let runs: Vec<&PathBuf> = std::iter::once(&arguments.study.scenario).chain(&arguments.runs).collect();
    if let Some(other) = runs.iter().find(|path| !is_run(path)) {
        let diagnostic = Diagnostic::error(format!("`{}` is not the directory of a run", other.display()));
        return Err(Failure::input(
            diagnostic.hint("name directories with a trace.jsonl, or one scenario and policies"),
        ));
    }
    if runs.len() < 2 {
        let diagnostic = Diagnostic::error("one run has nothing to be compared with");
        return Err(Failure::input(diagnostic.hint("name at least two directories of runs")));
    }
    if !arguments.study.policies.is_empty() {
        let diagnostic =
            Diagnostic::error("the runs are there already, and have their policies: `--policy` means nothing");
        return Err(Failure::input(diagnostic.hint("`mario replay` resumes a run under another policy")));
    }
    if !arguments.figures.is_empty() {
        let diagnostic = Diagnostic::error("stored runs are not tested: `--figure` means nothing");
        return Err(Failure::input(diagnostic.hint("name a scenario and policies to test their outcomes")));
    }
    let columns: Vec<Vec<(&'static str, Option<f64>)>> =
        runs.iter().map(|run| figures(run, console)).collect::<Result<_, Failure>>()?;
    let rows: Vec<Row> = (0..columns[0].len())
        .map(|place| (columns[0][place].0, columns.iter().map(|column| column[place].1).collect()))
        .collect();
    let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let text = match arguments.format {
        Format::Text => as_text(&names, &rows),
        Format::Csv => as_csv(&names, &rows),
        Format::Json => format!("{:#}\n", as_json(&names, &rows)),
    };
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    console.inform(
        "each column is one run; `mario compare SCENARIO` tests with many seeds whether a difference is significant",
    );
    Ok(Outcome::Done)
}

/// Returns the figures of a run, computed from its trace. For a live run, the figures of client requests are those that
/// the clients measured, from the summary, and service usage is `None`.
fn figures(run: &Path, console: &Console) -> Result<Vec<(&'static str, Option<f64>)>, Failure> {
    let path = trace_path(run);
    let input = open(&path, "reading", console).map_err(|error| cannot_read(&path, &error))?;
    let figures = from_trace(input).map_err(|error| refuse(&path, &error))?.figures;
    let summary_path = run.join("summary.json");
    let summary: Value = if summary_path.is_file() {
        serde_json::from_str(&read_text(&summary_path)?.text).unwrap_or(Value::Null)
    } else {
        Value::Null
    };
    let is_live = summary["requests"].is_number();
    let all = &figures.groups[0];
    let count = |count: u64| Some(count as f64);
    let simulated = |value: Option<f64>| value.filter(|_| !is_live);
    let told = |key: &str| summary[key].as_f64();
    Ok(vec![
        ("undeploy", count(all.operations.undeploy)),
        ("migrate", count(all.operations.migrate)),
        ("replicate", count(all.operations.replicate)),
        ("inhibited", count(all.operations.inhibited)),
        ("evaluations", count(figures.evaluations)),
        ("instances, mean", Some(all.instances.mean)),
        ("instances, most", count(all.instances.max)),
        ("client requests", if is_live { told("requests") } else { count(figures.served + figures.lost) }),
        ("failed or lost", if is_live { told("failed") } else { count(figures.lost) }),
        ("mean response, ms", if is_live { summary["response_ms"]["mean"].as_f64() } else { all.response }),
        ("service usage", simulated(all.service_usage)),
    ])
}

fn shown(value: Option<f64>) -> String {
    match value {
        None => "n/a".to_owned(),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn as_text(names: &[String], rows: &[Row]) -> String {
    let widths: Vec<usize> = names.iter().map(|name| column_width([name]).max(10)).collect();
    let mut text = format!("{:18}", "");
    for (name, width) in names.iter().zip(&widths) {
        let _ = write!(text, "  {name:>width$}");
    }
    text.push('\n');
    for (title, values) in rows {
        let _ = write!(text, "{title:18}");
        for (value, width) in values.iter().zip(&widths) {
            let _ = write!(text, "  {:>width$}", shown(*value));
        }
        text.push('\n');
    }
    text
}

fn as_csv(names: &[String], rows: &[Row]) -> String {
    let quoted = |text: &str| {
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let mut text = format!("figure,{}\n", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","));
    for (title, values) in rows {
        let values: Vec<String> =
            values.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())).collect();
        let _ = writeln!(text, "{},{}", quoted(title), values.join(","));
    }
    text
}

fn as_json(names: &[String], rows: &[Row]) -> Value {
    let runs = names.iter().enumerate().map(|(place, name)| {
        let figures: serde_json::Map<String, Value> =
            rows.iter().map(|(title, values)| ((*title).to_owned(), json!(values[place]))).collect();
        json!({ "run": name, "figures": figures })
    });
    json!({ "runs": runs.collect::<Vec<_>>() })
}
