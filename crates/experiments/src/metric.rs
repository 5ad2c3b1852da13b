//! User-defined metrics: a program or a host function computes one number from the directory of a run.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::measures::METRIC;
use crate::runs::Stop;

/// The maximum number of bytes read from each output stream of a program.
const OUTPUT_MAX: u64 = 65_536;

/// How long to wait between checks whether a program has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A user-defined metric: a name, and how to compute the number for a run.
#[derive(Clone)]
pub struct Metric {
    /// The name of the metric.
    pub name: String,
    /// How it is computed.
    pub maker: MetricMaker,
}

/// How the number of a metric is computed.
#[derive(Clone)]
pub enum MetricMaker {
    /// A program and its arguments. The directory of the run is appended as the last argument.
    Command(Vec<String>),
    /// A host function, such as a Python function.
    Function(Arc<dyn MetricFunction>),
}

/// A function that computes a number for a run.
pub trait MetricFunction: Send + Sync {
    /// Returns a text that distinguishes this function from another of the same name.
    fn identity(&self) -> String;

    /// Computes the number for the run in a directory, or returns why it cannot.
    fn measure(&self, directory: &Path) -> Result<f64, String>;
}

/// Why a text is not a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricSyntax {
    /// It is not `NAME=COMMAND`.
    Shape,
    /// The name is empty, or has characters other than ASCII letters, digits, `-` and `_`.
    Name,
    /// There is no command.
    Command,
    /// A quote is not closed.
    Quote,
}

/// Why a metric could not be computed for a run.
#[derive(Debug)]
pub struct MetricError {
    /// The name of the metric.
    pub name: String,
    /// The cause.
    pub cause: MetricCause,
}

/// How a metric failed.
#[derive(Debug)]
pub enum MetricCause {
    /// The program could not be started.
    Start(String, io::Error),
    /// The program exceeded the time limit.
    Timeout(Duration),
    /// The program was killed because a stop was requested.
    Stopped,
    /// The program failed, with this status and the last lines of its standard error.
    Failed(String, String),
    /// The program printed this, or the host function returned this, instead of one finite number.
    NotANumber(String),
    /// The run or its `measures.json` could not be stored, or its trace could not be read. This can also happen to a
    /// run without metrics whose seed is kept.
    Keep(String),
    /// The host function failed with this message.
    Function(String),
}

impl Metric {
    /// Parses `NAME=COMMAND`. Spaces and tabs separate the words of the command, unless they are within quotes.
    pub fn read(text: &str) -> Result<Metric, MetricSyntax> {
        let (name, command) = text.split_once('=').ok_or(MetricSyntax::Shape)?;
        check_name(name)?;
        let command = words(command)?;
        if command.first().is_none_or(String::is_empty) {
            return Err(MetricSyntax::Command);
        }
        Ok(Metric { name: name.to_owned(), maker: MetricMaker::Command(command) })
    }

    /// Creates a metric that is computed by a host function.
    pub fn function(name: &str, function: Arc<dyn MetricFunction>) -> Result<Metric, MetricSyntax> {
        check_name(name)?;
        Ok(Metric { name: name.to_owned(), maker: MetricMaker::Function(function) })
    }

    /// Returns the words of the command joined by spaces, or the identity of the host function. A study rejects a
    /// metric whose identity differs from that of a stored metric of the same name.
    pub(crate) fn identity(&self) -> String {
        match &self.maker {
            MetricMaker::Command(command) => command.join(" "),
            MetricMaker::Function(function) => function.identity(),
        }
    }

    /// The name of the metric among the numbers of a run.
    pub fn key(&self) -> String {
        format!("{METRIC}{}", self.name)
    }

