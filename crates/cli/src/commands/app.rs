//! `mario app …`.

mod deploy;
mod rollback;
mod rollout;
mod shadow;
mod update;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, Subcommand};
use mario_diagnostics::printable_line;
use mario_frontend::Diagnostic;
use mario_live::api::{
    Anchored, Instance, Instances, NodeReport, OwnedInstance, Pinned, Received, Report, RequestRate, RestartStatus,
    Undeployed, UnknownReport,
};
use mario_live::application::{ApplicationFile, read, schema_text, sign};
use mario_live::identity::{Identity, node_id};
use mario_live::operators::Method;
use mario_live::{BUDGET, LiveError};
use mario_policy::{Policy, PolicySettings, PolicyText};
use mario_prolog::{Directories, Resolver};

use crate::input::directory;
use crate::live::{
    Format, NodeArguments, NodesArguments, Shown, config_failure, engine, failure, json_text, lines, table,
    unknown_text,
};
use crate::problems::diagnostics;
use crate::replacing::refuse_to_replace;
use crate::{Console, Failure, Outcome, read_text};

/// Arguments of `mario app`.
#[derive(Clone, Debug, Args)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  mario app sign shop.toml --as shop.pem --out shop.signed
  mario app deploy shop.signed --wait --node 127.0.0.1:7441 --as ada.pem
  mario app list --node 127.0.0.1:7441 --as ada.pem"
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario app`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Sign the description of an application, so that nodes accept it.
    Sign(SignArguments),
    /// Print the JSON schema of an application's description.
    Schema(SchemaArguments),
    /// Deploy a signed application on a node.
    Deploy(deploy::DeployArguments),
    /// Replace the description of an application's running instances, e.g. to change its policy.
    #[command(long_about = update::LONG_ABOUT)]
    Update(update::UpdateArguments),
    /// Undo an update: restore the description that an application's instances had before it.
    Rollback(rollback::RollbackArguments),
    /// Show how a shadow policy differs from the policy in use.
    #[command(long_about = shadow::LONG_ABOUT)]
    Shadow(shadow::ShadowArguments),
    /// Stop an instance, and remove it from its node.
    #[command(after_help = "Examples:
  mario app undeploy 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem")]
    Undeploy(InstanceArguments),
    /// Keep an instance on its node: its agent can neither migrate nor undeploy it; the node's owner can still evict
    /// it.
    Pin(PinArguments),
    /// Make an instance an anchor: its agent cannot undeploy it. What operators deploy are anchors already, unless the
    /// description of the application says otherwise.
    Anchor(AnchorArguments),
    /// List the instances on a node.
    List(ListArguments),
    /// Show an instance: its facts, decisions and verdicts.
    #[command(after_help = "Examples:
  mario app show 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem")]
    Show(InstanceArguments),
    /// Show the last 64 KiB of an instance's log.
    #[command(after_help = "Examples:
  mario app logs shop --node 127.0.0.1:7441 --as ada.pem")]
    Logs(InstanceArguments),
}

/// Arguments of `mario app sign`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app sign shop.toml --as shop.pem --out shop.signed

The signed description includes the policy that the file names, with every file that the policy loads.")]
pub struct SignArguments {
    /// The description of the application, in TOML; docs/applications.md and `mario app schema` have its keys
    #[arg(value_name = "DESCRIPTION")]
    pub file: PathBuf,
    /// The certificate of the application, e.g. shop.pem; its private key, shop.key, must be in the same directory
    #[arg(long = "as", value_name = "CERTIFICATE")]
    pub certificate: PathBuf,
    /// Where to write the signed description
    #[arg(long, value_name = "SIGNED")]
    pub out: PathBuf,
}

/// Arguments of `mario app schema`.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Examples:
  mario app schema > application.schema.json")]
pub struct SchemaArguments {}

/// Arguments of commands about one instance.
#[derive(Clone, Debug, Args)]
pub struct InstanceArguments {
    /// The id of the instance, as `mario app list` shows it. Its first part may be shortened, as in 30b0-0-2; 30b0
    /// alone is enough if only one id begins with it. The id of the application will also do, if the node hosts only
    /// one instance of it
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    #[command(flatten)]
    pub node: NodeArguments,
}

/// Arguments of `mario app pin`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app pin 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem
  mario app pin 30b0-0-2 --undo --node 127.0.0.1:7441 --as ada.pem")]
pub struct PinArguments {
    /// The id of the instance, as `mario app list` shows it. Its first part may be shortened, as in 30b0-0-2; 30b0
    /// alone is enough if only one id begins with it. The id of the application will also do, if the node hosts only
    /// one instance of it
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// Let the agent migrate and undeploy the instance again
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub node: NodeArguments,
}

/// Arguments of `mario app anchor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app anchor 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem
  mario app anchor 30b0-0-2 --undo --node 127.0.0.1:7441 --as ada.pem

