//! What an operator does on several nodes at once: updates and rollbacks of an application, one instance after the other,
//! and shadows.
//!
//! Start at [`Update::roll_out`] and [`Rollback::plan`].

mod shadows;

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::api::{Instance, Instances, OwnedInstance, RestartStatus, Updated};
use crate::error::LiveError;
use crate::identity::Identity;
use crate::operators::{Client, Method, Reply};

pub use shadows::{OnNode, ShadowSum};

/// How long to wait for instances that move between nodes while they are updated.
const MOVING_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a restarted copy may take beyond the start and drain timeouts of its description.
const RESTART_TIMEOUT: Duration = Duration::from_secs(10);

/// The start and drain timeouts of a description by default, for nodes that do not report them.
const RESTART_TIMEOUT_MS: u64 = 50_000;

/// How often a state is asked for that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The nodes that an operator names.
pub struct Nodes {
    /// The operator.
    pub identity: Identity,
    /// The addresses on which the nodes serve operators.
    pub addresses: Vec<String>,
}

impl Nodes {
    fn each(&self) -> impl Iterator<Item = NodeAt<'_>> {
        self.addresses.iter().map(|address| NodeAt { identity: &self.identity, address })
    }
}

/// A node that an operator names.
#[derive(Clone, Copy)]
struct NodeAt<'a> {
    identity: &'a Identity,
    address: &'a str,
}

impl NodeAt<'_> {
    /// Sends a request to the node, and waits for the answer, whatever its status.
    fn ask(self, method: Method, path: &str, body: Vec<u8>) -> Result<Reply, LiveError> {
        Client::new(self.identity, self.address)?.ask_blocking(method, path, &[], body)
    }
}

/// An instance that a node owns.
pub struct Running<'a> {
    node: NodeAt<'a>,
    /// Its id.
    pub instance: String,
    /// The version of its description.
    pub version: u64,
    /// The version that a rollback restores.
    pub previous: Option<u64>,
    /// The digest of its description; `None` if the node is too old to report it.
    pub digest: Option<String>,
}

impl Running<'_> {
    /// The address of its node.
    pub fn address(&self) -> &str {
        self.node.address
    }
}

/// An instance that was changed, and the address of its node.
#[derive(Debug, Serialize)]
pub struct Done {
    /// What the node answered.
    #[serde(flatten)]
    pub updated: Updated,
    /// The address of the node.
    pub node: String,
}

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The instance has the description, and its copy is healthy.
    Done,
    /// The instance is no longer on its node.
    Left,
}

/// Why instances were not changed.
#[derive(Debug)]
pub enum RolloutError {
    /// A node cannot be asked, or rejects the change.
    Node(LiveError),
    /// No instance of the application is on the nodes.
    NoInstance,
    /// An instance has a later version than the description.
    Newer {
        /// The instance.
        instance: String,
        /// Its version.
        version: u64,
        /// The version of the description.
        wanted: u64,
    },
    /// An instance has another description of the same version.
    OtherDigest {
        /// The instance.
        instance: String,
        /// The version.
        version: u64,
        /// The digest of its description.
        digest: String,
        /// The digest of the new description.
        wanted: String,
    },
    /// Instances move between nodes.
    Moving(usize),
    /// The copy of an instance does not become healthy.
    Unhealthy {
        /// The instance.
        instance: String,
        /// Its state; `None` if it was handed over.
        owned: Option<Box<OwnedInstance>>,
        /// The version that an update gave it.
        version: Option<u64>,
    },
}

impl From<LiveError> for RolloutError {
    fn from(fault: LiveError) -> RolloutError {
        RolloutError::Node(fault)
    }
}

/// The instances of an application that the nodes own, and how many they are handing over to others.
pub fn running<'a>(nodes: &'a Nodes, application: &str) -> Result<(Vec<Running<'a>>, usize), LiveError> {
    let (mut found, mut moving) = (Vec::new(), 0);
    for node in nodes.each() {
        let Instances { instances } = node.ask(Method::GET, "/v1/instances", Vec::new())?.known()?;
        let is_wanted = |one: &Instance| one.application().is_some_and(|id| id.to_string() == application);
        for one in instances.into_iter().filter(is_wanted) {
            let Some(OwnedInstance { instance, version, previous_version, digest, .. }) = one.owned() else {
                moving += 1;
                continue;
            };
            found.push(Running {
                node,
                instance: instance.to_string(),
                version: *version,
                previous: previous_version.filter(|previous| previous < version),
                digest: digest.clone(),
            });
        }
    }
    Ok((found, moving))
}

/// The description that the instances of an application are to have.
pub struct Update {
    /// The application.
    pub application: String,
    /// The version of the description.
    pub version: u64,
    /// Its digest.
    pub digest: String,
    /// The signed description.
    pub document: Vec<u8>,
}

impl Update {
    /// Updates the first instance, unless one has the description already. Adds it to `done`.
    pub fn roll_out_to_one(&self, nodes: &Nodes, done: &mut Vec<Done>) -> Result<(), RolloutError> {
        let (known, _) = self.instances(nodes)?;
        let is_done = |one: &&Running<'_>| one.version == self.version;
        let first = known.iter().find(is_done).or(known.first());
        match self.put(first.ok_or(RolloutError::Moving(1))?, done)? {
            Change::Done => Ok(()),
            Change::Left => Err(RolloutError::Moving(1)),
        }
    }

