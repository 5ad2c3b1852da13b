//! Computes figures record by record.

use std::sync::Arc;

use mario_domain::{AgentOperation, Capacity, Rule};
use mario_trace::reader::{
    Client, Counted, Handover, Handovers, Header, Owners, TraceRecord, TracedApplication, Usage, Wakings,
};
use mario_trace::{Actor, Change, InstanceEnd, InstanceRef, State};

use super::groups::Groups;
use super::measuring::Measuring;
use super::{
    ApplicationPlacement, CycleFigures, FurtherCounts, GroupFigures, MeanAndMax, OperationCounts, OperationRatios,
    PlacementFigures, RunFigures, StepFigures, TraceFigures, pearson,
};

/// The maximum number of steps of all groups together, so that a wrong header cannot exhaust memory. Further steps are
/// counted in the last one.
const STEPS_MAX: usize = 1 << 20;

/// Computes figures record by record. It knows the placement from the changes that [`Reading::apply`] is passed.
pub struct Reading {
    header: Arc<Header>,
    groups: Groups,
    /// The index of the top tier: the smallest tier of any node.
    top: u32,
    /// For each instance so far, what it holds: its node and the units there.
    held: Vec<Option<(u32, u64)>>,
    /// Hardware in use by node, in units.
    used: Vec<u64>,
    /// The number of instances of each application.
    of_applications: Vec<u64>,
    /// The outcomes of the current cycle, by group.
    counts: Vec<OperationCounts>,
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

impl Reading {
    /// Creates the state before the first record of a trace with this header.
    pub fn new(header: Arc<Header>) -> Reading {
        let groups = Groups::new(&header);
        let group_count = groups.names.len();
        let step_count = ((header.duration / header.step).ceil() as usize).clamp(1, (STEPS_MAX / group_count).max(1));
        Reading {
            held: Vec::new(),
            used: vec![0; header.nodes.len()],
            of_applications: vec![0; header.applications.len()],
            counts: vec![OperationCounts::default(); group_count],
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

    /// Applies the next record to `state`, and passes its changes and the record to this reading.
    pub fn follow(&mut self, state: &mut State, record: &TraceRecord) {
        state.apply(record, &mut |state, change| self.apply(state, record.time(), change));
        self.read(record);
    }

    /// Processes a change. `state` is the state after it.
    pub fn apply(&mut self, state: &State, time: f64, change: Change<'_>) {
        self.now = time;
        match change {
            Change::Appeared { instance, .. } => self.settle(state, instance),
            Change::Moved { instance, became, .. } => {
                self.settle(state, instance);
                if let Some(became) = became {
                    self.settle(state, became);
                }
            }
            Change::Left { instance, end, .. } => {
                self.settle(state, instance);
                match end {
                    InstanceEnd::Evicted(_) => self.count_further(state, instance, |counts| counts.evicted += 1),
                    InstanceEnd::Undeployed | InstanceEnd::Lost => {}
                }
            }
            Change::Adapted { instance, by, .. } => {
                self.settle(state, instance);
                match by {
                    Actor::Owner(_) => self.count_further(state, instance, |counts| counts.shrunk += 1),
                    Actor::Agent | Actor::Client | Actor::LiveNode => {}
                }
            }
            Change::Slept { instance, .. } => self.settle(state, instance),
            Change::Woke { instance, by } => {
                self.settle(state, instance);
                match by {
                    Actor::Client => self.count_further(state, instance, |counts| counts.woken += 1),
                    Actor::Agent | Actor::Owner(_) | Actor::LiveNode => {}
                }
            }
            Change::WakeInhibited { instance, .. } => {
                self.count_further(state, instance, |counts| counts.not_woken += 1);
            }
            Change::Updated { instance, from } => {
                let to = state.instance(instance).application;
                self.of_applications[from as usize] -= 1;
                self.of_applications[to as usize] += 1;
                self.settle(state, instance);
            }
            Change::Nop { instance } => self.count(state, instance, |counts| counts.nop += 1),
            Change::Accepted { instance, proposal } => self.accepted(state, instance, proposal.operation),
            Change::Inhibited { instance, inhibition, .. } => {
                self.count(state, instance, |counts| counts.inhibited += 1);
                self.inhibited(&inhibition.rule);
                self.measuring.inhibited(inhibition.node.id(), inhibition.rule.as_str());
            }
            Change::NodeDown { node, .. } => self.measuring.is_up(&self.header, node, time, false),
            Change::NodeUp { node } => self.measuring.is_up(&self.header, node, time, true),
            Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::PolicyChanged { .. }
            | Change::DeployInhibited { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    /// Processes the next record, after its changes.
    pub fn read(&mut self, record: &TraceRecord) {
        self.now = record.time();
        match record {
            TraceRecord::Deployed(_) => self.look_for_overloads(),
            TraceRecord::Handover(Handover { time, user, .. }) => {
                let step = self.step_of(*time);
                for group in self.groups.of(self.header.users[*user as usize].application) {
                    self.movements[group][step] += 1;
                }
            }
            TraceRecord::Cycle(cycle) => self.cycle(cycle.time),
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
            TraceRecord::Owners(Owners { rows, .. }) => {
                for row in rows {
                    self.count_further_of(row.application, |counts| {
                        counts.evicted += row.evicted;
                        counts.shrunk += row.shrunk;
                    });
                }
            }
            TraceRecord::Wakings(Wakings { application, inhibited_by, .. }) => {
                self.count_further_of(*application, |counts| {
                    counts.woken += u64::from(inhibited_by.is_none());
                    counts.not_woken += u64::from(inhibited_by.is_some());
                });
            }
            TraceRecord::Latency(latency) => self.measuring.latency(latency),
            TraceRecord::Traffic(traffic) => self.measuring.traffic(traffic.hops),
            TraceRecord::Calls(calls) => self.measuring.calls(&self.header, calls),
            TraceRecord::End(_) => self.is_complete = true,
            // Their changes are all that matters.
            TraceRecord::NodeDown(_)
            | TraceRecord::NodeUp(_)
            | TraceRecord::NodeLeaving(_)
            | TraceRecord::LinkDown(_)
            | TraceRecord::LinkUp(_)
            | TraceRecord::Owner(_)
            | TraceRecord::Woken(_)
            | TraceRecord::Update(_)
            | TraceRecord::Live(_) => {}
            TraceRecord::Evaluation(_) | TraceRecord::Gone(_) | TraceRecord::Regret(_) => {}
        }
    }

    /// Counts an accepted operation of an agent.
    fn accepted(&mut self, state: &State, instance: InstanceRef, operation: AgentOperation) {
        self.count(state, instance, |counts| counts.accepted(operation, 1));
        self.count_further(state, instance, |counts| counts.accepted(operation, 1));
    }

    /// Processes the end of a cycle.
    fn cycle(&mut self, time: f64) {
        self.look_for_overloads();
        self.measuring.after_cycle(&self.of_applications);
        let mut instances = vec![0; self.groups.names.len()];
        for (application, count) in (0..).zip(&self.of_applications) {
            for group in self.groups.of(application) {
                instances[group] += count;
            }
        }
        for (group, instances) in instances.into_iter().enumerate() {
            let operations = std::mem::take(&mut self.counts[group]);
            self.cycles[group].push(CycleFigures { time, operations, instances });
        }
    }

    /// Processes a cycle of a trace of counts.
    fn counted(&mut self, cycle: &Counted) {
        let mut counts = vec![OperationCounts::default(); self.groups.names.len()];
        for outcome in &cycle.outcomes {
            let mut operations =
                OperationCounts { nop: outcome.nop, inhibited: outcome.inhibited, ..OperationCounts::default() };
            let accepted = outcome.accepted();
            accepted.iter().for_each(|(operation, count)| operations.accepted(operation, count));
            self.measuring.count(outcome.application, |counts| counts.add(&operations));
            self.count_further_of(outcome.application, |counts| {
                accepted.iter().for_each(|(operation, count)| counts.accepted(operation, count));
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

    fn count(&mut self, state: &State, instance: InstanceRef, count: impl Fn(&mut OperationCounts)) {
        let application = state.instance(instance).application;
        self.measuring.count(application, &count);
        for group in self.groups.of(application) {
            count(&mut self.counts[group]);
        }
    }

    fn count_further(&mut self, state: &State, instance: InstanceRef, count: impl Fn(&mut FurtherCounts)) {
        self.count_further_of(state.instance(instance).application, count);
    }

    fn count_further_of(&mut self, application: u32, count: impl Fn(&mut FurtherCounts)) {
        for group in self.groups.of(application) {
            count(&mut self.further[group]);
        }
    }

    fn inhibited(&mut self, rule: &Rule) {
        *self.placement.inhibited_by_rule.entry(rule.as_str()).or_default() += 1;
    }

    /// Updates the hardware in use after a change of an instance.
    fn settle(&mut self, state: &State, instance: InstanceRef) {
        let (header, position) = (&self.header, instance.position());
        let now = state.instance(instance);
        if position >= self.held.len() {
            self.held.resize(position + 1, None);
        }
        let after = now.node.map(|node| (node, now.held_units(header)));
        let before = std::mem::replace(&mut self.held[position], after);
        let application = now.application as usize;
        self.of_applications[application] += u64::from(after.is_some());
        self.of_applications[application] -= u64::from(before.is_some());
        if let Some((node, units)) = before {
            let used = &mut self.used[node as usize];
            *used = used.saturating_sub(units);
            self.measuring.uses(header, node, self.now, *used);
        }
        if let Some((node, units)) = after {
            let used = &mut self.used[node as usize];
            *used = used.saturating_add(units);
            self.placement.applications[application].left_the_top |= header.nodes[node as usize].tier > self.top;
            self.measuring.uses(header, node, self.now, *used);
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