An anchor still migrates, and stays an anchor; its replicas are none. An operator can undeploy it, and the owner of its
node can evict it.")]
pub struct AnchorArguments {
    /// The id of the instance, as `mario app list` shows it. Its first part may be shortened, as in 30b0-0-2; 30b0
    /// alone is enough if only one id begins with it. The id of the application will also do, if the node hosts only
    /// one instance of it
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    /// Let the agent undeploy the instance
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub node: NodeArguments,
}

/// Arguments of `mario app list`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app list --node 127.0.0.1:7441 --as ada.pem
  mario app list --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem
  mario app list --node 127.0.0.1:7441 --as ada.pem --format json")]
pub struct ListArguments {
    #[command(flatten)]
    pub nodes: NodesArguments,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Sign(arguments) => sign_file(arguments, console)?,
        Command::Schema(SchemaArguments {}) => {
            console.write_data(|stdout| stdout.write_all(schema_text().as_bytes()))?;
        }
        Command::Deploy(arguments) => return deploy::deploy(arguments, console),
        Command::Update(arguments) => return update::update(arguments, console),
        Command::Rollback(arguments) => return rollback::rollback(arguments, console),
        Command::Shadow(arguments) => return shadow::run(arguments, console),
        Command::Undeploy(InstanceArguments { instance, node }) => {
            let instance = find(node, instance)?;
            let path = format!("/v1/instances/{instance}");
            node.show(console, Method::DELETE, &path, Vec::new(), |_: &Undeployed| {
                format!("instance {instance} ends\n")
            })?;
        }
        Command::Pin(PinArguments { instance, undo, node }) => {
            let instance = find(node, instance)?;
            let (method, what) = if *undo { (Method::DELETE, "may move") } else { (Method::PUT, "stays where it is") };
            let path = format!("/v1/instances/{instance}/pin");
            node.show(console, method, &path, Vec::new(), |_: &Pinned| format!("instance {instance} {what}\n"))?;
        }
        Command::Anchor(AnchorArguments { instance, undo, node }) => {
            let instance = find(node, instance)?;
            let (method, what) = if *undo {
                (Method::DELETE, "is not an anchor: its agent may undeploy it")
            } else {
                (Method::PUT, "is an anchor: its agent cannot undeploy it")
            };
            let path = format!("/v1/instances/{instance}/anchor");
            node.show(console, method, &path, Vec::new(), |_: &Anchored| format!("instance {instance} {what}\n"))?;
        }
        Command::List(ListArguments { nodes }) => {
            let ask = |node: &NodeArguments| node.try_ask(Method::GET, "/v1/instances", &[], Vec::new())?.received();
            nodes.show_each(console, ask, |answer: &Received<Instances>| {
                let titles = ["INSTANCE", "APPLICATION", "VERSION", "STATE", "COPY", "ANCHOR", "PINNED", "EPOCH"];
                table(titles, answer.known.instances.iter().map(listed)) + &unknown_text(answer)
            })?;
        }
        Command::Show(InstanceArguments { instance, node }) => {
            let path = format!("/v1/instances/{}", find(node, instance)?);
            node.show(console, Method::GET, &path, Vec::new(), shown)?;
        }
        Command::Logs(InstanceArguments { instance, node }) => {
            let path = format!("/v1/instances/{}/log", find(node, instance)?);
            let log = node.ask(Method::GET, &path, &[], Vec::new())?.into_text().map_err(|fault| failure(&fault))?;
            let shown = match node.format {
                Format::Text => log_text(&log),
                Format::Json => json_text(&log),
            };
            console.write_data(|stdout| stdout.write_all(shown.as_bytes()))?;
        }
    }
    Ok(Outcome::Done)
}

