//! `mario policy test`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use mario_diagnostics::{Source, printable_line};
use mario_frontend::Diagnostic;
use mario_frontend::policy_texts::{Text, tests_by_name};
use mario_policy::{Decider, DiffLine, Policy, PolicySettings, TestOutcome, TestTable, Tests};
use mario_prolog::{Engine, Machine};
use mario_scenario::is_path;

use super::inputs::{facts_failure, load_acceptance, load_policy};
use crate::input::directory;
use crate::{Console, Failure, Outcome, read_text};

/// The extension of files with a table of tests.
const ENDING: &str = "test.pl";

/// Arguments of `mario policy test`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario policy test policies/workload-aware.test.pl
  mario policy test policies/workload-aware.pl policies/latency-aware.pl
  mario policy test latency-aware")]
pub struct Arguments {
    /// Files of tests, policies with such a file beside them, or names of built-in policies
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

pub(super) const LONG_ABOUT: &str = "Run the tests of policies.

The tests of `keep-close.pl` are in `keep-close.test.pl`, which has facts that hold in all tests, and tests such as

  test('undeploys without client requests', [], [operation(undeploy, s1, self)]).
  test('asks first to move', [requests(s1, n41, 11, 5)], [operation(migrate, s1, n41)|_]).

A test has a name, facts of its own, which replace the shared ones of the same predicate, and the operations that the policy \
must propose: all of them in order, or with `|_` the first ones. `:- policy('name.pl').` names another policy, and \
`:- policy('latency-aware').` a built-in one.

A test of an acceptance policy has a request and a verdict instead: `accepted`, `inhibited` or `inhibited(Reason)`.

  test('is full', [node(n42, 0)], request(replicate, s1, video, n41, n42), inhibited(capacity)).

The owner of a node may evict instances, or shrink them: change them to a smaller variant (flavour) of their application. A test \
of what an owner does on its own initiative has the word `initiative`, and the expected solutions of \
`shrink/3` and `evict/2`:

  test('evicts the largest', [node(n42, 0)], initiative, [evict(s1, nearly_full)]).

When a test fails, the difference is shown and the exit code is 1.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let engine = Engine::new();
    let mut report = Report::default();
    for file in &arguments.files {
        run_table(&engine, &Table::find(file)?, &mut report, console)?;
    }
    let Report { text, passed, failed } = report;
    console.write_data(|stdout| {
        stdout.write_all(text.as_bytes())?;
        writeln!(stdout, "{passed} passed, {failed} failed")
    })?;
    Ok(if failed == 0 { Outcome::Done } else { Outcome::CheckFailed })
}

/// A table of tests, not yet parsed.
struct Table {
    source: Source,
    path: PathBuf,
    /// The policy under test, unless the table names another.
    policy: PathBuf,
}

impl Table {
    /// Finds the table for a shipped policy or a file.
    fn find(written: &Path) -> Result<Table, Failure> {
        if let Some(source) = tests_by_name(written) {
            return Ok(Table { path: PathBuf::from(&*source.name), source, policy: written.to_path_buf() });
        }
        let path = table_path(written)?;
        // The tests in `keep-close.test.pl` are those of `keep-close.pl`.
        let policy = path.with_extension("").with_extension("pl");
        Ok(Table { source: read_text(&path)?, path, policy })
    }
}

/// Returns the path of a table: `file` itself if it is a table or not a file, or else the table beside the policy
/// `file`.
fn table_path(file: &Path) -> Result<PathBuf, Failure> {
    let beside = file.with_extension(ENDING);
    if is_table(file) || !file.is_file() {
        return Ok(file.to_path_buf());
    }
    if beside.exists() {
        return Ok(beside);
    }
    let title = format!("there are no tests of `{}`", file.display());
    let hint = format!("write them into `{}`; `mario policy test --help` shows how", beside.display());
    Err(Failure::input(Diagnostic::error(title).hint(hint)))
}

