//! The events of a run, as reported to recorders.

use mario_domain::Time;
use mario_policy::Decision;
use mario_scenario::{ApplicationIndex, NodeIndex, PolicyIndex, Search, UserIndex};
pub use mario_trace::{CallResults, Cause, UserResults};

use crate::optimum::PlacementValue;
use crate::population::{AgentIndex, CompactVerdict, CycleLabel, OwnerActs, ParkedCounts, Population};
use crate::simulation::CallIndex;

/// Records the events of a run, in order.
///
/// A simulation calls these methods. Those that report events do nothing by default. `population` is the state at that
/// time: for an evaluation, before its decision is applied; for a cycle, after all accepted operations are enacted.
#[allow(unused_variables, reason = "the names of the parameters are the documentation")]
pub trait Recorder {
    /// Whether [`Recorder::evaluation`] needs the decisions with all solutions. If no recorder does, policies are
    /// evaluated only for the first solution.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Whether every evaluation and every verdict must be reported individually. If no recorder needs that, agents with
    /// a predictable outcome may be parked and counted in aggregate.
    fn wants_everyone(&self) -> bool {
        true
    }

    /// An instance exists at the start of the run.
    fn deployed(&mut self, time: Time, agent: AgentIndex, population: &Population) {}

    /// A user's connection changed. `None` means that the user is not connected: away, or no access point is up.
    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {}

    /// An agent evaluated its policy, or reused a proposal instead. `decision` is `None` if the agent's facts have not
    /// changed since its last evaluation. It may also be `None` if no recorder wants decisions.
    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {}

    /// The evaluations of parked agents at this time, counted by application. They are not reported individually.
    fn parked(&mut self, time: Time, parked: &[ParkedCounts]) {}

    /// The managers judged the pending proposals, or the plan of a central planner was carried out instead.
    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {}

    /// The owner of a node acted on instances on that node, after the operations accepted at this time were enacted.
    /// Called after [`Recorder::cycle`] and before [`Recorder::activation`].
    fn owner(&mut self, time: Time, acts: &OwnerActs, population: &Population) {}

