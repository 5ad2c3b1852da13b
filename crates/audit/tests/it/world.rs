//! A tiny simulator that writes correct traces and shares no code with mario's simulator.

mod management;
mod policy;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use mario_testing::Random;
use serde_json::{Value, json};

use self::policy::{POLICY, solutions, target_name};
use crate::trace::Trace;

/// The acceptance policy of node 1 under the default rules. It rejects replicas of application `b`.
const ACCEPTANCE: &str = "reject(request(replicate, _, b, _, n1), 'no copies of b').";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Arbitration by managers, sliding memory, observation of arrivals.
    Default,
    /// As in the prototype: sequential arbitration, periodic memory, observation of route entries.
    Prototype,
}

struct Node {
    capacity: Option<u64>,
    is_up: bool,
    is_leaving: bool,
    parent: Option<usize>,
}

#[derive(Clone)]
struct Instance {
    id: u64,
    application: usize,
    node: usize,
    born: u64,
    evaluations: u64,
    remembered: Vec<(u64, Value)>,
    pending: Option<Value>,
    last: Option<Value>,
}

struct World {
    random: Random,
    rules: Rules,
    nodes: Vec<Node>,
    broken: Vec<(usize, usize)>,
    instances: Vec<Instance>,
    users: Vec<Option<usize>>,
    next_id: u64,
    records: Vec<Value>,
    totals: BTreeMap<&'static str, u64>,
    was_first_connected: bool,
    /// The sum of the first user's response times.
    waited: f64,
    /// For each application, the number of evaluations of its agents and the sum of the rates that they saw.
    usage: [(u64, u64); 2],
}

const HARDWARE: [u64; 2] = [1, 2];
const MEMORY: [u64; 2] = [0, 3];
const EVALUATION_PERIOD: u64 = 200;

/// A correct trace of a random world.
pub fn generate(seed: u64, rules: Rules) -> Trace {
    let mut world = World::new(seed, rules);
    let header = world.header(seed);
    world.begin();
    let mut time = 100;
    while time < 4000 {
        world.disturb(time - 50);
        if time % 400 == 0 {
            world.move_users(time);
        }
        world.evaluate(time);
        world.cycle(time);
        time += 100;
    }
    world.end(4000);
    Trace { header, records: world.records }
}

impl World {
    fn new(seed: u64, rules: Rules) -> World {
        let mut random = Random::new(seed);
        let count = 5 + random.below(6);
        let nodes = (0..count)
            .map(|index| Node {
                capacity: (index > 0).then(|| 1 + random.number() % 4),
                is_up: true,
                is_leaving: false,
                parent: (index > 0).then(|| random.below(index)),
            })
            .collect();
        let users = vec![None; 4];
        World {
            random,
            rules,
            nodes,
            broken: Vec::new(),
            instances: Vec::new(),
            users,
            next_id: 1,
            records: Vec::new(),
            totals: BTreeMap::new(),
            was_first_connected: false,
            waited: 0.0,
            usage: [(0, 0); 2],
        }
    }

    fn header(&self, seed: u64) -> Value {
        let nodes: Vec<Value> = (0..self.nodes.len())
            .map(|index| {
                let neighbours: Vec<usize> = (0..self.nodes.len()).filter(|other| self.linked(index, *other)).collect();
                let capacity = self.nodes[index].capacity.map_or(json!("unbounded"), Value::from);
                let mut node =
                    json!({"id": format!("n{index}"), "capacity": capacity, "tier": 0, "neighbours": neighbours});
                if self.is_access_point(index) {
                    node["access_point"] = true.into();
                }
                if index == 1 && self.rules == Rules::Default {
                    node["acceptance"] = 0.into();
                }
                node
            })
            .collect();
        let application = |id: &str, place: usize| json!({"id": id, "hardware": HARDWARE[place], "max_rate": 10, "max_latency": 2.5, "kind": "WS", "policy": place});
        let policy =
            |name: &str, memory: u64| json!({"name": name, "memory": memory, "files": [["policy.pl", POLICY]]});
        let (arbitration, memory, every, observation) = match self.rules {
            Rules::Default => ("managers", "sliding", None, "arrivals"),
            Rules::Prototype => ("sequential", "periodic", Some(5), "route-entries"),
        };
        json!({
            "mario_trace": 1, "program": "a test", "scenario": "tiny", "seed": seed, "duration": 4000, "step": 400,
            "evaluation_period": EVALUATION_PERIOD, "detail": "full", "observation": observation,
            "routing": "nearest", "arbitration": arbitration, "memory": memory, "forgets_every": every,
            "applications": [application("a", 0), application("b", 1)],
            "nodes": nodes, "facts": [{"subject": "n1", "key": "region", "value": "eu"}],
            "policies": [policy("forgetful", MEMORY[0]), policy("mindful", MEMORY[1])],
            "acceptances": [{"name": "no copies", "memory": 0, "files": [["manager.pl", ACCEPTANCE]]}],
            "users": (0..self.users.len()).map(|user| json!({"id": user, "application": user % 2})).collect::<Vec<_>>(),
        })
    }

