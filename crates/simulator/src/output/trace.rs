//! Converts the events of a run to trace records.

mod header;

use std::io::{self, Write};

use mario_domain::{AgentOperation, FlavourIndex, Rule, Time};
use mario_policy::{Decision, Ending, Solution};
use mario_scenario::{ApplicationIndex, NodeIndex, PolicyIndex, Scenario, UserIndex};
use mario_trace::{
    ApplicationRef, CallRef, Counts, Detail, Evaluation, FactsAndDecision, NodeRef, PolicyRef, TraceWriter, UserRef,
};
use serde::{Deserializer, Serialize};

use crate::optimum::PlacementValue;
use crate::population::{
    Agent, AgentIndex, CompactVerdict, CycleLabel, Deployed, Judged, Neighbour, Outcome, OwnerAct, OwnerActKind,
    OwnerActs, ParkedCounts, Population, RequestFact, Target,
};
use crate::recorder::{CallResults, Cause, Recorder, RegretSample, Served, ServedCall, UserResults};
use crate::simulation::CallIndex;

use header::header;

/// Writes the trace of a run, as `docs/trace.md` describes it.
pub struct TraceRecorder<W: Write>(TraceWriter<W>);

impl<W: Write> TraceRecorder<W> {
    /// Starts a trace and writes its header.
    pub fn new(out: W, scenario: &Scenario, detail: Detail) -> TraceRecorder<W> {
        TraceRecorder(TraceWriter::new(out, &header(scenario, detail)))
    }

    /// Completes the trace of a run that reached its end, and returns the output.
    pub fn finish(self, time: Time) -> io::Result<W> {
        self.0.finish(time)
    }

    /// Sets the number of links that client requests and the requests of calls passed in the whole run. Call it before
    /// [`TraceRecorder::finish`].
    pub fn traffic(&mut self, hops: u64) {
        self.0.traffic(hops);
    }

    /// Ends the trace of an interrupted run, without an end record.
    pub fn close(self) -> io::Result<W> {
        self.0.close()
    }

    /// The first write error.
    pub fn failure(&self) -> Option<&io::Error> {
        self.0.failure()
    }

    /// The state to store in a checkpoint.
    pub(in crate::output) fn saved(&self) -> impl Serialize + '_ {
        self.0.saved()
    }

    /// Resumes the trace from the state stored by [`TraceRecorder::saved`].
    pub(in crate::output) fn resumed<'de, D: Deserializer<'de>>(
        out: W,
        detail: Detail,
        saved: D,
    ) -> Result<TraceRecorder<W>, D::Error> {
        TraceWriter::resumed(out, detail, saved).map(TraceRecorder)
    }

    /// Whether the resumed state is consistent with a scenario.
    pub(in crate::output) fn is_of(&self, scenario: &Scenario) -> bool {
        self.0.is_of(&header(scenario, self.0.detail()))
    }

    /// The output of the trace.
    pub(in crate::output) fn out(&mut self) -> &mut W {
        self.0.out()
    }
}

impl<W: Write> Recorder for TraceRecorder<W> {
    fn wants_decisions(&self) -> bool {
        self.0.detail() == Detail::Full
    }

    fn wants_everyone(&self) -> bool {
        self.0.detail() != Detail::Summary
    }

