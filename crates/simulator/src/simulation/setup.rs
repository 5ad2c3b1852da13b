//! Builds the simulation of a scenario at time 0.

use std::collections::VecDeque;
use std::sync::Arc;

use mario_domain::{RANDOM, Rule, Time, Verdict};
use mario_policy::{Acceptance, Policy, PolicyFunctions, PolicySettings};
use mario_prolog::{Budget, Engine};
use mario_scenario::{
    ApplicationIndex, DisturbanceEvent, Emitter, Fidelity, NodeIndex, Numbering, PolicyText, Scenario, UserIndex,
    asks_for, engine,
};

use super::calls::Calls;
use super::evaluation_schedule::EvaluationSchedule;
use super::sleep::Sleepers;
use super::{Event, RunOptions, RunStatistics, Scratch, Simulation, SimulationError, User, planning};
use crate::flow::Flow;
use crate::network::{Links, Messages};
use crate::observation::Observations;
use crate::optimum::check_size;
use crate::paths::Paths;
use crate::placement::{Placement, instances_expected};
use crate::population::{
    AcceptanceContext, AgentIndex, CycleLabel, DecisionCache, Deployed, Deployment, Evaluator, InstanceNumbers,
    Outcome, Population, PopulationConfig, SimulatedNode,
};
use crate::queue::EventQueue;
use crate::recorder::{Cause, NullRecorder, Recorder};
use crate::routing::Router;

impl<'a> Simulation<'a> {
    /// Builds the world of a scenario at time 0, with its initial deployment. The first users connect when the run
    /// begins.
    pub fn new(scenario: &'a Scenario, options: RunOptions) -> Result<Simulation<'a>, SimulationError> {
        Simulation::with_functions(scenario, options, &PolicyFunctions::default())
    }

    /// Like [`Simulation::new`], with functions that decide for some policies.
    pub fn with_functions(
        scenario: &'a Scenario,
        options: RunOptions,
        functions: &PolicyFunctions,
    ) -> Result<Simulation<'a>, SimulationError> {
        let mut simulation = Simulation::empty(scenario, options, functions)?;
        simulation.queue.schedule(scenario.agents.start, Event::Start);
        simulation.queue.schedule(Time::ZERO + scenario.management_period, Event::Management);
        for node in absent_at_first(scenario) {
            simulation.take_down(node, Cause::Absent, &mut NullRecorder);
        }
        simulation.deploy_first()?;
        Ok(simulation)
    }

