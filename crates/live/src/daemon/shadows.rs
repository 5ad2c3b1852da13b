//! Shadow policies: evaluated beside the policies in use, with the same facts. Their proposals are never carried out.
//!
//! A shadow belongs to an application on a node: it shadows every instance of the application there, including later
//! ones. It is stored in the data directory and survives a restart of the daemon; its counts do not.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mario_colony::{Knowledge, Proposal};
use mario_domain::{ApplicationId, InstanceId};
use mario_policy::{Decider, Policy, PolicySettings, Solution, SolutionLimit};
use mario_prolog::{Allowance, Engine};

use super::answers::Refusal;
use super::core::Core;
use crate::api;
use crate::application::{DOCUMENT_BYTES_MAX, VerifiedDocument, reopen};
use crate::error::LiveError;

/// A command about a shadow.
#[derive(Debug)]
pub(crate) enum ShadowCommand {
    /// Show how the shadow differs from the policy in use.
    Show,
    /// Start to shadow with the policy of this signed description.
    Set(Arc<[u8]>),
    /// End the shadow.
    End,
}

/// The maximum number of shadows on one node.
const SHADOWS_MAX: usize = 64;

/// How many differing decisions of each shadow are kept.
const KEPT: usize = 20;

/// The text for no proposal.
const NOTHING: &str = "nothing";

/// The text for an evaluation without a valid answer.
const FAILED: &str = "no valid answer";

/// The shadows of a node.
pub(crate) struct Shadows {
    engine: Engine,
    decider: Decider,
    directory: PathBuf,
    by_application: BTreeMap<ApplicationId, Shadow>,
}

/// A shadow policy, and how it differs from the policy in use.
struct Shadow {
    version: u64,
    policy: Policy,
    since_ms: u64,
    evaluations: u64,
    failed: u64,
    /// How often each pair of different proposals (policy in use, shadow) occurred. The targets are left out; if only
    /// they differ, the shadow's operation is followed by `elsewhere`.
    differences: BTreeMap<(String, String), u64>,
    last: VecDeque<api::DifferentDecision>,
}

/// A decision in which a shadow differs from the policy in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    /// The proposal of the policy in use.
    pub(crate) policy: String,
    /// The proposal of the shadow.
    pub(crate) shadow: String,
}

impl Shadows {
    /// Loads the shadows that a previous daemon left, at most [`SHADOWS_MAX`]. Also returns the errors of unusable
    /// ones.
    pub(crate) fn open(data: &Path, engine: &Engine) -> (Shadows, Vec<LiveError>) {
        let directory = data.join("shadows");
        let decider = Decider::new(engine);
        let mut shadows = Shadows { engine: engine.clone(), decider, directory, by_application: BTreeMap::new() };
        let mut faults = Vec::new();
        let Ok(entries) = fs::read_dir(&shadows.directory) else { return (shadows, faults) };
        for path in entries.flatten().map(|entry| entry.path()).take(SHADOWS_MAX) {
            if let Err(fault) = shadows.read(&path) {
                faults
                    .push(LiveError::new(format!("cannot use the shadow {}", path.display())).caused_by(fault.line()));
            }
        }
        (shadows, faults)
    }

    fn read(&mut self, path: &Path) -> Result<(), LiveError> {
        let unreadable = |error| LiveError::new("it cannot be read").caused_by(error);
        if fs::metadata(path).map_err(unreadable)?.len() > DOCUMENT_BYTES_MAX as u64 {
            return Err(LiveError::new("it is too long"));
        }
        let document: Arc<[u8]> = fs::read(path).map_err(unreadable)?.into();
        // The document was verified when it arrived.
        let opened = reopen(&document)?;
        let shadow = self.load(&opened)?;
        self.by_application.insert(opened.descriptor.application.id.clone(), shadow);
        Ok(())
    }

    /// Starts to shadow an application with the policy of this description, and stores the description. The counts of
    /// an earlier shadow are discarded. Fails if [`SHADOWS_MAX`] other applications have shadows, or if the policy
    /// cannot be loaded or stored.
    pub(crate) fn set(&mut self, opened: &VerifiedDocument) -> Result<(), LiveError> {
        let application = &opened.descriptor.application.id;
        if self.by_application.len() >= SHADOWS_MAX && !self.by_application.contains_key(application) {
            return Err(
                LiveError::new(format!("this node has {SHADOWS_MAX} shadows already")).hint("end one of them first")
            );
        }
        let shadow = self.load(opened)?;
        let path = self.path(application);
        let written = fs::create_dir_all(&self.directory).and_then(|()| fs::write(&path, &opened.descriptor.document));
        written.map_err(|error| LiveError::new(format!("cannot write {}", path.display())).caused_by(error))?;
        self.by_application.insert(application.clone(), shadow);
        Ok(())
    }

    fn load(&self, opened: &VerifiedDocument) -> Result<Shadow, LiveError> {
        let text = &opened.descriptor.policy;
        let (name, main) = text.main().ok_or_else(|| LiveError::new("its policy has no text"))?;
        let settings = PolicySettings { memory: text.memory, budget: crate::BUDGET };
        let allowance = Allowance::new(settings.budget.inferences);
        let policy = Policy::load_within(&self.engine, name, main, Some(text.resolver()), settings, &allowance)
            .map_err(|error| LiveError::new(format!("the policy `{name}` cannot be loaded")).caused_by(error))?;
        Ok(Shadow {
            version: opened.descriptor.version,
            policy,
            since_ms: now_ms(),
            evaluations: 0,
            failed: 0,
            differences: BTreeMap::new(),
            last: VecDeque::new(),
        })
    }

