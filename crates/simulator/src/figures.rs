//! The figures of a run, for all applications together and for each kind of application.

mod counts;
mod groups;
mod regret;
mod statistics;

use mario_domain::{AgentOperation, Duration, FlavourIndex, InstanceEffect, Time};
use mario_policy::Decision;
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario, UserIndex};
use serde::{Deserialize, Serialize};

use crate::population::{
    AgentIndex, CompactVerdict, CycleLabel, Deployed, Outcome, OwnerActKind, OwnerActs, ParkedCounts, Population,
};
use crate::recorder::{CallResults, Cause, Recorder, Served, ServedCall, UserResults};
use crate::simulation::CallIndex;

use counts::{Responses, Usage, accepted};
use groups::Groups;
use statistics::{mean, pearson, spread};

pub use counts::FurtherCounts;
pub use regret::{Regret, RegretFigures, ValueComparison};

/// Counts events during a run; [`Tally::figures`] computes the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tally {
    step: Duration,
    groups: Groups,
    application_of_user: Vec<ApplicationIndex>,
    max_rate: Vec<f64>,
    /// For each group, the counts of each step.
    steps: Vec<Vec<StepCounts>>,
    /// For each group, the time and counts of each cycle.
    cycles: Vec<Vec<(Time, Counts)>>,
    /// For each group, the number of instances, sampled after each management cycle.
    activations: Vec<Instances>,
    /// For each group, the current number of instances.
    instances: Vec<u64>,
    /// For each group, counts of operations and events that the paper does not have.
    further: Vec<FurtherCounts>,
    users: Vec<Responses>,
    usage: Vec<Usage>,
    served: u64,
    lost: u64,
    /// For each call, the numbers of served and lost requests since the start, as of the last report. Empty until the
    /// first report, and if messages are simulated.
    calls: Vec<(u64, u64)>,
    evaluations: u64,
}

/// The counts of one step of mobility.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StepCounts {
    /// Changes of users' connections: handovers, arrivals and departures. Reconnections after failures count as well.
    pub movements: u64,
    /// Accepted undeploys.
    pub undeploy: u64,
    /// Agents that evaluated and proposed nothing, counted in each cycle.
    pub nop: u64,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Inhibited operations on instances, proposed by agents or ordered by a planner; inhibited deploys do not count.
    pub inhibited: u64,
    /// Accepted deploys after the start of the run, by operators or a planner.
    pub deploy: u64,
    /// Management cycles in which at least one migration, replication or undeploy was accepted.
    pub active_cycles: u64,
}

/// The counts of one management cycle.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CycleCounts {
    /// When the cycle took place.
    pub time: Time,
    /// The outcomes of the cycle.
    #[serde(flatten)]
    pub operations: Counts,
}

/// The number of instances, sampled after each management cycle.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Instances {
    activations: u64,
    sum: u64,
    max: u64,
}

/// The figures of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figures {
    /// All applications together first, then each kind.
    pub groups: Vec<GroupFigures>,
    /// The number of evaluations by all agents, including those whose result was reused or counted in aggregate.
    pub evaluations: u64,
    /// Client requests that were served, including the requests of calls between applications.
    pub served: u64,
    /// Client requests that were lost, including the requests of calls.
    pub lost: u64,
    /// The regret of the placement against the best one, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regret: Option<RegretFigures>,
}

/// The figures of a group of applications. Undefined figures are `None`: ratios without movements, means without
/// values, and correlations with a constant series.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupFigures {
    /// `all`, or the kind of application.
    pub group: String,
    /// [`StepCounts::movements`] of all steps but the first.
    pub movements: u64,
    /// The sums of the counts in `steps`, including the first step. Accepted operations of other kinds are counted in
    /// `further`.
    pub operations: Counts,
    /// Counts of operations and events that the paper does not have.
    #[serde(flatten)]
    pub further: FurtherCounts,
    /// The counts in `operations`, except `nop` and `deploy`, divided by `movements`, which omits the first step.
    pub per_movement: Option<Ratios>,
    /// Mean and maximum number of instances, over the management cycles; 0 without cycles.
    pub instances: MeanAndMax,
    /// Mean response time, in units of [`Time`]: averaged per user, then per application, then over applications. Users
    /// without a response, and applications without such users, are left out.
    pub response: Option<f64>,
    /// Request rate of an instance divided by its maximum rate in its current flavour: averaged over evaluations per
    /// application, then over applications with evaluations.
    pub service_usage: Option<f64>,
    /// Pearson's correlation of movements and accepted operations (migrate, replicate, undeploy) by step, without the
    /// first step.
    pub pearson_r: Option<f64>,
    /// The same correlation with the first step, in which the first connections count as movements.
    pub pearson_r_with_start: Option<f64>,
    /// Mean and maximum of [`StepCounts::active_cycles`] over the steps with a movement, without the first step.
    pub cycles_to_steady_state: Option<MeanAndMax>,
    /// The counts of each step.
    pub steps: Vec<StepCounts>,
    /// The counts of each management cycle.
    pub cycles: Vec<CycleCounts>,
}

