//! Users who arrive, move and leave.

use mario_domain::Time;
use mario_scenario::{ApplicationIndex, NodeIndex, UserIndex};
use smallvec::SmallVec;

use super::{Event, Simulation, User};
use crate::flow::PREFETCHES;
use crate::recorder::Recorder;
use crate::routing::CellIndex;

impl Simulation<'_> {
    /// A step of mobility: users move or leave, and new users start to send. Schedules the next step.
    pub(super) fn step(&mut self, step: u32, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        let attachments = &self.scenario.attachments;
        if recorder.wants_traffic() {
            self.report_flow(now, recorder);
        }
        recorder.step(now, step as usize);
        if step as usize + 1 < attachments.step_count() {
            let next = Time::ZERO + self.scenario.step * f64::from(step + 1);
            self.queue.schedule(next, Event::Step(step + 1));
        }
        let mut generated = std::mem::take(&mut self.scratch.changes);
        let users = &self.users;
        let changes =
            attachments.changes(step, &mut self.users_due, |user| users[user.position()].wanted, &mut generated);
        if step == 0 {
            let client = |(user, wanted): &(UserIndex, Option<NodeIndex>)| {
                Some((users[user.position()].application, (*wanted)?))
            };
            let clients = changes.iter().filter_map(client).collect();
            if let Some((flow, router, mut world)) = self.flowing() {
                flow.expect(clients, router, &mut world);
            }
        }
        for changes in changes.chunks(PREFETCHES) {
            self.prefetch_moves(changes);
            for (user, wanted) in changes {
                self.users[user.position()].wanted = *wanted;
                self.connect(*user, recorder);
                if wanted.is_none() {
                    self.end_sending(*user);
                }
            }
        }
        for (user, _) in changes {
            self.begin_sending(*user);
        }
        self.scratch.changes = generated;
        self.settle_calls();
        self.watch_over_applications();
    }

    /// Prefetches the state that these moves will change, if traffic is modelled as rates and the state is large.
    fn prefetch_moves(&mut self, changes: &[(UserIndex, Option<NodeIndex>)]) {
        if !self.flow.as_ref().is_some_and(|flow| flow.is_large()) {
            return;
        }
        let (users, paths) = (&self.users, &self.paths);
        let moving = changes.iter().filter_map(|(user, wanted)| {
            let is_known = |node: &NodeIndex| paths.is_node_up(*node) && users[user.position()].next_emission.is_some();
            wanted.filter(is_known).map(|node| (*user, users[user.position()].application, node))
        });
        let moving: SmallVec<[(UserIndex, ApplicationIndex, NodeIndex); PREFETCHES]> = moving.collect();
        if let Some((flow, router, world)) = self.flowing() {
            let moves = moving.into_iter().map(|(user, application, node)| (user, router.cell(application, node)));
            flow.prefetch_moves(
                &moves.collect::<SmallVec<[(UserIndex, CellIndex); PREFETCHES]>>(),
                world.routing.paths,
            );
        }
    }

    /// Connects a user to the wanted access point or, if that is down, to the nearest one that is up. Disconnects the
    /// user if none is wanted or none is up.
    pub(super) fn connect(&mut self, index: UserIndex, recorder: &mut impl Recorder) {
        let user = &self.users[index.position()];
        let to = user.wanted.and_then(|wanted| self.working_access_point(wanted));
        let from = user.access_point;
        if from != to {
            self.users[index.position()].access_point = to;
            self.router.user_moved(index);
            recorder.handover(self.queue.now(), index, from, to);
            self.connect_flow(index);
        }
    }

    /// Starts the requests of a user who has arrived and does not send yet: schedules the first one or, if traffic is
    /// modelled as rates, adds their rate.
    fn begin_sending(&mut self, index: UserIndex) {
        let now = self.queue.now();
        let user = &mut self.users[index.position()];
        if user.wanted.is_some() && user.next_emission.is_none() {
            let first = user.emitter.first(now);
            user.next_emission = Some(first);
            self.take_shared_number();
            if let Some(flow) = &mut self.flow {
                flow.begin_user(index, self.scenario.users[index.position()].workload, first, now);
                self.connect_flow(index);
            } else {
                self.queue.schedule(first, Event::Emission(index));
            }
        }
    }

    /// Stops the requests of a user who has left. A request that is already scheduled is not sent.
    fn end_sending(&mut self, index: UserIndex) {
        self.users[index.position()].next_emission = None;
        if let Some(flow) = &mut self.flow {
            flow.end_user(index, self.queue.now());
        }
    }

    /// Adapts traffic to the connection of a user, if it is modelled as rates and the user sends.
    fn connect_flow(&mut self, index: UserIndex) {
        let User { application, access_point, next_emission, .. } = self.users[index.position()];
        if let Some((flow, router, mut world)) = self.flowing()
            && next_emission.is_some()
        {
            let cell = access_point.map(|access_point| router.cell(application, access_point));
            flow.connect(index, cell, router, &mut world);
        }
    }

    /// The wanted access point if it is up, else the nearest one that is up. Access points whose distance is unknown,
    /// because a position is missing, come last; the tie-break is the order of nodes. `None` if none is up.
    fn working_access_point(&self, wanted: NodeIndex) -> Option<NodeIndex> {
        if self.paths.is_node_up(wanted) {
            return Some(wanted);
        }
        let topology = &self.scenario.topology;
        let position = topology.node(wanted).position;
        let working = topology.access_points().filter(|node| self.paths.is_node_up(*node));
        let distance = |node: NodeIndex| match (position, topology.node(node).position) {
            (Some(here), Some(there)) => here.distance_m(there),
            _ => f64::INFINITY,
        };
        working.min_by(|one, other| distance(*one).total_cmp(&distance(*other)).then(one.cmp(other)))
    }
}
