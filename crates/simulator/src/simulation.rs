//! Runs a scenario: handles its events in the order of time, each kind of event in its own function.
//!
//! | file | contents |
//! |---|---|
//! | `setup` | the world at time 0 |
//! | `traffic` | client requests as messages: sending, transport and service |
//! | `calls` | calls between applications |
//! | `movement` | users who arrive, move and leave |
//! | `management`, `evaluation_schedule`, `parking` | agents that evaluate, managers that judge, operators that deploy |
//! | `sleep` | instances that sleep, and the client requests that wake them |
//! | `owners` | owners of nodes who evict and shrink instances there |
//! | `reasons` | the first failed decision and the first inhibited request |
//! | `acceptances` | evaluations and failures of the nodes' acceptance policies |
//! | `planning` | central planners that manage instead of agents |
//! | `disturbances` | nodes and links that go up and down, nodes that announce their departure |
//! | `updates` | agents that switch to another policy |
//!
//! Between two events, the whole state can be stored and restored: `checkpoint`.

mod acceptances;
mod calls;
mod checkpoint;
mod disturbances;
mod evaluation_schedule;
mod management;
mod movement;
mod owners;
mod parking;
mod planning;
mod reasons;
mod redeploy;
mod setup;
mod sleep;
mod traffic;
mod updates;

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::Time;
use mario_policy::{AcceptanceError, PolicyError};
use mario_scenario::{ApplicationIndex, Emitter, NodeIndex, Scenario, UserIndex};
use serde::{Deserialize, Serialize};

use crate::flow::{Flow, FlowWorld};
use crate::network::{Links, MessageIndex, Messages};
use crate::observation::Observations;
use crate::optimum::TooLarge;
use crate::paths::Paths;
use crate::placement::Placement;
use crate::population::{
    AcceptanceContext, AgentIndex, CycleLabel, DecisionCache, Deployment, Evaluator, ParkedCounts, Population,
    RequestFact,
};
use crate::queue::EventQueue;
use crate::recorder::{CallResults, Recorder, UserResults};
use crate::routing::{Nearest, Router, RoutingContext};
use evaluation_schedule::{BatchIndex, EvaluationSchedule};
use sleep::Sleepers;

pub use acceptances::{AcceptanceStatistics, FailedAcceptance, PolicyLocation};
pub use calls::CallIndex;
pub(crate) use calls::{Origin, PendingIndex};
pub use reasons::{BudgetWatch, FailedDecision, FirstReasons, InhibitedRequest};

/// How to run a scenario. No option changes what happens in a run, only its speed and its statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunOptions {
    /// The number of threads that evaluate agents.
    pub threads: usize,
    /// Whether known proposals are reused.
    pub reuse: Reuse,
}

/// How to treat an agent for whose facts a proposal is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reuse {
    /// Reuse it, even if it comes from another agent with the same knowledge: a policy is a pure function of its facts.
    Proposals,
    /// Evaluate its policy again.
    Nothing,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { threads: 1, reuse: Reuse::Proposals }
    }
}

/// Why a scenario cannot be run.
#[derive(Debug)]
pub enum SimulationError {
    /// A policy of agents is invalid.
    Policy(PolicyError),
    /// A policy of a node's manager is invalid.
    Acceptance(AcceptanceError),
    /// An instance of the initial deployment was inhibited, e.g. because it does not fit, or because the acceptance
    /// policy of its node rejects it.
    NoRoom {
        /// The index of the deploy in the scenario.
        deploy: usize,
        /// The application.
        application: mario_domain::ApplicationId,
        /// Why it was inhibited.
        inhibition: mario_domain::Inhibition,
        /// The failure of the node's acceptance policy, if it failed.
        failure: Option<Box<FailedAcceptance>>,
    },
    /// The world is too large for the chosen management.
    TooLarge(TooLarge),
    /// A policy names a function that decides for it, but the function is missing.
    NoFunction {
        /// The name of the policy.
        policy: String,
        /// The name of the function.
        function: String,
    },
}

