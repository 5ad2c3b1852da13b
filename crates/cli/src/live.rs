//! What the commands for live nodes share: the arguments that name a node and an operator, queries, and the output of
//! answers and errors.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use mario_diagnostics::printable_line;
use mario_domain::{ApplicationId, FlavourId, InstanceId, NodeId, Quantity};
use mario_frontend::scenarios::mistakes;
use mario_frontend::{Diagnostic, Hint};
use mario_live::LiveError;
use mario_live::api::{Capacity, Hardware, Received, RequestTarget, Spelled, Word};
use mario_live::config::ConfigError;
use mario_live::identity::Identity;
use mario_live::operators::{Client, Method, Reply};
use mario_live::rollout::Nodes;
use mario_prolog::Engine;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::console::column_width;
use crate::{Console, Failure};

/// Arguments that name the node to query and the operator who queries it.
#[derive(Clone, Debug, Args)]
pub struct NodeArguments {
    /// The address on which the node serves operators (`operators` in `[listen]` of its node.toml), e.g.
    /// 127.0.0.1:7441; this command is for one node
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub node: Vec<String>,
    /// The certificate of the operator, e.g. ada.pem; its private key, ada.key, must be in the same directory. Queries
    /// need the role `look`, deploy needs `deploy`, undeploy and pin need both, and drain and lost need `drain`
    #[arg(long = "as", value_name = "FILE")]
    pub operator: PathBuf,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How to print an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Arguments that name the nodes to query and the operator who queries them.
#[derive(Clone, Debug, Args)]
pub struct NodesArguments {
    /// The operator address of a node, e.g. 127.0.0.1:7441; may be repeated
    #[arg(long = "node", value_name = "ADDRESS", required = true)]
    pub nodes: Vec<String>,
    /// The certificate of the operator, e.g. ada.pem; its private key, ada.key, must be in the same directory
    #[arg(long = "as", value_name = "FILE")]
    pub operator: PathBuf,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

impl NodesArguments {
    /// The nodes, and the operator, whose certificate is loaded.
    pub(crate) fn load(&self) -> Result<Nodes, Failure> {
        let identity = Identity::load_bundle(&self.operator).map_err(|fault| failure(&fault))?;
        Ok(Nodes { identity, addresses: self.nodes.clone() })
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = NodeArguments> + '_ {
        let operator = &self.operator;
        self.nodes.iter().map(|node| NodeArguments {
            node: vec![node.clone()],
            operator: operator.clone(),
            format: self.format,
        })
    }

    /// Prints what `ask` returns for each node: for one node as it is; for several, as a list with their addresses in
    /// JSON, and each after its address in text. If a node does not answer, the others are printed first.
    pub(crate) fn show_each<T: Serialize>(
        &self,
        console: &Console,
        ask: impl Fn(&NodeArguments) -> Result<T, LiveError>,
        text: impl Fn(&T) -> String,
    ) -> Result<(), Failure> {
        let (mut answers, mut faults) = (Vec::new(), Vec::new());
        for node in self.each() {
            match ask(&node) {
                Ok(answer) => answers.push((node.node.concat(), answer)),
                Err(fault) => faults.extend(failure(&fault).diagnostics().to_vec()),
            }
        }
        let shown = match (self.format, answers.as_slice()) {
            (Format::Text, [(_, only)]) if self.nodes.len() == 1 => text(only),
            (Format::Json, [(_, only)]) if self.nodes.len() == 1 => json_text(only),
            (Format::Text, several) => {
                let parts = several.iter().map(|(address, answer)| format!("{address}\n{}", text(answer)));
                parts.collect::<Vec<_>>().join("\n")
            }
            (Format::Json, several) => {
                let parts = several.iter().map(|(address, answer)| Addressed { address, answer });
                json_text(&parts.collect::<Vec<_>>())
            }
        };
        if !answers.is_empty() {
            console.write_data(|stdout| stdout.write_all(shown.as_bytes()))?;
        }
        if faults.is_empty() { Ok(()) } else { Err(Failure::Input(faults)) }
    }
}

impl NodeArguments {
    /// The address of the only node.
    pub(crate) fn address(&self) -> Result<&str, LiveError> {
        match self.node.as_slice() {
            [only] => Ok(only),
            several => {
                Err(LiveError::new(format!("this command is for one node, and `--node` names {}", several.len()))
                    .hint("run it once for each node"))
            }
        }
    }

    /// Sends a request to the node and returns the reply, whatever its status.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Reply, Failure> {
        self.try_ask(method, path, headers, body).map_err(|fault| failure(&fault))
    }

    /// Like [`NodeArguments::ask`], but returns the [`LiveError`] itself, so that the caller decides how to report it.
    pub(crate) fn try_ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Reply, LiveError> {
        let address = self.address()?;
        let client = Client::new(&Identity::load_bundle(&self.operator)?, address)?;
        client.ask_blocking(method, path, headers, body)
    }