    /// A simulation without instances or scheduled events.
    pub(super) fn empty(
        scenario: &'a Scenario,
        options: RunOptions,
        functions: &PolicyFunctions,
    ) -> Result<Simulation<'a>, SimulationError> {
        if let Some(search) = scenario.management.search() {
            check_size(scenario, search).map_err(SimulationError::TooLarge)?;
        }
        let engine = engine();
        let mut population = build_population(engine, scenario, functions)?;
        let instances = instances_expected(scenario);
        population.reserve(instances);
        let threads = options.threads.max(1);
        let evaluators = (0..threads).map(|_| Evaluator::new(engine, &population)).collect();
        let decision_cache = DecisionCache::new(engine, &population);
        let users = (0..).map(UserIndex).zip(&scenario.users).map(|(index, plan)| User {
            application: plan.application,
            wanted: None,
            access_point: None,
            next_emission: None,
            emitter: Emitter::new(plan.workload, scenario.seed, index),
        });
        Ok(Simulation {
            scenario,
            options,
            queue: EventQueue::default(),
            due: EvaluationSchedule::with_capacity(instances),
            population,
            judge: AcceptanceContext::new(engine),
            evaluators,
            decision_cache,
            placement: Placement::new(scenario.applications.len(), scenario.topology.node_count()),
            sleepers: (scenario.has_sleep() && scenario.network.fidelity == Fidelity::Flow)
                .then(|| Box::new(Sleepers::new(scenario))),
            paths: Paths::new(&scenario.topology),
            router: Router::new(scenario),
            flow: (scenario.network.fidelity == Fidelity::Flow).then(|| Box::new(Flow::new(scenario))),
            links: Links::new(&scenario.topology, scenario.network),
            messages: Messages::default(),
            arriving: VecDeque::new(),
            observations: Observations::new(scenario.observation),
            instances: Vec::new(),
            users: users.collect(),
            calls: Calls::new(scenario),
            users_due: scenario.attachments.first_due(),
            planner: planning::planner(scenario),
            draws: draws(scenario),
            deployments: Vec::new(),
            deploys_begun: 0,
            is_redeploying: vec![false; scenario.applications.len()],
            has_begun: false,
            has_ended: false,
            agents_have_started: false,
            statistics: RunStatistics::default(),
            watch: Arc::default(),
            scratch: Scratch::default(),
        })
    }

    /// Reports the state at time 0, connects the first users, and schedules policy updates and disturbances.
    pub(super) fn begin(&mut self, recorder: &mut impl Recorder) {
        self.has_begun = true;
        for node in absent_at_first(self.scenario) {
            recorder.node_down(Time::ZERO, node, Cause::Absent, &[], &self.population);
        }
        for position in 0..self.population.agent_count() {
            recorder.deployed(Time::ZERO, AgentIndex::at(position), &self.population);
        }
        // Scheduled early, so that updates come before other events of the same time, except the start of the agents
        // and the first activation of the managers.
        for (position, update) in (0..).zip(&self.scenario.updates) {
            self.queue.schedule(update.time, Event::Update(position));
        }
        // The number of the prototype's monitor.
        self.take_shared_number();
        self.step(0, recorder);
        for (position, disturbance) in (0..).zip(&self.scenario.disturbances) {
            self.queue.schedule(disturbance.time, Event::Disturbance(position));
        }
    }

    /// Deploys the initial instances. Fails if one is inhibited, e.g. because it does not fit, or because the
    /// acceptance policy of its node rejects it.
    fn deploy_first(&mut self) -> Result<(), SimulationError> {
        let first = self.scenario.deploys.iter().take_while(|deploy| deploy.time <= Time::ZERO);
        let deployments: Vec<Deployment> = first.map(Deployment::from).collect();
        self.deploys_begun = deployments.len();
        let mut label = CycleLabel::new();
        self.population.r1(&deployments, &mut self.judge, &mut label);
        self.count_acceptances();
        // The label has only these deployments, so its entries have the indices of the deploys.
        for (deploy, outcome) in label.iter().enumerate() {
            let Outcome::Deployed(Deployed { deployment, verdict, created }) = outcome else { continue };
            match (self.population.verdict(&verdict, deployment.application), created) {
                (Verdict::Inhibited(inhibition), _) => {
                    let application = self.population.application(deployment.application).id.clone();
                    let has_failed = matches!(inhibition.rule, Rule::AcceptanceFailed { .. });
                    let failure = self.statistics.acceptances.first.take().filter(|_| has_failed).map(Box::new);
                    return Err(SimulationError::NoRoom { deploy, application, inhibition, failure });
                }
                (Verdict::Accepted, Some(agent)) => self.add_instance(agent),
                (Verdict::Accepted, None) => {}
            }
        }
        Ok(())
    }

    /// The living agents, in the order of creation.
    pub fn agents(&self) -> impl Iterator<Item = AgentIndex> {
        let all = (0..self.population.agent_count()).map(AgentIndex::at);
        all.filter(|agent| self.population.agent(*agent).is_alive())
    }

    /// The number of instances of an application.
    pub fn instance_count(&self, application: ApplicationIndex) -> usize {
        self.placement.agents(application).len()
    }
}

/// For each policy, whether it uses randomness; empty if none does.
fn draws(scenario: &Scenario) -> Vec<bool> {
    let draws: Vec<bool> = scenario.policies.iter().map(|policy| asks_for(policy, RANDOM)).collect();
    if draws.contains(&true) { draws } else { Vec::new() }
}