    fn deployed(&mut self, time: Time, agent: AgentIndex, population: &Population) {
        let instance = population.instance(agent);
        let agent = population.agent(agent);
        let policy = PolicyRef(agent.policy().0);
        self.0.deployed(time, &instance, application(agent.application()), node(agent.node()), policy);
    }

    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        self.0.handover(time, UserRef(user.0), from.map(node), to.map(node));
    }

    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {
        let acting = population.agent(agent);
        if self.0.detail() != Detail::Full {
            // Reads as little as possible, because evaluations are by far the most frequent events.
            let place = application(acting.application());
            match max_rate(acting, population) {
                None => self.0.count_evaluations(place, 1, acting.rate()),
                Some(max_rate) => self.0.count_evaluation_in_flavour(place, acting.rate(), max_rate),
            }
            return;
        }
        let evaluation = Evaluation {
            instance: &population.instance(agent),
            application: application(acting.application()),
            node: node(acting.node()),
            free: population.node(acting.node()).manager().free(),
            rate: acting.rate(),
            max_rate: max_rate(acting, population),
        };
        let decided = decision.map(|decision| FactsAndDecision {
            requests: acting.requests().iter().map(seen),
            inhibited: remembered(acting, population),
            solutions: decision.solutions.iter().map(|solution| proposed(solution, agent, population)),
            ending: (decision.ending != Ending::Complete).then(|| decision.ending.to_string()),
            random: acting.random(),
        });
        self.0.evaluation(time, &evaluation, decided);
    }

    fn parked(&mut self, _time: Time, parked: &[ParkedCounts]) {
        for (place, parked) in (0..).map(ApplicationRef).zip(parked) {
            self.0.count_evaluations(place, parked.count(), parked.requests);
        }
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        if self.0.detail() == Detail::Summary {
            self.0.count_cycle(time, |counts| count(counts, label, population));
        } else {
            self.0.cycle(time, |cycle| label.iter().for_each(|each| cycle.outcome(&outcome(&each, population))));
        }
    }

    fn owner(&mut self, time: Time, acts: &OwnerActs, population: &Population) {
        self.0.owner(time, node(acts.node), acts.acts.iter().map(|act| owner_act(act, population)));
    }

    fn woken(&mut self, time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        let index = population.agent(agent).application();
        let (instance, verdict) = (population.instance(agent), population.verdict(verdict, index));
        self.0.woken(time, &instance, application(index), &verdict);
    }

    fn node_down(&mut self, time: Time, index: NodeIndex, cause: Cause, gone: &[AgentIndex], population: &Population) {
        let gone =
            gone.iter().map(|agent| (population.instance(*agent), application(population.agent(*agent).application())));
        self.0.node_down(time, node(index), cause, gone);
    }

    fn regret(&mut self, time: Time, sample: &RegretSample) {
        let RegretSample { search, users, actual, best } = *sample;
        let regret = mario_trace::Regret {
            search: search.as_str(),
            users,
            actual: traced_value(actual),
            best: traced_value(best),
        };
        self.0.regret(time, &regret);
    }

    fn node_up(&mut self, time: Time, index: NodeIndex) {
        self.0.node_up(time, node(index));
    }

    fn node_leaving(&mut self, time: Time, index: NodeIndex) {
        self.0.node_leaving(time, node(index));
    }

    fn updated(&mut self, time: Time, index: ApplicationIndex, policy: PolicyIndex) {
        self.0.updated(time, application(index), PolicyRef(policy.0));
    }

    fn link(&mut self, time: Time, one: NodeIndex, other: NodeIndex, is_up: bool) {
        if is_up {
            self.0.link_up(time, node(one), node(other));
        } else {
            self.0.link_down(time, node(one), node(other));
        }
    }

    fn step(&mut self, time: Time, step: usize) {
        if step > 0 {
            self.0.responses(time);
        }
    }

    fn served(&mut self, served: &Served) {
        self.0.served(UserRef(served.user.0), application(served.application), served.ended - served.emitted);
    }

    fn lost(&mut self, _time: Time, user: UserIndex, index: ApplicationIndex) {
        self.0.lost(UserRef(user.0), application(index));
    }

    fn wants_traffic(&self) -> bool {
        true
    }

    fn sent(&mut self, user: UserIndex, index: ApplicationIndex, sent: &UserResults) {
        self.0.sent(UserRef(user.0), application(index), sent);
    }

    fn call_sent(&mut self, call: CallIndex, requests: u32) {
        self.0.call_sent(CallRef(call.0), requests);
    }

    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {
        self.0.call_served(CallRef(call.0), application(served.application), served.ended - served.emitted);
    }

    fn call_lost(&mut self, _time: Time, call: CallIndex, index: ApplicationIndex) {
        self.0.call_lost(CallRef(call.0), application(index));
    }

    fn calls_sent(&mut self, call: CallIndex, index: ApplicationIndex, sent: &CallResults) {
        self.0.calls_sent(CallRef(call.0), application(index), sent);
    }

    fn is_broken(&self) -> bool {
        self.0.failure().is_some()
    }
}

/// The reference to an application in the trace. It has the same number as the index, because the tables of the header
/// have the same order as those of the scenario.
const fn application(index: ApplicationIndex) -> ApplicationRef {
    ApplicationRef(index.0)
}

const fn node(index: NodeIndex) -> NodeRef {
    NodeRef(index.0)
}

fn seen(fact: &RequestFact) -> mario_trace::RequestFact<NodeRef> {
    let neighbour = match fact.neighbour {
        Neighbour::Own => mario_trace::Neighbour::Own,
        Neighbour::Node(index) => mario_trace::Neighbour::Node(node(index)),
    };
    mario_trace::RequestFact::new(neighbour, fact.rate, fact.latency)
}

/// An operation and its target in the trace.
type Traced = mario_trace::Proposal<mario_trace::Target<NodeRef>>;

/// The inhibited operations that an agent remembers, as its facts show them.
fn remembered(agent: &Agent, population: &Population) -> impl Iterator<Item = Traced> {
    population.visible_memory(agent).into_iter().map(|remembered| proposal(remembered.operation, &remembered.target))
}

fn proposed(
    solution: &Solution,
    agent: AgentIndex,
    population: &Population,
) -> mario_trace::Solution<mario_trace::Target<NodeRef>> {
    let clause = solution.clause() as u64;
    match solution {
        Solution::Proposal(found) => {
            let target = population.target(agent, found.operation, found.target);
            mario_trace::Solution::Proposal { proposal: proposal(found.operation, &target), clause }
        }
        Solution::Invalid(invalid) => {
            mario_trace::Solution::Invalid { why: invalid.fault.description().to_owned(), clause }
        }
    }
}