    fn linked(&self, one: usize, other: usize) -> bool {
        self.nodes[one].parent == Some(other) || self.nodes[other].parent == Some(one)
    }

    fn reaches(&self, one: usize, other: usize) -> bool {
        let broken = self.broken.contains(&(one.min(other), one.max(other)));
        self.linked(one, other) && self.nodes[other].is_up && !broken
    }

    fn is_access_point(&self, node: usize) -> bool {
        !self.nodes.iter().any(|other| other.parent == Some(node))
    }

    fn used(&self, node: usize) -> u64 {
        let here = self.instances.iter().filter(|instance| instance.node == node);
        here.map(|instance| HARDWARE[instance.application]).sum()
    }

    fn free(&self, node: usize, promised: u64) -> Option<u64> {
        self.nodes[node].capacity.map(|capacity| capacity - self.used(node) - promised)
    }

    fn count(&mut self, name: &'static str, number: u64) {
        *self.totals.entry(name).or_default() += number;
    }

    fn create(&mut self, application: usize, node: usize, time: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.instances.push(Instance {
            id,
            application,
            node,
            born: time,
            evaluations: 0,
            remembered: Vec::new(),
            pending: None,
            last: None,
        });
        id
    }

    fn begin(&mut self) {
        for application in 0..2 {
            let id = self.create(application, 0, 100);
            self.records.push(json!(["deployed", 0, id, application, 0, application]));
        }
        for user in 0..3 {
            self.connect(user, 0);
        }
    }