/// Whether a file is a table of tests, by its name.
pub(super) fn is_table(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&format!(".{ENDING}")))
}

fn run_table(engine: &Engine, written: &Table, report: &mut Report, console: &Console) -> Result<(), Failure> {
    let Table { source, path, policy } = written;
    let table =
        TestTable::read(engine, &source.name, &source.text).map_err(|error| facts_failure(&error, source, "tests"))?;
    let policy_path = match &table.policy {
        Some(name) if is_path(name) || directory(path).join(name).exists() => named_policy(path, name)?,
        Some(name) => PathBuf::from(name),
        None => policy.clone(),
    };
    match &table.tests {
        Tests::OfPolicy(tests) => {
            let policy = load_policy(engine, &Text::find(&policy_path)?, PolicySettings::default(), console)?;
            let mut decider = Decider::new(engine);
            for test in tests {
                report.add(path, test.line, &test.name, &test.run(&mut decider, &policy), Some(&policy));
            }
        }
        Tests::OfAcceptance(tests) => {
            let acceptance = load_acceptance(engine, &policy_path, console)?;
            let mut machine = Machine::new(engine);
            for test in tests {
                report.add(path, test.line, &test.name, &test.run(&mut machine, &acceptance), None);
            }
        }
    }
    console.detail(format_args!("ran {}", path.display()));
    Ok(())
}

/// The path of the policy that the table at `table` names. It must be a `.pl` file below the directory of the table or
/// the current directory: the errors in a policy show its lines, and a table from elsewhere must not show those of any
/// file.
fn named_policy(table: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = directory(table).join(name);
    let found = path
        .canonicalize()
        .map_err(|error| Failure::file(format!("cannot read `{}`, which the tests name", path.display()), &error))?;
    let is_below = |directory: &Path| directory.canonicalize().is_ok_and(|directory| found.starts_with(directory));
    let is_policy = found.extension().is_some_and(|extension| extension == "pl");
    if is_policy && (is_below(&directory(table)) || is_below(Path::new("."))) {
        return Ok(path);
    }
    let diagnostic = Diagnostic::error(format!("the tests in `{}` may not name `{name}`", table.display()));
    let hint = "a table names a `.pl` file below its own directory or the current one, or a built-in policy";
    Err(Failure::input(diagnostic.hint(hint)))
}

#[derive(Default)]
struct Report {
    text: String,
    passed: usize,
    failed: usize,
}

impl Report {
    fn add(&mut self, path: &Path, line: usize, name: &str, outcome: &TestOutcome, policy: Option<&Policy>) {
        if *outcome == TestOutcome::Passed {
            self.passed += 1;
            return;
        }
        self.failed += 1;
        // Writing into a string does not fail.
        let text = &mut self.text;
        let _ = writeln!(text, "failed: {}\n  at {}:{line}", printable_line(name), path.display());
        match outcome {
            TestOutcome::Passed => {}
            TestOutcome::Found(found) => {
                let _ = writeln!(text, "  found: {}", printable_line(found));
            }
            TestOutcome::Differs(lines) => {
                for line in lines {
                    let _ = writeln!(text, "  {}", printable_line(&diff_line(line, policy)));
                }
            }
        }
        text.push('\n');
    }
}

fn diff_line(line: &DiffLine, policy: Option<&Policy>) -> String {
    let shown = |[operation, instance, target]: &[String; 3]| format!("operation({operation}, {instance}, {target})");
    match line {
        DiffLine::Same(operation) => format!("  {}", shown(operation)),
        DiffLine::Missing(operation) => format!("- {}  expected, not proposed", shown(operation)),
        DiffLine::Unexpected(operation, clause) => {
            let place = policy.and_then(|policy| policy.clauses().get(*clause));
            let by = place.map(|place| format!(", by {}:{}", place.source_name(), place.position().0));
            format!("+ {}  proposed, not expected{}", shown(operation), by.unwrap_or_default())
        }
    }
}