    /// Computes the number for the run in a directory. A program, unlike a host function, is killed after `timeout` or
    /// when a stop is requested.
    pub fn measure(&self, directory: &Path, timeout: Duration, stop: &Stop) -> Result<f64, MetricError> {
        let failed = |cause| MetricError { name: self.name.clone(), cause };
        let command = match &self.maker {
            MetricMaker::Command(command) => command,
            MetricMaker::Function(function) => {
                let number = function.measure(directory).map_err(|message| failed(MetricCause::Function(message)))?;
                let is_number = number.is_finite();
                return if is_number { Ok(number) } else { Err(failed(MetricCause::NotANumber(number.to_string()))) };
            }
        };
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .arg(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(MetricCause::Start(command[0].clone(), error)))?;
        let output = child.stdout.take().map(listen);
        let complaints = child.stderr.take().map(listen);
        let status = wait(&mut child, timeout, stop).map_err(failed)?;
        // Child processes of the program may keep its output open, so the wait for the end of the output has a timeout,
        // too.
        let heard = |listening: Option<Receiver<Vec<u8>>>| {
            let bytes = listening.and_then(|listening| listening.recv_timeout(timeout).ok()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).trim().to_owned()
        };
        let (output, complaints) = (heard(output), heard(complaints));
        if let Some(status) = status {
            return Err(failed(MetricCause::Failed(status, last_lines(&complaints))));
        }
        let number = output.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| failed(MetricCause::NotANumber(excerpt(&output))))
    }
}

fn check_name(name: &str) -> Result<(), MetricSyntax> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || !name.chars().all(is_letter) { Err(MetricSyntax::Name) } else { Ok(()) }
}

/// Waits for a program. Returns `None` if it succeeded. If it failed, returns its status as text; if the status cannot
/// be read, the reason. Kills the program and returns an error after `timeout`, or when a stop is requested.
fn wait(child: &mut Child, timeout: Duration, stop: &Stop) -> Result<Option<String>, MetricCause> {
    let end = Instant::now() + timeout;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok((!status.success()).then(|| status.to_string())),
            Ok(None) if Instant::now() < end && !stop.is_requested() => thread::sleep(POLL_INTERVAL),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                let is_stopped = stop.is_requested();
                return Err(if is_stopped { MetricCause::Stopped } else { MetricCause::Timeout(timeout) });
            }
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}

/// Reads at most [`OUTPUT_MAX`] bytes of a program's output on a new thread, which sends them when it is done.
fn listen(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // After a read error, the output is what was read until then.
        let _ = output.take(OUTPUT_MAX).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Splits a command into words at spaces and tabs outside of quotes.
fn words(text: &str) -> Result<Vec<String>, MetricSyntax> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ' | '\t', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(MetricSyntax::Quote);
    }
    words.extend(word);
    Ok(words)
}

fn excerpt(text: &str) -> String {
    const LETTERS_MAX: usize = 80;
    cut(text, LETTERS_MAX)
}

fn cut(text: &str, letters_max: usize) -> String {
    let mut short: String = text.chars().take(letters_max).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn last_lines(text: &str) -> String {
    const LINES: usize = 5;
    // Long enough for the message of an exception, which is at the end of its line.
    const LETTERS_MAX: usize = 1_000;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| cut(line, LETTERS_MAX)).collect::<Vec<_>>().join("\n")
}

impl fmt::Debug for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metric").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Display for MetricSyntax {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            MetricSyntax::Shape => "a metric is written as NAME=COMMAND",
            MetricSyntax::Name => "the name of a metric has letters, digits, `-` and `_`",
            MetricSyntax::Command => "the metric has no command",
            MetricSyntax::Quote => "a quote in the command is not closed",
        })
    }
}

impl Error for MetricSyntax {}

impl fmt::Display for MetricError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot compute the metric `{}`", self.name)
    }
}