    /// Updates all instances, and adds them to `done`. Instances may move from node to node, and replicate, in the
    /// meantime: the update ends when all that the nodes list have the description.
    pub fn roll_out(&self, nodes: &Nodes, done: &mut Vec<Done>) -> Result<(), RolloutError> {
        let mut deadline = Instant::now() + MOVING_TIMEOUT;
        loop {
            let (known, moving) = self.instances(nodes)?;
            let is_done = |one: &Running<'_>, done: &[Done]| {
                done.iter().any(|done| done.updated.instance.to_string() == one.instance)
            };
            let mut left = moving;
            for one in &known {
                if is_done(one, done) && one.version == self.version {
                    continue;
                }
                match self.put(one, done)? {
                    Change::Done => deadline = Instant::now() + MOVING_TIMEOUT,
                    Change::Left => left += 1,
                }
            }
            let is_complete = left == 0 && known.iter().all(|one| one.version == self.version);
            if is_complete {
                return Ok(());
            }
            if left > 0 && Instant::now() > deadline {
                return Err(RolloutError::Moving(left));
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// The instances on the nodes. Fails if there are none, or if one has a description that this one cannot replace.
    /// Nothing is changed before.
    fn instances<'a>(&self, nodes: &'a Nodes) -> Result<(Vec<Running<'a>>, usize), RolloutError> {
        let (known, moving) = running(nodes, &self.application)?;
        if known.is_empty() && moving == 0 {
            return Err(RolloutError::NoInstance);
        }
        for one in &known {
            let (instance, version) = (one.instance.clone(), one.version);
            if version > self.version {
                return Err(RolloutError::Newer { instance, version, wanted: self.version });
            }
            let other = one.digest.as_ref().filter(|digest| version == self.version && **digest != self.digest);
            if let Some(digest) = other {
                let (digest, wanted) = (digest.clone(), self.digest.clone());
                return Err(RolloutError::OtherDigest { instance, version, digest, wanted });
            }
        }
        Ok((known, moving))
    }

    /// Gives an instance the description, and waits until its copy is healthy.
    fn put(&self, one: &Running<'_>, done: &mut Vec<Done>) -> Result<Change, RolloutError> {
        change(one, Method::PUT, "", self.document.clone(), done)
    }
}

/// Which of the instances that run a version a rollback can change.
pub struct Rollback<'a> {
    /// The version.
    pub from: u64,
    /// The instances whose nodes have the description that they had before.
    pub undone: Vec<&'a Running<'a>>,
    /// The others.
    pub stay: Vec<&'a Running<'a>>,
}

impl<'a> Rollback<'a> {
    /// The rollback of those that run version `from`.
    pub fn plan(known: &'a [Running<'a>], from: u64) -> Rollback<'a> {
        let affected = known.iter().filter(|one| one.version == from);
        let (undone, stay) = affected.partition(|one| one.previous.is_some());
        Rollback { from, undone, stay }
    }

    /// Gives an instance the description that it had before, and waits until its copy is healthy. Adds it to `done`.
    pub fn undo(&self, one: &Running<'_>, done: &mut Vec<Done>) -> Result<Change, RolloutError> {
        change(one, Method::DELETE, &format!("?from={}", self.from), Vec::new(), done)
    }
}

/// Changes the description of an instance, and waits until its copy is healthy. Adds the node's answer to `done`.
fn change(
    one: &Running<'_>,
    method: Method,
    query: &str,
    body: Vec<u8>,
    done: &mut Vec<Done>,
) -> Result<Change, RolloutError> {
    let path = format!("/v1/instances/{}", one.instance);
    let is_update = method == Method::PUT;
    let reply = one.node.ask(method, &format!("{path}/application{query}"), body)?;
    // The instance may have left the node, or may be about to, since the node listed it.
    if matches!(reply.status, 404 | 409) && one.node.ask(Method::GET, &path, Vec::new())?.status == 404 {
        return Ok(Change::Left);
    }
    let updated: Updated = reply.known()?;
    let version = updated.version.filter(|_| is_update);
    let restart_ms = updated.restart_timeout_ms.unwrap_or(RESTART_TIMEOUT_MS);
    done.push(Done { updated, node: one.node.address.to_owned() });
    wait(one, version, Duration::from_millis(restart_ms) + RESTART_TIMEOUT)?;
    Ok(Change::Done)
}

/// Waits until the copy of an instance is healthy, or the instance sleeps or is no longer on the node. Returns an error
/// on timeout, or after the next failure if its program cannot be executed. `version` is the one that an update gave it.
fn wait(one: &Running<'_>, version: Option<u64>, timeout: Duration) -> Result<(), RolloutError> {
    let deadline = Instant::now() + timeout;
    // The last failure may be that of the description before.
    let mut first_seen = None;
    loop {
        let reply = one.node.ask(Method::GET, &format!("/v1/instances/{}", one.instance), Vec::new())?;
        // Status 404: the instance has migrated or ended since, so there is nothing to wait for on this node.
        if reply.status == 404 {
            return Ok(());
        }
        let answer: Instance = reply.known()?;
        let owned = answer.owned();
        if owned.is_some_and(OwnedInstance::serves) {
            return Ok(());
        }
        let restart = owned.and_then(|owned| owned.restart.as_ref());
        let failures = restart.map(|restart| restart.failures);
        let has_failed = *first_seen.get_or_insert(failures) != failures;
        if Instant::now() > deadline || (has_failed && restart.is_some_and(RestartStatus::is_hopeless)) {
            let (instance, owned) = (one.instance.clone(), owned.cloned().map(Box::new));
            return Err(RolloutError::Unhealthy { instance, owned, version });
        }
        sleep(POLL_INTERVAL);
    }
}