/// A log for a terminal: its lines and tabs, with all other control characters escaped.
fn log_text(log: &str) -> String {
    let parts = log.split_inclusive(['\n', '\t']).map(|part| {
        let text = part.trim_end_matches(['\n', '\t']);
        printable_line(text).into_owned() + &part[text.len()..]
    });
    parts.collect()
}

/// An instance, as a row of a table.
fn listed(instance: &Instance) -> [String; 8] {
    let none = || "-".to_owned();
    match instance {
        Instance::Owned(owned) => [
            owned.instance.word(),
            owned.application.word(),
            owned.version.word(),
            "owned".to_owned(),
            owned.copy_state().map_or_else(none, Shown::word),
            owned.is_anchor.word(),
            owned.is_pinned.word(),
            owned.epoch.word(),
        ],
        Instance::InCustody(custody) => [
            custody.instance.word(),
            custody.application.word(),
            none(),
            "in-custody".to_owned(),
            custody.copy.as_ref().map_or_else(none, |copy| copy.state.word()),
            custody.is_anchor.word(),
            none(),
            none(),
        ],
        Instance::Other(other) => [
            other.instance.word(),
            other.application.word(),
            none(),
            format!("unknown state `{}` (from a newer version)", other.state.word()),
            none(),
            none(),
            none(),
            none(),
        ],
    }
}

fn shown(instance: &Instance) -> String {
    match instance {
        Instance::Owned(owned) => shown_owned(owned),
        Instance::InCustody(_) | Instance::Other(_) => {
            let titles = ["INSTANCE", "APPLICATION", "VERSION", "STATE", "COPY", "ANCHOR", "PINNED", "EPOCH"];
            table(titles, [listed(instance)])
        }
    }
}

fn shown_owned(owned: &OwnedInstance) -> String {
    let mut text = lines(&[
        ("instance", &owned.instance),
        ("application", &owned.application),
        ("version", &owned.version),
        ("previous version", &owned.previous_version),
        ("flavour", &owned.flavour),
        ("state", &"owned".to_owned()),
        ("copy", &copy_text(owned)),
        ("epoch", &owned.epoch),
        ("is anchor", &owned.is_anchor),
        ("is pinned", &owned.is_pinned),
        ("is transferring", &owned.is_transferring),
        ("replications left", &owned.replications_left),
        ("hardware", &owned.hardware),
        ("max rate", &format!("{} client requests per window", owned.max_rate.word())),
        ("max latency", &owned.max_latency),
        ("evaluations", &owned.evaluations),
    ]);
    text += "\nclient requests of the last window\n";
    let request =
        |request: &RequestRate| [request.neighbour.word(), number_text(request.rate), number_text(request.latency)];
    text += &table(["FROM", "RATE", "LATENCY"], owned.facts.requests.iter().flatten().map(request));
    text += "\ndecisions and verdicts, the newest last\n";
    let decisions = owned.decisions.iter().flatten().map(|report| decision(report));
    text += &table(["KIND", "OPERATION", "TARGET", "ACCEPTED", "REASON"], decisions);
    text
}

/// A number as in JSON: with a decimal point.
fn number_text(number: f64) -> String {
    format!("{number:?}")
}

