//! Service graphs: which applications call which others for each client request that they serve.
//!
//! The calls of an application are *stages*, one after another. In a stage, either all requests are sent at once, or those of one
//! call one after another. A stage begins when the one before it has been answered.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::index::ApplicationIndex;
use crate::scenario::{ApplicationPlan, Routing, Scenario};

/// How many applications call each other in turn, at most.
pub(crate) const DEPTH_MAX: usize = 32;

/// How many requests a client request leads to, at most, itself included.
pub(crate) const REQUESTS_MAX: f64 = 10_000.0;

/// How the requests of a stage follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CallOrder {
    /// Each is sent when the one before it has been answered.
    Sequence,
    /// All are sent at once.
    Parallel,
}

impl CallOrder {
    /// The word that scenarios and traces have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            CallOrder::Sequence => "sequence",
            CallOrder::Parallel => "parallel",
        }
    }
}

/// Requests that an instance sends to another application for each client request that it has served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// Where they go.
    pub application: ApplicationIndex,
    /// How many they are.
    pub requests: u32,
}

/// Calls that begin together, or the requests of one call in sequence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// How the requests follow each other. A stage in sequence has one call.
    pub order: CallOrder,
    /// What is called.
    pub calls: Vec<Call>,
}

impl Stage {
    /// How many requests it has.
    pub fn requests(&self) -> u32 {
        self.calls.iter().map(|call| call.requests).sum()
    }
}

/// Groups calls, in the order in which they are written, into stages: each call in sequence is one of its own, and calls in parallel
/// that follow each other are one together.
pub(crate) fn stages(calls: impl IntoIterator<Item = (CallOrder, Call)>) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for (order, call) in calls {
        match stages.last_mut() {
            Some(last) if order == CallOrder::Parallel && last.order == CallOrder::Parallel => last.calls.push(call),
            _ => stages.push(Stage { order, calls: vec![call] }),
        }
    }
    stages
}

impl ApplicationPlan {
    /// The calls of all stages, in order.
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        self.stages.iter().flat_map(|stage| stage.calls.iter().copied())
    }
}

impl Scenario {
    /// Whether any application calls another.
    pub fn has_calls(&self) -> bool {
        self.applications.iter().any(|plan| !plan.stages.is_empty())
    }

    /// All calls, application by application in the order of stages, with the application that makes them.
    pub fn calls(&self) -> impl Iterator<Item = (ApplicationIndex, Call)> {
        (0..)
            .map(ApplicationIndex)
            .zip(&self.applications)
            .flat_map(|(caller, plan)| plan.calls().map(move |call| (caller, call)))
    }

    /// Whether a client request to `first` leads to requests to `application`: if it is the same, or called by it, or by what it calls.
    pub fn leads_to(&self, first: ApplicationIndex, application: ApplicationIndex) -> bool {
        first == application
            || self.applications[first.position()].calls().any(|call| self.leads_to(call.application, application))
    }

    /// Whether no application calls itself, by whatever detour, and calls come to as few requests as a scenario may have.
    pub fn calls_hold_together(&self) -> bool {
        let has_applications = self.calls().all(|(_, call)| call.application.position() < self.applications.len());
        let in_sequence = |stage: &Stage| stage.order == CallOrder::Parallel || stage.calls.len() == 1;
        let are_stages = self.applications.iter().flat_map(|plan| &plan.stages).all(|stage| {
            !stage.calls.is_empty() && stage.calls.iter().all(|call| call.requests > 0) && in_sequence(stage)
        });
        has_applications
            && are_stages
            && callers_first(&self.applications).is_ok_and(|order| {
                depths(&self.applications, &order).into_iter().all(|depth| depth <= DEPTH_MAX)
                    && requests_caused(&self.applications, &order).into_iter().all(|caused| caused <= REQUESTS_MAX)
            })
            && (!self.has_calls() || matches!(self.routing, Routing::Nearest(_)))
    }

    /// All applications, each before those that it calls; otherwise in the order of the scenario.
    pub fn callers_first(&self) -> Vec<ApplicationIndex> {
        callers_first(&self.applications).expect("a scenario has no cycle of calls")
    }
}

/// All applications, each before those that it calls. If there is a cycle, the applications on one: each calls the next, and the last the
/// first.
pub(crate) fn callers_first(plans: &[ApplicationPlan]) -> Result<Vec<ApplicationIndex>, Vec<ApplicationIndex>> {
    let mut callers = vec![0_usize; plans.len()];
    for call in plans.iter().flat_map(ApplicationPlan::calls) {
        callers[call.application.position()] += 1;
    }
    let all = (0..plans.len()).map(ApplicationIndex::at);
    let mut ready: BTreeSet<ApplicationIndex> = all.filter(|index| callers[index.position()] == 0).collect();
    let mut order = Vec::with_capacity(plans.len());
    while let Some(index) = ready.pop_first() {
        order.push(index);
        for call in plans[index.position()].calls() {
            let left = &mut callers[call.application.position()];
            *left -= 1;
            if *left == 0 {
                ready.insert(call.application);
            }
        }
    }
    if order.len() == plans.len() { Ok(order) } else { Err(cycle(plans, &callers)) }
}

