//! Random worlds in which every node owner accepts at most one instance of each application.

use std::collections::BTreeSet;

use mario_audit::FindingKind;
use mario_domain::{AgentOperation, Rule, Time};
use mario_scenario::{ApplicationIndex, Arbitration, NodeIndex, PolicyText, Scenario};
use mario_simulator::population::{CompactVerdict, CycleLabel, Deployed, Judged, Outcome, Population};
use mario_simulator::{Detail, Recorder, RunOptions, Simulation, SimulationError, TraceRecorder};
use serde_json::{Value, json};

use super::{Replay, drawn};
use crate::world::audited;

const WORLDS: u64 = 200;

/// The maximum number of manipulated traces per world.
const LIES_MAX: usize = 4;

const ONE_EACH: &str = "reject(request(_, _, App, _, To), one_each) :- node(To, _), serviceInstance(_, App, To).\n";

/// Checks after each cycle that no node has two instances of an application, and counts inhibited requests.
#[derive(Default)]
struct Limit {
    cycles: u64,
    /// The number of requests inhibited by the limit.
    inhibited: u64,
    /// The number of requests inhibited by the limit after another one for the same application and node was accepted
    /// in the same cycle.
    beside_promises: u64,
}

impl Limit {
    fn count(&mut self, label: &CycleLabel, population: &Population) {
        let mut taken: BTreeSet<(NodeIndex, ApplicationIndex)> = BTreeSet::new();
        for outcome in label.iter() {
            let (to, application, verdict) = match outcome {
                Outcome::Nop(_) => continue,
                Outcome::Deployed(Deployed { deployment, verdict, .. }) => {
                    (Some(deployment.node), deployment.application, verdict)
                }
                Outcome::Judged(Judged { agent, proposal, from, verdict, .. }) => {
                    let to = proposal.target.resolve(from).filter(|_| proposal.operation != AgentOperation::Undeploy);
                    (to, population.agent(agent).application(), verdict)
                }
            };
            let Some(to) = to else { continue };
            match verdict {
                CompactVerdict::Accepted => {
                    taken.insert((to, application));
                }
                CompactVerdict::Inhibited(inhibition) if matches!(inhibition.rule, Rule::Acceptance { .. }) => {
                    self.inhibited += 1;
                    self.beside_promises += u64::from(taken.contains(&(to, application)));
                }
                CompactVerdict::NoRoom { .. } | CompactVerdict::Inhibited(_) => {}
            }
        }
    }
}

impl Recorder for Limit {
    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        self.cycles += 1;
        self.count(label, population);
        let mut held = BTreeSet::new();
        for agent in (0..population.agent_count()).map(mario_simulator::population::AgentIndex::at) {
            let state = population.agent(agent);
            let is_new = !state.is_alive() || held.insert((state.node(), state.application()));
            assert!(is_new, "time {time}: node {} holds two of one application", population.node(state.node()).id());
        }
    }
}

/// The random world with this number, with the limit at every node.
fn limited(number: u64) -> Scenario {
    let mut scenario = drawn::draw(number);
    let files = vec![("one-each.pl".to_owned(), ONE_EACH.to_owned())];
    scenario.acceptances = vec![PolicyText { name: "one-each".to_owned(), files, memory: 0 }];
    scenario.acceptance_of = vec![Some(0); scenario.topology.node_count()];
    if let Err(error) = Simulation::new(&scenario, RunOptions::default()) {
        assert!(matches!(error, SimulationError::NoRoom { .. }), "{error}");
        for deploy in &mut scenario.deploys {
            deploy.time = deploy.time.max(Time::at(1.0));
        }
    }
    scenario
}

/// The outcome changed to accepted, if it was inhibited by the limit.
fn accepted(outcome: &Value, arbitration: Arbitration) -> Option<Value> {
    const FRESH: i64 = 1_000_000;
    if outcome.get(3)? != "inhibited" || outcome[4]["rule"] != "acceptance" {
        return None;
    }
    let (who, operation, target) = (&outcome[0], &outcome[1], &outcome[2]);
    Some(match operation.as_str()? {
        "deploy" => json!([who, operation, target, "accepted", FRESH, outcome[5], 0]),
        "migrate" if arbitration == Arbitration::Managers => json!([who, operation, target, "accepted"]),
        _ => json!([who, operation, target, "accepted", FRESH]),
    })
}

/// At most `LIES_MAX` copies of the trace. In each, one inhibition by the limit is changed to accepted.
fn lies(trace: &str, arbitration: Arbitration) -> Vec<String> {
    let lines: Vec<&str> = trace.lines().collect();
    let mut lies = Vec::new();
    for (position, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("[\"cycle\"")) {
        let record: Value = serde_json::from_str(line).expect("a record");
        for index in 0..record[2].as_array().map_or(0, Vec::len) {
            let Some(turned) = accepted(&record[2][index], arbitration) else { continue };
            let mut lie = record.clone();
            lie[2][index] = turned;
            let lie = lie.to_string();
            let mut lines = lines.clone();
            lines[position] = &lie;
            lies.push(lines.join("\n") + "\n");
            if lies.len() == LIES_MAX {
                return lies;
            }
        }
    }
    lies
}

#[test]
fn no_node_exceeds_the_limit_of_its_owner() {
    let mut beside_promises = [0; 2];
    let (mut cycles, mut inhibited, mut told) = (0, 0, 0);
    for number in 0..WORLDS {
        let replay = Replay(number);
        let scenario = limited(number);
        let mut trace = Vec::new();
        let mut recorders = (TraceRecorder::new(&mut trace, &scenario, Detail::Full), Limit::default());
        Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
        recorders.0.finish(scenario.end()).expect("memory takes everything");
        let limit = recorders.1;
        cycles += limit.cycles;
        inhibited += limit.inhibited;
        beside_promises[usize::from(scenario.arbitration == Arbitration::Sequential)] += limit.beside_promises;
        let report = audited(&trace);
        assert!(report.is_clean(), "world {number}:\n{report}");
        let trace = String::from_utf8(trace).expect("JSON");
        for lie in lies(&trace, scenario.arbitration) {
            let report = audited(lie.as_bytes());
            assert!(report.count(FindingKind::Verdict) > 0, "world {number}: nobody sees the lie\n{report}");
            told += 1;
        }
        drop(replay);
    }
    // Without these events, the test would prove nothing.
    assert!(cycles > 500 && inhibited > 100 && told > 100, "{cycles} cycles, {inhibited} inhibited, {told} lies");
    assert!(beside_promises.iter().all(|count| *count > 5), "{beside_promises:?}");
}
