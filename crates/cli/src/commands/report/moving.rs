//! `mario report --animation`.

use std::path::{Path, PathBuf};

use mario_frontend::Diagnostic;
use mario_report::animation::{AnimationError, MARK, animated_svg};
use mario_trace::reader::TraceReader;

use crate::replacing::{contains, refuse_to_replace};
use crate::traces::{cannot_read, open, refuse, trace_path};
use crate::{Console, Failure};

/// Writes an animation of a run to `path`. It is an error if `runs` does not have exactly one.
pub(super) fn write(runs: &[PathBuf], path: &Path, console: &Console) -> Result<(), Failure> {
    let [run] = runs else {
        let diagnostic = Diagnostic::error(format!("an animation shows one run, and {} are named", runs.len()));
        return Err(Failure::input(diagnostic.hint("name one run with --animation")));
    };
    refuse_to_replace(path, |opening| contains(opening, MARK), "an animation", "--animation")?;
    let trace = trace_path(run);
    let input = open(&trace, "reading", console).map_err(|error| cannot_read(&trace, &error))?;
    let reader = TraceReader::new(input).map_err(|error| refuse(&trace, &error))?;
    let picture = animated_svg(reader).map_err(|error| match &error {
        AnimationError::Read(error) => refuse(&trace, error),
        AnimationError::Instances(_) => {
            let diagnostic = Diagnostic::error(format!("there is no animation of `{}`", trace.display()));
            Failure::input(diagnostic.caused_by(&error).hint("take a smaller run, with a trace of more than counts"))
        }
    })?;
    super::write(path, picture.as_bytes())?;
    console.inform(format!("{} ({:.0} kB)", path.display(), picture.len() as f64 / 1e3));
    Ok(())
}
