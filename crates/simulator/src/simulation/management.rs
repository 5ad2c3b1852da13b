//! Evaluation of agents, judging by managers, and deployment by operators.

use mario_domain::AgentOperation;
use mario_policy::{Decision, SolutionLimit};
use mario_scenario::{Arbitration, NodeIndex, Numbering};
use smallvec::SmallVec;

use super::evaluation_schedule::{BatchIndex, Cursor, PREFETCHED_AGENTS};
use super::reasons::{FailedDecision, failed_decision};
use super::{Event, Reuse, Service, Simulation};
use crate::chance;
use crate::flow::Recurrence;
use crate::observation::in_standard_order;
use crate::population::{AgentIndex, Basis, ContextChange, Deployed, Evaluator, Lookup, Outcome, Proposal, SlotId};
use crate::recorder::Recorder;

/// Each thread except the last evaluates at least this many agents. With fewer agents, another thread costs more than
/// it saves.
const AGENTS_PER_THREAD: usize = 128;

/// The number of agents that observe before their policies are evaluated. Larger groups keep policies in the CPU cache;
/// smaller groups keep the agents there between observation and evaluation.
const AGENTS_PER_GROUP: usize = 256;

/// The result of evaluating an agent's policy.
struct Answer {
    proposal: Option<Proposal>,
    /// Whether agents with the same knowledge may share the proposal.
    is_plain: bool,
    basis: Basis,
    has_failed: bool,
    /// Why the decision failed; `None` if it did not, or if the first failed decision of the run was already known.
    failed: Option<Box<FailedDecision>>,
    /// The whole decision; `None` if no recorder wants decisions.
    decision: Option<Decision>,
}

