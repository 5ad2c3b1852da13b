//! Calls between applications, as rates.
//!
//! For each request that an instance serves, it sends the requests of its calls from its own node. They belong to the
//! *cell* of the called application at that node (see [`Nearest`](crate::routing::Nearest)), and take the same routes
//! as the requests of users in that cell. So whenever routes or users have changed, rates are propagated through the
//! call graph, callers first. Rates are whole multiples of a small fraction of a request, so that sums do not depend on
//! the order of summation.
//!
//! The duration of calls is integrated over time for each calling instance, as waiting is for servers ([`Load`]): the
//! mean over a span is the difference of two integrals, divided by the length of the span. Waiting is an approximation,
//! and so are three other things: a change of rates takes effect along the whole graph at once; requests sent in
//! parallel follow each other at the pace of the slowest server on their path; and later stages are sent even if an
//! earlier one fails.

mod report;
mod settle;
mod waiting;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{Duration, Time};
use mario_scenario::{ApplicationIndex, Call, CallOrder, LinkIndex, Scenario, Stage};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::load::{LinkPath, Load, PathDelay};
use super::queue::Batch;
use super::world::Endpoint;
use crate::population::AgentIndex;
use crate::routing::{CellIndex, Route};

use super::{Flow, FlowWorld};

/// One request is divided into this many parts: rates are whole numbers of parts per period.
const PARTS: f64 = (1 << 20) as f64;

/// Requests per period, in parts. Always a whole number; an `f64` is exact up to 2^53.
type Parts = f64;

/// Calls between applications, as rates.
#[derive(Serialize, Deserialize)]
pub(super) struct CallFlow {
    /// For each application, its rank in the call graph, callers first.
    rank: Vec<u32>,
    /// For each application, the index of its first call.
    first_call: Vec<u32>,
    /// The instances of applications that call others, from the first time that requests are routed to them. Removed
    /// instances stay, without arrivals.
    callers: BTreeMap<AgentIndex, Caller>,
    /// The cells into which calls are sent.
    cells: BTreeMap<CellIndex, CallCell>,
    /// For each cell whose application calls others, the requests that its users send.
    users: BTreeMap<CellIndex, Contribution>,
    /// The work list, ordered callers first: by the rank of the application, then cells before instances.
    work_list: BTreeSet<(u32, WorkItem)>,
    /// Callers whose calls, or the routes of these calls, have changed. [`CallFlow::start`] stores the integrals from
    /// which their next accounting starts.
    to_start: BTreeSet<AgentIndex>,
    /// The results of the requests of each call.
    accounts: Vec<CallAccount>,
    /// The accounted requests that may still wait at overloaded servers, each with the index of its call.
    waiting: Vec<(usize, Batch)>,
}

/// An item of the work list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
enum WorkItem {
    Cell(CellIndex),
    Caller(AgentIndex),
}

/// The instances that receive the requests of a cell's users, and the rate at each of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Contribution {
    agents: SmallVec<[AgentIndex; 2]>,
    share: Parts,
}

/// An instance that makes calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Caller {
    /// The requests that reach the instance per period.
    arrivals: Parts,
    /// For each of its calls, the cell and the requests per period; empty while no requests arrive.
    entries: SmallVec<[Entry; 2]>,
    /// The time up to which its calls are accounted for.
    since: Time,
    /// The integral of the total call time of a request, up to `since`.
    called: f64,
    /// The integral of the share of requests that are lost because a call is lost, up to `since`.
    failed: f64,
}

/// The cell of a call, its requests per period, and the integrals at the last accounting: the means over its routes of
/// [`PathDelay::waited`] and [`PathDelay::failed`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    cell: CellIndex,
    amount: Parts,
    waited: f64,
    failed: f64,
}

/// The calls to one application from one node. `total` is the rate of their requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CallCell {
    total: Parts,
    /// The rate on each of the routes.
    share: Parts,
    routes: SmallVec<[CallRoute; 1]>,
    /// The calling instances, each with the number of its calls to the application.
    callers: BTreeMap<AgentIndex, u32>,
}