/// An evaluation or a verdict, as a row of a table.
fn decision(report: &Report) -> [String; 5] {
    let none = || "-".to_owned();
    match report {
        Report::Known(NodeReport::Evaluated { operation, target, .. }) => {
            ["evaluated".to_owned(), operation.word(), target.word(), none(), none()]
        }
        Report::Known(NodeReport::Judged { request, is_accepted, reason, .. }) => {
            let operation = request.operation.word();
            ["judged".to_owned(), operation, request.target.word(), is_accepted.word(), reason.word()]
        }
        Report::Unknown(UnknownReport { kind, .. }) => {
            [format!("unknown report `{}` (from a newer version)", kind.word()), none(), none(), none(), none()]
        }
        // A node keeps only evaluations and verdicts as decisions.
        Report::Known(_) => [none(), none(), none(), none(), none()],
    }
}

/// The state of an instance's copy; if it has been down, why, how often, and when it is started again.
pub(crate) fn copy_text(instance: &OwnedInstance) -> String {
    let state = match (instance.copy_state(), &instance.held_back) {
        (Some(state), _) => state.word(),
        (None, Some(why)) => format!("waits: {}", why.word()),
        (None, None) => "-".to_owned(),
    };
    let Some(RestartStatus { cause, failures, starts_in_ms }) = &instance.restart else { return state };
    let times = if *failures >= 2 { format!(", {failures} times in a row") } else { String::new() };
    match starts_in_ms {
        Some(wait) => format!("{state}: {cause}{times}; starts again in {:.1} s", *wait as f64 / 1_000.0),
        None if instance.is_down() => format!("{state} again; before: {cause}{times}"),
        None => format!("{state}; restarted after: {cause}{times}"),
    }
}

/// Returns the full id of the only instance on a node that `typed` names: by its id, by an abbreviation of its id, or
/// by its application. An exact id wins; it is an error if nothing or several instances match.
pub(crate) fn find(node: &NodeArguments, typed: &str) -> Result<String, Failure> {
    node_id(typed).map_err(|_| {
        failure(&LiveError::new(format!("`{typed}` is not the id of an instance")).hint("`mario app list` shows them"))
    })?;
    let answer = node.ask(Method::GET, "/v1/instances", &[], Vec::new())?.known().map_err(|fault| failure(&fault))?;
    let Instances { instances } = answer;
    let application = |instance: &Instance| instance.application().map(ToString::to_string).unwrap_or_default();
    let known = instances.iter().map(|instance| (instance.id().to_string(), application(instance)));
    let known: Vec<(String, String)> = known.collect();
    if known.iter().any(|(id, _)| id == typed) {
        return Ok(typed.to_owned());
    }
    let found: Vec<&String> = known
        .iter()
        .filter(|(id, application)| abbreviates(typed, id) || application == typed)
        .map(|(id, _)| id)
        .collect();
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(failure(
            &LiveError::new(format!("no instance on the node has an id that begins with `{typed}`"))
                .hint("`mario app list` shows them"),
        )),
        several => {
            let fault = LiveError::new(format!("`{typed}` stands for {} instances on the node", several.len()));
            Err(failure(&fault.hint(format!("write more of the id, e.g. {}", several[0]))))
        }
    }
}

/// Whether `typed` abbreviates the id of an instance: a beginning of it, or a beginning of its first part, which the
/// instances created on one node share, and all of the rest.
fn abbreviates(typed: &str, id: &str) -> bool {
    let is_short = |((first, rest), (id_first, id_rest)): ((&str, &str), (&str, &str))| {
        !first.is_empty() && id_first.starts_with(first) && rest == id_rest
    };
    id.starts_with(typed) || typed.split_once('-').zip(id.split_once('-')).is_some_and(is_short)
}