impl Error for MetricError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl fmt::Display for MetricCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricCause::Start(program, error) => write!(formatter, "cannot start `{program}`: {error}"),
            MetricCause::Timeout(timeout) => {
                write!(formatter, "the program was stopped: it took longer than {} s", timeout.as_secs_f64())
            }
            MetricCause::Stopped => formatter.write_str("the program was stopped"),
            MetricCause::Failed(status, complaints) if complaints.is_empty() => {
                write!(formatter, "the program failed with {status}")
            }
            MetricCause::Failed(status, complaints) => {
                write!(formatter, "the program failed with {status}:\n{complaints}")
            }
            MetricCause::NotANumber(output) if output.is_empty() => {
                formatter.write_str("the program printed nothing, where one number is expected")
            }
            MetricCause::NotANumber(output) => {
                write!(formatter, "the program printed `{output}`, where one number is expected")
            }
            MetricCause::Function(message) => formatter.write_str(message),
            MetricCause::Keep(message) => write!(formatter, "the run could not be kept for it: {message}"),
        }
    }
}

impl Error for MetricCause {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_name_and_a_command_as_a_metric() {
        let command = |metric: Metric| match metric.maker {
            MetricMaker::Command(command) => (metric.name, command),
            MetricMaker::Function(_) => panic!("a text is a command"),
        };
        let read = |text| Metric::read(text).map(command);
        let expected = ["python3", "my metric.py", "--scale=2", ""].map(str::to_owned).to_vec();
        assert_eq!(read("jain=python3 'my metric.py'  --scale=2 \"\""), Ok(("jain".to_owned(), expected)));
        for (text, problem) in [
            ("jain", MetricSyntax::Shape),
            ("=x", MetricSyntax::Name),
            ("a.b=x", MetricSyntax::Name),
            ("a= ", MetricSyntax::Command),
            ("a=''", MetricSyntax::Command),
            ("a='x", MetricSyntax::Quote),
        ] {
            assert_eq!(read(text), Err(problem), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_computes_a_number_or_its_failure_is_reported() {
        let measure = |script: &str, timeout| {
            let command = ["sh", "-c", script, "sh"].map(str::to_owned).to_vec();
            let metric = Metric { name: "m".to_owned(), maker: MetricMaker::Command(command) };
            metric
                .measure(Path::new("some/run"), Duration::from_secs_f64(timeout), &Stop::default())
                .map_err(|error| error.cause.to_string())
        };
        assert_eq!(measure("echo ' 2.5e1 '", 60.0), Ok(25.0));
        assert_eq!(measure("printf %s \"$1\" | wc -c", 60.0), Ok(8.0));
        assert_eq!(measure("echo no >&2; exit 3", 60.0), Err("the program failed with exit status: 3:\nno".to_owned()));
        for (script, words) in [
            ("echo 1 2", "the program printed `1 2`, where one number is expected"),
            ("echo inf", "the program printed `inf`, where one number is expected"),
            ("true", "the program printed nothing, where one number is expected"),
        ] {
            assert_eq!(measure(script, 60.0), Err(words.to_owned()));
        }
        // The output of an endless writer is not read to its end, and a program that does not end is killed.
        assert!(measure("yes", 60.0).is_err());
        assert_eq!(measure("sleep 600", 0.05), Err("the program was stopped: it took longer than 0.05 s".to_owned()));
        let sleeping = Metric::read("m=sh -c 'exec sleep 600' sh").expect("a metric");
        let stop = Stop::default();
        stop.request();
        let stopped = sleeping.measure(Path::new("."), Duration::from_mins(10), &stop).expect_err("it is killed");
        assert!(matches!(stopped.cause, MetricCause::Stopped), "{:?}", stopped.cause);
        let maker = MetricMaker::Command(vec!["no-such-program-of-anybody".to_owned()]);
        let missing = Metric { name: "m".to_owned(), maker };
        let error =
            missing.measure(Path::new("."), Duration::from_mins(1), &Stop::default()).expect_err("there is none");
        assert!(error.cause.to_string().starts_with("cannot start `no-such-program-of-anybody`"), "{}", error.cause);
    }
}
