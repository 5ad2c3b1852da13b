//! Traffic as rates: how many client requests reach which instance on which path, without sending individual messages.
//!
//! Between two changes of placement, attachment or infrastructure, traffic is regular, so the requests that reach an
//! instance in an evaluation period can be computed. The cost of traffic therefore depends on the number of changes,
//! not on the number of messages. While nothing queues, agents see exactly what they would see if messages were
//! simulated, except that random workloads, calls, and users with different periods who share several instances count
//! with mean rates. Queueing is estimated: it lengthens response times, but never delays what an agent sees.

mod account;
mod calls;
mod change;
mod cohort;
mod inflow;
mod load;
mod queue;
mod report;
mod restored;
mod round_robin;
mod schedule;
mod settle;
mod sleep;
mod waiting;
mod window;
mod world;

use std::collections::BTreeSet;

use mario_domain::{Duration, Time};
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario, UserIndex, Workload};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::placement::instances_expected;
use crate::population::{AgentIndex, Neighbour, RequestFact};
use crate::routing::{CellIndex, Nearest, Route};

use account::Accounts;
use calls::{CallContext, CallFlow};
use cohort::Cohort;
use inflow::{Inflows, Share};
pub(crate) use inflow::{Pattern, Recurrence};
use load::{LinkPath, Load, PathDelay};
use round_robin::{Members, RoundRobinIndex, RoundRobins};
use schedule::Schedule;
pub(crate) use settle::PREFETCHES;
use waiting::Waiting;
use window::Window;
use world::Endpoint;
pub(crate) use world::FlowWorld;

/// Traffic as rates.
#[derive(Serialize, Deserialize)]
pub(crate) struct Flow {
    window: Duration,
    accounts: Accounts,
    /// For each user, the cell of the user's requests; `None` while the user is not connected.
    cell_of_user: Vec<Option<CellIndex>>,
    cells: Vec<FlowCell>,
    inflows: Inflows,
    round_robins: RoundRobins,
    load: Load,
    /// The accounted requests that may still wait at overloaded servers.
    waiting: Waiting,
    /// Instances whose inflow the next [`Flow::settle`] drops, with the backlog of those that were removed. During that call, they are marked by index
    /// in `is_cleared`.
    cleared: Vec<AgentIndex>,
    is_cleared: Vec<bool>,
    stale: Vec<CellIndex>,
    /// Sleeping instances that are not allowed to wake. Their agents still see the requests that would have reached
    /// them.
    frozen: BTreeSet<AgentIndex>,
    /// Calls between applications; `None` if no application calls another.
    calls: Option<Box<CallFlow>>,
}

/// The users of one application at one access point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
struct FlowCell {
    /// The users. Those in the cohort come first.
    members: SmallVec<[UserIndex; 4]>,
    /// The members that share one accumulator. Empty unless the mode is [`Mode::Plain`].
    cohort: Cohort,
    /// The routes of the members' requests. Empty if no instance is reachable, and possibly while there are no members.
    routes: SmallVec<[Route; 2]>,
    mode: Mode,
}

/// How the requests of a cell's users are accounted for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum Mode {
    /// The requests reach no instance: the cell has no users, or no instance is reachable and all requests are lost.
    #[default]
    Idle,
    /// All requests go to one instance, and their number is the same in every period. Users in the cohort share an
    /// accumulator; other users have one each.
    Plain,
    /// Requests are counted by a round robin: several equally near instances share them, or their number varies from
    /// period to period.
    RoundRobin(RoundRobinIndex),
}

impl Flow {
    pub(crate) fn new(scenario: &Scenario) -> Flow {
        let (users, instances) = (scenario.users.len(), instances_expected(scenario));
        Flow {
            window: scenario.agents.period,
            accounts: Accounts::new(users, scenario.has_calls()),
            cell_of_user: vec![None; users],
            cells: Vec::new(),
            inflows: Inflows::with_capacity(instances),
            round_robins: RoundRobins::default(),
            load: Load::new(&scenario.topology, scenario.network, instances),
            waiting: Waiting::default(),
            cleared: Vec::new(),
            is_cleared: Vec::with_capacity(instances),
            stale: Vec::new(),
            frozen: BTreeSet::new(),
            calls: CallFlow::new(scenario),
        }
    }

