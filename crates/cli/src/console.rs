//! The output of commands: data on standard output, and messages, warnings, errors and progress on standard error, as
//! the output options and the terminal demand.

use std::env;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::{Duration, Instant};

use clap::builder::StyledStr;
use mario_diagnostics::{Renderer, Severity};
use mario_domain::Time;
use mario_frontend::Diagnostic;

use crate::hints::words;
use crate::{Colour, Failure, OutputArguments};

/// How many problems [`Console::show`] shows at most in one call; the others are counted.
const SHOWN_MAX: usize = 200;

/// The widest column of a table. A longer cell is written in full, and the cells after it are not aligned.
const COLUMN_WIDTH_MAX: usize = 200;

/// The width of a column with these cells. Names from outside may be long, and Rust formats no wider than 65,535.
pub(crate) fn column_width(cells: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    let widths = cells.into_iter().map(|cell| cell.as_ref().chars().count());
    widths.max().unwrap_or(0).min(COLUMN_WIDTH_MAX)
}

/// The environment of the process, as far as it affects the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub struct Environment {
    /// Standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// `NO_COLOR` is set and not empty, or the terminal is dumb.
    pub refuses_colour: bool,
}

impl Environment {
    /// Reads it from the process.
    pub fn observe() -> Self {
        let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self {
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            refuses_colour: no_color || dumb,
        }
    }
}

/// How much to print in addition to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Messages, warnings and errors.
    Normal,
    /// Also the details of each step.
    Verbose,
}

/// The streams of the process, and their settings.
#[derive(Clone, Debug)]
pub struct Console {
    is_conversation: bool,
    shows_progress: bool,
    colours_stdout: bool,
    renderer: Renderer,
    verbosity: Verbosity,
}

