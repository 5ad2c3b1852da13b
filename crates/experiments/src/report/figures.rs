//! The figures of a run for each group, from its trace.

use mario_audit::reader::{Client, Header, Usage};
use serde::Serialize;

use super::groups::Groups;
use super::series::{Counts, INHIBITED, NOP};

/// What happened in one step of mobility.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Step {
    /// Handovers, arrivals and departures.
    pub(crate) movements: u64,
    /// What became of the agents.
    pub(crate) counts: Counts,
    /// Cycles with at least one operation.
    pub(crate) active_cycles: u64,
}

/// Counts while the records are read.
#[derive(Debug)]
pub(crate) struct FigureCounts {
    step: f64,
    /// For each group, each step.
    steps: Vec<Vec<Step>>,
    cycles: u64,
    /// For each group, sum and maximum of its instances at cycles.
    instances: Vec<(u64, u64)>,
    clients: Vec<Client>,
    usage: Vec<Usage>,
}

/// The figures of a group. What is not defined is absent: nothing moved, a series is constant, or the run is not complete.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct GroupFigures {
    pub(crate) movements: u64,
    pub(crate) counts: Counts,
    /// Mean and maximum.
    pub(crate) instances: (f64, u64),
    pub(crate) response: Option<f64>,
    pub(crate) service_usage: Option<f64>,
    /// Without the first step.
    pub(crate) pearson_r: Option<f64>,
    pub(crate) pearson_r_with_start: Option<f64>,
    /// Mean and maximum over the steps with a movement, the first left out.
    pub(crate) cycles_to_steady_state: Option<(f64, u64)>,
    /// For each step: movements, counts, cycles with an operation.
    pub(crate) steps: Vec<(u64, Counts, u64)>,
}

impl Step {
    fn operations(&self) -> u64 {
        operations(&self.counts)
    }
}

/// Accepted operations among counts.
pub(crate) fn operations(counts: &Counts) -> u64 {
    counts.iter().sum::<u64>() - counts[NOP] - counts[INHIBITED]
}

impl FigureCounts {
    pub(crate) fn new(header: &Header, group_count: usize) -> FigureCounts {
        let count = (header.duration / header.step).ceil();
        // A header may say anything; what no run can have is not given memory.
        let step_count = if count.is_finite() { count.clamp(1.0, 1e6) as usize } else { 1 };
        FigureCounts {
            step: header.step,
            steps: vec![vec![Step::default(); step_count]; group_count],
            cycles: 0,
            instances: vec![(0, 0); group_count],
            clients: Vec::new(),
            usage: Vec::new(),
        }
    }

    fn at(&mut self, time: f64, group: usize) -> &mut Step {
        let last = self.steps[group].len() - 1;
        &mut self.steps[group][((time / self.step) as usize).min(last)]
    }

    pub(crate) fn movement(&mut self, time: f64, groups: [usize; 2]) {
        for group in groups {
            self.at(time, group).movements += 1;
        }
    }

    /// A cycle: for each group what became of its agents, and how many instances it has.
    pub(crate) fn cycle(&mut self, time: f64, counts: &[Counts], instances: &[u64]) {
        self.cycles += 1;
        for (group, (counts, instances)) in counts.iter().zip(instances).enumerate() {
            let step = self.at(time, group);
            step.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            step.active_cycles += u64::from(operations(counts) > 0);
            let (sum, max) = &mut self.instances[group];
            *sum += instances;
            *max = (*max).max(*instances);
        }
    }

    pub(crate) fn client(&mut self, client: Client) {
        self.clients.push(client);
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        self.usage.push(usage);
    }

    pub(crate) fn finish(&self, header: &Header, groups: &Groups) -> Vec<GroupFigures> {
        (0..groups.count()).map(|group| self.group(group, header, groups)).collect()
    }

    fn group(&self, group: usize, header: &Header, groups: &Groups) -> GroupFigures {
        let steps = &self.steps[group];
        let mut counts = Counts::default();
        for step in steps {
            counts.iter_mut().zip(step.counts).for_each(|(sum, count)| *sum += count);
        }
        let is_member = |application: u32| groups.of(application).contains(&group);
        let members = || (0..header.applications.len() as u32).filter(|application| is_member(*application));
        let moving = steps.iter().skip(1).filter(|step| step.movements > 0);
        let steady: Vec<u64> = moving.map(|step| step.active_cycles).collect();
        let (sum, max) = self.instances[group];
        GroupFigures {
            movements: steps.iter().skip(1).map(|step| step.movements).sum(),
            counts,
            instances: (sum as f64 / self.cycles.max(1) as f64, max),
            response: mean(members().filter_map(|application| self.response(application, header))),
            service_usage: mean(members().filter_map(|application| {
                let usage = self.usage.iter().find(|usage| usage.application == application)?;
                (usage.evaluations > 0).then(|| usage.sum / usage.evaluations as f64)
            })),
            pearson_r: pearson(&steps[1.min(steps.len())..]),
            pearson_r_with_start: pearson(steps),
            cycles_to_steady_state: mean(steady.iter().map(|count| *count as f64)).zip(steady.iter().max().copied()),
            steps: steps.iter().map(|step| (step.movements, step.counts, step.active_cycles)).collect(),
        }
    }

    /// The mean response time of an application: of each of its users, then of all of them.
    fn response(&self, application: u32, header: &Header) -> Option<f64> {
        mean(self.clients.iter().filter_map(|client| {
            let is_member = header.users[client.user as usize].application == application;
            (is_member && client.served > 0).then(|| client.sum / client.served as f64)
        }))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// Pearson's r between movements and operations by step; `None` where a series is constant.
fn pearson(steps: &[Step]) -> Option<f64> {
    let movements = || steps.iter().map(|step| step.movements as f64);
    let operations = || steps.iter().map(|step| step.operations() as f64);
    let (mean_movements, mean_operations) = (mean(movements())?, mean(operations())?);
    let product = |one: f64, other: f64| (one - mean_movements) * (other - mean_operations);
    let both: f64 = movements().zip(operations()).map(|(one, other)| product(one, other)).sum();
    let spread_movements: f64 = movements().map(|value| (value - mean_movements).powi(2)).sum();
    let spread_operations: f64 = operations().map(|value| (value - mean_operations).powi(2)).sum();
    let scale = (spread_movements * spread_operations).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pairs: &[(u64, u64)]) -> Vec<Step> {
        let step = |(movements, migrate): &(u64, u64)| Step {
            movements: *movements,
            counts: [0, 7, *migrate, 0, 9],
            active_cycles: 0,
        };
        pairs.iter().map(step).collect()
    }

    #[test]
    fn r_is_what_it_is_by_hand() {
        // Deviations -1, 0, 1 and -1, 1, 0: the products sum to 1, the squares to 2 and 2.
        let r = pearson(&steps(&[(1, 2), (2, 4), (3, 3)])).expect("no series is constant");
        assert!((r - 0.5).abs() < 1e-12, "{r}");
    }

    #[test]
    fn r_is_not_defined_for_a_constant_series() {
        assert_eq!(pearson(&steps(&[(1, 2), (1, 4)])), None);
        assert_eq!(pearson(&steps(&[(1, 2), (2, 2)])), None);
        assert_eq!(pearson(&[]), None);
    }
}
