//! One decision of a stored run, explained from its trace.

use std::fmt;
use std::io::BufRead;

use mario_audit::reader::{
    Detail, Evaluation, FactsAndDecision, Header, Outcome, OwnerActKind, ReadError, Reason, Target, TraceReader,
    TraceRecord, Verdict,
};
use mario_audit::{Histories, Knowledge, Situation, VisibleHistory, resolver};
use mario_domain::{AgentOperation, Capacity, InstanceId};
use mario_policy::{ExplainedDecision, Explainer, PolicySettings};
use mario_prolog::{Allowance, Engine};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::Reach;

/// The inference budget for compiling all policies of a trace. They are compiled because the text of a policy declares
/// how much history its agents keep.
const LOADING_INFERENCES: u64 = 100_000_000;

/// A decision of a run, with its reasons.
#[derive(Clone, Debug)]
pub struct DecisionOfRun {
    /// When the agent evaluated.
    pub time: f64,
    /// The node of the instance at that time.
    pub node: String,
    /// The name of the agent's policy.
    pub policy: String,
    /// The decision and its explanation.
    pub explained: ExplainedDecision,
    /// The managers' verdict; `None` if the trace has none before the next evaluation of the instance.
    pub verdict: Option<JudgedDecision>,
}

/// The verdict of the managers on a decision.
#[derive(Clone, PartialEq, Debug)]
pub struct JudgedDecision {
    /// When the managers decided.
    pub time: f64,
    /// Why it was inhibited; `None` if it was accepted or nothing was proposed.
    pub inhibited: Option<Reason>,
}

/// Why a decision cannot be explained.
#[derive(Debug)]
pub enum DecisionError {
    /// The trace cannot be read.
    Read(ReadError),
    /// The trace does not record evaluations. Contains its level of detail.
    NoEvaluations(Detail),
    /// The trace has no evaluation of the instance. Contains the ids of at most 8 instances that have one.
    NoInstance(Vec<String>),
    /// The first evaluation of the instance, at this time, is later than the requested time.
    NotYet(f64),
    /// The policy cannot be loaded. Contains the cause.
    Policy(String),
}

/// Explains the last decision of an instance at or before the time `until`; if `until` is `None`, its last decision in
/// the trace.
pub fn explain_decision<R: BufRead>(
    mut reader: TraceReader<R>,
    instance: &str,
    until: Option<f64>,
) -> Result<DecisionOfRun, DecisionError> {
    let header = std::sync::Arc::clone(reader.header());
    if header.detail != Detail::Full {
        return Err(DecisionError::NoEvaluations(header.detail));
    }
    let engine = Engine::new();
    let histories = Histories::new(&header, &engine, &Allowance::new(LOADING_INFERENCES));
    let mut search = DecisionSearch::new(&header, histories, instance, until.unwrap_or(f64::INFINITY));
    while !search.is_done
        && let Some(record) = reader.next_record().map_err(DecisionError::Read)?
    {
        search.read(record);
    }
    let Some(found) = search.found else {
        return Err(match search.first {
            Some(first) => DecisionError::NotYet(first),
            None => DecisionError::NoInstance(search.others),
        });
    };
    let policy = &header.policies[found.policy as usize];
    let (name, text) = policy.files.first().ok_or_else(|| DecisionError::Policy("it has no text".to_owned()))?;
    let mut settings = PolicySettings::default();
    settings.budget.inferences = header.decision_budget.unwrap_or(settings.budget.inferences);
    let mut explainer = Explainer::load(&engine, name, text, Some(resolver(policy)), settings)
        .map_err(|error| DecisionError::Policy(error.to_string()))?;
    let mut knowledge = Knowledge::new(&header, &engine);
    let situation = Situation {
        policy: found.policy,
        application: found.application,
        instance: &found.instance,
        node: found.node,
        free: found.free,
        flavour: found.flavour,
        is_asleep: found.is_asleep,
        seen: &found.seen,
        visible_history: &found.visible_history,
    };
    let (facts, constant) = knowledge.of(&header, &situation, |_, other| !found.unreached.contains(&other));
    Ok(DecisionOfRun {
        time: found.time,
        node: header.nodes[found.node as usize].id.to_string(),
        policy: policy.name.clone(),
        explained: explainer.explain(facts, constant),
        verdict: search.verdict,
    })
}

/// The inputs of one decision.
struct Found {
    time: f64,
    instance: InstanceId,
    application: u32,
    policy: u32,
    node: u32,
    free: Capacity,
    flavour: u32,
    is_asleep: bool,
    seen: FactsAndDecision,
    visible_history: VisibleHistory,
    unreached: Vec<u32>,
}

/// The state of the search for one decision in a trace.
struct DecisionSearch<'a> {
    header: &'a Header,
    wanted: &'a str,
    until: f64,
    reach: Reach,
    histories: Histories,
    /// The current application and policy of each instance seen so far.
    origins: FxHashMap<InstanceId, (u32, u32)>,
    /// The current flavours of instances; an instance without an entry has the default flavour.
    flavours: FxHashMap<InstanceId, u32>,
    /// The instances that are asleep.
    asleep: FxHashSet<InstanceId>,
    found: Option<Found>,
    verdict: Option<JudgedDecision>,
    /// The time of the instance's first evaluation.
    first: Option<f64>,
    /// Some other instances with an evaluation, listed in the error if the wanted one is not found.
    others: Vec<String>,
    is_done: bool,
}