    /// Ends a shadow and removes its file. Returns its summary, or `None` if the application has no shadow.
    pub(crate) fn end(&mut self, application: &ApplicationId) -> Result<Option<api::Shadow>, LiveError> {
        let Some(shadow) = self.by_application.get(application) else { return Ok(None) };
        let path = self.path(application);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LiveError::new(format!("cannot remove {}", path.display())).caused_by(error));
            }
            _ => {}
        }
        let summary = shadow.summary(application);
        self.by_application.remove(application);
        Ok(Some(summary))
    }

    /// Summarises how a shadow has differed so far from the policy in use; `None` if the application has no shadow.
    pub(crate) fn summary(&self, application: &ApplicationId) -> Option<api::Shadow> {
        self.by_application.get(application).map(|shadow| shadow.summary(application))
    }

    fn path(&self, application: &ApplicationId) -> PathBuf {
        // An application's id is safe in a file name: it has only letters, digits, `.`, `_` and `-`.
        self.directory.join(format!("{application}.signed"))
    }

    /// Evaluates the shadow of an instance's application, if it has one, with the facts of the agent. Returns the
    /// difference from the actual proposal; `None` if there is no shadow or no difference.
    pub(crate) fn compare(
        &mut self,
        instance: &InstanceId,
        knowledge: &Knowledge,
        proposal: Option<&Proposal>,
        has_failed: bool,
    ) -> Option<Difference> {
        let shadow = self.by_application.get_mut(&knowledge.descriptor.application.id)?;
        let decision = self.decider.decide(&shadow.policy, &knowledge.facts, knowledge.instance, SolutionLimit::First);
        let wanted = match decision.solutions.first() {
            _ if decision.has_failed() => (FAILED.to_owned(), String::new()),
            Some(Solution::Proposal(proposed)) => {
                match proposed.operation(&knowledge.facts).as_ref().and_then(Proposal::of) {
                    Some(proposed) => words(&proposed),
                    None => (FAILED.to_owned(), String::new()),
                }
            }
            Some(Solution::Invalid(_)) => (FAILED.to_owned(), String::new()),
            None => (NOTHING.to_owned(), String::new()),
        };
        let runs = match proposal {
            _ if has_failed => (FAILED.to_owned(), String::new()),
            Some(proposal) => words(proposal),
            None => (NOTHING.to_owned(), String::new()),
        };
        shadow.evaluations += 1;
        shadow.failed += u64::from(wanted.0 == FAILED);
        if wanted == runs {
            return None;
        }
        let is_elsewhere = wanted.0 == runs.0;
        let shadow_wants = if is_elsewhere { format!("{} elsewhere", wanted.0) } else { wanted.0.clone() };
        *shadow.differences.entry((runs.0.clone(), shadow_wants)).or_default() += 1;
        let text = |(operation, target): (String, String)| format!("{operation} {target}").trim_end().to_owned();
        let difference = Difference { policy: text(runs), shadow: text(wanted) };
        if shadow.last.len() == KEPT {
            shadow.last.pop_front();
        }
        shadow.last.push_back(api::DifferentDecision {
            time_ms: now_ms(),
            instance: instance.clone(),
            policy: difference.policy.clone(),
            shadow: difference.shadow.clone(),
        });
        Some(difference)
    }
}

impl Core {
    /// Performs a command about the shadow of an application.
    pub(crate) fn shadow(
        &mut self,
        application: &ApplicationId,
        command: ShadowCommand,
    ) -> Result<api::Shadow, Refusal> {
        let none = || Refusal {
            status: 404,
            message: format!("application `{application}` has no shadow on this node"),
            hint: Some("`mario app update FILE --shadow` sets one".to_owned()),
        };
        let refused = |status, fault: &LiveError| Refusal {
            status,
            hint: fault.help().map(str::to_owned),
            message: fault.line(),
        };
        match command {
            ShadowCommand::Show => self.shadows.summary(application).ok_or_else(none),
            ShadowCommand::End => self.shadows.end(application).map_err(|fault| refused(503, &fault))?.ok_or_else(none),
            ShadowCommand::Set(document) => {
                let opened = self.usable(&document)?;
                let described = &opened.descriptor.application.id;
                if described != application {
                    let fault = LiveError::new(format!("the description is of application `{described}`"));
                    return Err(refused(422, &fault));
                }
                self.shadows.set(&opened).map_err(|fault| refused(422, &fault))?;
                self.shadows.summary(application).ok_or_else(none)
            }
        }
    }
}

impl Shadow {
    fn summary(&self, application: &ApplicationId) -> api::Shadow {
        let differ: u64 = self.differences.values().sum();
        let differences = self.differences.iter().map(|((policy, shadow), count)| api::Difference {
            policy: policy.clone(),
            shadow: shadow.clone(),
            count: *count,
        });
        api::Shadow {
            application: application.clone(),
            version: self.version,
            since_ms: self.since_ms,
            evaluations: self.evaluations,
            same: self.evaluations - differ,
            differ,
            failed: self.failed,
            differences: differences.collect(),
            last: self.last.iter().cloned().collect(),
        }
    }
}

fn words(proposal: &Proposal) -> (String, String) {
    (proposal.operation.as_str().to_owned(), proposal.target.to_string())
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