    /// Sends a request to the node and prints the answer, which `text` formats for people.
    pub(crate) fn show<T: DeserializeOwned + Serialize>(
        &self,
        console: &Console,
        method: Method,
        path: &str,
        body: Vec<u8>,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        let answer = self.ask(method, path, &[], body)?.received().map_err(|fault| failure(&fault))?;
        self.write(console, &answer, text)
    }

    /// Prints an answer as JSON, as the node gave it, or as formatted by `text`, with what only newer versions know.
    pub(crate) fn write<T: Serialize>(
        &self,
        console: &Console,
        answer: &Received<T>,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        let shown = match self.format {
            Format::Text => text(&answer.known) + &unknown_text(answer),
            Format::Json => json_text(answer),
        };
        console.write_data(|stdout| stdout.write_all(shown.as_bytes()))
    }
}

/// The Prolog engine of the commands for live nodes, created at the first call.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}

pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().map_err(|error| {
        Failure::Environment(vec![Diagnostic::error("cannot start the threads of the program").caused_by(&error)])
    })
}

/// Converts a fault to the failure to report.
pub(crate) fn failure(fault: &LiveError) -> Failure {
    let mut diagnostic = Diagnostic::error(fault.to_string());
    if let Some(cause) = fault.source() {
        diagnostic = diagnostic.caused_by(cause);
    }
    diagnostic.hints.extend(fault.help().map(Hint::from));
    Failure::input(diagnostic)
}

/// Converts all mistakes in a configuration to one failure.
pub(crate) fn config_failure(error: &ConfigError) -> Failure {
    Failure::Input(mistakes(&error.mistakes))
}

/// The answer of one of several nodes.
#[derive(Serialize)]
struct Addressed<'a, T> {
    address: &'a str,
    answer: &'a T,
}

/// JSON for programs.
pub(crate) fn json_text(answer: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(answer).expect("answers are plain data");
    text.push('\n');
    text
}

/// A line for each part of an answer that only newer versions know.
pub(crate) fn unknown_text<T: Serialize>(answer: &Received<T>) -> String {
    let mut text = String::new();
    for part in answer.unknown() {
        let _ = writeln!(text, "unknown (from a newer version): {}", printable_line(&part.to_string()));
    }
    text
}

/// A value of an answer, as people read it.
pub(crate) trait Shown {
    /// The value as text.
    fn word(&self) -> String;
}

impl Shown for str {
    fn word(&self) -> String {
        printable_line(self).into_owned()
    }
}

impl Shown for String {
    fn word(&self) -> String {
        self.as_str().word()
    }
}

impl Shown for bool {
    fn word(&self) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }
}

impl<T: Shown> Shown for Option<T> {
    fn word(&self) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), Shown::word)
    }
}

impl<T: Spelled> Shown for Word<T> {
    fn word(&self) -> String {
        self.as_str().word()
    }
}

/// Implements [`Shown`] for types by their [`Display`](std::fmt::Display).
macro_rules! shown_as_displayed {
    ($($name:ty),*) => {
        $(impl Shown for $name {
            fn word(&self) -> String {
                printable_line(&self.to_string()).into_owned()
            }
        })*
    };
}

shown_as_displayed!(
    u32,
    u64,
    usize,
    ApplicationId,
    Capacity,
    FlavourId,
    Hardware,
    InstanceId,
    NodeId,
    Quantity,
    RequestTarget
);

/// Formats lines of `key  value`.
pub(crate) fn lines(rows: &[(&str, &dyn Shown)]) -> String {
    let width = rows.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (key, value) in rows {
        let _ = writeln!(text, "{key:width$}  {}", value.word());
    }
    text
}

/// Formats a table with titles and a row for each item.
pub(crate) fn table<const COLUMNS: usize>(
    titles: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let mut cells = vec![titles.map(str::to_owned)];
    cells.extend(rows);
    let widths: Vec<usize> = (0..COLUMNS).map(|column| column_width(cells.iter().map(|row| &row[column]))).collect();
    let mut text = String::new();
    for row in cells {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use mario_live::api::Status;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_only_newer_nodes_know_is_printed_after_the_answer_and_kept_in_json() {
        let answer = json!({ "node": "a", "mood": "fi\u{7}ne" });
        let told: Received<Status> = Received::read(answer.clone()).expect("a status");
        assert_eq!(unknown_text(&told), "unknown (from a newer version): mood = \"fi\\u0007ne\"\n");
        assert_eq!(serde_json::from_str::<Value>(&json_text(&told)).expect("JSON"), answer);
    }

    #[test]
    fn missing_values_are_dashes_and_columns_are_aligned() {
        let status: Status = serde_json::from_value(json!({ "node": "a" })).expect("a status");
        let text = lines(&[("node", &status.node), ("free", &status.free), ("is draining", &status.is_draining)]);
        assert_eq!(text, "node         a\nfree         -\nis draining  no\n");
        let rows = [["a".to_owned(), 7_u64.word()], ["bcd".to_owned(), None::<u64>.word()]];
        assert_eq!(table(["NODE", "USERS"], rows), "NODE  USERS\na     7\nbcd   -\n");
    }
}
