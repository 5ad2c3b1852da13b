//! Traffic as rates against traffic message by message.

use mario_colony::{AgentIndex, Colony, RequestFact, Wish};
use mario_policy::Decision;
use mario_simulator::scenario::{Document, NoFiles};
use mario_simulator::{Recorder, RunOptions, Scenario, Simulation};

/// What an agent saw, and what it had proposed before.
#[derive(PartialEq, Debug)]
struct Look {
    time: f64,
    agent: AgentIndex,
    facts: Vec<RequestFact>,
    before: Option<Wish>,
}

#[derive(Default)]
struct Looks(Vec<Look>);

impl Recorder for Looks {
    fn evaluation(&mut self, time: f64, agent: AgentIndex, colony: &Colony, _decision: Option<&Decision>) {
        let acting = colony.agent(agent);
        self.0.push(Look { time, agent, facts: acting.requests().to_vec(), before: acting.proposal().cloned() });
    }
}

fn looks(fidelity: &str, policy: &str, settings: &[&str]) -> Vec<Look> {
    let mut document = Document::preset("paper").expect("a preset");
    let mut overrides: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    overrides.push(format!("network.fidelity={fidelity}"));
    document.set(&overrides);
    document.set_policy(policy);
    let scenario: Scenario = document.resolve(&mut NoFiles).expect("a scenario").scenario;
    let mut looks = Looks::default();
    Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut looks);
    looks.0
}

/// Links that carry any number of messages at once: nothing queues.
const WIDE: [&str; 3] = ["network.bandwidth=1e9", "network.occupancy=transmission", "network.service_time=0"];

#[test]
fn agents_see_and_decide_the_same_while_nothing_queues() {
    for policy in
        ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"]
    {
        for phase in ["workload.phase=spread", "workload.phase=simultaneous"] {
            let settings: Vec<&str> = WIDE.into_iter().chain([phase]).collect();
            let (one_by_one, as_rates) = (looks("messages", policy, &settings), looks("flow", policy, &settings));
            assert!(one_by_one.len() > 5_000);
            for (position, (one, rate)) in one_by_one.iter().zip(&as_rates).enumerate() {
                assert_eq!(one, rate, "{policy}, {phase}: look {position} of {}", one_by_one.len());
            }
            assert_eq!(one_by_one.len(), as_rates.len());
        }
    }
}