impl Console {
    /// Applies the arguments to this environment.
    pub fn new(typed: &OutputArguments, environment: &Environment) -> Self {
        let colours = |is_terminal: bool| match typed.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && !environment.refuses_colour,
        };
        let renderer = if colours(environment.stderr_is_terminal) { Renderer::coloured() } else { Renderer::plain() };
        let verbosity = match (typed.quiet, typed.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, false) => Verbosity::Normal,
            (false, true) => Verbosity::Verbose,
        };
        Self {
            is_conversation: environment.stdin_is_terminal && environment.stdout_is_terminal,
            shows_progress: environment.stderr_is_terminal && verbosity >= Verbosity::Normal,
            colours_stdout: colours(environment.stdout_is_terminal),
            renderer,
            verbosity,
        }
    }

    /// Returns a console for background work: like this one, but without messages, warnings and progress.
    #[must_use]
    pub fn quiet(&self) -> Console {
        Console { verbosity: Verbosity::Quiet, shows_progress: false, ..self.clone() }
    }

    /// Whether the session is interactive: standard input and standard output are terminals.
    pub fn is_conversation(&self) -> bool {
        self.is_conversation
    }

    /// Whether to colour data for people on standard output.
    pub fn colours_data(&self) -> bool {
        self.colours_stdout
    }

    /// Writes data to standard output.
    pub fn write_data(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut stdout = BufWriter::new(io::stdout().lock());
        write(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| output_failure(&error))
    }

    /// Writes a piece of data to standard output. It is flushed at the end of a line at the latest, and immediately in
    /// an interactive session.
    pub fn write_piece(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        let flushed = if self.is_conversation { written.and_then(|()| stdout.flush()) } else { written };
        flushed.map_err(|error| output_failure(&error))
    }

    /// Flushes what [`Console::write_piece`] wrote.
    pub fn flush(&self) -> Result<(), Failure> {
        io::stdout().flush().map_err(|error| output_failure(&error))
    }

    /// Writes help or the version, which the user requested, to standard output, because it is data.
    pub fn write_help(&self, help: &StyledStr) -> Result<(), Failure> {
        self.write_data(
            |stdout| {
                if self.colours_stdout { write!(stdout, "{}", help.ansi()) } else { write!(stdout, "{help}") }
            },
        )
    }

    /// Writes a diagnostic to standard output, because it is the result of a command.
    pub fn write_diagnostic(&self, diagnostic: &Diagnostic) -> Result<(), Failure> {
        let renderer = if self.colours_stdout { Renderer::coloured() } else { Renderer::plain() };
        self.write_data(|stdout| stdout.write_all(renderer.render(&diagnostic.worded(words)).as_bytes()))
    }

    /// Prints a message on standard error, unless `--quiet`.
    pub fn inform(&self, message: impl Display) {
        self.say(Verbosity::Normal, message);
    }

    /// Prints a detail on standard error, with `--verbose`.
    pub fn detail(&self, message: impl Display) {
        self.say(Verbosity::Verbose, message);
    }

    /// Whether the user asked for details.
    pub fn is_verbose(&self) -> bool {
        self.verbosity >= Verbosity::Verbose
    }

    /// Returns a line that shows the progress of a long task on standard error, if that is a terminal, unless
    /// `--quiet`.
    pub fn progress(&self, task: &'static str) -> Progress {
        Progress { task, shown: None, is_shown: self.shows_progress }
    }

    /// Like [`Console::progress`], for reading a file of `bytes` bytes.
    pub fn file_progress(&self, task: &'static str, bytes: u64) -> FileProgress {
        FileProgress { progress: self.progress(task), bytes }
    }

    /// Like [`Console::progress`], for a run that ends at time `end`. It starts or resumes at time `from`, with
    /// `requests` client requests already sent.
    pub fn progress_bar(&self, end: Time, from: Time, requests: u64) -> ProgressBar {
        ProgressBar { end, from, requests, began: Instant::now(), shown: None, is_shown: self.shows_progress }
    }

    /// Shows the first problems on standard error, and counts the others. `--quiet` hides warnings.
    pub fn show<'a>(&self, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
        let wanted =
            |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error || self.verbosity >= Verbosity::Normal;
        let mut diagnostics = diagnostics.into_iter().filter(wanted);
        let shown: Vec<&Diagnostic> = diagnostics.by_ref().take(SHOWN_MAX).collect();
        let left_out: Vec<Severity> = diagnostics.map(|diagnostic| diagnostic.severity).collect();
        let left_out = left_out.iter().min().map(|worst| {
            let title = format!("{} more problems are not shown", left_out.len());
            Diagnostic { severity: *worst, ..Diagnostic::error(title).hint("mend those above first") }
        });
        let worded: Vec<_> = shown.into_iter().chain(&left_out).map(|diagnostic| diagnostic.worded(words)).collect();
        let rendered = self.renderer.render_all(&worded);
        if !rendered.is_empty() {
            to_stderr(&rendered);
        }
    }

    /// Forwards to standard error what a Prolog program wrote there.
    pub fn pass_error(&self, text: &str) {
        to_stderr(text);
    }

    /// Shows a failure on standard error.
    pub fn report(&self, failure: &Failure) {
        self.show(failure.diagnostics());
    }

    fn say(&self, needed: Verbosity, message: impl Display) {
        if self.verbosity >= needed {
            to_stderr(&format!("{message}\n"));
        }
    }
}

/// Progress of a long task: one line on a terminal, rewritten a few times a second and erased at the end.
#[derive(Debug)]
pub struct Progress {
    task: &'static str,
    shown: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Reports how much is done if the total is not known. Cheap to call often, because it writes rarely.
    pub fn done(&mut self, count: usize) {
        if !self.is_due() {
            return;
        }
        self.show(&count.to_string());
    }

    /// Reports how much is done out of `all`.
    pub fn done_of(&mut self, count: usize, all: usize) {
        if self.is_due() {
            self.show(&format!("{count} of {all}"));
        }
    }

    /// Reports progress as text.
    pub fn say(&mut self, text: &str) {
        if self.is_due() {
            self.show(text);
        }
    }

    /// Whether to write now: progress is shown, and the last line is old enough.
    fn is_due(&self) -> bool {
        const INTERVAL: Duration = Duration::from_millis(200);
        self.is_shown && self.shown.is_none_or(|shown| shown.elapsed() >= INTERVAL)
    }

    fn show(&mut self, text: &str) {
        // The first call writes nothing, so that a short task shows no progress.
        if self.shown.is_some() {
            to_stderr(&format!("\r{}: {text}\x1b[K", self.task));
        }
        self.shown = Some(Instant::now());
    }
}

/// Progress of reading a file.
#[derive(Debug)]
pub struct FileProgress {
    progress: Progress,
    bytes: u64,
}