    /// A client request reached a sleeping instance, and the node's manager decided whether the instance may wake.
    /// After a refusal, the manager is not asked again until the agent evaluates or its instance moves.
    fn woken(&mut self, time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {}

    /// The managers were activated. Also reported if there was nothing to judge.
    fn activation(&mut self, time: Time, population: &Population) {}

    /// The comparison of the placement with the best one at the last activation, if this recorder makes it. It is
    /// passed to [`Recorder::regret`] of the recorders after this one.
    fn regret_sample(&self) -> Option<RegretSample> {
        None
    }

    /// The placement was compared with the best one, after an activation of the managers.
    fn regret(&mut self, time: Time, sample: &RegretSample) {}

    /// A node went down, with these instances, or is absent at the start of the run.
    fn node_down(&mut self, time: Time, node: NodeIndex, cause: Cause, gone: &[AgentIndex], population: &Population) {}

    /// A node came up, for the first time or again.
    fn node_up(&mut self, time: Time, node: NodeIndex) {}

    /// A node announced its departure: it accepts nothing new.
    fn node_leaving(&mut self, time: Time, node: NodeIndex) {}

    /// The agents of an application switch to another policy.
    fn updated(&mut self, time: Time, application: ApplicationIndex, policy: PolicyIndex) {}

    /// A link went down or came up.
    fn link(&mut self, time: Time, one: NodeIndex, other: NodeIndex, is_up: bool) {}

    /// A step of mobility is about to start; the users have not moved yet.
    fn step(&mut self, time: Time, step: usize) {}

    /// A client request is served. Called only if messages are simulated: when its service starts, or, if the
    /// application calls others, when all calls have been answered.
    fn served(&mut self, served: &Served) {}

    /// Whether traffic as rates must be reported before each step. It is always reported at the end.
    fn wants_traffic(&self) -> bool {
        false
    }

    /// The results of all requests that a user has sent since the start. They replace earlier reports of the user.
    /// Called only if traffic is modelled as rates.
    fn sent(&mut self, user: UserIndex, application: ApplicationIndex, sent: &UserResults) {}

    /// A client request was lost. Called only if messages are simulated.
    fn lost(&mut self, time: Time, user: UserIndex, application: ApplicationIndex) {}

    /// An instance sent this number of requests of a call. Called only if messages are simulated.
    fn call_sent(&mut self, call: CallIndex, requests: u32) {}

    /// A request of a call is served. Called only if messages are simulated: when its service starts, or, if the called
    /// application itself calls others, when all calls have been answered.
    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {}

    /// A request of a call to an application was lost. Called only if messages are simulated.
    fn call_lost(&mut self, time: Time, call: CallIndex, application: ApplicationIndex) {}

    /// The results of all requests of a call to an application since the start. They replace earlier reports of the
    /// call. Called only if traffic is modelled as rates.
    fn calls_sent(&mut self, call: CallIndex, application: ApplicationIndex, sent: &CallResults) {}

    /// Whether the run must be aborted because recording failed.
    fn is_broken(&self) -> bool {
        false
    }
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullRecorder;

impl Recorder for NullRecorder {
    fn wants_everyone(&self) -> bool {
        false
    }
}

/// A comparison of the placement at one time with the best known placement for the same users.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RegretSample {
    /// How the best placement was searched for.
    pub search: Search,
    /// Connected users.
    pub users: u64,
    /// The value of the placement.
    pub actual: PlacementValue,
    /// The value of the best known placement; never less than `actual`.
    pub best: PlacementValue,
}

/// A client request that an instance serves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Served {
    /// The user who sent it.
    pub user: UserIndex,
    /// The requested application.
    pub application: ApplicationIndex,
    /// The instance that serves it.
    pub agent: AgentIndex,
    /// When it was sent.
    pub emitted: Time,
    /// When it reached the instance.
    pub arrived: Time,
    /// When the instance started to serve it.
    pub started: Time,
    /// When the instance and all calls for it have finished. May be in the future when it is reported.
    pub ended: Time,
}

/// A request of a call that an instance serves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServedCall {
    /// The called application.
    pub application: ApplicationIndex,
    /// The instance that serves it.
    pub agent: AgentIndex,
    /// When it was sent.
    pub emitted: Time,
    /// When it reached the instance.
    pub arrived: Time,
    /// When the instance started to serve it.
    pub started: Time,
    /// When the instance and all calls for it have finished. May be in the future when it is reported.
    pub ended: Time,
}