/// The number of outcomes of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the operation of that name")]
pub struct Counts {
    pub undeploy: u64,
    pub nop: u64,
    pub migrate: u64,
    pub replicate: u64,
    pub inhibited: u64,
    pub deploy: u64,
}

impl StepCounts {
    fn operations(&self) -> Counts {
        Counts {
            undeploy: self.undeploy,
            nop: self.nop,
            migrate: self.migrate,
            replicate: self.replicate,
            inhibited: self.inhibited,
            deploy: self.deploy,
        }
    }
}

impl Counts {
    /// The increase since `before`.
    fn less(self, before: Counts) -> Counts {
        Counts {
            undeploy: self.undeploy - before.undeploy,
            nop: self.nop - before.nop,
            migrate: self.migrate - before.migrate,
            replicate: self.replicate - before.replicate,
            inhibited: self.inhibited - before.inhibited,
            deploy: self.deploy - before.deploy,
        }
    }
}

/// Counts per movement.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[allow(missing_docs, reason = "each is the operation of that name")]
pub struct Ratios {
    pub undeploy: f64,
    pub migrate: f64,
    pub replicate: f64,
    pub inhibited: f64,
}

/// Mean and maximum.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct MeanAndMax {
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: u64,
}

impl Tally {
    /// A tally without events.
    pub fn new(scenario: &Scenario) -> Tally {
        let groups = Groups::new(scenario);
        let step_count = (scenario.duration / scenario.step).ceil().max(1.0) as usize;
        let count = groups.count();
        Tally {
            step: scenario.step,
            application_of_user: scenario.users.iter().map(|user| user.application).collect(),
            max_rate: scenario.applications.iter().map(|plan| plan.application.max_rate.value()).collect(),
            steps: vec![vec![StepCounts::default(); step_count]; count],
            cycles: vec![Vec::new(); count],
            activations: vec![Instances::default(); count],
            instances: vec![0; count],
            further: vec![FurtherCounts::default(); count],
            users: vec![Responses::default(); scenario.users.len()],
            usage: vec![Usage::default(); scenario.applications.len()],
            groups,
            served: 0,
            lost: 0,
            calls: Vec::new(),
            evaluations: 0,
        }
    }

    /// Whether a restored tally is consistent with `scenario`.
    pub(crate) fn is_of(&self, scenario: &Scenario) -> bool {
        let fresh = Tally::new(scenario);
        let bits = |rates: &[f64]| rates.iter().map(|rate| rate.to_bits()).collect::<Vec<u64>>();
        let lengths = |tally: &Tally| {
            let Tally { activations, instances, further, users, usage, .. } = tally;
            let tables = [activations.len(), instances.len(), further.len(), users.len(), usage.len()];
            (tables, tally.cycles.len(), tally.steps.iter().map(Vec::len).collect::<Vec<usize>>())
        };
        self.step == fresh.step
            && self.groups == fresh.groups
            && self.application_of_user == fresh.application_of_user
            && bits(&self.max_rate) == bits(&fresh.max_rate)
            && lengths(self) == lengths(&fresh)
    }

    /// Computes the figures.
    pub fn figures(&self) -> Figures {
        let groups = (0..self.groups.count()).map(|group| self.group_figures(group)).collect();
        Figures { groups, evaluations: self.evaluations, served: self.served, lost: self.lost, regret: None }
    }

