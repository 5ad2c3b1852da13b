//! Deploys, updates and rollbacks that operators ask for. All of them are idempotent: an operator whose command was
//! interrupted repeats it.

use std::sync::Arc;

use mario_colony::{Command, DeployKey, Descriptor, Effect, Input, TraceEvent};
use mario_domain::{InstanceId, Operation, Rule, Verdict};

use super::answers::{Refusal, refusal};
use super::core::Core;
use crate::api::{self, Conflict};
use crate::application::{VerifiedDocument, digest};
use crate::error::LiveError;

/// Whether a deploy may start an older version of an application than one that runs on the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OlderVersion {
    Refused,
    Allowed,
}

impl Core {
    /// Verifies a document. Returns its content if this node has the driver and no other application holds the names.
    pub(crate) fn usable(&mut self, document: &Arc<[u8]>) -> Result<Arc<VerifiedDocument>, Refusal> {
        let unusable =
            |fault: LiveError| Refusal { status: 422, hint: fault.help().map(str::to_owned), message: fault.line() };
        let opened = self.documents.open(document).map_err(unusable)?;
        let opened = self.documents.check(&opened.descriptor, &self.copies).map_err(unusable)?;
        if let Err(conflict) = self.names.check(&opened.descriptor.application.id, &opened.names) {
            let Conflict { name, holder, claimed_by } = conflict;
            return Err(Refusal {
                status: 409,
                message: format!("the {name} of application `{claimed_by}` is that of application `{holder}` already"),
                hint: Some(format!("undeploy `{holder}`, or sign `{claimed_by}` without this name")),
            });
        }
        Ok(opened)
    }

    /// Replaces the description of an instance. An instance that has this description already is left as it is, and the
    /// answer says so.
    pub(super) fn update_to(&mut self, instance: InstanceId, document: &Arc<[u8]>) -> Result<api::Updated, Refusal> {
        let opened = self.usable(document)?;
        let wanted = &opened.descriptor;
        let owned = self.node.ledger().owned().find(|owned| owned.instance == instance);
        let known = owned.map(|owned| Arc::clone(&owned.descriptor));
        let is_same_version =
            |known: &Arc<Descriptor>| known.application.id == wanted.application.id && known.version == wanted.version;
        if let Some(known) = known.filter(is_same_version) {
            let (version, digests) = (known.version, [digest(&known.document), digest(document)]);
            if digests[0] == digests[1] {
                return Ok(api::Updated {
                    instance,
                    from: Some(version),
                    version: Some(version),
                    is_changed: false,
                    restart_timeout_ms: Some(restart_timeout_ms(&opened)),
                });
            }
            return Err(Refusal {
                status: 409,
                message: format!(
                    "instance {instance} runs version {version} with digest {}, and the new description has version \
                     {version} with digest {}",
                    digests[0], digests[1]
                ),
                hint: Some("sign the changed description with a higher version".to_owned()),
            });
        }
        self.update(Command::Update { instance, descriptor: Arc::clone(wanted) })
    }

    /// Restores the previous description of an instance, unless it runs another version than `from`.
    pub(super) fn roll_back(&mut self, instance: InstanceId, from: Option<u64>) -> Result<api::Updated, Refusal> {
        let owned = self.node.ledger().owned().find(|owned| owned.instance == instance);
        let version = owned.map(|owned| owned.descriptor.version);
        if let (Some(from), Some(version)) = (from, version)
            && from != version
        {
            return Err(refusal(409, format!("instance {instance} runs version {version}, not {from}")));
        }
        self.update(Command::Rollback(instance))
    }

    fn update(&mut self, command: Command) -> Result<api::Updated, Refusal> {
        self.handle(Input::Operator(command));
        let updated = self.push_effects().filter_map(|effect| match effect {
            Effect::Trace(TraceEvent::Updated { instance, from, to, refused }) => Some((instance, from, to, refused)),
            _ => None,
        });
        let (instance, from, to) = match updated.last() {
            Some((instance, from, to, None)) => (instance.clone(), *from, *to),
            Some((instance, .., Some(inhibition))) => {
                return Err(refusal(409, format!("instance {instance} was not changed: {inhibition}")));
            }
            None => return Err(refusal(500, "the node gave no verdict")),
        };
        let owned = self.node.ledger().owned().find(|owned| owned.instance == instance);
        let document = owned.map(|owned| Arc::clone(&owned.descriptor.document));
        let opened = document.and_then(|document| self.documents.opened(&document).ok());
        let restart_timeout_ms = opened.map(|opened| restart_timeout_ms(&opened));
        Ok(api::Updated { instance, from, version: to, is_changed: true, restart_timeout_ms })
    }

