//! `mario app deploy`.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use mario_live::LiveError;
use mario_live::api::{Deployed, Instance, OwnedInstance, Received};
use mario_live::operators::{DEPLOY_FORCE, DEPLOY_KEY, Method, OLDER_VERSION};

use super::signed_document;
use crate::live::{NodeArguments, Shown, failure};
use crate::{Console, Failure, Outcome};

/// How often `--wait` asks the node about the instance.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Arguments of `mario app deploy`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app deploy shop.signed --wait --node 127.0.0.1:7441 --as ada.pem
  mario app deploy shop.signed --node 127.0.0.1:7441 --as ada.pem --once 17

Repeating a deploy with the same --once starts no second instance; without --once, every deploy starts a new one.

The instance is an anchor, which its policy cannot undeploy, unless the description has `anchor = false`.")]
pub struct DeployArguments {
    /// A signed description, as written by `mario app sign`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Start at most one instance for this key of up to 32 hexadecimal digits, even if the command is repeated
    #[arg(long, value_name = "KEY")]
    pub once: Option<String>,
    /// Deploy even if an instance on the node runs a newer version of the application
    #[arg(long)]
    pub force: bool,
    /// Wait until the instance is healthy, and say why it is not; needs the role `look`, too
    #[arg(long)]
    pub wait: bool,
    /// How many seconds --wait takes at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), requires = "wait")]
    pub timeout: u64,
    #[command(flatten)]
    pub node: NodeArguments,
}

pub(super) fn deploy(arguments: &DeployArguments, console: &Console) -> Result<Outcome, Failure> {
    let document = signed_document(&arguments.file)?;
    let key = match &arguments.once {
        Some(key) => key.clone(),
        None => format!("{:032x}", mario_live::random_id()),
    };
    if u128::from_str_radix(&key, 16).is_err() || key.len() > 32 {
        return Err(failure(
            &LiveError::new(format!("`{key}` is not a key")).hint("write up to 32 hexadecimal digits"),
        ));
    }
    if arguments.wait {
        can_look(&arguments.node).map_err(|fault| failure(&fault))?;
    }
    let mut headers = vec![(DEPLOY_KEY, key.as_str())];
    if arguments.force {
        headers.push((DEPLOY_FORCE, OLDER_VERSION));
    }
    let reply = arguments.node.ask(Method::POST, "/v1/instances", &headers, document)?;
    let answer: Received<Deployed> = reply.received().map_err(|fault| failure(&fault))?;
    // Printed before the wait, so that the id is known even if the instance does not become healthy.
    arguments.node.write(console, &answer, |deployed| format!("{}\n", deployed.instance.word()))?;
    if arguments.wait {
        let timeout = Duration::from_secs(arguments.timeout);
        wait(&arguments.node, &answer.known.instance.to_string(), timeout, console).map_err(|fault| failure(&fault))?;
    }
    Ok(Outcome::Done)
}

/// Checks that the operator may ask about instances. Otherwise the command would fail after the deploy, and each
/// repetition would deploy one more instance.
fn can_look(node: &NodeArguments) -> Result<(), LiveError> {
    let asked = node.try_ask(Method::GET, "/v1/status", &[], Vec::new())?.into_text();
    asked.map(|_| ()).map_err(|fault| {
        let hint = fault.help().unwrap_or("deploy without --wait").to_owned();
        LiveError::new("nothing is deployed, because --wait could not ask about the instance")
            .caused_by(fault.line_without_hint())
            .hint(hint)
    })
}

