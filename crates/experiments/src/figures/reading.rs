//! Computes figures record by record.

use std::collections::BTreeMap;
use std::sync::Arc;

use mario_audit::reader::{
    Client, Counted, Cycle, Deployed, Handover, Handovers, Header, NodeDown, NodeEvent, Outcome, Owner, OwnerAct,
    OwnerActKind, Proposal, Rule, Target, TraceRecord, TracedApplication, Usage, Verdict, Wakings, Woken,
};
use mario_domain::{AgentOperation, Capacity, InstanceId};

use super::groups::Groups;
use super::measuring::Measuring;
use super::{
    ApplicationPlacement, CycleFigures, FurtherCounts, GroupFigures, MeanAndMax, OperationCounts, OperationRatios,
    PlacementFigures, RunFigures, StepFigures, TraceFigures, pearson,
};

/// The maximum number of steps of all groups together, so that a wrong header cannot exhaust memory. Further steps are
/// counted in the last one.
const STEPS_MAX: usize = 1 << 20;

/// Computes figures record by record.
pub struct Reading {
    header: Arc<Header>,
    groups: Groups,
    /// The index of the top tier: the smallest tier of any node.
    top: u32,
    /// The running instances.
    instances: BTreeMap<InstanceId, Running>,
    /// Hardware in use by node, in units.
    used: Vec<u64>,
    /// The number of movements, by group and step.
    movements: Vec<Vec<u64>>,
    /// The figures of each cycle, by group.
    cycles: Vec<Vec<CycleFigures>>,
    /// Counts beyond those of the paper, by group.
    further: Vec<FurtherCounts>,
    /// For each application, the mean usage over its evaluations; `None` without evaluations.
    usage: Vec<Option<f64>>,
    /// The results of client requests in the whole run, by user; `None` if the trace has none for the user.
    clients: Vec<Option<Client>>,
    summed: Summed,
    placement: PlacementFigures,
    measuring: Measuring,
    /// The time of the last record.
    now: f64,
    evaluations: u64,
    served: u64,
    lost: u64,
    is_complete: bool,
}

/// What a trace of counts records for each application instead of each user.
struct Summed {
    /// For each application, the mean of its users' mean response times; `None` if the trace does not have it.
    responses: Vec<Option<f64>>,
}

#[derive(Clone, Copy)]
struct Running {
    application: u32,
    node: u32,
    flavour: u32,
    is_asleep: bool,
}

impl Running {
    /// The hardware units that the instance occupies on its node.
    fn held(&self, header: &Header) -> u64 {
        header.applications[self.application as usize].held_in(self.flavour, self.is_asleep).as_units()
    }
}

impl Reading {
    /// Creates the state before the first record of a trace with this header.
    pub fn new(header: Arc<Header>) -> Reading {
        let groups = Groups::new(&header);
        let group_count = groups.names.len();
        let step_count = ((header.duration / header.step).ceil() as usize).clamp(1, (STEPS_MAX / group_count).max(1));
        Reading {
            instances: BTreeMap::new(),
            used: vec![0; header.nodes.len()],
            movements: vec![vec![0; step_count]; group_count],
            cycles: vec![Vec::new(); group_count],
            further: vec![FurtherCounts::default(); group_count],
            usage: vec![None; header.applications.len()],
            clients: vec![None; header.users.len()],
            summed: Summed { responses: vec![None; header.applications.len()] },
            placement: PlacementFigures {
                applications: header.applications.iter().map(at_the_top).collect(),
                ..PlacementFigures::default()
            },
            measuring: Measuring::new(&header),
            now: 0.0,
            evaluations: 0,
            served: 0,
            lost: 0,
            is_complete: false,
            top: header.nodes.iter().map(|node| node.tier).min().unwrap_or(0),
            groups,
            header,
        }
    }