impl<'a> DecisionSearch<'a> {
    fn new(header: &'a Header, histories: Histories, wanted: &'a str, until: f64) -> DecisionSearch<'a> {
        DecisionSearch {
            header,
            wanted,
            until,
            reach: Reach::default(),
            histories,
            origins: FxHashMap::default(),
            flavours: FxHashMap::default(),
            asleep: FxHashSet::default(),
            found: None,
            verdict: None,
            first: None,
            others: Vec::new(),
            is_done: false,
        }
    }

    fn read(&mut self, record: TraceRecord) {
        self.reach.read(&record);
        // Read before the record is applied, because the history that an evaluation sees ends before this evaluation.
        let visible_history = match &record {
            TraceRecord::Evaluation(evaluation) => self.histories.visible_history(&evaluation.instance).clone(),
            _ => VisibleHistory::default(),
        };
        self.histories.read(&record);
        match record {
            TraceRecord::Deployed(deployed) => {
                self.origins.insert(deployed.instance, (deployed.application, deployed.policy));
            }
            TraceRecord::Evaluation(evaluation) => self.evaluation(evaluation, visible_history),
            TraceRecord::Update(update) => {
                let concerned = self.origins.values_mut().filter(|(application, _)| *application == update.application);
                concerned.for_each(|(_, policy)| *policy = update.policy);
            }
            TraceRecord::Cycle(cycle) => {
                for outcome in &cycle.outcomes {
                    self.outcome(cycle.time, outcome);
                }
            }
            TraceRecord::Woken(woken) => {
                if matches!(woken.verdict, Verdict::Accepted(_)) {
                    self.asleep.remove(&woken.instance);
                }
            }
            TraceRecord::Owner(owner) => {
                for act in &owner.acts {
                    if let OwnerActKind::Shrunk(flavour) = &act.kind {
                        self.adapted(&act.instance, &Target::Flavour(flavour.clone()));
                    }
                }
            }
            _ => {}
        }
    }

    fn evaluation(&mut self, evaluation: Evaluation, visible_history: VisibleHistory) {
        const OTHERS_MAX: usize = 8;
        let name = evaluation.instance.to_string();
        if name != self.wanted {
            if self.others.len() < OTHERS_MAX && !self.others.contains(&name) {
                self.others.push(name);
            }
            return;
        }
        self.first.get_or_insert(evaluation.time);
        if evaluation.time > self.until {
            self.is_done = true;
            return;
        }
        let Some(&(application, policy)) = self.origins.get(&evaluation.instance) else { return };
        // A record without facts means that the facts equal those of the instance's previous evaluation.
        let before = self.found.take().map(|found| found.seen);
        let Some(seen) = evaluation.seen.or(before) else { return };
        let unreached = self.reach.unreached(self.header, evaluation.node);
        let Evaluation { time, instance, node, free, .. } = evaluation;
        let flavour = self.flavours.get(&instance).copied().unwrap_or(0);
        let is_asleep = self.asleep.contains(&instance);
        self.found = Some(Found {
            time,
            instance,
            application,
            policy,
            node,
            free,
            flavour,
            is_asleep,
            seen,
            visible_history,
            unreached,
        });
        self.verdict = None;
    }

    fn outcome(&mut self, time: f64, outcome: &Outcome) {
        match outcome {
            Outcome::Nop(instance) => self.judged(time, instance, None),
            Outcome::Judged { instance, proposal, verdict } => {
                let inhibited = match verdict {
                    Verdict::Accepted(Some(new)) => {
                        let origin = self.origins.get(instance).copied().unwrap_or_default();
                        self.origins.insert(new.clone(), origin);
                        if self.asleep.contains(instance) {
                            self.asleep.insert(new.clone());
                        }
                        if let Some(flavour) = self.flavours.get(instance).copied() {
                            self.flavours.insert(new.clone(), flavour);
                        }
                        None
                    }
                    Verdict::Accepted(None) => {
                        self.adapted(instance, &proposal.target);
                        match proposal.operation {
                            AgentOperation::Sleep => self.asleep.insert(instance.clone()),
                            AgentOperation::Wake => self.asleep.remove(instance),
                            _ => false,
                        };
                        None
                    }
                    Verdict::Inhibited(reason) => Some(reason.clone()),
                };
                self.judged(time, instance, inhibited);
            }
            Outcome::Deploy { application, policy, verdict: Verdict::Accepted(Some(new)), .. } => {
                let policy = policy.unwrap_or(self.header.applications[*application as usize].policy);
                self.origins.insert(new.clone(), (*application, policy));
            }
            Outcome::Deploy { .. } => {}
        }
    }

    /// Records that the instance now runs in another flavour, if the target is a flavour of its application.
    fn adapted(&mut self, instance: &InstanceId, target: &Target) {
        let Some(&(application, _)) = self.origins.get(instance) else { return };
        if let Some(flavour) = self.header.applications[application as usize].find_flavour(target) {
            self.flavours.insert(instance.clone(), flavour);
        }
    }

    fn judged(&mut self, time: f64, instance: &InstanceId, inhibited: Option<Reason>) {
        let is_it = self.found.as_ref().is_some_and(|found| found.instance == *instance && found.time <= time);
        if is_it && self.verdict.is_none() {
            self.verdict = Some(JudgedDecision { time, inhibited });
        }
    }
}

impl fmt::Display for DecisionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecisionError::Read(error) => write!(formatter, "the trace cannot be read: {error}"),
            DecisionError::NoEvaluations(_) => formatter.write_str("the trace holds no evaluations"),
            DecisionError::NoInstance(_) => formatter.write_str("no agent of this instance evaluated"),
            DecisionError::NotYet(first) => {
                write!(formatter, "the first evaluation of this instance is at time {first}")
            }
            DecisionError::Policy(cause) => write!(formatter, "its policy cannot be loaded: {cause}"),
        }
    }
}

impl std::error::Error for DecisionError {}