/// A route with a copy of its links, because the slots of paths are reused.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct CallRoute {
    endpoint: Endpoint,
    links: SmallVec<[LinkIndex; 8]>,
}

impl CallRoute {
    fn new(route: Route, world: &FlowWorld<'_>) -> CallRoute {
        CallRoute { endpoint: world.endpoint(route), links: SmallVec::from_slice(world.link_path(route).links) }
    }

    fn link_path(&self) -> LinkPath<'_> {
        LinkPath { links: &self.links, agent: self.endpoint.agent }
    }
}

/// The results of the requests of a call up to the last accounting. `response` is the sum of their response times.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct CallAccount {
    sent: f64,
    served: f64,
    lost: f64,
    response: f64,
    hops: f64,
}

/// The mean outcome of the requests of a call over a span.
struct MeanOutcome {
    time: f64,
    /// How much longer the last of several parallel requests takes than their mean.
    last: f64,
    failed: f64,
    hops: f64,
}

impl CallFlow {
    /// `None` if no application calls another.
    pub(super) fn new(scenario: &Scenario) -> Option<Box<CallFlow>> {
        if !scenario.has_calls() {
            return None;
        }
        let mut rank = vec![0; scenario.applications.len()];
        for (place, application) in (0..).zip(scenario.callers_first()) {
            rank[application.position()] = place;
        }
        let mut count = 0;
        let mut first_call = Vec::new();
        for plan in &scenario.applications {
            first_call.push(count);
            count += plan.calls().count() as u32;
        }
        Some(Box::new(CallFlow {
            rank,
            first_call,
            callers: BTreeMap::new(),
            cells: BTreeMap::new(),
            users: BTreeMap::new(),
            work_list: BTreeSet::new(),
            to_start: BTreeSet::new(),
            accounts: vec![CallAccount::default(); count as usize],
            waiting: Vec::new(),
        }))
    }

    /// Whether restored calls are valid for a scenario.
    pub(super) fn is_consistent(
        &self,
        scenario: &Scenario,
        application_of: impl Fn(AgentIndex) -> ApplicationIndex,
    ) -> bool {
        let Some(fresh) = CallFlow::new(scenario) else { return false };
        let calls_of = |agent: AgentIndex| scenario.applications[application_of(agent).position()].calls().count();
        let is_caller = |(agent, caller): (&AgentIndex, &Caller)| {
            let are_calls = caller.entries.is_empty() || caller.entries.len() == calls_of(*agent);
            are_calls && calls_of(*agent) > 0 && caller.entries.iter().all(|entry| self.cells.contains_key(&entry.cell))
        };
        let are_known = |cell: &CallCell| cell.callers.keys().all(|agent| self.callers.contains_key(agent));
        self.rank == fresh.rank
            && self.first_call == fresh.first_call
            && self.accounts.len() == fresh.accounts.len()
            && self.callers.iter().all(is_caller)
            && self.cells.values().all(are_known)
            && self.is_acyclic(&application_of)
    }

    /// Whether every call goes to instances of a higher rank than that of the caller, so that following calls
    /// terminates.
    fn is_acyclic(&self, application_of: impl Fn(AgentIndex) -> ApplicationIndex) -> bool {
        let rank = |agent: AgentIndex| self.rank[application_of(agent).position()];
        self.cells.values().all(|cell| {
            let least = cell.routes.iter().map(|route| rank(route.endpoint.agent)).min();
            least.is_none_or(|least| cell.callers.keys().all(|caller| rank(*caller) < least))
        })
    }

    /// Adds the integrals of an instance's own calls to the delay of requests to it.
    fn complete(&self, delay: &mut PathDelay, agent: AgentIndex, walk: &Walk<'_>) {
        if let Some(caller) = self.callers.get(&agent) {
            let (called, failed) = self.until(caller, agent, walk);
            delay.waited += called;
            delay.failed += failed;
        }
    }

