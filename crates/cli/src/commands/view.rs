//! `mario view`.

use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use clap::Args;
use mario_diagnostics::Renderer;
use mario_frontend::Diagnostic;
use mario_report::{Report, Server, Source};

use crate::commands::report;
use crate::hints::words;
use crate::interruptions::interruptions;
use crate::traces::{read_growing_run, runs_in, trace_path};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario view`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario view runs/paper-1
  mario view runs --port 8080")]
pub struct Arguments {
    /// The directory of a run, or a directory that contains runs
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The port to listen on; 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}

pub(super) const LONG_ABOUT: &str = "Watch simulated runs in a browser: the report, updated while a run is in progress.

The page is that of `mario report`; decisions are explained once their run is complete. A live run in progress has a dashboard \
instead, whose address `mario live` prints. The server listens on 127.0.0.1 only. It prints \
its address and runs until Ctrl-C or SIGTERM, then exits with code 130.

It answers only GET and HEAD requests whose host is 127.0.0.1 or localhost. It accepts up to 64 connections at once, and closes \
a connection that does not send a request head within 10 seconds or reads nothing of a response for 30 seconds.";

/// The runs in a directory. They are read again when their files change.
struct Runs {
    directory: PathBuf,
    console: Console,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let directory = &arguments.directory;
    let metadata = fs::metadata(directory);
    let metadata = metadata.map_err(|error| Failure::file(format!("cannot read `{}`", directory.display()), &error))?;
    if !metadata.is_dir() {
        let diagnostic = Diagnostic::error(format!("`{}` is not a directory", directory.display()));
        return Err(Failure::input(diagnostic.hint("name the directory of a run; `mario report` also takes a trace")));
    }
    if runs_in(directory).is_empty() {
        let diagnostic = Diagnostic::error(format!("`{}` has no run in it", directory.display()));
        return Err(Failure::input(diagnostic.hint("begin a run first: `mario run paper --out DIR`")));
    }
    let unable = |error: &std::io::Error| {
        let diagnostic = Diagnostic::error(format!("cannot listen on port {} of 127.0.0.1", arguments.port));
        Failure::Environment(vec![diagnostic.caused_by(error).hint("choose another port with --port")])
    };
    let server = Server::bind(arguments.port).map_err(|error| unable(&error))?;
    let stop = interruptions()?;
    console.write_data(|stdout| writeln!(stdout, "http://{}/", server.address()))?;
    console.inform("press Ctrl-C to stop");
    let runs = Runs { directory: directory.clone(), console: console.clone() };
    server.serve(runs, &stop).map_err(|error| unable(&error))?;
    // The server ends only on a signal.
    Err(Failure::Interrupted(Vec::new()))
}

impl Source for Runs {
    fn version(&self) -> String {
        let mut version = String::new();
        for run in runs_in(&self.directory) {
            let trace = trace_path(&run);
            let (length, changed) = fs::metadata(&trace).map_or((0, 0), |metadata| {
                let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                (metadata.len(), changed.map_or(0, |since| since.as_nanos()))
            });
            let is_partial = run.join("PARTIAL").exists();
            version.push_str(&format!("{} {length} {changed} {is_partial}\n", trace.display()));
        }
        version
    }

    fn report(&mut self) -> Result<Report, String> {
        let runs = runs_in(&self.directory);
        if runs.is_empty() {
            return Err(format!("`{}` has no run in it.", self.directory.display()));
        }
        report::read_with(|path| read_growing_run(path, &self.console.quiet()), &runs, None, &self.console.quiet())
            .map_err(|failure| {
                let shown =
                    failure.diagnostics().iter().map(|diagnostic| Renderer::plain().render(&diagnostic.worded(words)));
                shown.collect::<Vec<String>>().join("\n")
            })
    }
}