    /// Adds an instance with this service time per request.
    pub(crate) fn add_instance(&mut self, service_time: Duration) {
        self.inflows.add();
        self.load.add_instance(service_time);
        self.is_cleared.push(false);
    }

    /// Drops the inflow of an instance at the next [`Flow::settle`]: it was removed or moved, or requests are routed to
    /// it again after it was frozen. If it was removed, the requests that wait for it are lost.
    pub(crate) fn clear_instance(&mut self, agent: AgentIndex) {
        self.cleared.push(agent);
    }

    /// Starts the requests of a user. They are lost until [`Flow::connect`] assigns a cell.
    pub(crate) fn begin_user(&mut self, user: UserIndex, workload: Workload, first: Time, now: Time) {
        self.accounts.begin(user, Schedule::new(workload, now, first), now);
    }

    /// Creates the initial cells. Routes are computed in cell order, so that their paths are stored in that order.
    pub(crate) fn expect(
        &mut self,
        clients: Vec<(ApplicationIndex, NodeIndex)>,
        router: &mut Nearest,
        world: &mut FlowWorld<'_>,
    ) {
        let count = router.expect(clients);
        // An estimate: users who move create about as many cells again.
        world.routing.paths.reserve(2 * count);
        self.cells.reserve_exact(2 * count);
        for cell in (0..count).map(CellIndex::at) {
            let routes = router.routes(cell, &mut world.routing).into();
            self.cells.push(FlowCell { routes, ..FlowCell::default() });
        }
    }

    /// Moves a sending user to `cell`. With `None`, the user is disconnected and further requests are lost.
    pub(crate) fn connect(
        &mut self,
        user: UserIndex,
        cell: Option<CellIndex>,
        router: &mut Nearest,
        world: &mut FlowWorld<'_>,
    ) {
        let before = std::mem::replace(&mut self.cell_of_user[user.position()], cell);
        if before == cell {
            return;
        }
        match before {
            Some(before) => {
                self.leave(before, user, world);
                self.note_users(before, router, world);
            }
            None => self.accounts.count(user, None, world.now),
        }
        if let Some(cell) = cell {
            if self.cells.len() <= cell.position() {
                self.cells.resize_with(cell.position() + 1, FlowCell::default);
            }
            if self.cells[cell.position()].routes.is_empty() {
                self.cells[cell.position()].routes = router.routes(cell, &mut world.routing).into();
            }
            self.join(cell, user, world);
            self.note_users(cell, router, world);
        }
    }

    /// Stops the requests of a disconnected user.
    pub(crate) fn end_user(&mut self, user: UserIndex, now: Time) {
        self.accounts.count(user, None, now);
        self.accounts.end(user);
    }

    fn join(&mut self, index: CellIndex, user: UserIndex, world: &FlowWorld<'_>) {
        let Some(schedule) = self.accounts.schedule(user) else { return };
        let cell = &mut self.cells[index.position()];
        match cell.mode {
            Mode::Plain if schedule.steady(self.window).is_some() => {
                cell.members.push(user);
                let route = cell.routes[0];
                let delay = self.load_path(world.link_path(route), schedule.rate(), CallContext::of(world));
                let cell = &mut self.cells[index.position()];
                let place = cell.members.len() - 1;
                self.accounts.take(user, &delay);
                self.accounts.add_to_cohort(&mut cell.cohort, &mut cell.members, place, world.now);
                self.begin_stay(1, world.endpoint(route), schedule, world.now);
            }
            Mode::RoundRobin(round_robin) if cell.routes.len() > 1 => {
                cell.members.push(user);
                if let Some(delay) = self.add_load(index, schedule.rate(), world) {
                    self.accounts.take(user, &delay);
                }
                self.change_round_robin(index, round_robin, world);
            }
            _ => {
                self.close(index, world);
                self.cells[index.position()].members.push(user);
                self.open(index, world);
            }
        }
    }