/// The statistics of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunStatistics {
    /// Evaluations that were due, including those of parked agents and those that reused a proposal.
    pub due: u64,
    /// Evaluations that ran the policy instead of reusing a proposal.
    pub evaluated: u64,
    /// Evaluations that ran the policy and failed: the first solution was invalid, or there was none because of an
    /// exhausted budget or an uncaught exception.
    pub failed: u64,
    /// Evaluations of unparked agents in batches that are large enough to be divided among the threads of the run; 0
    /// with one thread. Includes those that reused a proposal.
    pub parallel: u64,
    /// Evaluations of parked agents, which were counted in aggregate.
    pub parked: u64,
    /// How often a request passed a link. If traffic is modelled as rates, updated only when traffic is reported.
    pub hops: u64,
    /// Client requests that were sent, including the requests of calls between applications. If traffic is modelled as
    /// rates, updated only when traffic is reported.
    pub emitted: u64,
    /// The evaluations of the nodes' acceptance policies.
    pub acceptances: AcceptanceStatistics,
    /// Possible reasons why agents achieved nothing.
    pub first_reasons: FirstReasons,
    /// The applications that were without an instance although users needed them, unless the scenario has them
    /// redeployed.
    pub absences: Vec<Absence>,
}

/// An application without an instance, although users need it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// The application.
    pub application: ApplicationIndex,
    /// When this was first so.
    pub since: Time,
    /// The requests to it that were lost while it had no instance. If traffic is modelled as rates, all that were lost
    /// in the run, set at its end.
    pub lost: u64,
}

/// Counts the lost requests to each application that has none, when traffic that is modelled as rates is reported.
struct Losses<'a>(&'a mut [Absence]);

impl Recorder for Losses<'_> {
    fn sent(&mut self, _user: UserIndex, application: ApplicationIndex, sent: &UserResults) {
        if let Some(absence) = self.0.iter_mut().find(|absence| absence.application == application) {
            absence.lost += sent.lost;
        }
    }

    fn calls_sent(&mut self, _call: CallIndex, application: ApplicationIndex, sent: &CallResults) {
        if let Some(absence) = self.0.iter_mut().find(|absence| absence.application == application) {
            absence.lost += sent.lost;
        }
    }
}

/// The state of a simulation.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    queue: EventQueue<Event>,
    /// The evaluation schedule.
    due: EvaluationSchedule,
    population: Population,
    judge: AcceptanceContext,
    evaluators: Vec<Evaluator>,
    /// The shared cache of decisions.
    decision_cache: DecisionCache,
    placement: Placement,
    /// Sleeping instances; `None` if messages are simulated, or if no application can sleep.
    sleepers: Option<Box<Sleepers>>,
    paths: Paths,
    router: Router,
    /// Traffic as rates; `None` if messages are simulated.
    flow: Option<Box<Flow>>,
    links: Links,
    messages: Messages,
    /// Messages that have just reached a node, in the order of arrival.
    arriving: VecDeque<MessageIndex>,
    /// The client requests that agents will observe at their next evaluations, if messages are simulated.
    observations: Observations,
    instances: Vec<Service>,
    users: Vec<User>,
    /// The calls of applications, and the client requests that wait for them.
    calls: calls::Calls,
    /// For each user whose movements are generated during the run, the next step in which the user may move. Empty if
    /// the scenario lists all movements.
    users_due: Vec<u32>,
    /// The planner; `None` if agents manage.
    planner: Option<Box<dyn planning::Planner>>,
    /// For each policy, whether it uses randomness; empty if none does.
    draws: Vec<bool>,
    /// Deployments that operators requested since the last activation of the managers.
    deployments: Vec<Deployment>,
    /// The number of the scenario's deploys that were requested so far.
    deploys_begun: usize,
    /// For each application, whether an [`Event::Redeploy`] is scheduled for it.
    is_redeploying: Vec<bool>,
    has_begun: bool,
    has_ended: bool,
    agents_have_started: bool,
    statistics: RunStatistics,
    /// Counts the decisions since the run was started or resumed, and how many of them exhausted their budget.
    watch: Arc<BudgetWatch>,
    scratch: Scratch,
}