    /// Connects a user to a random access point that is up, which may be the current one, or disconnects the user.
    fn connect(&mut self, user: usize, time: u64) {
        let points: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.nodes[*node].is_up && self.is_access_point(*node)).collect();
        let to = if points.is_empty() || self.random.one_in(8) {
            None
        } else {
            Some(points[self.random.below(points.len())])
        };
        if to != self.users[user] {
            self.records.push(json!(["handover", time, user, self.users[user], to]));
            self.users[user] = to;
            self.was_first_connected |= user == 0 && to.is_some();
            self.count("handovers", 1);
        }
    }

    fn move_users(&mut self, time: u64) {
        for user in 0..self.users.len() {
            if self.random.one_in(2) {
                self.connect(user, time);
            }
        }
        let (served, lost) = (self.random.number() % 50, self.random.number() % 3);
        // The first user sends all requests, and none is served before this user was first connected.
        let served = if self.was_first_connected { served } else { 0 };
        let (few, zero) = (served / 2, served - served / 2);
        let bins = [json!([null, zero]), json!([2, few])];
        let bins: Vec<Value> = bins.into_iter().filter(|bin| bin[1] != 0).collect();
        self.records.push(json!(["responses", time, 0, served, lost, 1.5 * few as f64, bins]));
        self.count("served", served);
        self.count("lost", lost);
        self.waited += 1.5 * few as f64;
    }

    fn disturb(&mut self, time: u64) {
        let node = 1 + self.random.below(self.nodes.len() - 1);
        if !self.nodes[node].is_up {
            if self.random.one_in(3) {
                self.nodes[node].is_up = true;
                self.records.push(json!(["node-up", time, node]));
            }
            return;
        }
        if self.nodes[node].is_leaving || self.random.one_in(12) {
            let is_announced = self.nodes[node].is_leaving;
            if !is_announced && self.random.one_in(2) {
                self.nodes[node].is_leaving = true;
                self.records.push(json!(["node-leaving", time, node]));
                return;
            }
            let gone: Vec<u64> = self.instances.iter().filter(|here| here.node == node).map(|here| here.id).collect();
            self.instances.retain(|instance| instance.node != node);
            let cause = if is_announced { "leave" } else { "crash" };
            self.records.push(json!(["node-down", time, node, cause, gone]));
            self.nodes[node].is_up = false;
            self.nodes[node].is_leaving = false;
            for user in 0..self.users.len() {
                if self.users[user] == Some(node) {
                    self.records.push(json!(["handover", time, user, node, null]));
                    self.users[user] = None;
                    self.count("handovers", 1);
                }
            }
        } else if self.random.one_in(15) {
            let link = (self.nodes[node].parent.expect("not the root"), node);
            if let Some(position) = self.broken.iter().position(|broken| *broken == link) {
                self.broken.remove(position);
                self.records.push(json!(["link-up", time, link.0, link.1]));
            } else {
                self.broken.push(link);
                self.records.push(json!(["link-down", time, link.1, link.0]));
            }
        }
    }

    /// Random requests that reach an instance, in standard order.
    fn requests(&mut self, node: usize) -> Vec<(Option<usize>, u64, u64)> {
        let mut sources: Vec<Option<usize>> = match self.rules {
            Rules::Default => (0..self.nodes.len()).filter(|other| self.linked(node, *other)).map(Some).collect(),
            // The path of a route entry may have any other node as its last hop.
            Rules::Prototype => (0..self.nodes.len()).filter(|other| *other != node).map(Some).collect(),
        };
        sources.push(None);
        let mut facts = Vec::new();
        for source in sources {
            for latency in [0, 3, 6] {
                if self.random.one_in(5) {
                    facts.push((source, 1 + self.random.number() % 25, latency));
                }
            }
        }
        let name = |source: Option<usize>| source.map_or("self".to_owned(), |node| format!("n{node}"));
        facts.sort_by(|one, other| match name(one.0).cmp(&name(other.0)) {
            Ordering::Equal => (one.1, one.2).cmp(&(other.1, other.2)),
            different => different,
        });
        facts
    }

    fn evaluate(&mut self, time: u64) {
        for index in 0..self.instances.len() {
            let instance = &self.instances[index];
            if time <= instance.born || !(time - instance.born).is_multiple_of(EVALUATION_PERIOD) {
                continue;
            }
            let (id, node, number) = (instance.id, instance.node, instance.evaluations + 1);
            let facts = match &instance.last {
                // In some evaluations, the requests are the same as in the last one.
                Some(last) if id % 3 == 0 && number % 4 != 0 && last[0] == json!(node) => last[2].clone(),
                _ => json!(self.requests(node).iter().map(fact).collect::<Vec<_>>()),
            };
            let instance = &mut self.instances[index];
            if self.rules == Rules::Default {
                let length = MEMORY[instance.application];
                instance.remembered.retain(|(evaluation, _)| evaluation + length >= number);
            }
            let mut inhibited: Vec<Value> = instance.remembered.iter().map(|(_, proposal)| proposal.clone()).collect();
            if self.rules == Rules::Default {
                inhibited.sort_by_key(|proposal| (proposal[0].to_string(), target_name(&proposal[1])));
                inhibited.dedup();
            }
            let near: Vec<usize> = (0..self.nodes.len()).filter(|other| self.reaches(node, *other)).collect();
            let (solutions, ending) = solutions(&facts, &inhibited, node, &near);
            let instance = &mut self.instances[index];
            instance.evaluations = number;
            if self.rules == Rules::Prototype && number > 1 && (number - 1) % 5 == 0 {
                instance.remembered.clear();
            }
            let first = solutions.first().cloned();
            instance.pending = Some(match first {
                Some(solution) if solution[0] != "invalid" => json!([solution[0], solution[1]]),
                _ => json!("nop"),
            });
            let free = self.free(node, 0).map_or(json!("unbounded"), Value::from);
            let mut seen = json!([node, free, facts, inhibited, solutions]);
            if let Some(ending) = ending {
                seen.as_array_mut().expect("a list").push(ending.into());
            }
            let record = if self.instances[index].last.as_ref() == Some(&seen) {
                json!(["evaluation", time, id, node, free, "same"])
            } else {
                let mut record = vec![json!("evaluation"), json!(time), json!(id)];
                record.extend(seen.as_array().expect("a list").iter().cloned());
                Value::Array(record)
            };
            let rates = seen[2].as_array().expect("a list").iter().map(|fact| fact[1].as_u64().expect("a rate"));
            let (evaluations, requests) = &mut self.usage[self.instances[index].application];
            *evaluations += 1;
            *requests += rates.sum::<u64>();
            self.instances[index].last = Some(seen);
            self.records.push(record);
            self.count("evaluations", 1);
        }
    }

    fn end(&mut self, time: u64) {
        let total = |name: &str| self.totals.get(name).copied().unwrap_or(0);
        for (application, (evaluations, requests)) in self.usage.iter().enumerate() {
            self.records.push(json!(["usage", time, application, evaluations, *requests as f64 / 10.0]));
        }
        for user in 0..self.users.len() {
            let (served, lost, sum) =
                if user == 0 { (total("served"), total("lost"), self.waited) } else { (0, 0, 0.0) };
            self.records.push(json!(["client", time, user, served, lost, sum]));
        }
        self.records.push(json!(["end", time, {
            "evaluations": total("evaluations"), "operations": total("operations"), "inhibited": total("inhibited"),
            "handovers": total("handovers"), "served": total("served"), "lost": total("lost"),
            "instances": self.instances.len(),
        }]));
    }
}

fn fact((source, rate, latency): &(Option<usize>, u64, u64)) -> Value {
    json!([source.map_or(json!("self"), Value::from), rate, latency])
}