fn proposal(operation: AgentOperation, target: &Target) -> Traced {
    let target = match target {
        Target::Own => mario_trace::Target::Own,
        Target::Node(index) => mario_trace::Target::Node(node(*index)),
        Target::Unknown(name) => mario_trace::Target::Unknown(name.id().clone()),
        Target::Flavour(name) => mario_trace::Target::Flavour(name.id().clone()),
    };
    mario_trace::Proposal { operation, target }
}

/// The maximum request rate of an agent's instance; `None` if it runs in the default flavour.
fn max_rate(agent: &Agent, population: &Population) -> Option<f64> {
    let is_other = agent.flavour() != FlavourIndex::DEFAULT;
    is_other.then(|| population.application(agent.application()).max_rate_in(agent.flavour()).value())
}

fn traced_value(value: PlacementValue) -> mario_trace::PlacementValue {
    let PlacementValue { present, satisfied, served, latency_millionths, instances } = value;
    mario_trace::PlacementValue { present, satisfied, served, latency_millionths, instances }
}

/// The record of the outcome of one agent, or of one deployment.
fn outcome(outcome: &Outcome, population: &Population) -> mario_trace::Outcome<NodeRef> {
    let judged = |verdict: &CompactVerdict, application, created: Option<AgentIndex>| {
        let created = created.map(|created| population.instance(created));
        mario_trace::Verdict::new(population.verdict(verdict, application), created)
    };
    match outcome {
        Outcome::Nop(agent) => mario_trace::Outcome::Nop(population.instance(*agent)),
        Outcome::Judged(Judged { agent, proposal: of, verdict, created, .. }) => mario_trace::Outcome::Judged {
            instance: population.instance(*agent),
            proposal: proposal(of.operation, &of.target),
            verdict: judged(verdict, population.agent(*agent).application(), *created),
        },
        Outcome::Deployed(Deployed { deployment, verdict, created }) => mario_trace::Outcome::Deploy {
            node: node(deployment.node),
            application: deployment.application.0,
            policy: created.map(|_| deployment.policy.0),
            verdict: judged(verdict, deployment.application, *created),
        },
    }
}

/// The record of an owner's action on an instance, with the application of the instance.
fn owner_act(act: &OwnerAct, population: &Population) -> (ApplicationRef, mario_trace::OwnerAct) {
    let index = population.agent(act.agent).application();
    let kind = match act.kind {
        OwnerActKind::Evicted => mario_trace::OwnerActKind::Evicted,
        OwnerActKind::Announced(evaluations) => mario_trace::OwnerActKind::Announced(u64::from(evaluations)),
        OwnerActKind::Shrunk(flavour) => {
            let flavour = population.application(index).flavour(flavour).expect("an instance shrinks to a flavour");
            mario_trace::OwnerActKind::Shrunk(flavour.id.clone())
        }
    };
    let instance = population.instance(act.agent);
    (application(index), mario_trace::OwnerAct { instance, kind, reason: act.reason.clone() })
}

/// Counts the outcomes of agents, including parked ones, and of deployments.
fn count(counts: &mut Counts<'_>, label: &CycleLabel, population: &Population) {
    for outcome in label.iter() {
        match &outcome {
            Outcome::Nop(agent) => counts.nops(application(population.agent(*agent).application()), 1),
            Outcome::Judged(judged) => count_judged(counts, judged, population),
            Outcome::Deployed(Deployed { deployment, verdict, created }) => {
                let application = application(deployment.application);
                match (rule_against(verdict), created) {
                    (Some(rule), _) => counts.not_deployed(application, rule),
                    (None, Some(created)) => counts.deployed(application, node(population.agent(*created).node())),
                    (None, None) => {}
                }
            }
        }
    }
    for (place, parked) in (0..).map(ApplicationRef).zip(label.parked()) {
        counts.nops(place, parked.idle);
        if parked.inhibited > 0 {
            counts.inhibited(place, Rule::CAPACITY, parked.inhibited);
        }
    }
}

fn count_judged(counts: &mut Counts<'_>, judged: &Judged, population: &Population) {
    let acting = population.agent(judged.agent);
    let application = application(acting.application());
    if let Some(rule) = rule_against(&judged.verdict) {
        counts.inhibited(application, rule, 1);
        return;
    }
    let to = acting.is_alive().then(|| node(acting.node()));
    let created = judged.created.map(|created| node(population.agent(created).node()));
    counts.accepted(application, judged.proposal.operation, (node(judged.from), to), created);
}

/// The rule that inhibited an operation; `None` if it was accepted.
fn rule_against(verdict: &CompactVerdict) -> Option<&'static str> {
    match verdict {
        CompactVerdict::Accepted => None,
        CompactVerdict::NoRoom { .. } => Some(Rule::CAPACITY),
        CompactVerdict::Inhibited(inhibition) => Some(inhibition.rule.as_str()),
    }
}