    /// Rejects a key that deployed an instance of another application, if that instance is still here.
    fn check_key(&self, key: DeployKey, opened: &VerifiedDocument) -> Result<(), Refusal> {
        let ledger = self.node.ledger();
        let Some(instance) = ledger.deployed_by(key) else { return Ok(()) };
        let deployed = ledger.owned().find(|owned| owned.instance == *instance);
        let before = deployed.map(|owned| &owned.descriptor.application.id);
        match before.filter(|before| **before != opened.descriptor.application.id) {
            None => Ok(()),
            Some(before) => Err(Refusal {
                status: 409,
                message: format!("the key {:x} deployed instance {instance} of application `{before}` before", key.0),
                hint: Some("take another key: with the same one, a repeated deploy is the same deploy".to_owned()),
            }),
        }
    }

    /// Rejects a description that is older than one of the same application that runs here. A repeated deploy with a
    /// known key starts nothing, and is not rejected.
    fn check_version(&self, key: DeployKey, descriptor: &Descriptor) -> Result<(), Refusal> {
        let ledger = self.node.ledger();
        if ledger.deployed_by(key).is_some() {
            return Ok(());
        }
        let id = &descriptor.application.id;
        let same = ledger.owned().filter(|owned| owned.descriptor.application.id == *id);
        match same.max_by_key(|owned| owned.descriptor.version) {
            Some(owned) if owned.descriptor.version > descriptor.version => Err(Refusal {
                status: 409,
                message: format!(
                    "the description of application `{id}` has version {}, and instance {} on this node runs version {}",
                    descriptor.version, owned.instance, owned.descriptor.version
                ),
                hint: Some("deploy the newer version, or this one with `--force`".to_owned()),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn deploy(
        &mut self,
        key: DeployKey,
        document: &Arc<[u8]>,
        older: OlderVersion,
    ) -> Result<api::Deployed, Refusal> {
        let opened = self.usable(document)?;
        self.check_key(key, &opened)?;
        if older == OlderVersion::Refused {
            self.check_version(key, &opened.descriptor)?;
        }
        self.copies.room().check().map_err(|fault| Refusal {
            status: 507,
            message: fault,
            hint: Some("free space on the disk of the node's data directory, or deploy on another node".to_owned()),
        })?;
        let (descriptor, is_anchor) = (Arc::clone(&opened.descriptor), opened.is_anchor);
        self.handle(Input::Operator(Command::Deploy { key, descriptor, is_anchor }));
        // The node judges a deploy at once: the verdict is in its last report about a deploy.
        let judged = self.push_effects().filter_map(|effect| match effect {
            Effect::Trace(TraceEvent::Judged { request, verdict, created }) => Some((request, verdict, created)),
            _ => None,
        });
        let judged = judged.filter(|(request, ..)| matches!(request.operation(), Operation::Deploy { .. }));
        match judged.last() {
            Some((_, Verdict::Accepted, Some(instance))) => Ok(api::Deployed {
                instance: instance.clone(),
                application: opened.descriptor.application.id.clone(),
                node: self.config.node.clone(),
            }),
            Some((_, Verdict::Inhibited(inhibition), _)) if inhibition.rule == Rule::Recovering => Err(Refusal {
                status: 503,
                message: inhibition.to_string(),
                hint: Some("repeat it in a moment".to_owned()),
            }),
            Some((_, Verdict::Inhibited(inhibition), _)) if inhibition.rule == Rule::Leaving => Err(Refusal {
                status: 409,
                message: format!("node {} is draining: it accepts no new instances", inhibition.node),
                hint: Some("deploy on another node, or end the drain with `mario node drain --undo`".to_owned()),
            }),
            Some((_, Verdict::Inhibited(inhibition), _)) => Err(refusal(409, inhibition.to_string())),
            _ => Err(refusal(500, "the node gave no verdict")),
        }
    }
}

/// How long a copy may take to finish its requests and to become healthy again.
fn restart_timeout_ms(opened: &VerifiedDocument) -> u64 {
    (opened.run.start_timeout + opened.run.drain_timeout).as_millis() as u64
}
