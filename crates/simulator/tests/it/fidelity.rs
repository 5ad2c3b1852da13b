//! Compares traffic as rates with simulated messages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use mario_domain::{Duration, Time};
use mario_policy::Decision;
use mario_scenario::{DisturbanceEvent, Document, Fidelity, Metric, NoFiles, NodeIndex, Routing, Scenario, Workload};
use mario_simulator::population::{AgentIndex, CycleLabel, Outcome, Population, Proposal, RequestFact};
use mario_simulator::{Detail, Recorder, RunOptions, Simulation, Tally, TraceRecorder};
use mario_testing::{check_stored, replaced_part};

use crate::world::{self, STILL, ScenarioExt};

/// The request facts of an evaluation, and the agent's previous proposal.
#[derive(PartialEq, Debug)]
struct Observed {
    time: Time,
    agent: AgentIndex,
    facts: Vec<RequestFact>,
    before: Option<Proposal>,
}

#[derive(Default)]
struct Observations(Vec<Observed>);

impl Recorder for Observations {
    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, _decision: Option<&Decision>) {
        let acting = population.agent(agent);
        self.0.push(Observed { time, agent, facts: acting.requests().to_vec(), before: acting.proposal().cloned() });
    }
}

fn scenario(fidelity: &str, policy: &str, settings: &[&str]) -> Scenario {
    let mut document = Document::preset("paper").expect("a preset");
    let mut overrides: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    overrides.push(format!("network.fidelity={fidelity}"));
    document.set(&overrides);
    document.set_policy(policy);
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

fn observations(fidelity: &str, policy: &str, settings: &[&str]) -> Vec<Observed> {
    let scenario = scenario(fidelity, policy, settings);
    let mut observations = Observations::default();
    Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut observations);
    observations.0
}

/// Links of practically unlimited bandwidth and no service time, so that nothing queues.
const WIDE: [&str; 3] = ["network.bandwidth=1e9", "network.occupancy=transmission", "network.service_time=0"];

#[test]
fn agents_see_and_decide_the_same_while_nothing_queues() {
    for policy in
        ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"]
    {
        for phase in ["workload.phase=spread", "workload.phase=simultaneous"] {
            let settings: Vec<&str> = WIDE.into_iter().chain([phase]).collect();
            let (one_by_one, as_rates) =
                (observations("messages", policy, &settings), observations("flow", policy, &settings));
            assert!(one_by_one.len() > 5_000);
            for (position, (one, rate)) in one_by_one.iter().zip(&as_rates).enumerate() {
                assert_eq!(one, rate, "{policy}, {phase}: observation {position} of {}", one_by_one.len());
            }
            assert_eq!(one_by_one.len(), as_rates.len());
        }
    }
}

/// The result of a run at one fidelity.
struct Ran {
    /// How often each decision occurred.
    decisions: BTreeMap<Decided, u64>,
    response: f64,
    operations: u64,
}

