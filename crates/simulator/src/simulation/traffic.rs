//! Client requests as messages: sending, transport and service.

use mario_scenario::{Routing, UserIndex};

use super::{Event, Origin, QueuedRequest, Simulation};
use crate::network::{Message, MessageIndex};
use crate::population::AgentIndex;
use crate::recorder::{Recorder, ServedCall};
use crate::routing::Client;

impl Simulation<'_> {
    /// Sends a client request of a user along the current route, and schedules the user's next one. Without a route,
    /// the request is lost.
    pub(super) fn emit(&mut self, index: UserIndex, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        let user = &mut self.users[index.position()];
        if user.next_emission != Some(now) {
            // The user left, and perhaps returned, after this event was scheduled.
            return;
        }
        let next = user.emitter.next(now);
        user.next_emission = Some(next);
        let (application, access_point) = (user.application, user.access_point);
        self.statistics.emitted += 1;
        let route = access_point.and_then(|access_point| {
            let client = Client { user: index, access_point, application };
            let (router, mut context) = self.routing();
            router.route(client, &mut context)
        });
        match route {
            Some(route) => {
                let origin = Origin::User(index);
                let message = Message { emitted: now, origin, agent: route.agent, path: route.path, hops: 0 };
                let message = self.messages.add(message);
                self.arrive(message);
            }
            None => {
                self.count_loss(application);
                recorder.lost(now, index, application);
            }
        }
        self.queue.schedule(next, Event::Emission(index));
    }

    /// Queues a message that has reached a node, to be handled by the next [`Event::Handling`].
    pub(super) fn arrive(&mut self, message: MessageIndex) {
        if self.arriving.is_empty() {
            self.queue.schedule(self.queue.now(), Event::Handling);
        }
        self.arriving.push_back(message);
    }

    pub(super) fn handle_messages(&mut self, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        while let Some(index) = self.arriving.pop_front() {
            let message = self.messages.get(index);
            let Some(link) = self.paths.link(message.path, message.hops) else {
                let message = *message;
                self.messages.remove(index);
                self.deliver(&message, recorder);
                continue;
            };
            if self.paths.carries(link) {
                message.hops += 1;
                let arrival = self.links.send(link, now);
                self.queue.schedule(arrival, Event::Arrival(index));
            } else {
                let (origin, agent) = (message.origin, message.agent);
                self.messages.remove(index);
                let application = match origin {
                    Origin::User(user) => self.users[user.position()].application,
                    Origin::Call { .. } => self.population.agent(agent).application(),
                };
                self.lose(origin, application, recorder);
            }
        }
    }

    /// Delivers a message at the end of its path: it is served or queued. It is lost if the instance has ended or
    /// moved, and forwarded or lost if the instance sleeps and is not allowed to wake.
    fn deliver(&mut self, message: &Message, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        let agent = self.population.agent(message.agent);
        // The prototype puts a request into the queue of the chosen instance, even if its path ends elsewhere.
        let is_there = match self.scenario.routing {
            Routing::Nearest(_) => agent.is_alive() && agent.node() == self.paths.end(message.path),
            Routing::LeastUsed => agent.is_alive(),
        };
        if !is_there {
            let application = agent.application();
            self.lose(message.origin, application, recorder);
            return;
        }
        self.observations.arrived(message.agent, message.path, &self.paths);
        let waiting = QueuedRequest {
            origin: message.origin,
            access_point: self.paths.origin(message.path),
            emitted: message.emitted,
            arrived: now,
        };
        if self.population.agent(message.agent).is_asleep() && !self.wake_by_message(message, recorder) {
            return;
        }
        if self.instances[message.agent.position()].is_busy {
            self.instances[message.agent.position()].waiting.push_back(waiting);
        } else {
            self.serve(message.agent, waiting, recorder);
        }
    }

    fn serve(&mut self, agent: AgentIndex, waiting: QueuedRequest, recorder: &mut impl Recorder) {
        let started = self.queue.now();
        let application = self.population.agent(agent).application();
        let ended = started + self.scenario.applications[application.position()].service_time;
        self.instances[agent.position()].is_busy = true;
        self.observations.taken_up(agent, waiting.access_point);
        let QueuedRequest { origin, emitted, arrived, .. } = waiting;
        self.take_up(origin, ServedCall { application, agent, emitted, arrived, started, ended }, recorder);
        self.queue.schedule(ended, Event::ServiceEnd(agent));
    }

    /// Ends the service of a client request, or the start of a woken instance, and starts serving the next request.
    pub(super) fn end_service(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) {
        let service = &mut self.instances[agent.position()];
        service.is_busy = false;
        if let Some(waiting) = service.waiting.pop_front() {
            self.serve(agent, waiting, recorder);
        }
    }

    /// Removes an instance; the requests in its queue and its pending requests are lost.
    pub(super) fn end_instance(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) {
        let application = self.population.agent(agent).application();
        let service = std::mem::take(&mut self.instances[agent.position()]);
        for waiting in service.waiting {
            self.lose(waiting.origin, application, recorder);
        }
        self.lose_pending_of(agent, recorder);
        self.observations.remove(agent);
    }
}