/// The nodes whose first disturbance is a join: they are absent at time 0.
fn absent_at_first(scenario: &Scenario) -> Vec<NodeIndex> {
    let mut seen = std::collections::BTreeSet::new();
    let mut absent = Vec::new();
    for disturbance in &scenario.disturbances {
        let (node, joins) = match disturbance.event {
            DisturbanceEvent::Join(node) => (node, true),
            DisturbanceEvent::Crash(node) | DisturbanceEvent::Leave(node) | DisturbanceEvent::Notice(node) => {
                (node, false)
            }
            DisturbanceEvent::LinkDown(..) | DisturbanceEvent::LinkUp(..) => continue,
        };
        if seen.insert(node) && joins {
            absent.push(node);
        }
    }
    absent
}

/// The population of a scenario, without instances.
fn build_population(
    engine: &Engine,
    scenario: &Scenario,
    functions: &PolicyFunctions,
) -> Result<Population, SimulationError> {
    let policies = scenario.policies.iter().map(|text| load_policy(engine, text, scenario.agents.budget, functions));
    let acceptances = scenario.acceptances.iter().map(|text| load_acceptance(engine, text).map(Arc::new));
    let acceptances: Vec<Arc<Acceptance>> = acceptances.collect::<Result<_, _>>()?;
    let topology = &scenario.topology;
    let nodes = topology.nodes().map(|(index, node)| {
        let neighbours = topology.links_from(index).map(|(_, link)| link.to);
        let acceptance = scenario.acceptance_of.get(index.position()).copied().flatten();
        let acceptance = acceptance.map(|place| Arc::clone(&acceptances[place as usize]));
        SimulatedNode::new(node.id.clone(), node.capacity, neighbours, acceptance)
    });
    let application_facts = scenario.applications.iter().flat_map(|plan| plan.facts.clone()).collect();
    let numbers = match scenario.numbering {
        Numbering::Counted => InstanceNumbers::COUNTED,
        // In the prototype, instances and other objects share one counter: the operator has number 0, and the mobility
        // process number 1.
        Numbering::Shared => InstanceNumbers { next: 2, per_instance: 1 },
    };
    let config = PopulationConfig {
        arbitration: scenario.arbitration,
        memory: scenario.memory,
        notice: scenario.notice,
        numbers,
        applications: scenario.applications.iter().map(|plan| plan.application.clone()).collect(),
        application_facts,
        anchors: scenario.applications.iter().map(|plan| plan.is_anchor).collect(),
        policies: policies.collect::<Result<_, _>>()?,
        nodes: nodes.collect(),
        node_facts: topology.nodes().map(|(_, node)| node.facts.clone()).collect(),
    };
    Ok(Population::new(engine, config))
}

fn load_policy(
    engine: &Engine,
    text: &PolicyText,
    budget: Option<u64>,
    functions: &PolicyFunctions,
) -> Result<Policy, SimulationError> {
    let defaults = PolicySettings::default();
    let inferences = budget.unwrap_or(defaults.budget.inferences);
    let settings = PolicySettings { memory: text.memory, budget: Budget { inferences, ..defaults.budget } };
    let (name, main) = &text.files[0];
    let policy = Policy::load(engine, name, main, Some(text.resolver()), settings).map_err(SimulationError::Policy)?;
    let Some(outside) = policy.outside() else { return Ok(policy) };
    match functions.get(outside) {
        Some(function) => Ok(policy.decided_by(Arc::clone(function))),
        None => Err(SimulationError::NoFunction { policy: text.name.clone(), function: outside.to_owned() }),
    }
}

fn load_acceptance(engine: &Engine, text: &PolicyText) -> Result<Acceptance, SimulationError> {
    let (name, main) = &text.files[0];
    let budget = PolicySettings::default().budget;
    Acceptance::load(engine, name, main, Some(text.resolver()), budget).map_err(SimulationError::Acceptance)
}