    /// Processes the next record.
    pub fn read(&mut self, record: &TraceRecord) {
        self.now = record.time();
        match record {
            TraceRecord::Deployed(Deployed { instance, application, node, .. }) => {
                self.begin(instance, *application, *node);
                self.look_for_overloads();
            }
            TraceRecord::Handover(Handover { time, user, .. }) => {
                let step = self.step_of(*time);
                for group in self.groups.of(self.header.users[*user as usize].application) {
                    self.movements[group][step] += 1;
                }
            }
            TraceRecord::Cycle(cycle) => self.cycle(cycle),
            TraceRecord::NodeDown(NodeDown { node, instances, .. }) => {
                for instance in instances {
                    self.disappear(instance);
                }
                self.measuring.is_up(&self.header, *node, self.now, false);
            }
            TraceRecord::NodeUp(NodeEvent { node, .. }) => self.measuring.is_up(&self.header, *node, self.now, true),
            TraceRecord::Responses(responses) => {
                self.measuring.responses(responses);
                self.served += responses.served;
                self.lost += responses.lost;
            }
            TraceRecord::Usage(Usage { application, evaluations, sum, .. }) => {
                self.evaluations += evaluations;
                self.usage[*application as usize] = (*evaluations > 0).then(|| sum / *evaluations as f64);
            }
            TraceRecord::Client(client) => self.clients[client.user as usize] = Some(client.clone()),
            TraceRecord::Clients(clients) => {
                let mean = (clients.users > 0).then(|| clients.sum / clients.users as f64);
                self.summed.responses[clients.application as usize] = mean;
            }
            TraceRecord::Handovers(Handovers { time, moves }) => {
                let step = self.step_of(*time);
                for (application, count) in moves {
                    for group in self.groups.of(*application) {
                        self.movements[group][step] += count;
                    }
                }
            }
            TraceRecord::Counts(counted) => self.counted(counted),
            TraceRecord::Owner(owner) => self.owner(owner),
            TraceRecord::Owners(owners) => {
                for row in &owners.rows {
                    self.count_further(row.application, |counts| {
                        counts.evicted += row.evicted;
                        counts.shrunk += row.shrunk;
                    });
                }
            }
            TraceRecord::Woken(Woken { instance, verdict, .. }) => self.woken(instance, verdict),
            TraceRecord::Wakings(Wakings { application, refused_by, .. }) => {
                self.count_wakings(*application, refused_by.is_none());
            }
            TraceRecord::Latency(latency) => self.measuring.latency(latency),
            TraceRecord::Traffic(traffic) => self.measuring.traffic(traffic.hops),
            TraceRecord::Calls(calls) => self.measuring.calls(&self.header, calls),
            TraceRecord::End(_) => self.is_complete = true,
            TraceRecord::Evaluation(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Regret(_)
            | TraceRecord::Live(_)
            | TraceRecord::Update(_)
            | TraceRecord::NodeLeaving(_)
            | TraceRecord::LinkDown(_)
            | TraceRecord::LinkUp(_) => {}
        }
    }

    fn cycle(&mut self, cycle: &Cycle) {
        let mut counts = vec![OperationCounts::default(); self.groups.names.len()];
        // Accepted proposals of agents are enacted together, after all outcomes were counted.
        let mut enacted: Vec<(&InstanceId, &Proposal, Option<&InstanceId>)> = Vec::new();
        for outcome in &cycle.outcomes {
            match outcome {
                Outcome::Nop(instance) => self.count(&mut counts, instance, |counts| counts.nop += 1),
                Outcome::Judged { instance, proposal, verdict: Verdict::Accepted(created) } => {
                    self.count(&mut counts, instance, |counts| match proposal.operation {
                        AgentOperation::Undeploy => counts.undeploy += 1,
                        AgentOperation::Migrate => counts.migrate += 1,
                        AgentOperation::Replicate => counts.replicate += 1,
                        AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => {}
                    });
                    if let Some(running) = self.instances.get(instance) {
                        self.count_further(running.application, |counts| match proposal.operation {
                            AgentOperation::Adapt => counts.adapt += 1,
                            AgentOperation::Sleep => counts.sleep += 1,
                            AgentOperation::Wake => counts.wake += 1,
                            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => {}
                        });
                    }
                    enacted.push((instance, proposal, created.as_ref()));
                }
                Outcome::Judged { instance, verdict: Verdict::Inhibited(reason), .. } => {
                    self.count(&mut counts, instance, |counts| counts.inhibited += 1);
                    self.inhibited(&reason.rule);
                    self.measuring.inhibited(&reason.node, reason.rule.as_str());
                }
                Outcome::Deploy { node, application, verdict: Verdict::Accepted(Some(created)), .. } => {
                    self.begin(created, *application, *node);
                }
                Outcome::Deploy { .. } => {}
            }
        }
        for (instance, proposal, created) in enacted {
            self.enact(instance, proposal, created);
        }
        self.look_for_overloads();
        let mut of_applications = vec![0; self.header.applications.len()];
        self.instances.values().for_each(|running| of_applications[running.application as usize] += 1);
        self.measuring.after_cycle(&of_applications);
        let mut instances = vec![0; self.groups.names.len()];
        for running in self.instances.values() {
            for group in self.groups.of(running.application) {
                instances[group] += 1;
            }
        }
        for (group, operations) in counts.into_iter().enumerate() {
            self.cycles[group].push(CycleFigures { time: cycle.time, operations, instances: instances[group] });
        }
    }

    /// Processes a cycle of a trace of counts.
    fn counted(&mut self, cycle: &Counted) {
        let mut counts = vec![OperationCounts::default(); self.groups.names.len()];
        for outcome in &cycle.outcomes {
            let operations = OperationCounts {
                undeploy: outcome.undeploy,
                nop: outcome.nop,
                migrate: outcome.migrate,
                replicate: outcome.replicate,
                inhibited: outcome.inhibited,
            };
            self.measuring.count(outcome.application, |counts| counts.add(&operations));
            self.count_further(outcome.application, |counts| {
                counts.adapt += outcome.adapt.unwrap_or(0);
                counts.sleep += outcome.sleep.unwrap_or(0);
                counts.wake += outcome.wake.unwrap_or(0);
            });
            for group in self.groups.of(outcome.application) {
                counts[group].add(&operations);
            }
        }
        for (rule, count) in &cycle.rules {
            *self.placement.inhibited_by_rule.entry(rule.as_str()).or_default() += count;
        }
        let mut of_applications = vec![0; self.header.applications.len()];
        cycle.placed.iter().for_each(|placed| of_applications[placed.application as usize] += placed.instances);
        self.measuring.after_cycle(&of_applications);
        let mut instances = vec![0; self.groups.names.len()];
        for placed in &cycle.placed {
            for group in self.groups.of(placed.application) {
                instances[group] += placed.instances;
            }
            if placed.tier > self.top && placed.instances > 0 {
                self.placement.applications[placed.application as usize].left_the_top = true;
            }
        }
        for (group, operations) in counts.into_iter().enumerate() {
            self.cycles[group].push(CycleFigures { time: cycle.time, operations, instances: instances[group] });
        }
    }

    fn count(&mut self, counts: &mut [OperationCounts], instance: &InstanceId, count: impl Fn(&mut OperationCounts)) {
        // Records about unknown instances are ignored here; the auditor reports them.
        let Some(running) = self.instances.get(instance) else { return };
        self.measuring.count(running.application, &count);
        for group in self.groups.of(running.application) {
            count(&mut counts[group]);
        }
    }

    fn count_further(&mut self, application: u32, count: impl Fn(&mut FurtherCounts)) {
        for group in self.groups.of(application) {
            count(&mut self.further[group]);
        }
    }

    /// Processes the actions of a node's owner.
    fn owner(&mut self, owner: &Owner) {
        for OwnerAct { instance, kind, .. } in &owner.acts {
            let Some(running) = self.instances.get(instance).copied() else { continue };
            match kind {
                OwnerActKind::Evicted => {
                    self.count_further(running.application, |counts| counts.evicted += 1);
                    self.disappear(instance);
                }
                OwnerActKind::Shrunk(flavour) => {
                    self.count_further(running.application, |counts| counts.shrunk += 1);
                    let target = Target::Flavour(flavour.clone());
                    self.run_in(instance, running, &target);
                }
                OwnerActKind::Announced(_) => {}
            }
        }
    }

    fn inhibited(&mut self, rule: &Rule) {
        *self.placement.inhibited_by_rule.entry(rule.as_str()).or_default() += 1;
    }

    fn enact(&mut self, instance: &InstanceId, proposal: &Proposal, created: Option<&InstanceId>) {
        let Some(running) = self.instances.get(instance).copied() else { return };
        let target = match proposal.target {
            Target::Node(node) => node,
            Target::Own | Target::Unknown(_) | Target::Flavour(_) => running.node,
        };
        match proposal.operation {
            AgentOperation::Undeploy => self.disappear(instance),
            AgentOperation::Migrate => {
                self.disappear(instance);
                self.appear(created.unwrap_or(instance), Running { node: target, ..running });
            }
            AgentOperation::Replicate => {
                if let Some(created) = created {
                    self.appear(created, Running { node: target, ..running });
                }
            }
            AgentOperation::Adapt => self.run_in(instance, running, &proposal.target),
            AgentOperation::Sleep => self.change(instance, Running { is_asleep: true, ..running }),
            AgentOperation::Wake => self.change(instance, Running { is_asleep: false, ..running }),
        }
    }

    /// Changes the flavour of an instance, if its application has that flavour.
    fn run_in(&mut self, instance: &InstanceId, running: Running, flavour: &Target) {
        let application = &self.header.applications[running.application as usize];
        if let Some(flavour) = application.find_flavour(flavour) {
            self.change(instance, Running { flavour, ..running });
        }
    }

    /// Replaces the state of an instance, and updates the hardware in use.
    fn change(&mut self, instance: &InstanceId, running: Running) {
        self.disappear(instance);
        self.appear(instance, running);
    }

    /// Processes the verdict on waking a sleeping instance that a client request reached.
    fn woken(&mut self, instance: &InstanceId, verdict: &Verdict) {
        let Some(running) = self.instances.get(instance).copied() else { return };
        let is_accepted = matches!(verdict, Verdict::Accepted(_));
        self.count_wakings(running.application, is_accepted);
        if is_accepted {
            self.change(instance, Running { is_asleep: false, ..running });
        }
    }

    fn count_wakings(&mut self, application: u32, is_accepted: bool) {
        self.count_further(application, |counts| {
            counts.woken += u64::from(is_accepted);
            counts.not_woken += u64::from(!is_accepted);
        });
    }

    /// Adds an instance: awake, in the default flavour.
    fn begin(&mut self, instance: &InstanceId, application: u32, node: u32) {
        self.appear(instance, Running { application, node, flavour: 0, is_asleep: false });
    }

    fn appear(&mut self, instance: &InstanceId, running: Running) {
        let header = &self.header;
        let Running { application, node, .. } = running;
        if header.nodes[node as usize].tier > self.top {
            self.placement.applications[application as usize].left_the_top = true;
        }
        let used = &mut self.used[node as usize];
        *used = used.saturating_add(running.held(header));
        self.measuring.uses(header, node, self.now, *used);
        self.instances.insert(instance.clone(), running);
    }

    fn disappear(&mut self, instance: &InstanceId) {
        if let Some(running) = self.instances.remove(instance) {
            let used = &mut self.used[running.node as usize];
            *used = used.saturating_sub(running.held(&self.header));
            self.measuring.uses(&self.header, running.node, self.now, *used);
        }
    }

    fn look_for_overloads(&mut self) {
        let nodes = self.header.nodes.iter().zip(&self.used);
        let is_over = |capacity: Capacity, used: u64| match capacity {
            Capacity::Bounded(hardware) => used > hardware.as_units(),
            Capacity::Unbounded => false,
        };
        self.placement.overloads += nodes.filter(|(node, used)| is_over(node.capacity, **used)).count() as u64;
    }

    /// Returns the step of a time. Times after the last step count in the last step.
    fn step_of(&self, time: f64) -> usize {
        ((time / self.header.step) as usize).min(self.movements[0].len() - 1)
    }

    /// Computes the figures from the records read so far.
    pub fn figures(self) -> TraceFigures {
        let groups = (0..self.groups.names.len()).map(|group| self.group(group)).collect();
        let figures = RunFigures { groups, evaluations: self.evaluations, served: self.served, lost: self.lost };
        let measured = self.measuring.finish(&self.header);
        let Reading { cycles, placement, is_complete, .. } = self;
        TraceFigures { figures, cycles, placement, measured, is_complete }
    }

    fn group(&self, group: usize) -> GroupFigures {
        let steps = self.steps(group);
        let mut operations = OperationCounts::default();
        for step in &steps {
            operations.add(&step.operations);
        }
        let later = &steps[1..];
        let movements: u64 = later.iter().map(|step| step.movements).sum();
        let ratio = |count: u64| count as f64 / movements as f64;
        let pairs: Vec<(u64, u64)> = steps.iter().map(|step| (step.movements, step.operations.changes())).collect();
        let active: Vec<u64> = later.iter().filter(|step| step.movements > 0).map(|step| step.active_cycles).collect();
        let instances: Vec<u64> = self.cycles[group].iter().map(|cycle| cycle.instances).collect();
        GroupFigures {
            group: self.groups.names[group].clone(),
            movements,
            operations,
            further: self.further[group],
            per_movement: (movements > 0).then(|| OperationRatios {
                undeploy: ratio(operations.undeploy),
                migrate: ratio(operations.migrate),
                replicate: ratio(operations.replicate),
                inhibited: ratio(operations.inhibited),
            }),
            instances: mean_and_max(&instances).unwrap_or(MeanAndMax { mean: 0.0, max: 0 }),
            response: mean(self.groups.members(group).filter_map(|application| self.response(application))),
            service_usage: mean(self.groups.members(group).filter_map(|application| self.usage[application])),
            pearson_r: pearson(&pairs[1..]),
            pearson_r_with_start: pearson(&pairs),
            cycles_to_steady_state: mean_and_max(&active),
            steps,
        }
    }

    fn steps(&self, group: usize) -> Vec<StepFigures> {
        let mut steps: Vec<StepFigures> = self.movements[group]
            .iter()
            .map(|movements| StepFigures { movements: *movements, ..StepFigures::default() })
            .collect();
        for cycle in &self.cycles[group] {
            let step = &mut steps[self.step_of(cycle.time)];
            step.operations.add(&cycle.operations);
            step.active_cycles += u64::from(cycle.operations.changes() > 0);
        }
        steps
    }

    /// Returns the mean of the mean response times of an application's users; `None` if no user was served.
    fn response(&self, application: usize) -> Option<f64> {
        if let Some(response) = self.summed.responses[application] {
            return Some(response);
        }
        let users = self.header.users.iter().zip(&self.clients);
        mean(users.filter(|(user, _)| user.application as usize == application).filter_map(|(_, client)| {
            let client = client.as_ref()?;
            (client.served > 0).then(|| client.sum / client.served as f64)
        }))
    }
}

fn at_the_top(application: &TracedApplication) -> ApplicationPlacement {
    ApplicationPlacement {
        application: application.id.to_string(),
        kind: application.kind.clone(),
        left_the_top: false,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn mean_and_max(values: &[u64]) -> Option<MeanAndMax> {
    let max = *values.iter().max()?;
    Some(MeanAndMax { mean: values.iter().sum::<u64>() as f64 / values.len() as f64, max })
}
