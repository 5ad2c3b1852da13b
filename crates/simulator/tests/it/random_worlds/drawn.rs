//! Draws random worlds.

use mario_domain::{
    Application, ApplicationId, Capacity, Duration, Fact, FactValue, Hardware, Id, NodeId, Quantity, Time,
};
use mario_scenario::{
    AgentTiming, ApplicationIndex, ApplicationPlan, Arbitration, Deploy, Disturbance, DisturbanceEvent, Fidelity,
    Memory, Metric, MobileUser, Network, NodeDescription, NodeIndex, Numbering, Observation, Occupancy, PolicyIndex,
    Position, Routing, Scenario, Topology, TopologyBuilder, UserIndex, UserPlan, Workload,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::texts;
use crate::world;

/// Draws the world with this number.
pub fn draw(number: u64) -> Scenario {
    let mut dice = Dice(Pcg64::seed_from_u64(number));
    let mut scenario = world::scenario(dice.topology());
    scenario.name = format!("world {number}");
    scenario.seed = number;
    dice.timing(&mut scenario);
    dice.strategies(&mut scenario);
    dice.applications(&mut scenario);
    dice.managers(&mut scenario);
    dice.users(&mut scenario);
    dice.disturbances(&mut scenario);
    scenario
}

struct Dice(Pcg64);

impl Dice {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// True with probability 1 / `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..to)
    }

    fn span(&mut self, from: f64, to: f64) -> Duration {
        Duration::of(self.between(from, to))
    }

    /// A time within the run: arbitrary, or in one of three cases a multiple of a period, when other events happen.
    fn time(&mut self, scenario: &Scenario) -> Time {
        if self.once_in(3) {
            let period = self.of(&[scenario.management_period, scenario.agents.period, scenario.step]);
            let periods = (self.span(0.0, scenario.duration.units()) / period).floor();
            return (Time::ZERO + period * periods).min(scenario.end());
        }
        Time::ZERO + self.span(0.0, scenario.duration.units())
    }

    fn node(&mut self, scenario: &Scenario) -> NodeIndex {
        NodeIndex::at(self.below(scenario.topology.node_count()))
    }

    fn topology(&mut self) -> Topology {
        let nodes = if self.once_in(8) { 1 } else { 2 + self.below(11) };
        let mut builder = TopologyBuilder::default();
        for number in 0..nodes {
            let id = match number {
                3 => self.of(&["n3", "two words", "it's", "[]", "Rome"]).to_owned(),
                _ => format!("n{number}"),
            };
            let id = if number == 5 { NodeId::number(-3) } else { NodeId::name(&id).expect("a name") };
            let capacity = match self.below(12) {
                0 | 1 => Capacity::units(0),
                2 => Capacity::Unbounded,
                _ => Capacity::units(1 + self.below(6) as u64),
            };
            let (latitude, longitude) = (self.between(41.0, 42.0), self.between(12.0, 13.0));
            let facts = if self.once_in(4) {
                let subject = id.id().clone();
                let value = FactValue::name(self.of(&["eu", "us"])).expect("a name");
                vec![Fact { subject, key: Id::name("region").expect("a name"), value }]
            } else {
                Vec::new()
            };
            let is_access_point = number + 1 == nodes || !self.once_in(3);
            let position = (!self.once_in(4)).then_some(Position { latitude, longitude });
            let node = NodeDescription { id, capacity, tier: 0, position, is_access_point, facts };
            builder.node(node).expect("a new node");
        }
        for (one, other) in self.links(nodes) {
            let latency = match self.below(3) {
                0 => self.of(&[0.0, 0.5, 20.0]),
                1 => self.of(&[1.0, 2.0, 3.0]),
                _ => self.between(0.1, 12.0),
            };
            let bandwidth = self.once_in(4).then(|| self.between(0.1, 4.0));
            builder.link(NodeIndex::at(one), NodeIndex::at(other), Duration::of(latency), bandwidth).expect("a link");
        }
        builder.build().expect("an infrastructure")
    }

    /// A line, a star, a tree, a grid, or an arbitrary graph.
    fn links(&mut self, nodes: usize) -> Vec<(usize, usize)> {
        match self.below(5) {
            0 => (1..nodes).map(|node| (node - 1, node)).collect(),
            1 => (1..nodes).map(|node| (0, node)).collect(),
            2 => (1..nodes).map(|node| (self.below(node), node)).collect(),
            3 => {
                let across = (1..nodes).filter(|node| node % 3 != 0).map(|node| (node - 1, node));
                across.chain((3..nodes).map(|node| (node - 3, node))).collect()
            }
            // Some nodes may have no links.
            _ => {
                let pairs = (0..nodes).flat_map(|other| (0..other).map(move |one| (one, other)));
                pairs.filter(|_| self.once_in(3)).collect()
            }
        }
    }

    fn timing(&mut self, scenario: &mut Scenario) {
        let period = Duration::of(self.of(&[200.0, 100.0, 33.3, 47.0]));
        scenario.agents = AgentTiming { start: Time::at(self.of(&[0.0, 100.0, 17.5])), period, budget: None };
        scenario.management_period = Duration::of(self.of(&[100.0, 200.0, 350.0, 21.7, 33.3]));
        // Runs are short, because a policy that always replicates doubles the instances at each evaluation.
        let slowest = period.max(scenario.management_period);
        scenario.duration = slowest * self.of(&[3.0, 6.0, 7.5]);
        scenario.step = scenario.duration / self.of(&[1.0, 2.5, 4.0]);
        scenario.redeploy_delay = self.of(&[None, Some(0.0), Some(30.0), Some(150.0)]).map(Duration::of);
        scenario.network = Network {
            message_size: self.of(&[1.0, 3.5]),
            occupancy: self.of(&[Occupancy::Latency, Occupancy::Transmission]),
            fidelity: Fidelity::Messages,
        };
    }

    fn strategies(&mut self, scenario: &mut Scenario) {
        scenario.observation = self.of(&[Observation::Arrivals, Observation::RouteEntries]);
        scenario.routing =
            self.of(&[Routing::Nearest(Metric::Hops), Routing::Nearest(Metric::Latency), Routing::LeastUsed]);
        scenario.arbitration = self.of(&[Arbitration::Managers, Arbitration::Sequential]);
        scenario.memory = self.of(&[Memory::Sliding, Memory::Periodic { every: 5 }]);
        scenario.numbering = self.of(&[Numbering::Counted, Numbering::Shared]);
        // Traffic as rates supports neither the prototype's routing (`LeastUsed`) nor its observation.
        let is_by_rule = scenario.routing != Routing::LeastUsed && scenario.observation == Observation::Arrivals;
        if is_by_rule && self.once_in(4) {
            scenario.network.fidelity = Fidelity::Flow;
        }
    }

    fn applications(&mut self, scenario: &mut Scenario) {
        for number in 0..=self.below(4) {
            let policy = PolicyIndex::at(scenario.policies.len());
            let memory = self.of(&[0, 1, 2, 10]);
            scenario.policies.push(texts::policy(self.below(1_000), memory));
            let id = if self.once_in(3) {
                ApplicationId::number(number as i64)
            } else {
                ApplicationId::name(&format!("app{number}")).expect("a name")
            };
            let home = self.node(scenario);
            scenario.applications.push(ApplicationPlan {
                application: Application {
                    id,
                    owner: None,
                    hardware: Hardware::units(self.of(&[1, 1, 1, 2, 3, 0])),
                    max_rate: self.of(&[Quantity::whole(1), Quantity::whole(5), Quantity::whole(40)]),
                    max_latency: Quantity::fraction(self.of(&[0.0, 1.0, 2.5, 10.0])).expect("finite"),
                    flavours: Vec::new(),
                    sleep: None,
                },
                kind: self.of(&["WS", "LS"]).to_owned(),
                policy,
                service_time: Duration::of(self.of(&[0.01, 0.0, 1.0, 30.0])),
                facts: Vec::new(),
                home,
                is_anchor: home.0 % 3 == 1,
                stages: Vec::new(),
            });
            for _ in 0..=self.below(3) {
                let time = if self.once_in(2) { Time::ZERO } else { self.time(scenario) };
                let policy = PolicyIndex::at(self.below(scenario.policies.len()));
                let node = if self.once_in(2) { home } else { self.node(scenario) };
                scenario.deploys.push(Deploy { time, application: ApplicationIndex::at(number), node, policy });
            }
        }
        scenario.deploys.sort_by_key(|deploy| deploy.time);
    }

    fn managers(&mut self, scenario: &mut Scenario) {
        if self.once_in(3) {
            return;
        }
        scenario.acceptances = texts::acceptances();
        for place in 0..scenario.acceptance_of.len() {
            let acceptance = self.below(scenario.acceptances.len()) as u32;
            scenario.acceptance_of[place] = self.once_in(2).then_some(acceptance);
        }
    }

    fn users(&mut self, scenario: &mut Scenario) {
        let access_points: Vec<NodeIndex> = scenario.topology.access_points().collect();
        let steps = 1 + self.below(5);
        scenario.attachments.steps = vec![Vec::new(); steps];
        for user in 0..self.below(14) {
            let id = Id::number(user as i64);
            scenario.attachments.users.push(MobileUser { id, application: None });
            let workload = match self.below(4) {
                0 => Workload::Poisson { mean_period: self.span(5.0, 80.0) },
                1 => Workload::OnOff {
                    period: self.span(2.0, 30.0),
                    mean_on: self.span(10.0, 200.0),
                    mean_off: self.span(10.0, 200.0),
                },
                _ => Workload::Periodic {
                    period: Duration::of(self.of(&[40.0, 10.0, 7.3])),
                    phase: Duration::of(self.of(&[40.0, 0.0, 3.1])),
                },
            };
            let application = ApplicationIndex::at(self.below(scenario.applications.len()));
            scenario.users.push(UserPlan { application, workload });
            let mut now = None;
            for step in 0..steps {
                let wanted = match self.below(4) {
                    0 => now,
                    1 if step > 0 => None,
                    _ => Some(self.of(&access_points)),
                };
                if wanted != now {
                    scenario.attachments.steps[step].push((UserIndex::at(user), wanted));
                    now = wanted;
                }
            }
        }
    }

    /// Draws arbitrary events, including crashes of nodes that are already down and joins of nodes that are already up.
    fn disturbances(&mut self, scenario: &mut Scenario) {
        let count = if self.once_in(4) { 0 } else { self.below(16) };
        let links: Vec<(NodeIndex, NodeIndex)> = scenario
            .topology
            .nodes()
            .flat_map(|(node, _)| scenario.topology.links_from(node).map(move |(_, link)| (node, link.to)))
            .collect();
        for _ in 0..count {
            let (node, time) = (self.node(scenario), self.time(scenario));
            let link = if links.is_empty() { None } else { Some(self.of(&links)) };
            let event = match (self.below(8), link) {
                (0 | 1, Some((one, other))) => DisturbanceEvent::LinkDown(one, other),
                (2, Some((one, other))) => DisturbanceEvent::LinkUp(one, other),
                (3, _) => DisturbanceEvent::Leave(node),
                (4, _) => DisturbanceEvent::Notice(node),
                (5, _) => DisturbanceEvent::Join(node),
                _ => DisturbanceEvent::Crash(node),
            };
            if let DisturbanceEvent::Leave(node) = event {
                // A leave needs a notice.
                scenario.disturbances.push(Disturbance { time, event: DisturbanceEvent::Notice(node) });
            }
            scenario.disturbances.push(Disturbance { time, event });
            if self.once_in(2) {
                let later = time + self.span(0.0, (scenario.duration / 3.0).units());
                let repair = match event {
                    DisturbanceEvent::LinkDown(one, other) => DisturbanceEvent::LinkUp(one, other),
                    _ => DisturbanceEvent::Join(node),
                };
                scenario.disturbances.push(Disturbance { time: later, event: repair });
            }
        }
        scenario.disturbances.sort_by_key(|disturbance| disturbance.time);
    }
}
