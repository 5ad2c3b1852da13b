//! Instances that sleep, and the client requests that wake them.
//!
//! If messages are simulated, a sleeping instance that receives a request asks the manager of its node whether it may
//! wake. If the instance is not allowed to wake, the request is forwarded from its node to the nearest instance that is
//! awake. After a refusal, the manager is asked again only after the agent's next evaluation.
//!
//! If traffic is modelled as rates, the first request arrives when the requests routed to a sleeping instance add up to
//! one. If the instance is not allowed to wake, no requests are routed to it until its next evaluation. Until
//! then, its agent sees the requests that would have reached it.

use std::collections::BTreeMap;

use mario_domain::{Duration, Time};
use mario_scenario::{Metric, NodeIndex, Routing, Scenario};
use serde::{Deserialize, Serialize};

use super::{Event, Simulation};
use crate::network::Message;
use crate::placement::Placement;
use crate::population::{AgentIndex, Population};
use crate::recorder::Recorder;

/// The sleeping instances, if traffic is modelled as rates.
#[derive(Serialize, Deserialize)]
pub(super) struct Sleepers {
    of_agent: BTreeMap<AgentIndex, Sleeper>,
    /// The placement of the instances that receive requests: all except sleepers that are not allowed to wake.
    routed: Placement,
}

/// A sleeping instance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sleeper {
    /// The number of requests routed to it until `since`. `rate` is the rate from then on, in requests per unit of
    /// time.
    requests: f64,
    rate: f64,
    since: Time,
    /// When the first request will reach it, unless the rate changes; `None` while the rate is zero.
    first: Option<Time>,
    /// Whether it is not allowed to wake, so that no requests are routed to it.
    is_out: bool,
}

/// Rates up to this value count as zero, because of rounding errors.
const NOTHING: f64 = 1e-9;

impl Sleepers {
    pub(super) fn new(scenario: &Scenario) -> Sleepers {
        let routed = Placement::new(scenario.applications.len(), scenario.topology.node_count());
        Sleepers { of_agent: BTreeMap::new(), routed }
    }

    /// The placement of the instances that receive requests.
    pub(super) fn routed(&self) -> &Placement {
        &self.routed
    }

    /// Whether restored sleepers are consistent with a population.
    pub(super) fn are_consistent(&self, population: &Population, scenario: &Scenario) -> bool {
        let is_sleeper = |(agent, _): (&AgentIndex, &Sleeper)| {
            let agent = population.agent(*agent);
            agent.is_alive() && agent.is_asleep()
        };
        let out = self.of_agent.values().filter(|sleeper| sleeper.is_out).count();
        let (applications, nodes) = (scenario.applications.len(), scenario.topology.node_count());
        self.of_agent.iter().all(is_sleeper) && self.routed.places_all_but(out, population, applications, nodes)
    }
}

impl Sleeper {
    fn new(now: Time) -> Sleeper {
        Sleeper { requests: 0.0, rate: 0.0, since: now, first: None, is_out: false }
    }

    /// Sets the rate of requests. Returns when the first request will reach the sleeper; `None` if the rate is the same
    /// as before, or zero.
    fn set_rate(&mut self, rate: f64, now: Time) -> Option<Time> {
        if rate.to_bits() == self.rate.to_bits() {
            return None;
        }
        self.requests += self.rate * (now - self.since).units();
        (self.rate, self.since) = (rate, now);
        let missing = Duration::of((1.0 - self.requests).max(0.0) / rate.max(NOTHING));
        self.first = (rate > NOTHING).then(|| now + missing);
        self.first
    }
}