    fn leave(&mut self, index: CellIndex, user: UserIndex, world: &FlowWorld<'_>) {
        let Some(schedule) = self.accounts.schedule(user) else { return };
        self.keep_waiting_of_leaver(index, user, world);
        let cell = &mut self.cells[index.position()];
        let is_other = |member: &mut UserIndex| *member != user;
        match cell.mode {
            Mode::Plain => {
                let route = cell.routes[0];
                if self.accounts.is_in_cohort(user) {
                    self.accounts.leave(user, &cell.cohort);
                    cell.cohort.leave();
                }
                cell.members.retain(is_other);
                if cell.members.is_empty() {
                    cell.mode = Mode::Idle;
                }
                let delay = self.load_path(world.link_path(route), -schedule.rate(), CallContext::of(world));
                self.end_stay(1, world.endpoint(route), schedule, world.now);
                self.accounts.count(user, Some(&delay), world.now);
            }
            Mode::RoundRobin(round_robin) if cell.routes.len() > 1 => {
                cell.members.retain(is_other);
                let delay = self.add_load(index, -schedule.rate(), world);
                self.accounts.count(user, delay.as_ref(), world.now);
                self.change_round_robin(index, round_robin, world);
            }
            _ => {
                self.close(index, world);
                self.cells[index.position()].members.retain(is_other);
                self.open(index, world);
            }
        }
    }

    /// Prefetches the state of these agents. The return value only keeps the reads from being optimised away.
    pub(crate) fn prefetch(&self, agents: &[AgentIndex]) -> u32 {
        self.inflows.prefetch(agents, &self.round_robins)
    }

    /// The neighbours through which the steady part of the requests reaches an instance.
    pub(crate) fn neighbours(&self, agent: AgentIndex) -> impl Iterator<Item = Neighbour> {
        self.inflows.neighbours(agent)
    }

    /// Whether an agent's facts may differ from those of its last evaluation. Always true for a parked agent.
    pub(crate) fn may_change(&self, agent: AgentIndex) -> bool {
        self.inflows.may_change(agent)
    }

    /// The recurring pattern of an agent's facts, which repeats until the next change; `None` if no pattern is known,
    /// during the first pass through it, and for a parked agent.
    pub(crate) fn pattern(&self, agent: AgentIndex) -> Option<Pattern> {
        self.inflows.pattern(agent)
    }

    /// Parks an agent: its facts are not computed until they change, or until it is unparked.
    pub(crate) fn park(&mut self, agent: AgentIndex) {
        self.inflows.park(agent);
    }

    /// Unparks an agent. Its facts continue with `pattern`, unless they have changed.
    pub(crate) fn unpark(&mut self, agent: AgentIndex, pattern: Pattern) {
        self.inflows.unpark(agent, pattern);
    }

    /// Moves the parked agents whose facts have changed to the end of `to_unpark`.
    pub(crate) fn take_to_unpark(&mut self, to_unpark: &mut Vec<AgentIndex>) {
        self.inflows.take_to_unpark(to_unpark);
    }

    /// Reads the facts of the last period. Overwrites `facts` only for [`Recurrence::First`] and [`Recurrence::New`].
    pub(crate) fn facts(&mut self, agent: AgentIndex, now: Time, facts: &mut Vec<RequestFact>) -> Recurrence {
        self.inflows.facts(agent, Window { length: self.window, now }, &mut self.round_robins, facts)
    }

    /// Stops routing the requests of a cell's users, and accounts for those sent so far.
    fn close(&mut self, index: CellIndex, world: &FlowWorld<'_>) {
        self.keep_waiting_of(index, None, world);
        let cell = &mut self.cells[index.position()];
        match std::mem::take(&mut cell.mode) {
            Mode::Idle => {
                let members = std::mem::take(&mut cell.members);
                self.count(&members, None, world.now);
                self.cells[index.position()].members = members;
            }
            Mode::Plain => {
                let route = cell.routes[0];
                self.part(index, world.link_path(route), world.endpoint(route), CallContext::of(world));
            }
            Mode::RoundRobin(round_robin) => {
                let members = std::mem::take(&mut cell.members);
                self.end_round_robin(index, round_robin, world);
                let delay = self.add_load(index, -self.rate(&members), world);
                self.count(&members, delay.as_ref(), world.now);
                self.cells[index.position()].members = members;
            }
        }
    }