/// A cycle among the applications that have callers left. Each of them is called by another of them.
fn cycle(plans: &[ApplicationPlan], callers: &[usize]) -> Vec<ApplicationIndex> {
    let is_left = |index: ApplicationIndex| callers[index.position()] > 0;
    let mut caller_of: BTreeMap<ApplicationIndex, ApplicationIndex> = BTreeMap::new();
    for (caller, plan) in (0..).map(ApplicationIndex).zip(plans).filter(|(caller, _)| is_left(*caller)) {
        for call in plan.calls() {
            caller_of.entry(call.application).or_insert(caller);
        }
    }
    let mut trail: Vec<ApplicationIndex> = Vec::new();
    let mut place_of = BTreeMap::new();
    let mut at = caller_of.keys().copied().find(|index| is_left(*index));
    while let Some(index) = at {
        if let Some(place) = place_of.insert(index, trail.len()) {
            trail.drain(..place);
            break;
        }
        trail.push(index);
        at = caller_of.get(&index).copied();
    }
    trail.reverse();
    trail
}

/// For each application, how many applications call each other in turn from it on, itself included.
pub(crate) fn depths(plans: &[ApplicationPlan], callers_first: &[ApplicationIndex]) -> Vec<usize> {
    let mut depths = vec![1; plans.len()];
    for index in callers_first.iter().rev() {
        let below = plans[index.position()].calls().map(|call| depths[call.application.position()]).max();
        depths[index.position()] = 1 + below.unwrap_or(0);
    }
    depths
}

/// For each application, how many requests one client request to it leads to, itself included.
pub(crate) fn requests_caused(plans: &[ApplicationPlan], callers_first: &[ApplicationIndex]) -> Vec<f64> {
    let mut caused = vec![1.0; plans.len()];
    for index in callers_first.iter().rev() {
        let of_call = |call: Call| f64::from(call.requests) * caused[call.application.position()];
        caused[index.position()] = 1.0 + plans[index.position()].calls().map(of_call).sum::<f64>();
    }
    caused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, NoFiles};

    /// Applications 0, 1, … of which these call each other.
    fn plans(count: usize, calls: &[(usize, usize, u32)]) -> Vec<ApplicationPlan> {
        let paper = Document::preset("paper").expect("a preset").resolve(&mut NoFiles).expect("no mistakes");
        let plan = &paper.scenario.applications[0];
        let calls_of = |caller: usize| {
            let own = calls.iter().filter(move |(from, ..)| *from == caller);
            own.map(|(_, to, requests)| {
                (CallOrder::Sequence, Call { application: ApplicationIndex::at(*to), requests: *requests })
            })
        };
        (0..count).map(|caller| ApplicationPlan { stages: stages(calls_of(caller)), ..plan.clone() }).collect()
    }

    #[test]
    fn callers_come_before_what_they_call() {
        let plans = plans(5, &[(4, 2, 1), (2, 0, 3), (4, 0, 2), (3, 2, 5)]);
        let order = callers_first(&plans).expect("no cycle");
        assert_eq!(order, [1, 3, 4, 2, 0].map(ApplicationIndex));
        assert_eq!(requests_caused(&plans, &order), [1.0, 1.0, 4.0, 21.0, 7.0]);
        assert_eq!(depths(&plans, &order), [1, 1, 2, 3, 3]);
    }

    #[test]
    fn a_cycle_is_found_whatever_leads_to_it_and_from_it() {
        let plans = plans(6, &[(0, 1, 1), (1, 2, 1), (2, 4, 1), (4, 1, 1), (2, 3, 1), (4, 5, 1)]);
        let mut cycle = callers_first(&plans).expect_err("a cycle");
        let first = cycle.iter().position(|index| index.0 == 1).expect("it is on the cycle");
        cycle.rotate_left(first);
        assert_eq!(cycle, [1, 2, 4].map(ApplicationIndex));
    }

    #[test]
    fn parallel_calls_that_follow_each_other_are_one_stage() {
        use CallOrder::{Parallel, Sequence};
        let call = |application| Call { application: ApplicationIndex(application), requests: 2 };
        let grouped = stages([
            (Sequence, call(1)),
            (Parallel, call(2)),
            (Parallel, call(3)),
            (Sequence, call(4)),
            (Sequence, call(5)),
            (Parallel, call(6)),
        ]);
        let called = |stage: &Stage| stage.calls.iter().map(|call| call.application.0).collect::<Vec<_>>();
        let found: Vec<(CallOrder, Vec<u32>)> = grouped.iter().map(|stage| (stage.order, called(stage))).collect();
        let expected = [
            (Sequence, vec![1]),
            (Parallel, vec![2, 3]),
            (Sequence, vec![4]),
            (Sequence, vec![5]),
            (Parallel, vec![6]),
        ];
        assert_eq!(found, expected);
        assert_eq!(grouped[1].requests(), 4);
    }
}