impl Simulation<'_> {
    /// The start time of an instance.
    fn start_time(&self, agent: AgentIndex) -> Duration {
        let application = self.population.application(self.population.agent(agent).application());
        Duration::of(application.sleep.unwrap_or_default().start.value())
    }

    /// Asks the manager whether a sleeping instance may wake for a client request. Returns whether it is awake now.
    fn ask_to_wake(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) -> bool {
        let verdict = self.population.wake_by_request(agent, &mut self.judge);
        self.count_acceptances();
        recorder.woken(self.queue.now(), agent, &verdict, &self.population);
        verdict.is_accepted()
    }

    /// Starts a woken instance, which takes the start time of its application. Requests queue in the meantime. With
    /// simulated messages, an instance that is still serving a request from before its sleep starts without delay.
    fn start_workload(&mut self, agent: AgentIndex) {
        let (start, now) = (self.start_time(agent), self.queue.now());
        if let Some(flow) = &mut self.flow {
            flow.delay_instance(agent, start, now);
        } else if start > Duration::ZERO && !self.instances[agent.position()].is_busy {
            self.instances[agent.position()].is_busy = true;
            self.queue.schedule(now + start, Event::ServiceEnd(agent));
        }
    }

    /// Handles a message that has reached a sleeping instance. Returns whether the instance wakes, to serve the
    /// message. If not, the message is forwarded or lost.
    pub(super) fn wake_by_message(&mut self, message: &Message, recorder: &mut impl Recorder) -> bool {
        let agent = message.agent;
        let may_ask = !self.population.agent(agent).is_wake_refused();
        if may_ask && self.ask_to_wake(agent, recorder) {
            self.start_workload(agent);
            return true;
        }
        self.pass_on(message, recorder);
        false
    }

    /// Forwards a message from the node of a sleeper to the nearest instance that is awake. If none is reachable, the
    /// message is lost.
    fn pass_on(&mut self, message: &Message, recorder: &mut impl Recorder) {
        let asleep = self.population.agent(message.agent);
        let (application, from) = (asleep.application(), asleep.node());
        let metric = match self.scenario.routing {
            Routing::Nearest(metric) => metric,
            Routing::LeastUsed => Metric::Hops,
        };
        let Simulation { paths, placement, population, scenario, .. } = self;
        let awake = |agent: &&AgentIndex| !population.agent(**agent).is_asleep();
        let nearest = paths.nearest_by(&scenario.topology, from, metric, |node| {
            placement.on_node(application, node).iter().any(|agent| awake(&agent))
        });
        let route = nearest.and_then(|(node, path)| {
            let agent = placement.on_node(application, node).iter().find(awake)?;
            Some((*agent, path))
        });
        match route {
            Some((agent, path)) => {
                let index = self.messages.add(Message { agent, path, hops: 0, ..*message });
                self.arrive(index);
            }
            None => self.lose(message.origin, application, recorder),
        }
    }

    /// Tracks an instance that fell asleep, or arrived asleep, if traffic is modelled as rates.
    pub(super) fn fell_asleep(&mut self, agent: AgentIndex) {
        let now = self.queue.now();
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.of_agent.insert(agent, Sleeper::new(now));
        }
    }

    /// Stops tracking a sleeping instance that its agent woke, and starts it.
    pub(super) fn woke(&mut self, agent: AgentIndex) {
        self.route_again(agent);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.of_agent.remove(&agent);
        }
        self.start_workload(agent);
    }

    /// Adds a new instance to the placement.
    pub(super) fn placed(&mut self, agent: AgentIndex) {
        let placed = self.population.agent(agent);
        let (application, node) = (placed.application(), placed.node());
        self.placement.add(application, node, agent);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.routed.add(application, node, agent);
        }
    }

    /// Removes an instance from the placement. Returns whether requests were routed to it.
    pub(super) fn displaced(&mut self, agent: AgentIndex, node: NodeIndex) -> bool {
        let application = self.population.agent(agent).application();
        self.placement.remove(application, node, agent);
        let Some(sleepers) = &mut self.sleepers else { return true };
        let was_out = sleepers.of_agent.remove(&agent).is_some_and(|sleeper| sleeper.is_out);
        if !was_out {
            sleepers.routed.remove(application, node, agent);
        }
        !was_out
    }

    /// Updates the placement after an instance has moved. Returns whether requests were routed to it on the node that
    /// it left.
    pub(super) fn moved(&mut self, agent: AgentIndex, from: NodeIndex) -> bool {
        let moved = self.population.agent(agent);
        let (application, to, is_asleep) = (moved.application(), moved.node(), moved.is_asleep());
        self.placement.relocate(application, from, to, agent);
        let Some(sleepers) = &mut self.sleepers else { return true };
        let was_out = sleepers.of_agent.remove(&agent).is_some_and(|sleeper| sleeper.is_out);
        if was_out {
            sleepers.routed.add(application, to, agent);
        } else {
            sleepers.routed.relocate(application, from, to, agent);
        }
        if let Some(flow) = self.flow.as_mut().filter(|_| was_out) {
            flow.thaw(agent);
        }
        if is_asleep {
            self.fell_asleep(agent);
        }
        !was_out
    }

    /// Resumes routing to a sleeper that was excluded because it was not allowed to wake. Does nothing for other
    /// instances.
    fn route_again(&mut self, agent: AgentIndex) {
        let now = self.queue.now();
        let Some(sleepers) = &mut self.sleepers else { return };
        let Some(sleeper) = sleepers.of_agent.get_mut(&agent).filter(|sleeper| sleeper.is_out) else { return };
        *sleeper = Sleeper::new(now);
        let placed = self.population.agent(agent);
        let (application, node) = (placed.application(), placed.node());
        sleepers.routed.add(application, node, agent);
        if let Some(flow) = &mut self.flow {
            flow.thaw(agent);
            flow.clear_instance(agent);
        }
        let (router, context) = self.routing();
        router.instance_added(application, node, &context);
    }

    /// Routes requests again to sleepers whose agents have evaluated, so that they can ask to wake.
    pub(super) fn route_to_sleepers(&mut self) {
        let Some(sleepers) = &self.sleepers else { return };
        let may_ask = |(agent, sleeper): (&AgentIndex, &Sleeper)| {
            (sleeper.is_out && !self.population.agent(*agent).is_wake_refused()).then_some(*agent)
        };
        let back: Vec<AgentIndex> = sleepers.of_agent.iter().filter_map(may_ask).collect();
        for agent in &back {
            self.route_again(*agent);
        }
        if !back.is_empty() {
            self.settle_flow();
            self.expect_requests();
        }
    }

    /// Recomputes when the first requests reach sleepers, after rates may have changed.
    pub(super) fn expect_requests(&mut self) {
        let (Some(sleepers), Some(flow)) = (&mut self.sleepers, &self.flow) else { return };
        let now = self.queue.now();
        for (agent, sleeper) in sleepers.of_agent.iter_mut().filter(|(_, sleeper)| !sleeper.is_out) {
            if let Some(first) = sleeper.set_rate(flow.rate_at(*agent), now) {
                self.queue.schedule(first, Event::Request(*agent));
            }
        }
    }

    /// Handles the first request at a sleeper: wakes it or, if it is not allowed to wake, stops routing requests to it.
    /// Ignores an outdated event: the rate has changed since, or the instance woke, moved or ended.
    pub(super) fn requested(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        let Some(sleepers) = &mut self.sleepers else { return };
        let is_due = |sleeper: &Sleeper| sleeper.first == Some(now) && !sleeper.is_out;
        if !sleepers.of_agent.get(&agent).is_some_and(is_due) {
            return;
        }
        if self.ask_to_wake(agent, recorder) {
            if let Some(sleepers) = &mut self.sleepers {
                sleepers.of_agent.remove(&agent);
            }
            self.start_workload(agent);
            return;
        }
        let refused = self.population.agent(agent);
        let (application, node) = (refused.application(), refused.node());
        let Some(sleepers) = &mut self.sleepers else { return };
        if let Some(sleeper) = sleepers.of_agent.get_mut(&agent) {
            *sleeper = Sleeper { is_out: true, ..Sleeper::new(now) };
        }
        sleepers.routed.remove(application, node, agent);
        if let Some(flow) = &mut self.flow {
            flow.freeze(agent);
        }
        let (router, context) = self.routing();
        router.instance_removed(application, node, &context);
        self.settle_flow();
        self.expect_requests();
    }
}