fn sign_file(arguments: &SignArguments, console: &Console) -> Result<(), Failure> {
    let source = read_text(&arguments.file)?;
    let file = read(&source.name, &source.text).map_err(|error| config_failure(&error))?;
    let policy = policy_text(&directory(&arguments.file), &file)?;
    let identity = Identity::load_bundle(&arguments.certificate).map_err(|fault| failure(&fault))?;
    let document = sign(&file, &policy, &identity).map_err(|fault| failure(&fault))?;
    let is_signed = |opening: &[u8]| opening.starts_with(mario_live::application::MAGIC);
    refuse_to_replace(&arguments.out, is_signed, "a signed application", "--out")?;
    fs::write(&arguments.out, document)
        .map_err(|error| Failure::file(format!("cannot write `{}`", arguments.out.display()), &error))?;
    console.inform(format!("application {} is signed: {}", file.id, arguments.out.display()));
    Ok(())
}

/// Loads the policy that an application's file names, to find errors. Returns its text, with every file that it loads.
fn policy_text(directory: &Path, file: &ApplicationFile) -> Result<PolicyText, Failure> {
    let path = directory.join(&file.policy);
    let source = read_text(&path)?;
    let name = path.file_name().map_or_else(|| file.policy.clone(), |name| name.to_string_lossy().into_owned());
    let loaded = Arc::new(Mutex::new(vec![(name, source.text.to_string())]));
    let below = Directories::new([crate::input::directory(&path)]);
    let resolver = Recording { below, loaded: Arc::clone(&loaded) };
    let settings = PolicySettings { memory: file.memory.unwrap_or(0), budget: BUDGET };
    match Policy::load(engine(), &source.name, &source.text, Some(Box::new(resolver)), settings) {
        Ok(policy) => {
            let files = loaded.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut text = PolicyText { name: file.policy.clone(), files, memory: 0 };
            text.memory = text.memory_or_default(file.memory, policy.remembers().inhibited);
            Ok(text)
        }
        Err(mario_policy::PolicyError::Load { problems, .. }) => Err(Failure::Input(diagnostics(&problems.errors))),
        Err(error) => Err(Failure::input(Diagnostic::from_error(&error))),
    }
}

/// Loads files from the policy's directory, and records each under the name by which the policy loads it.
struct Recording {
    below: Directories,
    loaded: Arc<Mutex<Vec<(String, String)>>>,
}

impl Resolver for Recording {
    fn resolve(&mut self, from: &str, wanted: &str) -> Result<(String, String), String> {
        let (name, text) = self.below.resolve(from, wanted)?;
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).push((wanted.to_owned(), text.clone()));
        Ok((name, text))
    }
}

/// Reads a signed description. Checks that it starts with the magic bytes, but not the signature.
fn signed_document(path: &Path) -> Result<Vec<u8>, Failure> {
    let document =
        fs::read(path).map_err(|error| Failure::file(format!("cannot read `{}`", path.display()), &error))?;
    if !document.starts_with(mario_live::application::MAGIC) {
        let fault = LiveError::new(format!("`{}` is not signed", path.display()));
        return Err(failure(&fault.hint("sign it first: `mario app sign FILE --as CERTIFICATE --out SIGNED`")));
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::{abbreviates, log_text};

    #[test]
    fn a_log_keeps_its_lines_and_tabs_and_controls_no_terminal() {
        assert_eq!(log_text("one\n\n\ttwo\u{1b}[2J\r\nthree"), "one\n\n\ttwo\\u{1b}[2J\\r\nthree");
        assert_eq!(log_text(""), "");
    }

    #[test]
    fn an_instance_is_found_by_a_beginning_of_its_id_or_of_the_first_part() {
        let id = "30b02828628a542162da277976256a01-0-12";
        for typed in ["3", "30b0", "30b0-0-12", "30b02828628a542162da277976256a01-0-1", id] {
            assert!(abbreviates(typed, id), "{typed}");
        }
        for typed in
            ["-0-12", "0b0", "30b0-0-1", "30b0-0", "30b0-12", "31-0-12", "30b02828628a542162da277976256a01-0-123"]
        {
            assert!(!abbreviates(typed, id), "{typed}");
        }
    }
}