    /// The integrals, up to now, of the total call time of a request, and of the share of requests that are lost
    /// because a call is lost.
    fn until(&self, caller: &Caller, agent: AgentIndex, walk: &Walk<'_>) -> (f64, f64) {
        let span = (walk.context.now - caller.since).units();
        if span <= 0.0 || caller.entries.is_empty() {
            return (caller.called, caller.failed);
        }
        if let Some(known) = walk.until.borrow().get(&agent) {
            return *known;
        }
        let stages = walk.context.stages(agent);
        let (time, failed) = time_of(stages, &self.mean_outcomes(caller, stages, walk));
        let until = (caller.called + time * span, caller.failed + failed * span);
        walk.until.borrow_mut().insert(agent, until);
        until
    }

    /// The mean outcome of a request of each call of an instance, since the last accounting.
    fn mean_outcomes(&self, caller: &Caller, stages: &[Stage], walk: &Walk<'_>) -> Vec<MeanOutcome> {
        let span = (walk.context.now - caller.since).units();
        let calls = stages.iter().flat_map(|stage| stage.calls.iter().map(|call| (stage.order, call.requests)));
        let outcome = |(entry, (order, requests)): (&Entry, (CallOrder, u32))| {
            let Some(cell) = self.cells.get(&entry.cell) else { return MeanOutcome::LOST };
            let Some(delay) = self.delay(cell, walk) else { return MeanOutcome::LOST };
            let at_once = match order {
                CallOrder::Sequence => 0,
                CallOrder::Parallel => requests.div_ceil(cell.routes.len() as u32) - 1,
            };
            let last = if at_once > 0 { f64::from(at_once) * self.slowest(entry.cell, walk) } else { 0.0 };
            MeanOutcome {
                time: delay.takes.units() + (delay.waited - entry.waited) / span + last / 2.0,
                last: last / 2.0,
                failed: ((delay.failed - entry.failed) / span).clamp(0.0, 1.0),
                hops: delay.hops,
            }
        };
        caller.entries.iter().zip(calls).map(outcome).collect()
    }

    /// The longest time for which a request from a cell, or all requests of one call that are sent for it, occupy a
    /// single server.
    fn slowest(&self, index: CellIndex, walk: &Walk<'_>) -> f64 {
        if let Some(known) = walk.slowest.borrow().get(&index) {
            return *known;
        }
        let beyond_instance = |agent: AgentIndex| {
            let Some(caller) = self.callers.get(&agent) else { return 0.0 };
            let calls = walk.context.stages(agent).iter().flat_map(|stage| &stage.calls);
            let of_call = |(entry, call): (&Entry, &Call)| f64::from(call.requests) * self.slowest(entry.cell, walk);
            caller.entries.iter().zip(calls).map(of_call).fold(0.0, f64::max)
        };
        let of_route =
            |route: &CallRoute| walk.load.slowest(route.link_path()).max(beyond_instance(route.endpoint.agent));
        let routes = self.cells.get(&index).map_or(&[][..], |cell| &cell.routes);
        let slowest = routes.iter().map(of_route).fold(0.0, f64::max);
        walk.slowest.borrow_mut().insert(index, slowest);
        slowest
    }

    /// The mean delay of requests on the routes of a cell; `None` without routes.
    fn delay(&self, cell: &CallCell, walk: &Walk<'_>) -> Option<PathDelay> {
        PathDelay::mean(cell.routes.iter().map(|route| {
            let mut delay = walk.load.delay(route.link_path(), walk.context.now);
            self.complete(&mut delay, route.endpoint.agent, walk);
            delay
        }))
    }
}

/// Caches the results of one traversal of the call graph, during which nothing changes. Without the cache, the cost
/// could grow exponentially with the depth of the graph if several instances are equally near.
struct Walk<'a> {
    load: &'a Load,
    context: CallContext<'a>,
    /// The result of [`CallFlow::until`] for each instance visited.
    until: RefCell<BTreeMap<AgentIndex, (f64, f64)>>,
    /// The result of [`CallFlow::slowest`] for each cell visited.
    slowest: RefCell<BTreeMap<CellIndex, f64>>,
}

impl<'a> Walk<'a> {
    fn new(load: &'a Load, context: CallContext<'a>) -> Walk<'a> {
        Walk { load, context, until: RefCell::default(), slowest: RefCell::default() }
    }
}