impl Simulation<'_> {
    /// Starts all existing agents: schedules their first evaluations after one period and, with the prototype's shared
    /// numbering, takes a number for each.
    pub(super) fn start_agents(&mut self) {
        self.agents_have_started = true;
        let now = self.queue.now();
        for position in 0..self.population.agent_count() {
            let agent = AgentIndex::at(position);
            if !self.population.agent(agent).is_alive() {
                continue;
            }
            self.take_shared_number();
            if self.flow.is_none() {
                self.observations.restart(agent);
            }
            self.due.schedule(agent, now + self.scenario.agents.period, &mut self.queue);
        }
        if self.scenario.numbering == Numbering::Shared {
            // From now on, an instance takes two numbers; the second is for its agent.
            self.population.numbers.per_instance = 2;
        }
    }

    /// Takes a number for an object that is not an instance, if one counter numbers everything as in the prototype.
    pub(super) fn take_shared_number(&mut self) {
        if self.scenario.numbering == Numbering::Shared {
            self.population.numbers.take(1);
        }
    }

    /// Evaluates the agents of a batch, and of the batches that directly follow it at the same time. They may be
    /// evaluated in parallel, because no agent sees the decision of another.
    pub(super) fn evaluate(&mut self, due: BatchIndex, recorder: &mut impl Recorder) {
        self.unpark_agents(recorder);
        while let Some(Event::Evaluations(next)) =
            self.queue.next_now_if(|event| matches!(event, Event::Evaluations(_)))
        {
            for agent in self.due.parked_in(next) {
                self.unpark(agent);
            }
            self.due.join(next, due);
        }
        self.decision_cache.make_room();
        self.count_parked(due, recorder);
        let awake = self.due.awake_count(due);
        let is_shared = self.options.threads > 1 && awake >= 2 * AGENTS_PER_THREAD;
        if is_shared {
            self.statistics.parallel += awake as u64;
        }
        if is_shared || self.population.wants_preview() || !recorder.wants_decisions() {
            self.evaluate_in_groups(due, is_shared, recorder);
        } else {
            self.evaluate_sequentially(due, recorder);
        }
        let next = self.queue.now() + self.scenario.agents.period;
        self.statistics.due += self.due.end_round(due, next, &mut self.queue) as u64;
    }

    /// Lets an agent observe its client requests, and draws its random number if its policy uses one: rule r2.
    fn observe(&mut self, agent: AgentIndex) {
        let facts = &mut self.scratch.facts;
        let seen = match &mut self.flow {
            Some(flow) => flow.facts(agent, self.queue.now(), facts),
            None => {
                self.observations.facts(agent, &self.router, &self.paths, &self.population, facts);
                Recurrence::New
            }
        };
        if self.flow.is_some() && matches!(seen, Recurrence::First(_) | Recurrence::New) {
            in_standard_order(facts, &self.population);
        }
        match seen {
            Recurrence::AsBefore => {}
            Recurrence::Again(number) => {
                self.population.observe_recurring(agent, number, None);
            }
            Recurrence::First(number) => {
                self.population.observe_recurring(agent, number, Some(facts));
            }
            Recurrence::New => {
                self.population.r2(ContextChange::Requests { agent, facts });
            }
        }
        if !self.draws.is_empty() && self.draws[self.population.agent(agent).policy().position()] {
            let evaluation = self.population.agent(agent).evaluations();
            let drawn = chance::drawn(self.scenario.seed, agent, evaluation);
            self.population.r2(ContextChange::Random { agent, drawn });
        }
    }

    /// Lets a batch of agents observe their client requests.
    ///
    /// In a large world, each agent costs several cache misses. So each level of the data is prefetched for all agents
    /// before the next level, and their cache misses overlap.
    fn observe_batch(&mut self, agents: &[AgentIndex], limit: SolutionLimit) {
        if let Some(flow) = &self.flow {
            std::hint::black_box(self.due.prefetch(agents));
            let moving = || agents.iter().copied().filter(|agent| flow.may_change(*agent));
            let mut sum = moving()
                .map(|agent| self.population.prefetch_snapshots(agent))
                .fold(flow.prefetch(agents), u32::wrapping_add);
            if flow.is_large() {
                for agent in moving() {
                    let ranks = flow.neighbours(agent).map(|neighbour| self.population.rank(neighbour));
                    sum ^= ranks.fold(self.population.prefetch_requests(agent), u32::wrapping_add);
                }
            }
            std::hint::black_box(sum);
        }
        for agent in agents {
            self.observe(*agent);
        }
        let asking: SmallVec<[AgentIndex; PREFETCHED_AGENTS]> =
            agents.iter().copied().filter(|agent| !self.is_known(*agent, limit)).collect();
        std::hint::black_box(
            asking.iter().map(|agent| self.population.prefetch_surroundings(*agent)).fold(0, u32::wrapping_add),
        );
        if limit == SolutionLimit::First && self.options.reuse == Reuse::Proposals {
            self.decision_cache.prefetch(&self.population, &asking);
        }
    }

    /// Whether an agent may repeat its last proposal or one that it has cached, so that its policy need not be
    /// evaluated.
    fn is_known(&self, agent: AgentIndex, limit: SolutionLimit) -> bool {
        // Only the proposal is cached, not all solutions of the policy.
        let is_known = self.population.is_unchanged(agent)
            || (limit == SolutionLimit::First && self.population.has_cached_proposal(agent));
        is_known && self.options.reuse == Reuse::Proposals
    }

    /// Repeats the last proposal of an agent, or the cached one for its current requests.
    fn repeat(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) {
        recorder.evaluation(self.queue.now(), agent, &self.population, None);
        if self.population.is_unchanged(agent) {
            self.population.repeat_proposal(agent);
        } else {
            self.population.propose_cached(agent);
        }
    }

    /// Looks up the decision of an agent in the shared cache, if it may be used. The cache holds only proposals, not
    /// all solutions.
    fn find(&mut self, agent: AgentIndex, limit: SolutionLimit) -> Lookup {
        if limit == SolutionLimit::First && self.options.reuse == Reuse::Proposals {
            self.decision_cache.lookup(&self.population, agent)
        } else {
            Lookup::Miss(None)
        }
    }

    /// Uses a proposal from the shared cache for an agent.
    fn reuse_shared(&mut self, agent: AgentIndex, found: (Option<Proposal>, Basis), recorder: &mut impl Recorder) {
        recorder.evaluation(self.queue.now(), agent, &self.population, None);
        self.population.propose(agent, found.0, found.1);
    }

    /// Evaluates the policy of an agent and queues its proposal, without adding the decision to the shared cache.
    fn evaluate_agent(&mut self, agent: AgentIndex, limit: SolutionLimit, recorder: &mut impl Recorder) {
        self.statistics.evaluated += 1;
        let is_unchanged = self.population.is_unchanged(agent);
        let decision = self.evaluators[0].evaluate(&self.population, agent, limit);
        self.watch.count(decision);
        self.statistics.failed += u64::from(decision.has_failed());
        let failed = match self.statistics.first_reasons.failed {
            None => failed_decision(&self.population, agent, decision, self.queue.now()),
            Some(_) => None,
        };
        recorder.evaluation(self.queue.now(), agent, &self.population, (!is_unchanged).then_some(decision));
        let (proposal, basis) = (self.population.proposal(agent, decision), Basis::of(decision));
        self.population.propose(agent, proposal, basis);
        self.note_failure(agent, failed);
    }

    /// Evaluates agents one by one, for all solutions. The shared cache has only proposals, so it is not used.
    fn evaluate_sequentially(&mut self, due: BatchIndex, recorder: &mut impl Recorder) {
        let may_park = self.may_park(recorder);
        let mut cursor = Cursor::default();
        loop {
            let agents = self.due.next(due, &mut cursor, &self.population);
            if agents.is_empty() {
                return;
            }
            self.observe_batch(&agents, SolutionLimit::All);
            for agent in agents {
                if self.is_known(agent, SolutionLimit::All) {
                    self.repeat(agent, recorder);
                } else {
                    self.evaluate_agent(agent, SolutionLimit::All, recorder);
                }
                if may_park {
                    self.park_if_steady(agent);
                }
            }
        }
    }

    /// Evaluates the policies of agents in groups: of [`AGENTS_PER_GROUP`], or of all agents if threads share the work
    /// or a policy wants previews.
    fn evaluate_in_groups(&mut self, due: BatchIndex, is_shared: bool, recorder: &mut impl Recorder) {
        let limit = if recorder.wants_decisions() { SolutionLimit::All } else { SolutionLimit::First };
        let is_whole = is_shared || self.population.wants_preview();
        let at_most = if is_whole { usize::MAX } else { AGENTS_PER_GROUP };
        let mut cursor = Cursor::default();
        let mut group = Vec::new();
        loop {
            let agents = self.due.next(due, &mut cursor, &self.population);
            self.observe_batch(&agents, limit);
            for agent in &agents {
                let found = (!self.is_known(*agent, limit)).then(|| self.find(*agent, limit));
                group.push((*agent, found));
            }
            if agents.is_empty() || group.len() >= at_most {
                self.evaluate_group(&mut group, limit, recorder);
            }
            if agents.is_empty() {
                return;
            }
        }
    }

    fn evaluate_group(
        &mut self,
        group: &mut Vec<(AgentIndex, Option<Lookup>)>,
        limit: SolutionLimit,
        recorder: &mut impl Recorder,
    ) {
        let may_park = self.may_park(recorder);
        let asking = group.iter().filter(|(_, found)| matches!(found, Some(Lookup::Miss(_))));
        let asking: Vec<AgentIndex> = asking.map(|(agent, _)| *agent).collect();
        asking.iter().for_each(|agent| self.evaluators[0].preview(&self.population, *agent));
        let mut answers = self.answers(&asking, limit).into_iter().flatten();
        for (agent, found) in group.drain(..) {
            match found {
                None => self.repeat(agent, recorder),
                Some(Lookup::Hit(proposal, basis)) => self.reuse_shared(agent, (proposal, basis), recorder),
                Some(Lookup::Pending(slot)) => {
                    match self.decision_cache.lookup_pending(&self.population, agent, slot) {
                        Some(found) => self.reuse_shared(agent, found, recorder),
                        None => self.evaluate_agent(agent, limit, recorder),
                    }
                }
                Some(Lookup::Miss(slot)) => {
                    let answer = answers.next().expect("all who are due were asked");
                    self.apply_answer(agent, slot, answer, recorder);
                }
            }
            if may_park {
                self.park_if_steady(agent);
            }
        }
    }

    /// Applies the result of an evaluation in a group.
    fn apply_answer(&mut self, agent: AgentIndex, slot: Option<SlotId>, answer: Answer, recorder: &mut impl Recorder) {
        self.statistics.evaluated += 1;
        self.statistics.failed += u64::from(answer.has_failed);
        self.note_failure(agent, answer.failed);
        let decision = answer.decision.as_ref().filter(|_| !self.population.is_unchanged(agent));
        recorder.evaluation(self.queue.now(), agent, &self.population, decision);
        if let Some(slot) = slot {
            let Answer { is_plain, basis, .. } = answer;
            self.decision_cache.insert(slot, &self.population, agent, answer.proposal.as_ref(), is_plain, basis);
        }
        self.population.propose(agent, answer.proposal, answer.basis);
    }

    /// Evaluates the policies of these agents, divided among threads if there are many. Returns the answers in order, a
    /// list for each thread.
    fn answers(&mut self, due: &[AgentIndex], limit: SolutionLimit) -> Vec<Vec<Answer>> {
        let (population, now, watch) = (&self.population, self.queue.now(), &*self.watch);
        let is_first = self.statistics.first_reasons.failed.is_none();
        let chunk = due.len().div_ceil(self.options.threads).max(AGENTS_PER_THREAD);
        let ask = |evaluator: &mut Evaluator, agent: AgentIndex| {
            let decision = evaluator.evaluate(population, agent, limit);
            let proposal = population.proposal(agent, decision);
            let (is_plain, basis) = (population.is_plain(agent, decision), Basis::of(decision));
            watch.count(decision);
            let failed = if is_first { failed_decision(population, agent, decision, now) } else { None };
            let has_failed = decision.has_failed();
            let decision = (limit == SolutionLimit::All).then(|| decision.clone());
            Answer { proposal, is_plain, basis, has_failed, failed, decision }
        };
        if due.len() <= chunk {
            // A single chunk needs no thread.
            let evaluator = &mut self.evaluators[0];
            return vec![due.iter().map(|agent| ask(evaluator, *agent)).collect()];
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = due
                .chunks(chunk)
                .zip(&mut self.evaluators)
                .map(|(agents, evaluator)| {
                    scope.spawn(move || agents.iter().map(|agent| ask(evaluator, *agent)).collect())
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("evaluating does not panic")).collect()
        })
    }

    /// An activation of the managers: requests the deploys of the scenario that are due, and judges the pending
    /// requests and deployments (rule r1). If there is a planner, its plan replaces the requests. Then the owners of
    /// nodes act, and the next activation is scheduled.
    pub(super) fn manage(&mut self, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        while let Some(deploy) = self.scenario.deploys.get(self.deploys_begun)
            && deploy.time <= now
        {
            self.deploys_begun += 1;
            self.deployments.push(self.up_to_date(deploy.into()));
        }
        let plan = self.plan();
        if self.population.pending_count() > 0 || !plan.deployments.is_empty() || !plan.orders.is_empty() {
            let mut label = std::mem::take(&mut self.scratch.label);
            match self.scenario.arbitration {
                Arbitration::Central => self.population.r1_by_plan(&plan, &mut label),
                Arbitration::Managers | Arbitration::Sequential => {
                    self.population.r1(&plan.deployments, &mut self.judge, &mut label);
                    self.count_acceptances();
                }
            }
            self.note_inhibited(&label);
            for outcome in label.accepted() {
                self.follow(&outcome, recorder);
            }
            self.settle_flow();
            recorder.cycle(now, &label, &self.population);
            self.scratch.label = label;
            self.watch_over_applications();
        }
        if self.population.has_owners() {
            self.take_initiative(recorder);
        }
        recorder.activation(now, &self.population);
        self.queue.schedule(now + self.scenario.management_period, Event::Management);
    }

    /// Updates placement, traffic, routes and the evaluation schedule after an accepted operation. An adapt changes
    /// none of these.
    fn follow(&mut self, outcome: &Outcome, recorder: &mut impl Recorder) {
        match outcome {
            Outcome::Nop(_) => {}
            Outcome::Deployed(Deployed { created, .. }) => {
                if let Some(agent) = created {
                    self.add_instance(*agent);
                }
            }
            Outcome::Judged(judged) => {
                let application = self.population.agent(judged.agent).application();
                if let Some(agent) = judged.created {
                    self.add_instance(agent);
                }
                let now_on = self.population.agent(judged.agent).node();
                if !self.population.agent(judged.agent).is_alive() {
                    self.remove_instance(judged.agent, judged.from, recorder);
                } else if judged.proposal.operation == AgentOperation::Migrate {
                    let was_routed_to = self.moved(judged.agent, judged.from);
                    self.restart_observation(judged.agent);
                    let (router, context) = self.routing();
                    if was_routed_to {
                        router.instance_removed(application, judged.from, &context);
                    }
                    router.instance_added(application, now_on, &context);
                } else if judged.proposal.operation == AgentOperation::Sleep {
                    self.fell_asleep(judged.agent);
                } else if judged.proposal.operation == AgentOperation::Wake {
                    self.woke(judged.agent);
                }
            }
        }
    }

    /// Makes a new instance reachable. If the agents have started, schedules its agent's first evaluation after one
    /// period.
    pub(super) fn add_instance(&mut self, agent: AgentIndex) {
        let created = self.population.agent(agent);
        let (application, node, is_asleep) = (created.application(), created.node(), created.is_asleep());
        self.placed(agent);
        if let Some(flow) = &mut self.flow {
            flow.add_instance(self.scenario.applications[application.position()].service_time);
        } else {
            self.instances.push(Service::default());
            self.observations.add(!self.agents_have_started);
        }
        if is_asleep {
            self.fell_asleep(agent);
        }
        let (router, context) = self.routing();
        router.instance_added(application, node, &context);
        if self.agents_have_started {
            let first = self.queue.now() + self.scenario.agents.period;
            self.due.schedule(agent, first, &mut self.queue);
        }
    }

    /// Discards the client requests that an agent has observed. If traffic is modelled as rates, they are discarded
    /// when it is next settled, together with the backlog of the instance.
    fn restart_observation(&mut self, agent: AgentIndex) {
        match &mut self.flow {
            Some(flow) => flow.clear_instance(agent),
            None => self.observations.restart(agent),
        }
    }

    /// Adapts traffic to the current placement and routes, if it is modelled as rates.
    pub(super) fn settle_flow(&mut self) {
        if let Some((flow, router, mut world)) = self.flowing() {
            flow.settle(router, &mut world);
        }
    }

    /// Removes an instance from placement, traffic and routes.
    pub(super) fn remove_instance(&mut self, agent: AgentIndex, node: NodeIndex, recorder: &mut impl Recorder) {
        let application = self.population.agent(agent).application();
        let was_routed_to = self.displaced(agent, node);
        match &mut self.flow {
            Some(flow) => {
                flow.thaw(agent);
                flow.clear_instance(agent);
            }
            None => self.end_instance(agent, recorder),
        }
        if was_routed_to {
            let (router, context) = self.routing();
            router.instance_removed(application, node, &context);
        }
    }
}