    fn group_figures(&self, group: usize) -> GroupFigures {
        let steps = &self.steps[group];
        let sum = |count: fn(&StepCounts) -> u64| steps.iter().map(count).sum::<u64>();
        let operations = Counts {
            undeploy: sum(|step| step.undeploy),
            nop: sum(|step| step.nop),
            migrate: sum(|step| step.migrate),
            replicate: sum(|step| step.replicate),
            inhibited: sum(|step| step.inhibited),
            deploy: sum(|step| step.deploy),
        };
        let movements = steps.iter().skip(1).map(|step| step.movements).sum();
        let per_movement = |count: u64| count as f64 / movements as f64;
        let instances = &self.activations[group];
        let steady: Vec<u64> =
            steps.iter().skip(1).filter(|step| step.movements > 0).map(|step| step.active_cycles).collect();
        GroupFigures {
            group: self.groups.name(group).to_owned(),
            movements,
            operations,
            further: self.further[group],
            per_movement: (movements > 0).then(|| Ratios {
                undeploy: per_movement(operations.undeploy),
                migrate: per_movement(operations.migrate),
                replicate: per_movement(operations.replicate),
                inhibited: per_movement(operations.inhibited),
            }),
            instances: MeanAndMax {
                mean: instances.sum as f64 / instances.activations.max(1) as f64,
                max: instances.max,
            },
            response: self.response(group),
            service_usage: self.service_usage(group),
            pearson_r: pearson(&steps[1..]),
            pearson_r_with_start: pearson(steps),
            cycles_to_steady_state: spread(&steady),
            steps: steps.clone(),
            cycles: (self.cycles[group].iter())
                .map(|(time, operations)| CycleCounts { time: *time, operations: *operations })
                .collect(),
        }
    }

    fn response(&self, group: usize) -> Option<f64> {
        mean(self.groups.applications(group).filter_map(|application| {
            let users = self.users.iter().zip(&self.application_of_user);
            let served = users.filter(|(responses, of)| **of == application && responses.count > 0);
            mean(served.map(|(responses, _)| responses.sum.units() / responses.count as f64))
        }))
    }

    fn service_usage(&self, group: usize) -> Option<f64> {
        mean(self.groups.applications(group).filter_map(|application| {
            let usage = &self.usage[application.position()];
            let used = usage.requests / self.max_rate[application.position()] + usage.used_in_flavours;
            (usage.evaluations > 0).then(|| used / usage.evaluations as f64)
        }))
    }

    /// The counts of a group in the step that contains `time`; those of the last step if `time` is later.
    fn at(&mut self, time: Time, group: usize) -> &mut StepCounts {
        let step = self.step_of(time, group);
        &mut self.steps[group][step]
    }

    fn step_of(&self, time: Time, group: usize) -> usize {
        let last = self.steps[group].len() - 1;
        (((time - Time::ZERO) / self.step) as usize).min(last)
    }

    fn count(&mut self, time: Time, application: ApplicationIndex, count: impl Fn(&mut StepCounts)) {
        for group in self.groups.of(application) {
            count(self.at(time, group));
        }
    }

    fn count_further(&mut self, application: ApplicationIndex, count: impl Fn(&mut FurtherCounts)) {
        for group in self.groups.of(application) {
            count(&mut self.further[group]);
        }
    }

    fn instances_changed(&mut self, application: ApplicationIndex, by: i64) {
        for group in self.groups.of(application) {
            self.instances[group] = self.instances[group].saturating_add_signed(by);
        }
    }

    fn accepted(&mut self, time: Time, application: ApplicationIndex, operation: AgentOperation) {
        for group in self.groups.of(application) {
            let step = self.step_of(time, group);
            *accepted(&mut self.steps[group][step], &mut self.further[group], operation) += 1;
        }
        match operation.effect() {
            InstanceEffect::Created => self.instances_changed(application, 1),
            InstanceEffect::Ended => self.instances_changed(application, -1),
            InstanceEffect::Kept => {}
        }
    }
}

impl Recorder for Tally {
    fn wants_everyone(&self) -> bool {
        false
    }

    fn deployed(&mut self, _time: Time, agent: AgentIndex, population: &Population) {
        self.instances_changed(population.agent(agent).application(), 1);
    }

    fn handover(&mut self, time: Time, user: UserIndex, _from: Option<NodeIndex>, _to: Option<NodeIndex>) {
        self.count(time, self.application_of_user[user.position()], |step| step.movements += 1);
    }

    fn evaluation(&mut self, _time: Time, agent: AgentIndex, population: &Population, _decision: Option<&Decision>) {
        self.evaluations += 1;
        let agent = population.agent(agent);
        let usage = &mut self.usage[agent.application().position()];
        usage.evaluations += 1;
        if agent.flavour() == FlavourIndex::DEFAULT {
            usage.requests += agent.rate();
        } else {
            let max_rate = population.application(agent.application()).max_rate_in(agent.flavour());
            usage.used_in_flavours += agent.rate() / max_rate.value();
        }
    }

