//! Traffic as rates: how many client requests reach which instance by which way, without sending them one by one.
//!
//! Between two changes of placement or attachment, traffic is regular: what reaches an instance in an evaluation period can
//! be counted. So the cost of a run follows its changes, not its messages. While nothing queues, agents see exactly what they
//! would see at the level of messages; waiting is estimated by the theory of queues and only lengthens response times, it
//! never delays what an agent sees.

mod inflow;
mod load;
mod schedule;
mod turns;

use mario_colony::{AgentIndex, ApplicationIndex, NodeIndex, RequestFact};

use crate::network::Links;
use crate::paths::PathIndex;
use crate::recorder::Recorder;
use crate::routing::{CellIndex, Nearest, Terrain};
use crate::scenario::{Scenario, Workload};

pub(crate) use inflow::Seen;
use inflow::{Inflows, Share, Stay, Way};
use load::{Carriers, Load};
use schedule::Schedule;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use turns::{Members, TurnsIndex, TurnsTable};

/// Traffic as rates.
#[derive(Serialize, Deserialize)]
pub(crate) struct Flow {
    window: f64,
    users: Vec<FlowUser>,
    cells: Vec<FlowCell>,
    inflows: Inflows,
    turns: TurnsTable,
    load: Load,
    hops: f64,
    /// Instances that are gone, or somewhere else.
    cleared: Vec<AgentIndex>,
    stale: Vec<CellIndex>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FlowUser {
    application: ApplicationIndex,
    workload: Workload,
    schedule: Option<Schedule>,
    cell: Option<CellIndex>,
    /// How often the user has come to an instance, and when last.
    stays: u32,
    since: f64,
    /// Until when the user's requests have been counted.
    counted: f64,
    /// What was counted and not told yet.
    served: f64,
    response: f64,
    lost: f64,
    /// Orders users whose requests are sent at the same time: who arrived later is first, then by number.
    arrival: f64,
}

/// The users of one application at one access point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FlowCell {
    members: SmallVec<[u32; 4]>,
    /// Where their requests go; not known while there are no members.
    ways: Ways,
    mode: Mode,
    /// When its users were counted last, and how much the backlogs on its ways had summed up to then.
    counted: f64,
    waited: f64,
}

/// Nearly always there is one.
type Ways = SmallVec<[CellWay; 1]>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct CellWay {
    agent: AgentIndex,
    path: PathIndex,
    way: Way,
}

/// How the users of a cell are counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum Mode {
    /// Not at all: there is nobody, or nothing can be reached.
    #[default]
    Idle,
    /// Each by itself, all to one instance.
    Plain,
    /// Together, as they take turns.
    Turns(TurnsIndex),
}

