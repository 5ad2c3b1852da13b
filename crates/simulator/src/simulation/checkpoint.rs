//! Stores and restores the whole state of a run between two events.
//!
//! Scratch memory and data that can be recomputed are not stored, but rebuilt. The budget watch restarts at zero.

use mario_policy::PolicyFunctions;
use mario_scenario::{Fidelity, Scenario, UserPlan};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Event, RunOptions, Simulation, SimulationError, User};
use crate::population::AgentIndex;
use crate::validation::TableSizes;

impl<'a> Simulation<'a> {
    /// The state to store. [`Simulation::restore`] reads it in the same order.
    pub(crate) fn saved(&self) -> impl Serialize + '_ {
        // Destructured, so that a new field does not compile until it is decided here whether to save it.
        let Simulation {
            scenario: _,
            options: _,
            judge: _,
            watch: _,
            evaluators: _,
            draws: _,
            scratch: _,
            queue,
            due,
            population,
            decision_cache,
            placement,
            sleepers,
            paths,
            router,
            flow,
            links,
            messages,
            arriving,
            observations,
            instances,
            users,
            users_due,
            calls,
            planner,
            deployments,
            deploys_begun,
            is_redeploying,
            has_begun,
            has_ended,
            agents_have_started,
            statistics,
        } = self;
        let agents = (population.saved(), decision_cache.saved());
        let world = ((queue, due), agents, (placement, sleepers), paths, router, instances, (users, users_due));
        let traffic = (flow, links, messages, arriving, (observations, calls.saved()));
        let memory = planner.as_ref().and_then(|planner| planner.memory());
        let operators = (memory, deployments, deploys_begun, is_redeploying);
        (world, traffic, operators, (has_begun, has_ended, agents_have_started, statistics))
    }

    /// Restores the run from the state stored by [`Simulation::saved`]. The outer error says that the scenario cannot
    /// be run, the inner one that the state cannot be decoded or is inconsistent.
    pub(crate) fn restored<'de, D: Deserializer<'de>>(
        scenario: &'a Scenario,
        options: RunOptions,
        saved: D,
    ) -> Result<Result<Simulation<'a>, D::Error>, SimulationError> {
        let mut simulation = Simulation::empty(scenario, options, &PolicyFunctions::default())?;
        let restored = simulation.restore(saved).and_then(|is_sound| {
            if is_sound { Ok(simulation) } else { Err(D::Error::custom("the state does not hold together")) }
        });
        Ok(restored)
    }

    /// Whether the run has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Restores the state. Returns whether it is valid for this run; if not, the simulation must not be used.
    fn restore<'de, D: Deserializer<'de>>(&mut self, saved: D) -> Result<bool, D::Error> {
        let (world, traffic, operators, course) = Deserialize::deserialize(saved)?;
        let (population, decision_cache);
        (
            (self.queue, self.due),
            (population, decision_cache),
            (self.placement, self.sleepers),
            self.paths,
            self.router,
            self.instances,
            (self.users, self.users_due),
        ) = world;
        let are_agents = self.population.restore(population) && self.decision_cache.restore(decision_cache);
        let pending;
        (self.flow, self.links, self.messages, self.arriving, (self.observations, pending)) = traffic;
        self.calls.restore(pending);
        let memory;
        (memory, self.deployments, self.deploys_begun, self.is_redeploying) = operators;
        if let (Some(planner), Some(memory)) = (&mut self.planner, memory) {
            planner.remember(memory);
        }
        (self.has_begun, self.has_ended, self.agents_have_started, self.statistics) = course;
        Ok(are_agents && self.is_consistent())
    }

    /// Whether all parts of the state are consistent with each other and with the scenario.
    fn is_consistent(&mut self) -> bool {
        let scenario = self.scenario;
        let agents = self.population.agent_count();
        // `instances` and `observations` have an entry for each agent only if messages are simulated.
        let served = if self.flow.is_none() { agents } else { 0 };
        let (cells, round_robins) = self.flow.as_ref().map_or((0, 0), |flow| flow.counts());
        let (pending, calls) = self.calls.counts();
        let limits = TableSizes {
            agents,
            pending,
            calls,
            paths: self.paths.count(),
            messages: self.messages.len(),
            cells: self.router.cell_count(),
            round_robins,
            batches: self.due.batch_count(),
            ..TableSizes::of(scenario)
        };
        let are_numbers = limits.hold_for(&self.saved())
            && self.flow.as_ref().is_none_or(|flow| TableSizes { cells, ..limits.clone() }.hold_for(flow));
        are_numbers
            && self.flow.is_some() == (scenario.network.fidelity == Fidelity::Flow)
            && self.queue.is_consistent()
            && self.due.is_consistent(scenario.applications.len())
            && self.placement.is_consistent(
                &self.population,
                scenario.applications.len(),
                scenario.topology.node_count(),
            )
            && self.sleepers.is_some() == (self.flow.is_some() && scenario.has_sleep())
            && self.sleepers.as_ref().is_none_or(|sleepers| sleepers.are_consistent(&self.population, scenario))
            && self.paths.resume(&scenario.topology)
            && self.router.is_consistent(scenario, agents)
            && self.flow.as_ref().is_none_or(|flow| {
                flow.is_consistent(scenario, agents, |agent| self.population.agent(agent).application())
            })
            && self.links.is_consistent(&scenario.topology, scenario.network)
            && self.messages.is_consistent(&self.paths)
            && self.instances.len() == served
            && self.calls_are_consistent()
            && self.observations.is_consistent(scenario.observation, served)
            && self.users_are_consistent()
            && self.deploys_begun <= scenario.deploys.len()
            && self.is_redeploying.len() == scenario.applications.len()
            && self.planner.as_ref().is_none_or(|planner| planner.is_consistent(scenario))
    }

    /// Whether each pending request waits for exactly the events and requests that refer to it.
    fn calls_are_consistent(&self) -> bool {
        let stages = |agent: AgentIndex| {
            let application = self.population.agent(agent).application();
            self.scenario.applications[application.position()].stages.len()
        };
        let answers = self.queue.events().filter_map(|event| match event {
            Event::Answer(pending) => Some(pending),
            _ => None,
        });
        let sent = self.messages.iter().map(|message| message.origin);
        let waiting = self.instances.iter().flat_map(|service| &service.waiting).map(|waiting| waiting.origin);
        self.calls.saved().is_consistent(stages, answers, sent.chain(waiting))
    }

    fn users_are_consistent(&self) -> bool {
        let plans = &self.scenario.users;
        let is_planned = |(user, plan): (&User, &UserPlan)| {
            user.application == plan.application && user.emitter.is_of(plan.workload)
        };
        self.users.len() == plans.len()
            && self.users.iter().zip(plans).all(is_planned)
            && self.users_due.len() == self.scenario.attachments.first_due().len()
    }
}