/// An event in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Event {
    /// A user sends a client request.
    Emission(UserIndex),
    /// A message reaches the next node of its path.
    Arrival(MessageIndex),
    /// The messages that have just reached nodes are handled, after all events that were already scheduled for this
    /// time.
    Handling,
    /// An instance has finished a client request, or has finished starting after it woke.
    ServiceEnd(AgentIndex),
    /// The first request reaches a sleeping instance, if traffic is modelled as rates: the requests routed to it add up
    /// to one. Ignored if the rate has changed since, or if the instance has woken, moved or ended.
    Request(AgentIndex),
    /// The service of a client request, or a call made for it, has finished.
    Answer(PendingIndex),
    /// Agents evaluate.
    Evaluations(BatchIndex),
    /// The managers judge.
    Management,
    /// Users move.
    Step(u32),
    /// The agents start.
    Start,
    /// A node or link goes down or comes up, or a node announces its departure.
    Disturbance(u32),
    /// An operator requests a new instance of an application, if it still has none and users need it.
    Redeploy(ApplicationIndex),
    /// Agents of an application switch to another policy.
    Update(u32),
}

/// An instance as a server: one client request at a time, first come first served.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Service {
    is_busy: bool,
    waiting: VecDeque<QueuedRequest>,
}

/// A client request that waits for its instance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct QueuedRequest {
    origin: Origin,
    access_point: NodeIndex,
    emitted: Time,
    arrived: Time,
}

/// A user.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct User {
    application: ApplicationIndex,
    /// The access point that the user would be connected to without failures; `None` while the user is away.
    wanted: Option<NodeIndex>,
    /// The access point that the user is connected to; `None` while the user is away, or if no access point is up.
    access_point: Option<NodeIndex>,
    /// When the next request is due, or the first one if traffic is modelled as rates; `None` while the user is away.
    next_emission: Option<Time>,
    emitter: Emitter,
}

/// Reusable memory.
#[derive(Default)]
struct Scratch {
    facts: Vec<RequestFact>,
    label: CycleLabel,
    /// Agents to unpark.
    to_unpark: Vec<AgentIndex>,
    /// The outcomes of the parked agents of a batch, counted by application.
    parked: Vec<ParkedCounts>,
    /// The users who move in a step, if movements are generated during the run.
    changes: Vec<(UserIndex, Option<NodeIndex>)>,
}