/// Two recorders, called in order. Nest pairs for more than two.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn wants_decisions(&self) -> bool {
        self.0.wants_decisions() || self.1.wants_decisions()
    }

    fn wants_everyone(&self) -> bool {
        self.0.wants_everyone() || self.1.wants_everyone()
    }

    fn deployed(&mut self, time: Time, agent: AgentIndex, population: &Population) {
        self.0.deployed(time, agent, population);
        self.1.deployed(time, agent, population);
    }

    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        self.0.handover(time, user, from, to);
        self.1.handover(time, user, from, to);
    }

    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {
        self.0.evaluation(time, agent, population, decision);
        self.1.evaluation(time, agent, population, decision);
    }

    fn parked(&mut self, time: Time, parked: &[ParkedCounts]) {
        self.0.parked(time, parked);
        self.1.parked(time, parked);
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        self.0.cycle(time, label, population);
        self.1.cycle(time, label, population);
    }

    fn owner(&mut self, time: Time, acts: &OwnerActs, population: &Population) {
        self.0.owner(time, acts, population);
        self.1.owner(time, acts, population);
    }

    fn woken(&mut self, time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        self.0.woken(time, agent, verdict, population);
        self.1.woken(time, agent, verdict, population);
    }

    fn activation(&mut self, time: Time, population: &Population) {
        self.0.activation(time, population);
        self.1.activation(time, population);
        if let Some(sample) = self.0.regret_sample() {
            self.1.regret(time, &sample);
        }
    }

    fn regret_sample(&self) -> Option<RegretSample> {
        self.0.regret_sample().or_else(|| self.1.regret_sample())
    }

    fn regret(&mut self, time: Time, sample: &RegretSample) {
        self.0.regret(time, sample);
        self.1.regret(time, sample);
    }

    fn node_down(&mut self, time: Time, node: NodeIndex, cause: Cause, gone: &[AgentIndex], population: &Population) {
        self.0.node_down(time, node, cause, gone, population);
        self.1.node_down(time, node, cause, gone, population);
    }

    fn node_up(&mut self, time: Time, node: NodeIndex) {
        self.0.node_up(time, node);
        self.1.node_up(time, node);
    }

    fn node_leaving(&mut self, time: Time, node: NodeIndex) {
        self.0.node_leaving(time, node);
        self.1.node_leaving(time, node);
    }

    fn updated(&mut self, time: Time, application: ApplicationIndex, policy: PolicyIndex) {
        self.0.updated(time, application, policy);
        self.1.updated(time, application, policy);
    }

    fn link(&mut self, time: Time, one: NodeIndex, other: NodeIndex, is_up: bool) {
        self.0.link(time, one, other, is_up);
        self.1.link(time, one, other, is_up);
    }

    fn step(&mut self, time: Time, step: usize) {
        self.0.step(time, step);
        self.1.step(time, step);
    }

    fn served(&mut self, served: &Served) {
        self.0.served(served);
        self.1.served(served);
    }

    fn wants_traffic(&self) -> bool {
        self.0.wants_traffic() || self.1.wants_traffic()
    }

    fn sent(&mut self, user: UserIndex, application: ApplicationIndex, sent: &UserResults) {
        self.0.sent(user, application, sent);
        self.1.sent(user, application, sent);
    }

    fn lost(&mut self, time: Time, user: UserIndex, application: ApplicationIndex) {
        self.0.lost(time, user, application);
        self.1.lost(time, user, application);
    }

    fn call_sent(&mut self, call: CallIndex, requests: u32) {
        self.0.call_sent(call, requests);
        self.1.call_sent(call, requests);
    }

    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {
        self.0.call_served(call, served);
        self.1.call_served(call, served);
    }

    fn call_lost(&mut self, time: Time, call: CallIndex, application: ApplicationIndex) {
        self.0.call_lost(time, call, application);
        self.1.call_lost(time, call, application);
    }

    fn calls_sent(&mut self, call: CallIndex, application: ApplicationIndex, sent: &CallResults) {
        self.0.calls_sent(call, application, sent);
        self.1.calls_sent(call, application, sent);
    }

    fn is_broken(&self) -> bool {
        self.0.is_broken() || self.1.is_broken()
    }
}

/// An optional recorder.
impl<R: Recorder> Recorder for Option<R> {
    fn wants_decisions(&self) -> bool {
        self.as_ref().is_some_and(R::wants_decisions)
    }

    fn wants_everyone(&self) -> bool {
        self.as_ref().is_some_and(R::wants_everyone)
    }