    fn count(&mut self, users: &[UserIndex], delay: Option<&PathDelay>, now: Time) {
        for user in users {
            self.accounts.count(*user, delay, now);
        }
    }

    /// The part of [`Flow::close`] for a cell whose mode was [`Mode::Plain`]: dissolves its cohort, and accounts for
    /// its users.
    fn part(&mut self, index: CellIndex, path: LinkPath<'_>, from: Endpoint, context: CallContext<'_>) {
        let now = context.now;
        let rate = self.rate_of(index);
        let cell = &mut self.cells[index.position()];
        let (members, cohort) = (std::mem::take(&mut cell.members), std::mem::take(&mut cell.cohort));
        let delay = self.load_path(path, -rate, context);
        let (together, others) = members.split_at(cohort.users() as usize);
        if !together.is_empty() {
            self.end_stay(cohort.users(), from, cohort.schedule(), now);
        }
        for user in together {
            self.accounts.leave(*user, &cohort);
        }
        for user in others {
            if let Some(schedule) = self.accounts.schedule(*user) {
                self.end_stay(1, from, schedule, now);
            }
        }
        self.count(&members, Some(&delay), now);
        self.cells[index.position()].members = members;
    }

    /// Starts to route the requests of a cell's users and to account for them. Does nothing without users or routes.
    fn open(&mut self, index: CellIndex, world: &FlowWorld<'_>) {
        let cell = &self.cells[index.position()];
        if cell.members.is_empty() || cell.routes.is_empty() {
            return;
        }
        let is_plain = cell.routes.len() == 1
            && self.sending(&cell.members).all(|(_, schedule)| schedule.steady(self.window).is_some());
        let mut members = std::mem::take(&mut self.cells[index.position()].members);
        if let Some(delay) = self.add_load(index, self.rate(&members), world) {
            for user in &members {
                self.accounts.take(*user, &delay);
            }
        }
        if is_plain {
            let mut cohort = Cohort::default();
            for place in 0..members.len() {
                self.accounts.add_to_cohort(&mut cohort, &mut members, place, world.now);
            }
            let to = world.endpoint(self.cells[index.position()].routes[0]);
            self.begin_stays(&members, &cohort, to, world.now);
            let cell = &mut self.cells[index.position()];
            (cell.mode, cell.cohort) = (Mode::Plain, cohort);
        }
        self.cells[index.position()].members = members;
        if !is_plain {
            self.begin_round_robin(index, 0, world);
        }
    }

    /// Adds the requests of a cell's users to the inflow of an instance, from now on.
    fn begin_stays(&mut self, members: &[UserIndex], cohort: &Cohort, to: Endpoint, now: Time) {
        let others = &members[cohort.users() as usize..];
        if cohort.users() > 0 {
            self.begin_stay(cohort.users(), to, cohort.schedule(), now);
        }
        for user in others {
            if let Some(schedule) = self.accounts.schedule(*user) {
                self.begin_stay(1, to, schedule, now);
            }
        }
    }

    /// Adds the requests of `users` users with one schedule to the inflow of an instance, from now on.
    fn begin_stay(&mut self, users: u32, to: Endpoint, schedule: Schedule, now: Time) {
        self.inflows.change(to.agent).join(users, to.path, schedule, Window { length: self.window, now });
    }

    /// Removes the requests of `users` users with one schedule from the inflow of an instance, from now on.
    fn end_stay(&mut self, users: u32, from: Endpoint, schedule: Schedule, now: Time) {
        // A cleared inflow has nothing to remove, and that of a frozen instance stays.
        if !self.is_cleared[from.agent.position()] && !self.frozen.contains(&from.agent) {
            self.inflows.change(from.agent).leave(users, from.path, schedule, Window { length: self.window, now });
        }
    }

