//! Checks the files in the directory of a run against its trace.
//!
//! Start at [`RunFiles::open`], pass the records of the trace to [`RunFiles::read`], and [`RunFiles::finish`] returns
//! the findings. The expected content is recomputed from the trace. Except for `measures.json`, no code is shared with
//! the writers of the files.

mod messages;
mod summary;
mod tables;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mario_audit::{Finding, FindingKind};
use mario_trace::State;
use mario_trace::reader::{Client, Detail, Header, TraceRecord};

use summary::Summed;
use tables::Tables;

/// The maximum number of findings per file.
const FINDINGS_MAX: usize = 20;

/// The files of a run, while they are being checked.
pub struct RunFiles {
    directory: PathBuf,
    header: Arc<Header>,
    state: State,
    tables: Tables,
    summed: Summed,
    clients: Vec<Client>,
    is_complete: bool,
}

/// The result of the check.
#[derive(Debug, Default)]
pub struct RunFilesCheck {
    /// The disagreements with the trace.
    pub findings: Vec<Finding>,
    /// The files that were checked.
    pub checked: Vec<String>,
    /// What was not checked, and why.
    pub unchecked: Vec<String>,
}

impl RunFiles {
    /// Opens the tables in the directory of a run whose trace has this header. Missing tables are not checked.
    pub fn open(directory: &Path, header: &Arc<Header>) -> io::Result<RunFiles> {
        Ok(RunFiles {
            directory: directory.to_owned(),
            header: Arc::clone(header),
            state: State::new(Arc::clone(header)),
            tables: Tables::open(directory, header)?,
            summed: Summed::new(header),
            clients: Vec::new(),
            is_complete: false,
        })
    }

    /// Compares the tables with the next record of the trace, and adds the record to the expected sums.
    pub fn read(&mut self, record: &TraceRecord) -> io::Result<()> {
        let RunFiles { state, tables, summed, .. } = self;
        let mut result = Ok(());
        state.apply(record, &mut |state, change| {
            summed.apply(state, record.time(), change);
            if result.is_ok() {
                result = tables.apply(state, record.time(), change);
            }
        });
        result?;
        summed.read(record);
        tables.read(record)?;
        if let TraceRecord::Client(client) = record {
            self.clients.push(client.clone());
        }
        self.is_complete |= matches!(record, TraceRecord::End(_));
        Ok(())
    }

    /// Completes the check after the last record, and returns its result.
    pub fn finish(self) -> io::Result<RunFilesCheck> {
        let mut checked = RunFilesCheck::default();
        checked.unchecked.extend(self.missing_files());
        self.tables.finish(self.is_complete, &mut checked)?;
        if let Some(file) = opened(&self.directory, "messages.csv")? {
            if self.is_complete && self.header.detail != Detail::Summary {
                messages::check(file, &self.header, &self.clients, &mut checked)?;
            } else {
                checked.unchecked.push("messages.csv: the trace does not tell what each user saw".to_owned());
            }
        }
        self.summed.finish(&self.directory, self.is_complete, &mut checked)?;
        Ok(checked)
    }

    /// Lists the missing files of `mario run`, as text. `None` if none is missing, or if the directory was not written
    /// by `mario run`: the trace is that of live nodes, or none of the files exists.
    fn missing_files(&self) -> Option<String> {
        let mut names = vec!["run.json", "operations.csv"];
        if self.header.detail != Detail::Summary {
            names.extend(["moves.csv", "handovers.csv"]);
        }
        if self.is_complete {
            names.push("summary.json");
        }
        let missing: Vec<&str> = names.iter().copied().filter(|name| !self.directory.join(name).exists()).collect();
        let is_of_a_run = self.header.live.is_none() && missing.len() < names.len();
        (is_of_a_run && !missing.is_empty()).then(|| format!("{}: not in the directory", missing.join(", ")))
    }
}

impl RunFilesCheck {
    fn find(&mut self, kind: FindingKind, file: &str, line: u64, who: String, expected: String, found: String) {
        let file = Some(file.to_owned());
        self.findings.push(Finding { kind, file, line, time: 0.0, who, expected, found });
    }
}

/// Opens a file of the directory; `None` if it does not exist.
fn opened(directory: &Path, name: &str) -> io::Result<Option<Box<dyn BufRead>>> {
    match File::open(directory.join(name)) {
        Ok(file) => Ok(Some(Box::new(BufReader::new(file)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Formats a number as in the files: without a decimal point if it is whole and at most 2^53.
fn number(value: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { format!("{}", value as i64) } else { format!("{value:?}") }
}