    fn parked(&mut self, _time: Time, parked: &[ParkedCounts]) {
        for (usage, parked) in self.usage.iter_mut().zip(parked) {
            self.evaluations += parked.count();
            usage.evaluations += parked.count();
            usage.requests += parked.requests;
        }
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        let before: Vec<Counts> = (0..self.groups.count()).map(|group| self.at(time, group).operations()).collect();
        for outcome in label.iter() {
            match &outcome {
                Outcome::Nop(agent) => self.count(time, population.agent(*agent).application(), |step| step.nop += 1),
                Outcome::Judged(judged) => {
                    let application = population.agent(judged.agent).application();
                    if judged.verdict.is_accepted() {
                        self.accepted(time, application, judged.proposal.operation);
                    } else {
                        self.count(time, application, |step| step.inhibited += 1);
                    }
                }
                Outcome::Deployed(Deployed { deployment, verdict: CompactVerdict::Accepted, .. }) => {
                    self.count(time, deployment.application, |step| step.deploy += 1);
                    self.instances_changed(deployment.application, 1);
                }
                Outcome::Deployed(_) => {}
            }
        }
        for (application, parked) in label.parked().iter().enumerate() {
            let count = |step: &mut StepCounts| {
                step.nop += parked.idle;
                step.inhibited += parked.inhibited;
            };
            self.count(time, ApplicationIndex::at(application), count);
        }
        for (group, before) in before.into_iter().enumerate() {
            let operations = self.at(time, group).operations().less(before);
            self.cycles[group].push((time, operations));
            if operations.undeploy + operations.migrate + operations.replicate > 0 {
                self.at(time, group).active_cycles += 1;
            }
            let instances = self.instances[group];
            let seen = &mut self.activations[group];
            seen.activations += 1;
            seen.sum += instances;
            seen.max = seen.max.max(instances);
        }
    }

    fn woken(&mut self, _time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        let is_accepted = verdict.is_accepted();
        self.count_further(population.agent(agent).application(), |counts| {
            counts.woken += u64::from(is_accepted);
            counts.not_woken += u64::from(!is_accepted);
        });
    }

    fn owner(&mut self, _time: Time, acts: &OwnerActs, population: &Population) {
        for act in &acts.acts {
            let application = population.agent(act.agent).application();
            match act.kind {
                OwnerActKind::Evicted => {
                    self.count_further(application, |counts| counts.evicted += 1);
                    self.instances_changed(application, -1);
                }
                OwnerActKind::Shrunk(_) => self.count_further(application, |counts| counts.shrunk += 1),
                OwnerActKind::Announced(_) => {}
            }
        }
    }

    fn node_down(
        &mut self,
        _time: Time,
        _node: NodeIndex,
        _cause: Cause,
        gone: &[AgentIndex],
        population: &Population,
    ) {
        for agent in gone {
            self.instances_changed(population.agent(*agent).application(), -1);
        }
    }

    fn served(&mut self, served: &Served) {
        self.served += 1;
        let responses = &mut self.users[served.user.position()];
        responses.count += 1;
        responses.sum += served.ended - served.emitted;
    }

    fn sent(&mut self, user: UserIndex, _application: ApplicationIndex, sent: &UserResults) {
        let now = Responses { count: sent.served, sum: sent.response, lost: sent.lost };
        let before = std::mem::replace(&mut self.users[user.position()], now);
        self.served += now.count.saturating_sub(before.count);
        self.lost += now.lost.saturating_sub(before.lost);
    }

    fn call_served(&mut self, _call: CallIndex, _served: &ServedCall) {
        self.served += 1;
    }

    fn call_lost(&mut self, _time: Time, _call: CallIndex, _application: ApplicationIndex) {
        self.lost += 1;
    }

    fn calls_sent(&mut self, call: CallIndex, _application: ApplicationIndex, sent: &CallResults) {
        if self.calls.len() <= call.position() {
            self.calls.resize(call.position() + 1, (0, 0));
        }
        let before = std::mem::replace(&mut self.calls[call.position()], (sent.served, sent.lost));
        self.served += sent.served.saturating_sub(before.0);
        self.lost += sent.lost.saturating_sub(before.1);
    }

    fn lost(&mut self, _time: Time, user: UserIndex, _application: ApplicationIndex) {
        self.lost += 1;
        self.users[user.position()].lost += 1;
    }
}
