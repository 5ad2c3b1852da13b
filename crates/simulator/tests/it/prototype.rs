//! The prototype's four runs, to the last evaluation, operation and message.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mario_colony::{AgentIndex, Colony, Label, Neighbour, NodeIndex, Outcome, Target};
use mario_domain::{Id, OperationName};
use mario_policy::{Decision, Solution};
use mario_simulator::scenario::{Document, Files};
use mario_simulator::{
    Figures, GroupFigures, MobileUser, Recorder, Reuse, RunOptions, Scenario, Served, Simulation, Tally,
};
use serde_json::{Value, json};

fn read(part: &Path) -> String {
    let mut text = String::new();
    let bytes = fs::read(part).expect("reference data");
    if part.extension().is_some_and(|ending| ending == "gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gz");
    } else {
        text = String::from_utf8(bytes).expect("text");
    }
    text
}

/// Reads the files of the reference data.
struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }
}

/// The preset with the users and the policy of one of the runs.
fn scenario(directory: &Path, policy: &str) -> Scenario {
    let mut document = Document::preset("prototype").expect("a preset");
    document.set_attachments(&directory.join("users.json"));
    document.set_policy(policy);
    document.resolve(&mut Disk).expect("a scenario").scenario
}

struct Comparison {
    evaluations: std::vec::IntoIter<Value>,
    activations: std::vec::IntoIter<Value>,
    messages: std::vec::IntoIter<Vec<String>>,
    nodes: Vec<String>,
    /// The prototype's numbers of the users.
    user_numbers: Vec<i64>,
    /// The ids of the instances, by agent.
    instances: Vec<i64>,
    compared: [usize; 3],
}

fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

impl Comparison {
    fn learn(&mut self, agent: AgentIndex, colony: &Colony) {
        let Id::Number(instance) = *colony.instance(agent).id() else { panic!("instances have numbers") };
        assert_eq!(self.instances.len(), agent.position());
        self.instances.push(instance);
    }

    fn target(&self, target: &Target, own: NodeIndex) -> Value {
        match target {
            Target::Own => json!(self.nodes[own.position()]),
            Target::Node(node) => json!(self.nodes[node.position()]),
            Target::Unknown(id) => json!(id.to_string()),
        }
    }
}

impl Recorder for Comparison {
    fn wants_decisions(&self) -> bool {
        true
    }

    fn deployed(&mut self, _time: f64, agent: AgentIndex, colony: &Colony) {
        self.learn(agent, colony);
    }

    fn evaluation(&mut self, time: f64, agent: AgentIndex, colony: &Colony, decision: Option<&Decision>) {
        let expected = self.evaluations.next().expect("an evaluation more than the prototype had");
        let acting = colony.agent(agent);
        let requests: Vec<Value> = acting
            .requests()
            .iter()
            .map(|fact| {
                let neighbour = match fact.neighbour {
                    Neighbour::Own => json!("self"),
                    Neighbour::Node(node) => json!(self.nodes[node.position()]),
                };
                json!([neighbour, number(fact.rate), number(fact.latency)])
            })
            .collect();
        let si = serde_json::to_value(colony.instance(agent)).expect("id");
        let refused: Vec<Value> = colony
            .visible_memory(acting)
            .into_iter()
            .map(|remembered| {
                json!([remembered.operation.as_str(), si, self.target(&remembered.target, acting.node())])
            })
            .collect();
        let mut found = json!({
            "t": number(time), "si": si, "app": acting.application().0 + 1,
            "node": self.nodes[acting.node().position()],
            "free": serde_json::to_value(colony.manager(acting.node()).free()).expect("capacity"),
            "requests": requests, "refused": refused,
        });
        let node = expected["node"].as_str().expect("a node");
        let mut wanted = json!({
            "t": expected["t"], "si": expected["si"], "app": expected["app"], "node": expected["node"],
            "free": expected["free_hw"][node], "requests": expected["requests"], "refused": expected["refused"],
        });
        if let Some(decision) = decision {
            let text = |constant| match constant {
                mario_prolog::Value::Atom(atom) => colony.policy(acting.policy()).symbols().name(atom).to_owned(),
                _ => String::new(),
            };
            let solutions: Vec<Value> = decision
                .solutions
                .iter()
                .map(|solution| match solution {
                    Solution::Proposal(proposal) => json!([proposal.operation.as_str(), si, text(proposal.target)]),
                    Solution::Invalid(_) => json!("invalid"),
                })
                .collect();
            found["ops"] = json!(solutions);
            wanted["ops"] = expected["ops"].clone();
        }
        assert_eq!(found, wanted, "evaluation {}", self.compared[0]);
        self.compared[0] += 1;
    }