impl MeanOutcome {
    const LOST: MeanOutcome = MeanOutcome { time: 0.0, last: 0.0, failed: 1.0, hops: 0.0 };
}

/// The context of a computation: the time, and the applications of agents.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'a> {
    pub(super) now: Time,
    pub(super) scenario: &'a Scenario,
    pub(super) population: &'a crate::population::Population,
}

impl<'a> CallContext<'a> {
    pub(super) fn of(world: &'a FlowWorld<'_>) -> CallContext<'a> {
        CallContext { now: world.now, scenario: world.scenario, population: world.routing.population }
    }

    fn stages(&self, agent: AgentIndex) -> &'a [Stage] {
        &self.scenario.applications[self.population.agent(agent).application().position()].stages
    }
}

/// The mean total time of the stages of calls of a request, and the share of requests that are lost because a call is
/// lost.
fn time_of(stages: &[Stage], outcomes: &[MeanOutcome]) -> (f64, f64) {
    let (mut time, mut kept) = (0.0, 1.0);
    let mut rest = outcomes;
    for stage in stages {
        let (of_stage, later) = rest.split_at(stage.calls.len().min(rest.len()));
        rest = later;
        time += match stage.order {
            CallOrder::Sequence => {
                of_stage.iter().map(|outcome| outcome.time).sum::<f64>() * f64::from(stage.requests())
            }
            CallOrder::Parallel => of_stage.iter().map(|outcome| outcome.time + outcome.last).fold(0.0, f64::max),
        };
        for (outcome, call) in of_stage.iter().zip(&stage.calls) {
            kept *= (1.0 - outcome.failed).powi(call.requests as i32);
        }
    }
    (time, 1.0 - kept)
}

impl Flow {
    /// Adds a request rate, which may be negative, to a path. Returns the delay of requests on it, including calls.
    pub(super) fn load_path(&mut self, path: LinkPath<'_>, rate: f64, context: CallContext<'_>) -> PathDelay {
        let mut delay = self.load.add(path, rate, context.now);
        if let Some(calls) = &self.calls {
            calls.complete(&mut delay, path.agent, &Walk::new(&self.load, context));
        }
        delay
    }

    /// Moves a request rate from one path to another. Returns the delays of requests on both, including calls.
    pub(super) fn shift_load(
        &mut self,
        from: LinkPath<'_>,
        to: LinkPath<'_>,
        rate: f64,
        context: CallContext<'_>,
    ) -> [PathDelay; 2] {
        let mut delays = self.load.shift(from, to, rate, context.now);
        if let Some(calls) = &self.calls {
            let walk = Walk::new(&self.load, context);
            for (delay, path) in delays.iter_mut().zip([from, to]) {
                calls.complete(delay, path.agent, &walk);
            }
        }
        delays
    }

    /// Adds a request rate, which may be negative, to the routes of a cell, split evenly. Returns the mean delay of a
    /// request; `None` without routes.
    pub(super) fn add_load(&mut self, index: CellIndex, rate: f64, world: &FlowWorld<'_>) -> Option<PathDelay> {
        let count = self.cells[index.position()].routes.len();
        let share = rate / count as f64;
        PathDelay::mean((0..count).map(|place| {
            let route = self.cells[index.position()].routes[place];
            self.load_path(world.link_path(route), share, CallContext::of(world))
        }))
    }

    /// The delay of requests on a path, including calls.
    pub(super) fn delay(&self, path: LinkPath<'_>, context: CallContext<'_>) -> PathDelay {
        let mut delay = self.load.delay(path, context.now);
        if let Some(calls) = &self.calls {
            calls.complete(&mut delay, path.agent, &Walk::new(&self.load, context));
        }
        delay
    }

    /// Whether applications call others.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls.is_some()
    }
}

/// Converts requests per unit of time into parts per period.
fn parts(rate: f64, window: Duration) -> Parts {
    (rate * window.units() * PARTS).round()
}

/// Converts parts into requests.
fn requests(parts: Parts) -> f64 {
    parts / PARTS
}