impl Flow {
    pub(crate) fn new(scenario: &Scenario) -> Flow {
        let users = scenario.users.iter().map(|plan| FlowUser {
            application: plan.application,
            workload: plan.workload,
            schedule: None,
            cell: None,
            stays: 0,
            since: 0.0,
            counted: 0.0,
            served: 0.0,
            response: 0.0,
            lost: 0.0,
            arrival: 0.0,
        });
        Flow {
            window: scenario.agents.period,
            users: users.collect(),
            cells: Vec::new(),
            inflows: Inflows::default(),
            turns: TurnsTable::default(),
            load: Load::new(scenario.topology.link_count()),
            hops: 0.0,
            cleared: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// A new instance.
    pub(crate) fn add_instance(&mut self) {
        self.inflows.add();
        self.load.add_instance();
    }

    /// An instance is gone, or somewhere else: what was on its way to it is lost. [`Flow::settle`] is to follow.
    pub(crate) fn clear_instance(&mut self, agent: AgentIndex) {
        self.cleared.push(agent);
    }

    /// A user begins to send.
    pub(crate) fn begin_user(&mut self, user: u32, first: f64, now: f64) {
        let state = &mut self.users[user as usize];
        state.schedule = Some(Schedule::new(state.workload, now, first));
        state.arrival = now;
        state.counted = now;
    }

    /// A user who sends is connected here now; `None` when the user is not connected.
    pub(crate) fn connect(
        &mut self,
        user: u32,
        to: Option<NodeIndex>,
        router: &mut Nearest,
        world: &mut FlowWorld<'_>,
    ) {
        let application = self.users[user as usize].application;
        let cell = to.map(|access_point| router.cell(application, access_point));
        let before = self.users[user as usize].cell;
        if before == cell {
            return;
        }
        match before {
            Some(before) => self.leave(before, user, world),
            None => self.account_user(user, None, world.now),
        }
        self.users[user as usize].cell = cell;
        if let Some(cell) = cell {
            if self.cells.len() <= cell as usize {
                self.cells.resize_with(cell as usize + 1, FlowCell::default);
            }
            if self.cells[cell as usize].ways.is_empty() {
                self.cells[cell as usize].ways = ways(router, cell, &mut world.terrain);
            }
            self.join(cell, user, world);
        }
    }

    /// A user sends no more.
    pub(crate) fn end_user(&mut self, user: u32) {
        self.users[user as usize].schedule = None;
    }

    fn join(&mut self, index: CellIndex, user: u32, world: &FlowWorld<'_>) {
        let Some(schedule) = self.users[user as usize].schedule else { return };
        let cell = &mut self.cells[index as usize];
        if matches!(cell.mode, Mode::Plain) && schedule.steady(self.window).is_some() {
            cell.members.push(user);
            let way = cell.ways[0];
            self.begin_stay(user, way, schedule, world.now);
            self.load.add(&way, schedule.rate(), world.carriers(&way));
        } else {
            self.change_members(index, world, |members| members.push(user));
        }
    }

    fn begin_stay(&mut self, user: u32, way: CellWay, schedule: Schedule, now: f64) {
        let state = &mut self.users[user as usize];
        state.stays += 1;
        state.since = now;
        let stay = Stay { user, number: state.stays };
        self.inflows.change(way.agent).join(stay, way.way, schedule, self.window, now);
    }

    fn end_stay(&mut self, user: u32, way: CellWay, schedule: Schedule, now: f64) {
        let state = &mut self.users[user as usize];
        let stay = Stay { user, number: state.stays };
        state.stays += 1;
        self.inflows.change(way.agent).leave(stay, way.way, schedule, self.window, [state.since, now]);
    }

    fn leave(&mut self, index: CellIndex, user: u32, world: &FlowWorld<'_>) {
        let Some(schedule) = self.users[user as usize].schedule else { return };
        if matches!(self.cells[index as usize].mode, Mode::Plain) {
            let toll = self.toll(index, world);
            self.account_user(user, toll, world.now);
            let cell = &mut self.cells[index as usize];
            cell.members.retain(|member| *member != user);
            let way = cell.ways[0];
            if cell.members.is_empty() {
                cell.mode = Mode::Idle;
            }
            self.end_stay(user, way, schedule, world.now);
            self.load.add(&way, -schedule.rate(), world.carriers(&way));
        } else {
            self.change_members(index, world, |members| members.retain(|member| *member != user));
        }
    }

    /// Instances came and went: cells whose routes are others now are routed anew.
    pub(crate) fn settle(&mut self, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let mut stale = std::mem::take(&mut self.stale);
        router.take_stale(&mut stale);
        stale.retain(|cell| (*cell as usize) < self.cells.len());
        for cell in &stale {
            self.close(*cell, world);
        }
        for agent in std::mem::take(&mut self.cleared) {
            self.inflows.change(agent).clear(&mut self.turns);
            self.load.clear_instance(agent);
        }
        for cell in &stale {
            // Of cells where nobody is, the routes are found when somebody comes.
            let is_deserted = self.cells[*cell as usize].members.is_empty();
            self.cells[*cell as usize].ways =
                if is_deserted { Ways::new() } else { ways(router, *cell, &mut world.terrain) };
            self.open(*cell, 0, world);
        }
        self.stale = stale;
    }

    /// Reads a little of what will be looked at for these agents, so that it is fetched from memory for all at once.
    pub(crate) fn glance(&self, agents: &[AgentIndex]) -> u32 {
        self.inflows.glance(agents, &self.turns, |user| self.users[user as usize].stays)
    }

    /// Whether an agent will see something else than what it saw last.
    pub(crate) fn is_moving(&self, agent: AgentIndex) -> bool {
        self.inflows.is_moving(agent)
    }

    /// What an agent sees now; `facts` are right for what it has not seen before.
    pub(crate) fn facts(&mut self, agent: AgentIndex, now: f64, facts: &mut Vec<RequestFact>) -> Seen {
        let users = &self.users;
        let is_present = |stay: Stay| users[stay.user as usize].stays == stay.number;
        self.inflows.facts(agent, [self.window, now], &mut self.turns, is_present, facts)
    }

    /// Tells the recorder what all users sent until now. Gives how many requests that were, and over how many links they went.
    pub(crate) fn tell(&mut self, world: &FlowWorld<'_>, recorder: &mut impl Recorder) -> (u64, u64) {
        for cell in 0..self.cells.len() {
            self.account(cell as CellIndex, world);
        }
        let mut emitted = 0;
        for user in 0..self.users.len() {
            if self.users[user].cell.is_none() {
                self.account_user(user as u32, None, world.now);
            }
            let state = &mut self.users[user];
            // Where only a mean is known, parts of requests wait until they are whole.
            let (served, lost) = (state.served.floor(), state.lost.floor());
            if served >= 1.0 {
                let mean = state.response / state.served;
                recorder.served_many(user as u32, state.application, served as u64, mean);
                state.served -= served;
                state.response = mean * state.served;
            }
            if lost >= 1.0 {
                recorder.lost_many(world.now, user as u32, state.application, lost as u64);
                state.lost -= lost;
            }
            emitted += served as u64 + lost as u64;
        }
        let hops = self.hops.floor();
        self.hops -= hops;
        (emitted, hops as u64)
    }

    /// What a request of a cell takes, on average since its users were counted last: time and links; `None` when it is lost.
    fn toll(&self, index: CellIndex, world: &FlowWorld<'_>) -> Option<(f64, f64)> {
        let cell = &self.cells[index as usize];
        let mut sum = (0.0, 0.0);
        for way in &cell.ways {
            let (time, hops) = self.load.travel(way, world.carriers(way));
            sum = (sum.0 + time, sum.1 + hops);
        }
        let span = world.now - cell.counted;
        if span > 0.0 {
            sum.0 += (self.waited(index, world) - cell.waited) / span;
        }
        let count = cell.ways.len() as f64;
        (count > 0.0).then(|| (sum.0 / count, sum.1 / count))
    }

    /// The backlogs on all ways of a cell, summed up over time until now.
    fn waited(&self, index: CellIndex, world: &FlowWorld<'_>) -> f64 {
        self.cells[index as usize].ways.iter().map(|way| self.load.waited(way, world.carriers(way))).sum()
    }

    /// From now on the users of a cell are counted anew.
    fn count_from_now(&mut self, index: CellIndex, world: &FlowWorld<'_>) {
        let waited = self.waited(index, world);
        let cell = &mut self.cells[index as usize];
        (cell.counted, cell.waited) = (world.now, waited);
    }

    fn account(&mut self, index: CellIndex, world: &FlowWorld<'_>) {
        if self.cells[index as usize].members.is_empty() {
            return;
        }
        let toll = self.toll(index, world);
        for position in 0..self.cells[index as usize].members.len() {
            self.account_user(self.cells[index as usize].members[position], toll, world.now);
        }
        self.count_from_now(index, world);
    }

    /// Counts what a user sent since it was last counted.
    fn account_user(&mut self, user: u32, toll: Option<(f64, f64)>, now: f64) {
        let state = &mut self.users[user as usize];
        let Some(schedule) = state.schedule else { return };
        let count = schedule.count(state.counted, now);
        state.counted = now;
        match toll {
            Some((time, hops)) => {
                state.served += count;
                state.response += count * time;
                self.hops += count * hops;
            }
            None => state.lost += count,
        }
    }

    /// Changes who is in a cell. Whose turn it is stays as it is.
    fn change_members(&mut self, cell: CellIndex, world: &FlowWorld<'_>, change: impl FnOnce(&mut SmallVec<[u32; 4]>)) {
        let turn = match &self.cells[cell as usize].mode {
            Mode::Turns(turns) => self.turns.get(*turns).turn_at(world.now),
            Mode::Idle | Mode::Plain => 0,
        };
        self.close(cell, world);
        change(&mut self.cells[cell as usize].members);
        self.open(cell, turn, world);
    }

    /// The users of a cell are counted no longer as they were.
    fn close(&mut self, index: CellIndex, world: &FlowWorld<'_>) {
        self.account(index, world);
        let now = world.now;
        let cell = &mut self.cells[index as usize];
        match std::mem::take(&mut cell.mode) {
            Mode::Idle => return,
            Mode::Plain => {
                let way = cell.ways[0];
                for position in 0..cell.members.len() {
                    let user = self.cells[index as usize].members[position];
                    if let Some(schedule) = self.users[user as usize].schedule {
                        self.end_stay(user, way, schedule, now);
                    }
                }
            }
            Mode::Turns(turns) => {
                self.turns.end(turns, now);
                for way in &self.cells[index as usize].ways {
                    self.inflows.change(way.agent);
                }
            }
        }
        self.put_load(index, -1.0, world);
    }

    /// The users of a cell are counted from now on.
    fn open(&mut self, index: CellIndex, turn: u64, world: &FlowWorld<'_>) {
        let now = world.now;
        let cell = &self.cells[index as usize];
        if cell.members.is_empty() || cell.ways.is_empty() {
            return;
        }
        let is_plain =
            cell.ways.len() == 1 && self.sending(index).all(|(_, schedule)| schedule.steady(self.window).is_some());
        if is_plain {
            let way = cell.ways[0];
            for position in 0..cell.members.len() {
                let user = self.cells[index as usize].members[position];
                if let Some(schedule) = self.users[user as usize].schedule {
                    self.begin_stay(user, way, schedule, now);
                }
            }
            self.cells[index as usize].mode = Mode::Plain;
        } else {
            let members = self.turn_takers(index, now);
            let cell = &mut self.cells[index as usize];
            let turns = self.turns.begin(members, [self.window, now], turn, cell.ways.len());
            for (place, way) in (0..).zip(&cell.ways) {
                self.inflows.change(way.agent).take_turns(Share { way: way.way, turns, place, cycle: None });
            }
            cell.mode = Mode::Turns(turns);
        }
        self.put_load(index, 1.0, world);
        self.count_from_now(index, world);
    }

    /// The users of a cell who send, and when.
    fn sending(&self, index: CellIndex) -> impl Iterator<Item = (u32, Schedule)> {
        let members = self.cells[index as usize].members.iter();
        members.filter_map(|user| self.users[*user as usize].schedule.map(|schedule| (*user, schedule)))
    }

    /// The users of a cell in the order in which they send from now on.
    fn turn_takers(&self, index: CellIndex, now: f64) -> Members {
        let mut takers: SmallVec<[(u32, Schedule); 4]> = self.sending(index).collect();
        let first = |taker: &(u32, Schedule)| taker.1.first_from(now).unwrap_or(now);
        takers.sort_by(|one, other| {
            let arrival = |taker: &(u32, Schedule)| self.users[taker.0 as usize].arrival;
            first(one).total_cmp(&first(other)).then(arrival(other).total_cmp(&arrival(one))).then(one.0.cmp(&other.0))
        });
        let period = |schedule: &Schedule| match schedule {
            Schedule::Exact { period, .. } => Some(period.to_bits()),
            Schedule::Mean { .. } => None,
        };
        let common = takers.first().and_then(|taker| period(&taker.1));
        let is_common = takers.iter().all(|taker| period(&taker.1) == common);
        match common.map(f64::from_bits) {
            Some(period) if is_common => Members::Regular { firsts: takers.iter().map(first).collect(), period },
            _ => Members::Mixed(takers.into_iter().map(|taker| taker.1).collect()),
        }
    }

    fn put_load(&mut self, index: CellIndex, sign: f64, world: &FlowWorld<'_>) {
        let rate: f64 = self.sending(index).map(|(_, schedule)| schedule.rate()).sum();
        let cell = &self.cells[index as usize];
        let share = sign * rate / cell.ways.len() as f64;
        for way in &cell.ways {
            self.load.add(way, share, world.carriers(way));
        }
    }
}

/// What the traffic goes through, at a moment.
pub(crate) struct FlowWorld<'a> {
    pub(crate) now: f64,
    pub(crate) scenario: &'a Scenario,
    pub(crate) links: &'a Links,
    pub(crate) terrain: Terrain<'a>,
}

impl FlowWorld<'_> {
    /// What the requests of a way go over now.
    fn carriers(&self, way: &CellWay) -> Carriers<'_> {
        let application = self.terrain.colony.agent(way.agent).application();
        let service_time = self.scenario.applications[application.position()].service_time;
        Carriers { paths: self.terrain.paths, links: self.links, service_time, now: self.now }
    }
}

/// The routes of a cell, with what agents see of them.
fn ways(router: &mut Nearest, cell: CellIndex, terrain: &mut Terrain<'_>) -> Ways {
    let routes = router.routes(cell, terrain);
    let way = |path| Way { neighbour: terrain.paths.last_hop(path), latency: terrain.paths.latency(path) };
    routes.iter().map(|route| CellWay { agent: route.agent, path: route.path, way: way(route.path) }).collect()
}