/// Waits until the copy of an instance is healthy, or the instance sleeps. Shows the state of the copy, and each new cause
/// of its being down. Fails at once if its program cannot be executed.
fn wait(node: &NodeArguments, instance: &str, timeout: Duration, console: &Console) -> Result<(), LiveError> {
    let begun = Instant::now();
    let mut shown = String::new();
    loop {
        let reply = node.try_ask(Method::GET, &format!("/v1/instances/{instance}"), &[], Vec::new())?;
        if reply.status == 404 {
            let fault = LiveError::new(format!("instance {instance} has left the node"));
            return Err(fault.hint("it moved to a neighbour, was evicted or undeployed: `mario app list` of each node"));
        }
        let instance_now: Instance = reply.known()?;
        let (state, topic) = (state(&instance_now), topic(&instance_now));
        let owned = instance_now.owned();
        if owned.is_some_and(OwnedInstance::serves) {
            console.inform(format!("instance {instance} is {state} after {:.1} s", begun.elapsed().as_secs_f64()));
            return Ok(());
        }
        if let Some(restart) = owned.and_then(|owned| owned.restart.as_ref()).filter(|restart| restart.is_hopeless()) {
            let fault = LiveError::new(format!("instance {instance} cannot run: {}", restart.cause));
            return Err(fault.hint(format!(
                "install the program on the node, or correct `command` and sign the description again; the instance \
                 stays deployed until `mario app undeploy {instance}`"
            )));
        }
        if topic != shown {
            console.inform(format!("instance {instance}: {state}"));
            shown = topic;
        }
        if begun.elapsed() >= timeout {
            let seconds = timeout.as_secs();
            let fault = LiveError::new(format!("instance {instance} is not healthy after {seconds} s: {state}"));
            return Err(fault.hint(
                "it stays deployed, and its node keeps trying; `mario app show` and `mario app logs` say more, \
                 `mario app undeploy` removes it",
            ));
        }
        sleep(ASK_EVERY);
    }
}

/// The state of an instance's copy in words, with the reason why it was down last.
fn state(instance: &Instance) -> String {
    let Some(owned) = instance.owned() else { return "handed over".to_owned() };
    let copy = match owned.copy_state() {
        _ if owned.is_asleep => "asleep".to_owned(),
        Some(state) => state.word(),
        None => owned.held_back.as_ref().map_or_else(|| "-".to_owned(), |why| format!("waits: {}", why.word())),
    };
    match &owned.restart {
        Some(restart) if !owned.is_healthy() => format!("{copy}; it was down because {}", restart.cause),
        _ => copy,
    }
}

/// What is shown once: why the copy is down, whatever state it passes through while its node tries again, or else its
/// state.
fn topic(instance: &Instance) -> String {
    let restart = instance.owned().filter(|owned| owned.is_down()).and_then(|owned| owned.restart.as_ref());
    restart.map_or_else(|| state(instance), |restart| restart.cause.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Instance, state, topic};

    fn instance(mut answer: Value) -> Instance {
        (answer["instance"], answer["application"], answer["state"]) = ("i1".into(), "shop".into(), "owned".into());
        serde_json::from_value(answer).expect("an instance")
    }

    #[test]
    fn a_copy_that_starts_and_ends_again_and_again_is_shown_once_for_each_cause() {
        let down = |state: &str, cause: &str| {
            topic(&instance(json!({ "copy": { "state": state }, "restart": { "cause": cause } })))
        };
        assert_eq!(down("starting", "signal 9 ended it"), down("ended", "signal 9 ended it"));
        assert_ne!(down("ended", "signal 9 ended it"), down("ended", "exited with status 2"));
        assert_eq!(topic(&instance(json!({ "copy": { "state": "starting" }, "restart": null }))), "starting");
    }

    #[test]
    fn a_copy_that_is_held_back_says_why() {
        let waiting = json!({ "copy": null, "held_back": "no neighbour has confirmed the journal" });
        assert_eq!(state(&instance(waiting)), "waits: no neighbour has confirmed the journal");
    }

    #[test]
    fn the_reason_is_shown_until_the_copy_is_healthy() {
        let state = |answer: Value| state(&instance(answer));
        let answer = |state: &str| json!({ "copy": { "state": state }, "restart": { "cause": "signal 9 ended it" } });
        assert_eq!(state(answer("starting")), "starting; it was down because signal 9 ended it");
        assert_eq!(state(answer("healthy")), "healthy");
        assert_eq!(state(json!({ "copy": { "state": "starting" }, "restart": null })), "starting");
        assert_eq!(state(json!({ "copy": null, "is_asleep": true })), "asleep");
    }
}