impl Simulation<'_> {
    /// Runs to the end of the scenario, or until the recorder is broken. Returns the statistics.
    pub fn run(&mut self, recorder: &mut impl Recorder) -> RunStatistics {
        self.run_until(self.scenario.end(), recorder);
        self.statistics()
    }

    /// Runs until all events before `time` have happened, or until the recorder is broken.
    pub fn run_until(&mut self, time: Time, recorder: &mut impl Recorder) {
        self.run_until_pause(time, recorder, || false);
    }

    /// Runs until all events before `time` have happened, or until `wants_pause` returns true between two events.
    /// Pauses do not affect the run: the next call continues it. `wants_pause` is called after each evaluation of
    /// agents, each activation of the managers, each step, and at least every 64 events. Returns whether all events
    /// before `time` have happened: `false` after a pause, and if the recorder is broken, which is checked after each
    /// activation of the managers.
    pub fn run_until_pause(
        &mut self,
        time: Time,
        recorder: &mut impl Recorder,
        mut wants_pause: impl FnMut() -> bool,
    ) -> bool {
        /// `wants_pause` is called at least once per this many events. Events other than evaluations, activations and
        /// steps take little time.
        const EVENTS_MAX: u32 = 64;
        let mut events = 0;
        if !self.has_begun {
            self.begin(recorder);
        }
        let end = time.min(self.scenario.end());
        while let Some(event) = self.queue.next_before(end) {
            events += 1;
            let is_heavy = matches!(event, Event::Management | Event::Step(_) | Event::Evaluations(_));
            match event {
                Event::Arrival(message) => self.arrive(message),
                Event::Handling => self.handle_messages(recorder),
                Event::Emission(user) => self.emit(user, recorder),
                Event::ServiceEnd(agent) => self.end_service(agent, recorder),
                Event::Request(agent) => self.requested(agent, recorder),
                Event::Answer(pending) => self.answer(pending, recorder),
                Event::Evaluations(due) => {
                    self.evaluate(due, recorder);
                    self.route_to_sleepers();
                }
                Event::Management => {
                    self.manage(recorder);
                    self.expect_requests();
                    if recorder.is_broken() {
                        return false;
                    }
                }
                Event::Step(step) => {
                    self.step(step, recorder);
                    self.expect_requests();
                }
                Event::Start => self.start_agents(),
                Event::Disturbance(position) => {
                    self.disturb(position, recorder);
                    self.expect_requests();
                }
                Event::Redeploy(application) => self.redeploy(application),
                Event::Update(position) => self.update(position, recorder),
            }
            if is_heavy || events == EVENTS_MAX {
                events = 0;
                if wants_pause() {
                    return false;
                }
            }
        }
        if end >= self.scenario.end() && !self.has_ended {
            self.has_ended = true;
            self.report_flow(end, recorder);
        }
        true
    }

    /// The router, and the state that it depends on.
    fn routing(&mut self) -> (&mut Router, RoutingContext<'_>) {
        let context = RoutingContext {
            topology: &self.scenario.topology,
            paths: &mut self.paths,
            placement: self.sleepers.as_ref().map_or(&self.placement, |sleepers| sleepers.routed()),
            population: &self.population,
        };
        (&mut self.router, context)
    }

    /// Traffic as rates, with the world that it depends on; `None` if messages are simulated.
    fn flowing(&mut self) -> Option<(&mut Flow, &mut Nearest, FlowWorld<'_>)> {
        let (Some(flow), Router::Nearest(router)) = (&mut self.flow, &mut self.router) else { return None };
        let context = RoutingContext {
            topology: &self.scenario.topology,
            paths: &mut self.paths,
            placement: self.sleepers.as_ref().map_or(&self.placement, |sleepers| sleepers.routed()),
            population: &self.population,
        };
        let now = self.queue.now();
        Some((flow, router, FlowWorld { now, scenario: self.scenario, routing: context }))
    }

    /// Reports the traffic so far and updates the statistics of it, if it is modelled as rates.
    fn report_flow(&mut self, now: Time, recorder: &mut impl Recorder) {
        let mut absences = std::mem::take(&mut self.statistics.absences);
        if let Some((flow, _, world)) = self.flowing() {
            let world = FlowWorld { now, ..world };
            let (emitted, hops) = flow.report(&world, recorder);
            if !absences.is_empty() {
                absences.iter_mut().for_each(|absence| absence.lost = 0);
                flow.report(&world, &mut Losses(&mut absences));
            }
            (self.statistics.emitted, self.statistics.hops) = (emitted, hops);
        }
        self.statistics.absences = absences;
    }

    /// The current simulation time.
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// The options of the run.
    pub fn options(&self) -> RunOptions {
        self.options
    }

    /// Whether the run has reached its end.
    pub fn is_over(&self) -> bool {
        self.has_ended
    }

    /// The current population.
    pub fn population(&self) -> &Population {
        &self.population
    }

    /// The counter of decisions and of exhausted budgets. Another thread may read it during the run.
    pub fn budget_watch(&self) -> Arc<BudgetWatch> {
        Arc::clone(&self.watch)
    }

    /// The statistics so far.
    pub fn statistics(&self) -> RunStatistics {
        RunStatistics { hops: self.statistics.hops + self.links.hops(), ..self.statistics.clone() }
    }
}

impl fmt::Display for SimulationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationError::Policy(error) => error.fmt(formatter),
            SimulationError::Acceptance(error) => error.fmt(formatter),
            SimulationError::NoRoom { application, inhibition, .. } => {
                write!(formatter, "cannot deploy application `{application}` at the beginning: {inhibition}")
            }
            SimulationError::TooLarge(_) => formatter.write_str("the world is too large for `central-exact`"),
            SimulationError::NoFunction { policy, function } => {
                write!(formatter, "policy `{policy}` is decided by the function `{function}`, which is not here")
            }
        }
    }
}

impl Error for SimulationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SimulationError::Policy(error) => error.source(),
            SimulationError::Acceptance(error) => error.source(),
            SimulationError::NoRoom { .. } | SimulationError::NoFunction { .. } => None,
            SimulationError::TooLarge(error) => Some(error),
        }
    }
}
