//! Reproduces the prototype's four runs: each evaluation, operation and message, and the figures.

use mario_domain::{AgentOperation, Capacity, Id, Time};
use mario_policy::{Decision, Solution};
use mario_reference::{
    Activation, Evaluation, Facts, Judged, MESSAGES_PER_CHECKSUM, Message, Messages, Node, Operation, Proposal,
    RecordedRun,
};
use mario_scenario::{Document, NoFiles, NodeIndex, Scenario};
use mario_simulator::population::{AgentIndex, CycleLabel, Neighbour, Outcome, Population, Target};
use mario_simulator::{Figures, GroupFigures, Recorder, Reuse, RunOptions, Served, Simulation, Tally};

/// The preset with the recorded users and the policy of one of the runs.
fn scenario(policy: &str) -> Scenario {
    let mut document = Document::preset("prototype").expect("a preset");
    document.set(&["mobility.kind=recorded".to_owned()]);
    document.set_policy(policy);
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

struct Comparison {
    evaluations: std::vec::IntoIter<Evaluation>,
    activations: std::vec::IntoIter<Activation>,
    /// The count and checksums of the messages so far.
    messages: Messages,
    /// The count and checksums of the prototype's messages.
    expected: Messages,
    /// The prototype's individual messages, if the full records are available.
    rows: Option<std::vec::IntoIter<Message>>,
    nodes: Vec<Node>,
    /// The ids of the instances, by agent.
    instances: Vec<i64>,
    /// The numbers of compared evaluations and activations.
    compared: [usize; 2],
}

fn whole(value: f64) -> u32 {
    assert!(value.fract() == 0.0 && value >= 0.0, "{value} is no count");
    value as u32
}

fn operation(name: AgentOperation) -> Operation {
    let found = Operation::ALL.into_iter().find(|operation| operation.as_str() == name.as_str());
    found.expect("the prototype deploys at the beginning only")
}

fn node_named(name: &str) -> Node {
    Node::named(name).unwrap_or_else(|| panic!("`{name}` is no node of the prototype"))
}

fn proposals(agent: AgentIndex, population: &Population, decision: &Decision) -> Vec<Proposal> {
    let text = |constant| match constant {
        mario_prolog::Value::Atom(atom) => {
            population.policy(population.agent(agent).policy()).symbols().name(atom).to_owned()
        }
        _ => panic!("targets have names"),
    };
    let proposal = |solution: &Solution| match solution {
        Solution::Proposal(proposal) => {
            let target = text(proposal.target);
            let target = if target == "self" { None } else { Some(node_named(&target)) };
            Proposal { operation: operation(proposal.operation), target }
        }
        Solution::Invalid(invalid) => panic!("{invalid:?}"),
    };
    decision.solutions.iter().map(proposal).collect()
}

impl Comparison {
    fn new(scenario: &Scenario, policy: usize) -> Comparison {
        let recorded = RecordedRun::of_policy(policy);
        Comparison {
            evaluations: recorded.evaluations.into_iter(),
            activations: recorded.activations.into_iter(),
            messages: Messages::default(),
            expected: recorded.messages,
            rows: mario_reference::full_messages(policy).map(Vec::into_iter),
            nodes: scenario.topology.nodes().map(|(_, node)| node_named(&node.id.to_string())).collect(),
            instances: Vec::new(),
            compared: [0; 2],
        }
    }

    fn learn(&mut self, agent: AgentIndex, population: &Population) {
        let Id::Number(instance) = *population.instance(agent).id() else { panic!("instances have numbers") };
        assert_eq!(self.instances.len(), agent.position());
        self.instances.push(instance);
    }

    /// The target node. `self` is resolved to the agent's own node, as in the prototype's records.
    fn target(&self, target: &Target, own: NodeIndex) -> Node {
        match target {
            Target::Own => self.nodes[own.position()],
            Target::Node(node) => self.nodes[node.position()],
            Target::Unknown(id) => node_named(&id.to_string()),
            Target::Flavour(_) => panic!("the prototype has no flavours"),
        }
    }

    fn known_facts(&self, agent: AgentIndex, population: &Population) -> Facts {
        let acting = population.agent(agent);
        let neighbour = |neighbour: &Neighbour| match neighbour {
            Neighbour::Own => None,
            Neighbour::Node(node) => Some(self.nodes[node.position()]),
        };
        let requests = acting.requests().iter();
        let requests = requests.map(|fact| (neighbour(&fact.neighbour), whole(fact.rate), whole(fact.latency)));
        let memory = population.visible_memory(acting).into_iter();
        let inhibited = memory.map(|remembered| Proposal {
            operation: operation(remembered.operation),
            target: Some(self.target(&remembered.target, acting.node())),
        });
        let Capacity::Bounded(free) = population.node(acting.node()).manager().free() else {
            panic!("every node has a bound")
        };
        Facts {
            application: acting.application().0 + 1,
            node: self.nodes[acting.node().position()],
            free: free.as_units(),
            requests: requests.collect(),
            inhibited: inhibited.collect(),
            proposals: Vec::new(),
        }
    }

    fn judged(&self, outcome: &Outcome, population: &Population) -> Judged {
        let id = |agent: AgentIndex| match population.instance(agent).id() {
            Id::Number(instance) => *instance,
            Id::Name(_) => panic!("instances have numbers"),
        };
        match outcome {
            Outcome::Nop(agent) => Judged { instance: id(*agent), proposal: None, accepted: true, created: None },
            Outcome::Judged(judged) => {
                let operation = operation(judged.proposal.operation);
                let target = match operation {
                    Operation::Undeploy => None,
                    _ => Some(self.target(&judged.proposal.target, judged.from)),
                };
                Judged {
                    instance: id(judged.agent),
                    proposal: Some(Proposal { operation, target }),
                    accepted: judged.verdict.is_accepted(),
                    created: judged.created.map(id),
                }
            }
            Outcome::Deployed(_) => panic!("the prototype deploys at the beginning only"),
        }
    }
}

impl Recorder for Comparison {
    fn wants_decisions(&self) -> bool {
        true
    }

    fn deployed(&mut self, _time: Time, agent: AgentIndex, population: &Population) {
        self.learn(agent, population);
    }

    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {
        let mut expected = self.evaluations.next().expect("an evaluation more than the prototype had");
        let mut facts = self.known_facts(agent, population);
        match decision {
            Some(decision) => facts.proposals = proposals(agent, population, decision),
            // A known proposal was reused. Its solutions are not passed to the recorder, and so cannot be compared.
            None => expected.facts.proposals.clear(),
        }
        let Id::Number(instance) = *population.instance(agent).id() else { panic!("instances have numbers") };
        let found = Evaluation { time: whole(time.units()), instance, facts };
        assert_eq!(found, expected, "evaluation {}", self.compared[0]);
        self.compared[0] += 1;
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        let expected = self.activations.next().expect("an activation more than the prototype had");
        for position in self.instances.len()..population.agent_count() {
            self.learn(AgentIndex::at(position), population);
        }
        let judged = label.iter().map(|outcome| self.judged(&outcome, population)).collect();
        assert_eq!(Activation { time: whole(time.units()), judged }, expected);
        self.compared[1] += 1;
    }

    fn served(&mut self, served: &Served) {
        let message = Message {
            user: served.user.0,
            instance: self.instances[served.agent.position()],
            times: [served.started, served.ended, served.emitted, served.arrived].map(Time::units),
        };
        if let Some(rows) = &mut self.rows {
            let row = rows.next().expect("a message more than the prototype had");
            assert_eq!(message.bytes(), row.bytes(), "message {}: {message:?} {row:?}", self.messages.count);
        }
        self.messages.push(message);
        if self.messages.count.is_multiple_of(MESSAGES_PER_CHECKSUM) {
            let thousand = self.messages.count / MESSAGES_PER_CHECKSUM - 1;
            let expected = self.expected.checksums.get(thousand);
            assert_eq!(self.messages.checksums.last(), expected, "messages {thousand}000 to {thousand}999");
        }
    }
}

fn compare(policy: usize, name: &str, reuse: Reuse) {
    let scenario = scenario(name);
    let mut comparison = Comparison::new(&scenario, policy);
    let mut simulation = Simulation::new(&scenario, RunOptions { threads: 1, reuse }).expect("it can be run");
    let statistics = simulation.run(&mut comparison);
    assert_eq!(statistics.due, comparison.compared[0] as u64);
    assert!(comparison.evaluations.next().is_none(), "evaluations are missing");
    assert!(comparison.activations.next().is_none(), "activations are missing");
    assert_eq!(comparison.messages, comparison.expected);
    assert!(comparison.rows.is_none_or(|mut rows| rows.next().is_none()), "messages are missing");
    eprintln!("policy {policy}: {:?}, {} messages, {statistics:?}", comparison.compared, comparison.messages.count);
}

#[test]
fn the_workload_aware_run_equals_the_prototypes() {
    compare(1, "workload-aware", Reuse::Nothing);
}

#[test]
fn the_latency_aware_run_equals_the_prototypes() {
    compare(2, "latency-aware", Reuse::Proposals);
}

#[test]
fn the_workload_and_latency_aware_run_equals_the_prototypes() {
    compare(3, "workload-and-latency-aware", Reuse::Nothing);
}

#[test]
fn the_run_with_memory_equals_the_prototypes() {
    compare(4, "workload-and-latency-aware-with-memory", Reuse::Nothing);
}

/// The figures of the prototype's runs, as published or computed from its files: operations per movement, response
/// times, usage, inhibitions, instances, correlations and cycles to steady state. Arrays of three are for all
/// applications, WS and LS; arrays of two for WS and LS. Pairs are the mean and the maximum.
struct Known {
    policy: &'static str,
    replicate: [f64; 3],
    migrate: [f64; 3],
    undeploy: [f64; 3],
    response: [f64; 2],
    usage: [f64; 2],
    inhibited: [u64; 3],
    instances: (f64, u64),
    pearson: [Option<f64>; 3],
    pearson_with_start: [Option<f64>; 3],
    steady: (f64, u64),
}

const KNOWN: [Known; 4] = [
    Known {
        policy: "workload-aware",
        replicate: [0.535, 0.953, 0.116],
        migrate: [0.116, 0.233, 0.0],
        undeploy: [0.267, 0.535, 0.0],
        response: [3.1047, 8.6116],
        usage: [1.1172, 0.5925],
        inhibited: [407, 227, 180],
        instances: (31.4, 35),
        pearson: [Some(0.745), Some(0.711), None],
        pearson_with_start: [Some(0.968), Some(0.948), Some(0.965)],
        steady: (1.43, 3),
    },
    Known {
        policy: "latency-aware",
        replicate: [0.314, 0.0, 0.628],
        migrate: [0.407, 0.0, 0.814],
        undeploy: [0.151, 0.0, 0.302],
        response: [15.7578, 2.6286],
        usage: [8.7503, 0.3026],
        inhibited: [0, 0, 0],
        instances: (19.7, 21),
        pearson: [Some(0.495), None, Some(0.615)],
        pearson_with_start: [Some(0.909), None, Some(0.924)],
        steady: (1.52, 4),
    },
    Known {
        policy: "workload-and-latency-aware",
        replicate: [0.744, 0.884, 0.605],
        migrate: [0.570, 0.326, 0.814],
        undeploy: [0.395, 0.512, 0.279],
        response: [2.7273, 2.7159],
        usage: [1.1655, 0.3187],
        inhibited: [735, 367, 368],
        instances: (37.8, 41),
        pearson: [Some(0.654), Some(0.554), Some(0.553)],
        pearson_with_start: [Some(0.950), Some(0.913), Some(0.893)],
        steady: (2.30, 7),
    },
    Known {
        policy: "workload-and-latency-aware-with-memory",
        replicate: [0.802, 0.977, 0.628],
        migrate: [0.523, 0.256, 0.791],
        undeploy: [0.419, 0.535, 0.302],
        response: [2.5903, 2.6522],
        usage: [1.1306, 0.3030],
        inhibited: [258, 90, 168],
        instances: (39.9, 43),
        pearson: [Some(0.708), Some(0.616), Some(0.615)],
        pearson_with_start: [Some(0.964), Some(0.929), Some(0.917)],
        steady: (2.30, 6),
    },
];

/// The number with `digits` digits after the decimal point.
fn printed(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}

fn assert_figures(known: &Known, figures: &Figures) {
    let groups = &figures.groups;
    let each =
        |value: fn(&GroupFigures) -> f64| groups.iter().map(|group| printed(value(group), 3)).collect::<Vec<_>>();
    let three = |values: [f64; 3]| values.map(|value| printed(value, 3)).to_vec();
    assert_eq!(each(|group| group.per_movement.expect("users move").replicate), three(known.replicate));
    assert_eq!(each(|group| group.per_movement.expect("users move").migrate), three(known.migrate));
    assert_eq!(each(|group| group.per_movement.expect("users move").undeploy), three(known.undeploy));
    for (group, (response, usage)) in groups[1..].iter().zip(known.response.into_iter().zip(known.usage)) {
        assert_eq!(printed(group.response.expect("requests are served"), 4), printed(response, 4));
        assert_eq!(printed(group.service_usage.expect("agents evaluate"), 4), printed(usage, 4));
    }
    let inhibited: Vec<u64> = groups.iter().map(|group| group.operations.inhibited).collect();
    assert_eq!(inhibited, known.inhibited);
    assert_eq!(
        (printed(groups[0].instances.mean, 1), groups[0].instances.max),
        (printed(known.instances.0, 1), known.instances.1)
    );
    for (group, (without, with)) in groups.iter().zip(known.pearson.into_iter().zip(known.pearson_with_start)) {
        assert_eq!(group.pearson_r.map(|r| printed(r, 3)), without.map(|r| printed(r, 3)));
        assert_eq!(group.pearson_r_with_start.map(|r| printed(r, 3)), with.map(|r| printed(r, 3)));
    }
    let steady = groups[0].cycles_to_steady_state.expect("users move");
    assert_eq!((printed(steady.mean, 2), steady.max), (printed(known.steady.0, 2), known.steady.1));
}

#[test]
fn the_figures_equal_those_of_the_prototypes_runs() {
    for known in &KNOWN {
        let scenario = scenario(known.policy);
        let mut tally = Tally::new(&scenario);
        Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut tally);
        assert_figures(known, &tally.figures());
    }
}