/// A judged decision: time, application, node, and the proposed operation with its target; `None` for a nop.
type Decided = (Time, u32, u32, Option<(&'static str, String)>);

#[derive(Default)]
struct Decisions(BTreeMap<Decided, u64>);

impl Recorder for Decisions {
    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        for outcome in label.iter() {
            let (agent, node, proposal) = match &outcome {
                Outcome::Nop(agent) => (*agent, population.agent(*agent).node(), None),
                Outcome::Judged(judged) => {
                    let proposal = (judged.proposal.operation.as_str(), format!("{:?}", judged.proposal.target));
                    (judged.agent, judged.from, Some(proposal))
                }
                Outcome::Deployed(_) => continue,
            };
            let application = population.agent(agent).application().0;
            *self.0.entry((time, application, node.0, proposal)).or_default() += 1;
        }
    }
}

fn ran(fidelity: &str, settings: &[&str]) -> Ran {
    let scenario = scenario(fidelity, "workload-and-latency-aware", settings);
    let mut recorders = (Decisions::default(), Tally::new(&scenario));
    Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
    let (Decisions(decisions), tally) = recorders;
    let all = &tally.figures().groups[0];
    Ran {
        decisions,
        response: all.response.expect("somebody is served"),
        operations: all.operations.replicate + all.operations.migrate + all.operations.undeploy,
    }
}

/// Variants of the paper's scenario that differ in queueing, in the number of users, and in when users arrive and send.
const WORLDS: [(&str, &[&str]); 10] = [
    ("nothing queues", &WIDE),
    ("the paper's, phases spread", &["workload.phase=spread"]),
    ("the paper's", &[]),
    ("2 × the users, phases spread", &["mobility.users=102", "mobility.first_users=102", "workload.phase=spread"]),
    ("2 × the users", &["mobility.users=102", "mobility.first_users=102"]),
    ("2 × the users, some of them later", &["mobility.users=102", "mobility.first_users=50"]),
    ("5 × the users, phases spread", &["mobility.users=255", "mobility.first_users=255", "workload.phase=spread"]),
    ("5 × the users", &["mobility.users=255", "mobility.first_users=255"]),
    ("5 × the users, some of them later", &["mobility.users=255", "mobility.first_users=50"]),
    ("5 × the users, at random times", &["mobility.users=255", "mobility.first_users=255", "workload.kind=poisson"]),
];

/// Compares `table` with the one between two comments of a page, or updates the page if `UPDATE_DOCUMENTS` is set.
pub fn check_page(page: &str, table: &str) {
    const PART: [&str; 2] = ["<!-- begin: rates against messages -->\n", "<!-- end: rates against messages -->\n"];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let page = fs::read_to_string(&path).expect("it is there");
    check_stored(&path, &replaced_part(&page, PART[0], PART[1], table), "UPDATE_DOCUMENTS");
}

#[test]
fn the_documented_errors_of_rates_are_current() {
    let mut table =
        "| world | decisions | others | operations: messages, rates | mean response: messages, rates | error |\n\
        |---|---|---|---|---|---|\n"
            .to_owned();
    for (world, settings) in WORLDS {
        let (messages, rates) = (ran("messages", settings), ran("flow", settings));
        let same =
            |(decided, count): (&Decided, &u64)| rates.decisions.get(decided).map_or(0, |other| *count.min(other));
        let same: u64 = messages.decisions.iter().map(same).sum();
        let all = [&messages, &rates].map(|ran| ran.decisions.values().sum::<u64>());
        let others = all[0].max(all[1]) - same;
        let error = 100.0 * (rates.response / messages.response - 1.0);
        if settings == WIDE {
            assert_eq!((others, messages.operations), (0, rates.operations));
            // The means differ slightly, because the last messages are still in transit at the end.
            assert!(error.abs() < 1e-3, "{error}");
        }
        let (decisions, response) = (all[0], [messages.response, rates.response]);
        let [one_by_one, as_rates] = [messages.operations, rates.operations];
        writeln!(
            table,
            "| {world} | {decisions} | {others} | {one_by_one}, {as_rates} | {:.2}, {:.2} | {error:+.1} % |",
            response[0], response[1]
        )
        .expect("memory");
    }
    check_page("scale.md", &table);
}

#[test]
fn recorders_do_not_change_the_counts() {
    for settings in [&["workload.kind=poisson", "mobility.mean_stay=4"][..], &["workload.phase=spread"]] {
        let scenario = scenario("flow", "workload-and-latency-aware", settings);
        let told = |detail: Option<Detail>| {
            let trace = detail.map(|detail| TraceRecorder::new(Vec::new(), &scenario, detail));
            let mut recorders = (Tally::new(&scenario), trace);
            let statistics =
                Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
            let figures = serde_json::to_string(&recorders.0.figures()).expect("figures are plain");
            (figures, statistics.emitted, statistics.hops)
        };
        let alone = told(None);
        assert!(alone.1 > 5_000 && alone.2 > 5_000, "something is sent: {} {}", alone.1, alone.2);
        for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
            assert!(told(Some(detail)) == alone, "{settings:?}, {detail:?}");
        }
    }
}

/// A user with random send times is served on a short path, then loses a request, then is served a fraction of a
/// request on a long path. So the total response time grows although the number of served requests does not.
#[test]
fn the_auditor_accepts_a_response_time_that_grows_while_requests_are_lost() {
    let [one, other, third] = [0, 1, 2].map(NodeIndex);
    let topology = world::topology(&[1, 1, 1], &[(0, 1, 3.0), (0, 2, 10.0), (1, 2, 10.0)]);
    let mut scenario = world::scenario(topology)
        .with_application(1, 1, STILL)
        .with_user(0, &[Some(0); 2])
        .with_disturbance(10.0, DisturbanceEvent::LinkDown(one, third))
        .with_disturbance(150.0, DisturbanceEvent::LinkDown(one, other))
        .with_disturbance(255.0, DisturbanceEvent::LinkUp(one, third));
    scenario.users[0].workload = Workload::Poisson { mean_period: Duration::of(100.0) };
    scenario.network.fidelity = Fidelity::Flow;
    scenario.routing = Routing::Nearest(Metric::Latency);
    (scenario.step, scenario.duration) = (Duration::of(150.0), Duration::of(300.0));
    let mut recorder = TraceRecorder::new(Vec::new(), &scenario, Detail::Full);
    Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorder);
    let trace = recorder.finish(scenario.end()).expect("memory takes everything");
    let text = String::from_utf8(trace.clone()).expect("text");
    let grown = text.lines().find(|line| line.starts_with("[\"responses\",300,0,0,1,"));
    assert!(grown.is_some_and(|line| !line.starts_with("[\"responses\",300,0,0,1,0,")), "{text}");
    let report = world::audited(&trace);
    assert!(report.is_clean(), "{report}");
}
