//! What is measured beside the usual figures, from the trace of the run.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use mario_diagnostics::Diagnostic;
use mario_experiments::figures::{Measured, from_trace};

use crate::Failure;
use crate::experiments::write_results;

/// The file that it is kept in.
const MEASURES: &str = "measures.json";

/// Computes it from the trace in the directory of a run, and keeps it there.
pub(super) fn keep(directory: &Path) -> Result<Measured, Failure> {
    let path = directory.join("trace.jsonl");
    let file = File::open(&path).map_err(|error| Failure::file(format!("cannot read `{}`", path.display()), &error))?;
    let read = from_trace(BufReader::new(file)).map_err(|error| {
        let diagnostic = Diagnostic::error(format!("cannot measure the run in `{}`", directory.display()));
        Failure::input(diagnostic.caused_by(&error).hint("`mario audit` tells what is wrong with its trace"))
    })?;
    let json = format!("{:#}\n", serde_json::json!(read.measured));
    write_results(directory, MEASURES, &json)?;
    Ok(read.measured)
}