    fn cycle(&mut self, time: f64, label: &Label, colony: &Colony) {
        let expected = self.activations.next().expect("an activation more than the prototype had");
        let entries: Vec<Value> = label
            .iter()
            .map(|outcome| match outcome {
                Outcome::Nop(agent) => {
                    let instance = colony.instance(agent);
                    let agent = colony.agent(agent);
                    json!([
                        instance,
                        agent.application().0 + 1,
                        self.nodes[agent.node().position()],
                        "nop",
                        "UKN",
                        true,
                        null
                    ])
                }
                Outcome::Judged(judged) => {
                    let done = judged.ruling.is_accepted();
                    let created = judged.created.map(|agent| colony.instance(agent));
                    let target = match judged.wish.operation {
                        OperationName::Undeploy => json!("self"),
                        _ => self.target(&judged.wish.target, judged.from),
                    };
                    json!([
                        colony.instance(judged.agent),
                        colony.agent(judged.agent).application().0 + 1,
                        self.nodes[judged.from.position()],
                        judged.wish.operation.as_str(),
                        target,
                        done,
                        created
                    ])
                }
                Outcome::Deployed(_) => json!("deployed"),
            })
            .collect();
        let mut wanted = expected["entries"].clone();
        for entry in wanted.as_array_mut().expect("entries") {
            if entry[3] == "undeploy" {
                entry[4] = json!("self");
            }
        }
        for position in self.instances.len()..colony.agent_count() {
            self.learn(AgentIndex::at(position), colony);
        }
        assert_eq!(json!([number(time), entries]), json!([expected["t"], wanted]));
        self.compared[1] += 1;
    }

    fn served(&mut self, served: &Served) {
        let expected = self.messages.next().expect("a message more than the prototype had");
        let column = |index: usize| expected[index].parse::<f64>().expect("a number");
        let who = [self.user_numbers[served.user as usize], self.instances[served.agent.position()]];
        assert_eq!(who.map(|number| number.to_string()), [&expected[5][..], &expected[6][..]], "{served:?}");
        let found = [served.started, served.ended, served.emitted, served.arrived];
        let wanted = [column(11), column(12), column(13), column(14)];
        assert_eq!(found.map(f64::to_bits), wanted.map(f64::to_bits), "{expected:?} {served:?}");
        self.compared[2] += 1;
    }
}

fn lines(text: &str) -> std::vec::IntoIter<Value> {
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("json")).collect();
    values.into_iter()
}

fn compare(run: &str, policy: &str, reuse: Reuse) {
    let Some(directory) = mario_reference::path(&format!("prototype/{run}")) else { return };
    let scenario = scenario(&directory, policy);
    let users: Value = serde_json::from_str(&read(&directory.join("users.json"))).expect("json");
    let number_of = |user: &MobileUser| users["users"][user.id.to_string()]["des"].as_i64().expect("a number");
    let rows: Vec<Vec<String>> = read(&directory.join("messages.csv.gz"))
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let mut comparison = Comparison {
        evaluations: lines(&read(&directory.join("agents.jsonl.gz"))),
        activations: lines(&read(&directory.join("operator.jsonl.gz"))),
        messages: rows.into_iter(),
        nodes: scenario.topology.nodes().map(|(_, node)| node.id.to_string()).collect(),
        user_numbers: scenario.attachments.users.iter().map(number_of).collect(),
        instances: Vec::new(),
        compared: [0; 3],
    };
    let mut simulation = Simulation::new(&scenario, RunOptions { threads: 1, reuse }).expect("it can be run");
    let effort = simulation.run(&mut comparison);
    assert_eq!(effort.asked, comparison.compared[0] as u64);
    assert!(comparison.evaluations.next().is_none(), "evaluations are missing");
    assert!(comparison.activations.all(|activation| activation["entries"].as_array().is_some_and(Vec::is_empty)));
    assert!(comparison.messages.next().is_none(), "messages are missing after {}", comparison.compared[2]);
    eprintln!("{run}: {:?} {effort:?}", comparison.compared);
}

#[test]
fn the_workload_aware_run_is_the_prototypes() {
    compare("P1", "workload-aware", Reuse::Nothing);
}

#[test]
fn the_latency_aware_run_is_the_prototypes() {
    compare("P2", "latency-aware", Reuse::Proposals);
}

#[test]
fn the_run_with_both_is_the_prototypes() {
    compare("P3", "workload-and-latency-aware", Reuse::Nothing);
}

#[test]
fn the_run_with_memory_is_the_prototypes() {
    compare("P4", "workload-and-latency-aware-with-memory", Reuse::Nothing);
}

/// Actions per movement, response times, usage, inhibited, instances, correlations and cycles to steady state of the
/// prototype's runs, as they were published or computed from its files: for all, WS and LS where there are three.
struct Known {
    run: &'static str,
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
        run: "P1",
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
        run: "P2",
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
        run: "P3",
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
        run: "P4",
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

/// The number as it is printed with so many digits.
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
fn the_figures_are_those_of_the_prototypes_runs() {
    for known in &KNOWN {
        let Some(directory) = mario_reference::path(&format!("prototype/{}", known.run)) else { return };
        let scenario = scenario(&directory, known.policy);
        let mut tally = Tally::new(&scenario);
        Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut tally);
        assert_figures(known, &tally.figures());
    }
}