    fn deployed(&mut self, time: Time, agent: AgentIndex, population: &Population) {
        if let Some(recorder) = self {
            recorder.deployed(time, agent, population);
        }
    }

    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        if let Some(recorder) = self {
            recorder.handover(time, user, from, to);
        }
    }

    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {
        if let Some(recorder) = self {
            recorder.evaluation(time, agent, population, decision);
        }
    }

    fn parked(&mut self, time: Time, parked: &[ParkedCounts]) {
        if let Some(recorder) = self {
            recorder.parked(time, parked);
        }
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        if let Some(recorder) = self {
            recorder.cycle(time, label, population);
        }
    }

    fn owner(&mut self, time: Time, acts: &OwnerActs, population: &Population) {
        if let Some(recorder) = self {
            recorder.owner(time, acts, population);
        }
    }

    fn woken(&mut self, time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        if let Some(recorder) = self {
            recorder.woken(time, agent, verdict, population);
        }
    }

    fn activation(&mut self, time: Time, population: &Population) {
        if let Some(recorder) = self {
            recorder.activation(time, population);
        }
    }

    fn regret_sample(&self) -> Option<RegretSample> {
        self.as_ref().and_then(R::regret_sample)
    }

    fn regret(&mut self, time: Time, sample: &RegretSample) {
        if let Some(recorder) = self {
            recorder.regret(time, sample);
        }
    }

    fn node_down(&mut self, time: Time, node: NodeIndex, cause: Cause, gone: &[AgentIndex], population: &Population) {
        if let Some(recorder) = self {
            recorder.node_down(time, node, cause, gone, population);
        }
    }

    fn node_up(&mut self, time: Time, node: NodeIndex) {
        if let Some(recorder) = self {
            recorder.node_up(time, node);
        }
    }

    fn node_leaving(&mut self, time: Time, node: NodeIndex) {
        if let Some(recorder) = self {
            recorder.node_leaving(time, node);
        }
    }

    fn updated(&mut self, time: Time, application: ApplicationIndex, policy: PolicyIndex) {
        if let Some(recorder) = self {
            recorder.updated(time, application, policy);
        }
    }

    fn link(&mut self, time: Time, one: NodeIndex, other: NodeIndex, is_up: bool) {
        if let Some(recorder) = self {
            recorder.link(time, one, other, is_up);
        }
    }

    fn step(&mut self, time: Time, step: usize) {
        if let Some(recorder) = self {
            recorder.step(time, step);
        }
    }

    fn served(&mut self, served: &Served) {
        if let Some(recorder) = self {
            recorder.served(served);
        }
    }

    fn wants_traffic(&self) -> bool {
        self.as_ref().is_some_and(R::wants_traffic)
    }

    fn sent(&mut self, user: UserIndex, application: ApplicationIndex, sent: &UserResults) {
        if let Some(recorder) = self {
            recorder.sent(user, application, sent);
        }
    }

    fn lost(&mut self, time: Time, user: UserIndex, application: ApplicationIndex) {
        if let Some(recorder) = self {
            recorder.lost(time, user, application);
        }
    }

    fn call_sent(&mut self, call: CallIndex, requests: u32) {
        if let Some(recorder) = self {
            recorder.call_sent(call, requests);
        }
    }

    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {
        if let Some(recorder) = self {
            recorder.call_served(call, served);
        }
    }

    fn call_lost(&mut self, time: Time, call: CallIndex, application: ApplicationIndex) {
        if let Some(recorder) = self {
            recorder.call_lost(time, call, application);
        }
    }

    fn calls_sent(&mut self, call: CallIndex, application: ApplicationIndex, sent: &CallResults) {
        if let Some(recorder) = self {
            recorder.calls_sent(call, application, sent);
        }
    }

    fn is_broken(&self) -> bool {
        self.as_ref().is_some_and(R::is_broken)
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::Duration;

    use super::*;

    #[derive(Default)]
    struct Listener(Option<UserResults>);

    impl Recorder for Listener {
        fn wants_traffic(&self) -> bool {
            true
        }

        fn sent(&mut self, _user: UserIndex, _application: ApplicationIndex, sent: &UserResults) {
            self.0 = Some(*sent);
        }
    }

    #[test]
    fn every_recorder_receives_traffic_as_rates() {
        let mut recorders = (Some(Listener::default()), (Listener::default(), None::<Listener>));
        let sent = UserResults { served: 5, lost: 2, response: Duration::of(1.5) };
        recorders.sent(UserIndex(0), ApplicationIndex(0), &sent);
        for listener in [recorders.0.as_ref().expect("it listens"), &recorders.1.0] {
            assert_eq!(listener.0, Some(sent));
        }
        assert!((None::<Listener>, (None::<Listener>, Listener::default())).wants_traffic());
        assert!(!(None::<Listener>, None::<Listener>).wants_traffic());
    }
}
