//! Service graphs: the calls between applications.
//!
//! For each request that an instance serves, it makes the calls of its application. They are grouped into *stages*. A
//! stage is either a group of calls whose requests are all sent at once, or one call whose requests are sent one after
//! another. A stage starts when all requests of the previous one have been answered.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::index::ApplicationIndex;
use crate::scenario::{ApplicationPlan, Routing, Scenario};

/// The maximum number of applications in a chain of calls.
pub(crate) const DEPTH_MAX: usize = 32;

/// The maximum number of requests that one client request may cause, itself included.
pub(crate) const REQUESTS_MAX: f64 = 10_000.0;

/// The order of the requests of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CallOrder {
    /// Each request is sent when the previous one has been answered.
    Sequence,
    /// All requests are sent at once.
    Parallel,
}

impl CallOrder {
    /// The name of the order in scenarios and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            CallOrder::Sequence => "sequence",
            CallOrder::Parallel => "parallel",
        }
    }
}

/// Requests that an instance sends to another application for each request that it serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The called application.
    pub application: ApplicationIndex,
    /// The number of requests for each served request; positive.
    pub requests: u32,
}

/// Parallel calls, whose requests are all sent at once, or one call whose requests are sent one after another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// The order of the requests. A stage in sequence has one call.
    pub order: CallOrder,
    /// The calls.
    pub calls: Vec<Call>,
}

impl Stage {
    /// The number of requests of all calls together.
    pub fn requests(&self) -> u32 {
        self.calls.iter().map(|call| call.requests).sum()
    }
}

/// Groups calls into stages, in the given order. Each sequential call is a separate stage; consecutive parallel calls
/// form one stage.
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

    /// All calls with the application that makes them, by application and stage.
    pub fn calls(&self) -> impl Iterator<Item = (ApplicationIndex, Call)> {
        (0..)
            .map(ApplicationIndex)
            .zip(&self.applications)
            .flat_map(|(caller, plan)| plan.calls().map(move |call| (caller, call)))
    }

    /// Whether a client request to `first` causes requests to `application`: the two are the same, or `first` calls
    /// `application` directly or indirectly.
    pub fn leads_to(&self, first: ApplicationIndex, application: ApplicationIndex) -> bool {
        first == application
            || self.applications[first.position()].calls().any(|call| self.leads_to(call.application, application))
    }

    /// Whether the call graph is well-formed, has no cycle, and stays within the limits of depth and requests. If there
    /// are calls, the routing must also be `nearest`.
    pub fn calls_are_consistent(&self) -> bool {
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

    /// All applications in topological order: callers come before the applications that they call. Ties are broken by
    /// index.
    pub fn callers_first(&self) -> Vec<ApplicationIndex> {
        callers_first(&self.applications).expect("a scenario has no cycle of calls")
    }
}

/// All applications in topological order: callers come before the applications that they call. If the calls have a
/// cycle, returns one as the error: each application calls the next, and the last calls the first.
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

/// Returns a cycle among the applications whose number of remaining `callers` is above 0. There is one, because each of
/// them is called by one of them.
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

/// For each application, the number of applications in the longest chain of calls that starts with it. `callers_first`
/// is the order that the function of that name returns.
pub(crate) fn depths(plans: &[ApplicationPlan], callers_first: &[ApplicationIndex]) -> Vec<usize> {
    let mut depths = vec![1; plans.len()];
    for index in callers_first.iter().rev() {
        let below = plans[index.position()].calls().map(|call| depths[call.application.position()]).max();
        depths[index.position()] = 1 + below.unwrap_or(0);
    }
    depths
}

/// For each application, the number of requests that one client request to it causes, itself included.
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

    /// `count` applications. A call is given as caller, called application, and number of requests.
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
    fn callers_come_before_the_applications_they_call() {
        let plans = plans(5, &[(4, 2, 1), (2, 0, 3), (4, 0, 2), (3, 2, 5)]);
        let order = callers_first(&plans).expect("no cycle");
        assert_eq!(order, [1, 3, 4, 2, 0].map(ApplicationIndex));
        assert_eq!(requests_caused(&plans, &order), [1.0, 1.0, 4.0, 21.0, 7.0]);
        assert_eq!(depths(&plans, &order), [1, 1, 2, 3, 3]);
    }

    #[test]
    fn a_cycle_is_found_among_other_applications() {
        let plans = plans(6, &[(0, 1, 1), (1, 2, 1), (2, 4, 1), (4, 1, 1), (2, 3, 1), (4, 5, 1)]);
        let mut cycle = callers_first(&plans).expect_err("a cycle");
        let first = cycle.iter().position(|index| index.0 == 1).expect("it is on the cycle");
        cycle.rotate_left(first);
        assert_eq!(cycle, [1, 2, 4].map(ApplicationIndex));
    }

    #[test]
    fn consecutive_parallel_calls_are_one_stage() {
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