impl FileProgress {
    /// Reports how many bytes were read. Cheap to call often, because it writes rarely.
    pub fn read(&mut self, bytes: u64) {
        if self.progress.is_due() {
            let text = file_progress_text(bytes, self.bytes);
            self.progress.show(&text);
        }
    }
}

/// Formats progress as `12.5 of 50.0 MB, 25 %`.
fn file_progress_text(read: u64, all: u64) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let percent = read.min(all).saturating_mul(100).checked_div(all).unwrap_or(100);
    format!("{:.1} of {:.1} MB, {percent} %", megabytes(read), megabytes(all))
}

/// Progress of a run: one line on a terminal, rewritten a few times a second and erased at the end.
#[derive(Debug)]
pub struct ProgressBar {
    end: Time,
    from: Time,
    requests: u64,
    began: Instant,
    shown: Option<Instant>,
    is_shown: bool,
}

impl ProgressBar {
    /// Reports the simulation time reached, and the number of client requests sent. Cheap to call often.
    pub fn at(&mut self, time: Time, requests: u64) {
        const WIDTH: usize = 24;
        const INTERVAL: Duration = Duration::from_millis(200);
        if !self.is_shown || self.shown.unwrap_or(self.began).elapsed() < INTERVAL {
            return;
        }
        self.shown = Some(Instant::now());
        let part = ((time - Time::ZERO) / (self.end - Time::ZERO)).clamp(0.0, 1.0);
        let filled = (part * WIDTH as f64) as usize;
        let bar = format!("{}{}", "=".repeat(filled), " ".repeat(WIDTH - filled));
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = requests.saturating_sub(self.requests) as f64 / seconds;
        let left = if time > self.from { seconds * ((self.end - time) / (time - self.from)) } else { 0.0 };
        to_stderr(&format!(
            "\r[{bar}] {:3.0} %  time {time:.0} of {:.0}  {rate:.0} client requests/s  {left:.0} s left\x1b[K",
            part * 100.0,
            self.end
        ));
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            to_stderr("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            to_stderr("\r\x1b[K");
        }
    }
}

/// Formats a count with its noun: `1 run`, `2 runs`.
pub(crate) fn many(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn output_failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Environment(vec![Diagnostic::error("cannot write to standard output").caused_by(error)]),
    }
}

/// Writes to standard error. If that fails, there is nowhere to report it, so the error is dropped.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(color: Colour, stdout_is_terminal: bool, refuses_colour: bool) -> bool {
        let typed = OutputArguments { color, ..OutputArguments::default() };
        let environment = Environment { stdout_is_terminal, refuses_colour, ..Environment::default() };
        Console::new(&typed, &environment).colours_stdout
    }

    #[test]
    fn uses_colour_on_a_capable_terminal_unless_told_otherwise() {
        assert!(colours(Colour::Auto, true, false));
        assert!(!colours(Colour::Auto, true, true));
        assert!(!colours(Colour::Auto, false, false));
        assert!(!colours(Colour::Never, true, false));
        assert!(colours(Colour::Always, false, true));
    }

    #[test]
    fn decides_colour_per_stream() {
        let environment = Environment { stderr_is_terminal: true, ..Environment::default() };
        let console = Console::new(&OutputArguments::default(), &environment);
        assert!(!console.colours_stdout);
        let rendered = console.renderer.render(&Diagnostic::error("title").worded(words));
        assert!(rendered.contains('\u{1b}'), "{rendered:?}");
    }

    #[test]
    fn progress_through_a_file_shows_its_size() {
        assert_eq!(file_progress_text(12_500_000, 50_000_000), "12.5 of 50.0 MB, 25 %");
        assert_eq!(file_progress_text(0, 0), "0.0 of 0.0 MB, 100 %");
        assert_eq!(file_progress_text(7, 5), "0.0 of 0.0 MB, 100 %", "a file that grows");
    }

    #[test]
    fn prints_as_much_as_the_verbosity_allows() {
        let verbosity = |quiet, verbose| {
            let typed = OutputArguments { quiet, verbose, ..OutputArguments::default() };
            Console::new(&typed, &Environment::default()).verbosity
        };
        assert_eq!(verbosity(true, false), Verbosity::Quiet);
        assert_eq!(verbosity(false, false), Verbosity::Normal);
        assert_eq!(verbosity(false, true), Verbosity::Verbose);
    }
}
