//! Random knowledge bases with small numbers of names and values, so that ties occur.

use std::fmt::Write as _;

use mario_policy::{Constant, KnowledgeBase};
use mario_prolog::{Symbols, Value};
use mario_testing::Random;

/// An argument of a generated fact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    Name(&'static str),
    Integer(i64),
    Float(f64),
}

use Argument::{Float, Integer, Name};

/// `self` and neighbours: integers, and names with digits and capitals, so that the standard order of terms matters.
pub const HOPS: [Argument; 7] =
    [Name("self"), Name("n1"), Name("n10"), Name("n2"), Integer(7), Integer(12), Name("Zone")];
pub const INSTANCES: [Argument; 3] = [Name("s1"), Integer(93), Name("a")];
const OPERATIONS: [Argument; 3] = [Name("migrate"), Name("replicate"), Name("undeploy")];
const LATENCIES: [Argument; 7] =
    [Integer(0), Integer(1), Integer(10), Integer(10), Integer(11), Float(10.5), Integer(25)];

/// The node that the instance is on.
pub const OWN_NODE: Argument = Name("n42");

/// A generated knowledge base. `neighbour` is the only neighbour of the node in `node/3`.
pub struct Generated {
    pub instance: Argument,
    node: [Argument; 2],
    neighbour: Argument,
    services: Vec<[Argument; 4]>,
    requests: Vec<[Argument; 4]>,
    inhibited: Vec<[Argument; 3]>,
}

impl Generated {
    pub fn new(random: &mut Random) -> Generated {
        let instance = random.pick(&INSTANCES);
        let application = random.pick(&[Name("app1"), Integer(4)]);
        let hardware = Integer(random.below(4_u64) as i64);
        let service = [
            application,
            hardware,
            random.pick(&[Integer(0), Integer(5), Integer(10), Integer(40)]),
            random.pick(&[Integer(0), Integer(1), Integer(10), Integer(10), Float(10.0)]),
        ];
        let hops = 1 + random.below(HOPS.len() as u64) as usize;
        let start = random.below(HOPS.len() as u64) as usize;
        let count = random.pick(&[0, 1, 1, 2, 2, 3, 4, 5, 8, 12]);
        // Few different rates, sometimes only one, so that ties occur.
        let rates: &[i64] = random.pick(&[&[0, 1, 5, 6][..], &[5], &[0], &[1, 2, 3, 20]]);
        let requests = (0..count)
            .map(|_| {
                let hop = HOPS[(start + random.below(hops as u64) as usize) % HOPS.len()];
                [instance, hop, Integer(random.pick(rates)), random.pick(&LATENCIES)]
            })
            .collect();
        let remembered = random.pick(&[0, 0, 1, 2, 10]);
        let inhibited = (0..remembered)
            .map(|_| {
                // About one in eight gets a random instance, to test that policies ignore inhibitions of others.
                let whose = if random.below(8) == 0 { random.pick(&INSTANCES) } else { instance };
                [random.pick(&OPERATIONS), whose, random.pick(&HOPS)]
            })
            .collect();
        let node = [OWN_NODE, Integer(random.below(5_u64) as i64)];
        let other = [Name("other"), Integer(1), Integer(1), Integer(1)];
        Generated { instance, node, neighbour: HOPS[1], services: vec![service, other], requests, inhibited }
    }

    /// The same knowledge base with other names for nodes and instances.
    pub fn renamed(&self, node: impl Fn(Argument) -> Argument, instance: impl Fn(Argument) -> Argument) -> Generated {
        let requests =
            self.requests.iter().map(|[whose, hop, rate, latency]| [instance(*whose), node(*hop), *rate, *latency]);
        let inhibited =
            self.inhibited.iter().map(|[operation, whose, target]| [*operation, instance(*whose), node(*target)]);
        Generated {
            instance: instance(self.instance),
            node: [node(self.node[0]), self.node[1]],
            neighbour: node(self.neighbour),
            services: self.services.clone(),
            requests: requests.collect(),
            inhibited: inhibited.collect(),
        }
    }

    fn application(&self) -> Argument {
        self.services[0][0]
    }

    /// Replaces the facts of a knowledge base. Returns the instance that decides.
    pub fn fill(&self, symbols: &Symbols, facts: &mut KnowledgeBase) -> Constant {
        let constant = |argument| match argument {
            Name(name) => Value::Atom(symbols.intern(name)),
            Integer(value) => Value::Integer(value),
            Float(value) => Value::Float(value),
        };
        facts.clear();
        for service in &self.services {
            let [application, hardware, rate, latency] = service.map(constant);
            facts.push_service(application, hardware, rate, latency);
        }
        let [node, free] = self.node.map(constant);
        facts.push_node(node, free, [constant(self.neighbour)]);
        facts.push_instance(constant(self.instance), constant(self.application()), node);
        for request in &self.requests {
            let [instance, hop, rate, latency] = request.map(constant);
            facts.push_requests(instance, hop, rate, latency);
        }
        for inhibited in &self.inhibited {
            let [operation, instance, target] = inhibited.map(constant);
            facts.push_inhibited(operation, instance, target);
        }
        constant(self.instance)
    }

    /// Writes the facts as the Prolog term `kb(Instance, Facts)`. The neighbour is always written as `n1`, so the
    /// knowledge base must not be a renamed one.
    pub fn write(&self, text: &mut String) {
        let _ = write!(text, "kb({},[", shown(self.instance));
        let [node, free] = self.node.map(shown);
        let _ = write!(text, "node({node},{free}),node({node},{free},[n1])");
        let instance = shown(self.instance);
        let _ = write!(text, ",serviceInstance({instance},{},{node})", shown(self.application()));
        for service in &self.services {
            let _ = write!(text, ",service({})", service.map(shown).join(","));
        }
        for request in &self.requests {
            let _ = write!(text, ",requests({})", request.map(shown).join(","));
        }
        for inhibited in &self.inhibited {
            let _ = write!(text, ",inhibited({})", inhibited.map(shown).join(","));
        }
        text.push_str("]).\n");
    }
}

fn shown(argument: Argument) -> String {
    match argument {
        Name(name) => format!("'{name}'"),
        Integer(value) => value.to_string(),
        Float(value) => format!("{value:?}"),
    }
}
