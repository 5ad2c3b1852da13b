//! One decision of a stored run, explained from its trace.

use std::fmt;
use std::io::BufRead;

use mario_domain::{Capacity, Inhibition};
use mario_policy::{ExplainedDecision, Explainer, PolicySettings};
use mario_prolog::{Allowance, Engine};
use mario_trace::reader::{Detail, Evaluation, FactsAndDecision, ReadError, TraceReader, TraceRecord};
use mario_trace::{Body, Change, InstanceRef, State};

use crate::recorded::{Histories, Knowledge, Situation, VisibleHistory, resolver};

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
    pub inhibited: Option<Inhibition>,
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
    let mut state = State::new(std::sync::Arc::clone(&header));
    let mut search = DecisionSearch::new(histories, instance, until.unwrap_or(f64::INFINITY));
    while !search.is_done
        && let Some(record) = reader.next_record().map_err(DecisionError::Read)?
    {
        state.apply(&record, &mut |state, change| search.apply(state, record.time(), change));
        if let TraceRecord::Evaluation(evaluation) = record {
            search.evaluated(&state, evaluation);
        }
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
        application: found.application,
        instance: &state.instance(found.instance).id,
        node: found.node,
        free: found.free,
        flavour: found.body.flavour,
        is_asleep: found.body.is_asleep,
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
    instance: InstanceRef,
    application: u32,
    policy: u32,
    node: u32,
    free: Capacity,
    body: Body,
    seen: FactsAndDecision,
    visible_history: VisibleHistory,
    unreached: Vec<u32>,
}

/// The state of the search for one decision in a trace.
struct DecisionSearch<'a> {
    wanted: &'a str,
    until: f64,
    histories: Histories,
    found: Option<Found>,
    verdict: Option<JudgedDecision>,
    /// The time of the instance's first evaluation.
    first: Option<f64>,
    /// Some other instances with an evaluation, listed in the error if the wanted one is not found.
    others: Vec<String>,
    is_done: bool,
}

impl<'a> DecisionSearch<'a> {
    fn new(histories: Histories, wanted: &'a str, until: f64) -> DecisionSearch<'a> {
        let (found, verdict, first, others) = (None, None, None, Vec::new());
        DecisionSearch { wanted, until, histories, found, verdict, first, others, is_done: false }
    }

    /// Processes a change. `state` is the state after it.
    fn apply(&mut self, state: &State, time: f64, change: Change<'_>) {
        self.histories.apply(state, change);
        match change {
            Change::Nop { instance } | Change::Accepted { instance, .. } => self.judged(time, instance, None),
            Change::Inhibited { instance, inhibition, .. } => self.judged(time, instance, Some(inhibition)),
            Change::Appeared { .. }
            | Change::Moved { .. }
            | Change::Left { .. }
            | Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Woke { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    fn evaluated(&mut self, state: &State, evaluation: Evaluation) {
        const OTHERS_MAX: usize = 8;
        let name = evaluation.instance.to_string();
        let known = state.find(&evaluation.instance);
        if name != self.wanted {
            if self.others.len() < OTHERS_MAX && !self.others.contains(&name) {
                self.others.push(name);
            }
            if let Some(instance) = known {
                self.histories.evaluated(instance, &evaluation);
            }
            return;
        }
        self.first.get_or_insert(evaluation.time);
        if evaluation.time > self.until {
            self.is_done = true;
            return;
        }
        let Some(instance) = known else { return };
        let placed = state.instance(instance);
        // The history that an evaluation sees ends before it.
        let visible_history = self.histories.visible_history(instance).clone();
        self.histories.evaluated(instance, &evaluation);
        // A record without facts means that the facts equal those of the instance's previous evaluation.
        let before = self.found.take().map(|found| found.seen);
        let Some(seen) = evaluation.seen.or(before) else { return };
        self.found = Some(Found {
            time: evaluation.time,
            instance,
            application: placed.application,
            policy: placed.policy,
            node: evaluation.node,
            free: evaluation.free,
            body: placed.body,
            seen,
            visible_history,
            unreached: state.unreached(evaluation.node),
        });
        self.verdict = None;
    }

    fn judged(&mut self, time: f64, instance: InstanceRef, inhibition: Option<&Inhibition>) {
        let is_it = self.found.as_ref().is_some_and(|found| found.instance == instance && found.time <= time);
        if is_it && self.verdict.is_none() {
            self.verdict = Some(JudgedDecision { time, inhibited: inhibition.cloned() });
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
