//! `mario policy check`.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use mario_check::{CheckReport, Exploration};
use mario_diagnostics::Source;
use mario_frontend::policies::{check_policy, report_json};
use mario_frontend::policy_texts::Text;
use mario_frontend::{Diagnostic, Hint};
use mario_policy::{Finding, PolicySettings};
use mario_prolog::{Budget, Engine};
use serde_json::{Value, json};

use super::inputs::Format;
use crate::console::many;
use crate::scenarios::{Disk, failure, open};
use crate::{Console, Failure, Outcome};

/// The default budget of one decision, in inferences.
const INFERENCES_MAX: u64 = 1_000_000;

/// Arguments of `mario policy check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario policy check workload-aware
  mario policy check policy.pl --scenario scenario.toml
  mario policy check policies/*.pl --format json")]
pub struct Arguments {
    /// Policies, acceptance policies, or libraries for them: paths, or names of built-in ones
    #[arg(value_name = "POLICY", required = true)]
    pub files: Vec<PathBuf>,
    /// Also find keys of `fact/3` that no node and no application of this scenario has, such as misspelt ones: a
    /// built-in scenario or the path of a scenario file
    #[arg(long, value_name = "SCENARIO")]
    pub scenario: Option<PathBuf>,
    /// Treat a decision that needs more than N inferences as non-terminating
    #[arg(long, value_name = "N", default_value_t = INFERENCES_MAX, value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
    /// How to print the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

pub(super) const LONG_ABOUT: &str = "Find problems in a policy before it is deployed.

Static analysis finds undefined predicates, facts that no agent sees, clauses that never decide anything, and targets that stay \
unbound. Bounded model checking runs the policy for 6 cycles in every tree of up to 5 nodes with up to 2 instances and 3 \
clients: it finds a last instance that is undeployed while clients still send requests, instances that move back and forth, \
instances that multiply without end, exceptions and exhausted budgets. It shows each problem step by step, in the smallest world that has it.

With --scenario, the policy may read extra facts only with the keys that nodes and applications of this scenario have.

A comment `% mario: allow FINDING, REASON` in the text allows a finding; FINDING is its name in the output. Tables of tests (*.test.pl) are skipped.

The exit code is 1 if there are findings, and 2 if a file cannot be read or is not Prolog.";

/// A file and its findings.
struct Checked {
    name: String,
    report: CheckReport,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    let scenario = arguments.scenario.as_ref().map(|path| {
        let resolved = open(path)?.resolve(&mut Disk).map_err(|error| failure(&error))?;
        Ok::<_, Failure>(resolved.scenario.fact_keys())
    });
    let keys = scenario.transpose()?;
    let mut checked = Vec::new();
    let mut unreadable = Vec::new();
    for file in &arguments.files {
        if super::test::is_table(file) {
            console.inform(format_args!("{} is a table of tests: `mario policy test` runs it", file.display()));
            continue;
        }
        match check_file(&engine, file, arguments.budget, keys.as_ref(), console) {
            Ok(found) => checked.push(found),
            Err(Failure::Input(problems)) => unreadable.extend(problems),
            Err(other) => return Err(other),
        }
    }
    match arguments.format {
        Format::Text => write_text(&checked, console)?,
        Format::Json => console.write_data(|stdout| writeln!(stdout, "{}", as_json(&checked)))?,
    }
    if !unreadable.is_empty() {
        return Err(Failure::Input(unreadable));
    }
    let is_clean = checked.iter().all(|checked| checked.report.findings.is_empty());
    Ok(if is_clean { Outcome::Done } else { Outcome::CheckFailed })
}

fn check_file(
    engine: &Engine,
    path: &Path,
    budget: u64,
    keys: Option<&BTreeSet<String>>,
    console: &Console,
) -> Result<Checked, Failure> {
    let text = Text::find(path)?;
    let source = &text.source;
    let settings = PolicySettings::default();
    let settings = PolicySettings { budget: Budget { inferences: budget, ..settings.budget }, ..settings };
    let mut progress = console.progress("worlds");
    let report = check_policy(engine, &text, settings, keys, &mut |worlds| progress.done(worlds))?;
    Ok(Checked { name: source.name.to_string(), report })
}

fn write_text(checked: &[Checked], console: &Console) -> Result<(), Failure> {
    for Checked { report, .. } in checked {
        for finding in &report.findings {
            console.write_diagnostic(&diagnostic(finding))?;
            console.write_data(|stdout| write_story(stdout, finding))?;
        }
    }
    console.write_data(|stdout| checked.iter().try_for_each(|checked| write_summary(stdout, checked)))
}

/// Returns the findings about a policy, without their counterexamples.
pub(crate) fn found(report: &CheckReport) -> Vec<Diagnostic> {
    report.findings.iter().map(diagnostic).collect()
}

fn diagnostic(finding: &Finding) -> Diagnostic {
    let source = Source::new(finding.place.source_name(), finding.place.source_text());
    let title = format!("{}: {}", finding.kind, finding.message);
    let mut diagnostic = Diagnostic::warning(title).at(&source, finding.place.span.clone(), "");
    diagnostic.hints.extend(finding.hint.clone().map(Hint::Text));
    diagnostic
}

fn write_story(stdout: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    for line in &finding.story {
        writeln!(stdout, "  {line}")?;
    }
    writeln!(stdout)
}

fn write_summary(stdout: &mut dyn Write, checked: &Checked) -> io::Result<()> {
    let Checked { name, report } = checked;
    let count = match report.findings.len() {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    writeln!(stdout, "{name}: {count}")?;
    for allowed in &report.allowed {
        let (line, _) = allowed.finding.place.position();
        writeln!(stdout, "  allowed: {} in line {line}, {}", allowed.finding.kind, allowed.reason)?;
    }
    let Some(exploration) = &report.exploration else { return Ok(()) };
    writeln!(
        stdout,
        "  explored {}; {}, at most {} each",
        many(exploration.worlds, "world"),
        many(exploration.decisions, "different decision"),
        match exploration.inferences_max {
            1 => "1 inference".to_owned(),
            count => format!("{count} inferences"),
        }
    )?;
    if !exploration.acted {
        writeln!(
            stdout,
            "  no agent proposed an operation in any of them: `mario policy explain` shows where each clause fails"
        )?;
        return write_end(stdout, exploration);
    }
    for line in &exploration.silent_clauses {
        writeln!(stdout, "  the clause in line {line} never yielded an agent's proposal")?;
    }
    write_end(stdout, exploration)
}

fn write_end(stdout: &mut dyn Write, exploration: &Exploration) -> io::Result<()> {
    match &exploration.ended_early {
        Some(reason) => writeln!(stdout, "  exploration ended early: {reason}"),
        None => Ok(()),
    }
}

fn as_json(checked: &[Checked]) -> Value {
    let files: Vec<Value> = checked.iter().map(|Checked { name, report }| report_json(name, report)).collect();
    json!({ "files": files })
}