    /// Restarts the round robin of a cell after its users have changed. The instance with the next turn stays the same.
    fn change_round_robin(&mut self, index: CellIndex, round_robin: RoundRobinIndex, world: &FlowWorld<'_>) {
        let turn = self.round_robins.get(round_robin).turn_at(world.now);
        self.end_round_robin(index, round_robin, world);
        if self.cells[index.position()].members.is_empty() {
            self.cells[index.position()].mode = Mode::Idle;
        } else {
            self.begin_round_robin(index, turn, world);
        }
    }

    fn begin_round_robin(&mut self, index: CellIndex, turn: u64, world: &FlowWorld<'_>) {
        let members = self.participants(index, world.now);
        let cell = &mut self.cells[index.position()];
        let round_robin =
            self.round_robins.begin(members, Window { length: self.window, now: world.now }, turn, cell.routes.len());
        cell.mode = Mode::RoundRobin(round_robin);
        for (place, route) in (0..).zip(&cell.routes) {
            let Endpoint { agent, path } = world.endpoint(*route);
            let share = Share { path, round_robin, place, cells: 1, cycle: None };
            self.inflows.change(agent).join_round_robin(share, &mut self.round_robins);
        }
    }

    fn end_round_robin(&mut self, index: CellIndex, round_robin: RoundRobinIndex, world: &FlowWorld<'_>) {
        let ended = self.round_robins.end(round_robin, world.now);
        let window = Window { length: self.window, now: world.now };
        let rate = if self.frozen.is_empty() { 0.0 } else { self.rate(&self.cells[index.position()].members) };
        for (place, route) in (0..).zip(&self.cells[index.position()].routes) {
            let Endpoint { agent, path } = world.endpoint(*route);
            let inflow = self.inflows.change(agent);
            if let Some(ended) = ended {
                let share = Share { path, round_robin, place, cells: 1, cycle: None };
                inflow.leave_round_robin(share, ended, &mut self.round_robins);
            }
            if self.frozen.contains(&agent) {
                let rate = rate / self.cells[index.position()].routes.len() as f64;
                inflow.join(1, path, Schedule::Mean { arrival: world.now, rate }, window);
            }
        }
        if let Some(ended) = ended {
            self.round_robins.release(ended);
        }
    }

    /// Those of `users` who send, with their schedules.
    fn sending(&self, users: &[UserIndex]) -> impl Iterator<Item = (UserIndex, Schedule)> {
        users.iter().filter_map(|user| self.accounts.schedule(*user).map(|schedule| (*user, schedule)))
    }

    /// The requests of these users per unit of time.
    fn rate(&self, users: &[UserIndex]) -> f64 {
        self.sending(users).map(|(_, schedule)| schedule.rate()).sum()
    }

    /// The requests of a cell's users per unit of time.
    fn rate_of(&self, index: CellIndex) -> f64 {
        let FlowCell { members, cohort, .. } = &self.cells[index.position()];
        cohort.rate() + self.rate(&members[cohort.users() as usize..])
    }

    /// The sending users of a cell, ordered by their next send time, which is `now` for users who send at random times;
    /// ties go to the latest arrival, then to the lower index.
    fn participants(&self, index: CellIndex, now: Time) -> Members {
        let mut takers: SmallVec<[(UserIndex, Schedule); 4]> =
            self.sending(&self.cells[index.position()].members).collect();
        let first = |taker: &(UserIndex, Schedule)| taker.1.first_from(now).unwrap_or(now);
        takers.sort_by(|one, other| {
            let arrival = |taker: &(UserIndex, Schedule)| self.accounts.arrival(taker.0);
            first(one).cmp(&first(other)).then(arrival(other).cmp(&arrival(one))).then(one.0.cmp(&other.0))
        });
        let period = |schedule: &Schedule| match schedule {
            Schedule::Exact { period, .. } => Some(*period),
            Schedule::Mean { .. } => None,
        };
        let common = takers.first().and_then(|taker| period(&taker.1));
        let is_common = takers.iter().all(|taker| period(&taker.1) == common);
        match common {
            Some(period) if is_common => Members::Regular { firsts: takers.iter().map(first).collect(), period },
            _ => Members::Mixed(takers.into_iter().map(|taker| taker.1).collect()),
        }
    }

    /// The numbers of cells and of round robins.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.cells.len(), self.round_robins.len())
    }
}
