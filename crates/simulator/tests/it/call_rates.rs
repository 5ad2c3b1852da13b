//! Compares the results of service graphs with traffic as rates and with simulated messages.

use std::collections::BTreeMap;
use std::fmt::Write;

use mario_domain::{Duration, Time};
use mario_policy::Decision;
use mario_scenario::{
    ApplicationIndex, CallOrder, DisturbanceEvent, Document, Fidelity, NoFiles, NodeIndex, Occupancy, Scenario,
};
use mario_simulator::population::{AgentIndex, Population};
use mario_simulator::{
    CallIndex, CallResults, Detail, Recorder, RunOptions, Served, ServedCall, Simulation, TraceRecorder, UserResults,
};

use crate::calls::stage;
use crate::fidelity::check_page;
use crate::world::{STILL, ScenarioExt, audited, scenario, topology};

/// The results of a run at one fidelity.
#[derive(Default)]
struct Ran {
    /// The number of the users' served requests, and their total response time.
    users: (u64, f64),
    lost: u64,
    /// By the index of the call, the number of served requests, and their total response time.
    calls: BTreeMap<u32, (u64, f64)>,
    calls_lost: u64,
    /// The number of client requests that agents saw, by application, node and time.
    seen: BTreeMap<(u32, u32, Time), f64>,
}

impl Recorder for Ran {
    fn evaluation(&mut self, time: Time, agent: AgentIndex, population: &Population, _decision: Option<&Decision>) {
        let acting = population.agent(agent);
        let key = (acting.application().0, acting.node().0, time);
        *self.seen.entry(key).or_default() += acting.requests().iter().map(|fact| fact.rate).sum::<f64>();
    }

    fn served(&mut self, served: &Served) {
        self.users.0 += 1;
        self.users.1 += (served.ended - served.emitted).units();
    }

    fn lost(&mut self, _time: Time, _user: mario_scenario::UserIndex, _application: ApplicationIndex) {
        self.lost += 1;
    }

    fn sent(&mut self, _user: mario_scenario::UserIndex, _application: ApplicationIndex, sent: &UserResults) {
        self.users.0 += sent.served;
        self.users.1 += sent.response.units();
        self.lost += sent.lost;
    }

    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {
        let sum = self.calls.entry(call.0).or_default();
        sum.0 += 1;
        sum.1 += (served.ended - served.emitted).units();
    }

    fn call_lost(&mut self, _time: Time, _call: CallIndex, _application: ApplicationIndex) {
        self.calls_lost += 1;
    }

    fn calls_sent(&mut self, call: CallIndex, _application: ApplicationIndex, sent: &CallResults) {
        self.calls.insert(call.0, (sent.served, sent.response.units()));
        self.calls_lost += sent.lost;
    }
}

fn ran(scenario: &Scenario, fidelity: Fidelity) -> Ran {
    let mut scenario = scenario.clone();
    scenario.network.fidelity = fidelity;
    let mut recorders = (Ran::default(), TraceRecorder::new(Vec::new(), &scenario, Detail::Operations));
    // Reports of rate traffic are cumulative, but `Ran` adds up those of a user. Without a trace, each user is reported
    // only once, at the end. A trace requests reports before each step, so it is written in another run.
    let mut simulation = Simulation::new(&scenario, RunOptions::default()).expect("it can be run");
    simulation.run(&mut recorders.0);
    let mut again = Simulation::new(&scenario, RunOptions::default()).expect("it can be run");
    again.run(&mut recorders.1);
    let report = audited(&recorders.1.finish(scenario.end()).expect("memory takes everything"));
    assert!(report.is_clean(), "{report}");
    recorders.0
}

/// Users at node 0 send requests to a front end on node 1. The front end calls an application in each of two stages;
/// the second of them calls another. All service times are zero. With [`Occupancy::Latency`], a link carries one
/// message at a time, else any number at once.
fn graph(users: u32, order: CallOrder, occupancy: Occupancy) -> Scenario {
    let mut world = scenario(topology(&[9, 9, 9], &[(0, 1, 2.0), (1, 2, 3.0)]));
    for node in [1, 2, 1, 2] {
        world = world.with_application(1, node, STILL);
    }
    for _ in 0..users {
        world = world.with_user(0, &[Some(0), Some(0)]);
    }
    world.duration = Duration::of(8_000.0);
    world.network.occupancy = occupancy;
    world.applications[0].stages = vec![stage(CallOrder::Sequence, &[(1, 2)]), stage(order, &[(2, 3)])];
    world.applications[2].stages = vec![stage(CallOrder::Sequence, &[(3, 1)])];
    for plan in &mut world.applications {
        plan.service_time = Duration::of(0.0);
    }
    world
}

#[test]
fn rates_equal_messages_without_queueing() {
    let world = graph(4, CallOrder::Sequence, Occupancy::Transmission);
    let [one, rates] = [Fidelity::Messages, Fidelity::Flow].map(|fidelity| ran(&world, fidelity));
    let mean = |(count, sum): (u64, f64)| sum / count as f64;
    // 2 to the front end, two calls of 3, and three calls of 0 + 3.
    for ran in [&one, &rates] {
        assert!((mean(ran.users) - 17.0).abs() < 1e-6, "{}", mean(ran.users));
        // Each call takes 3. The call on the same node takes as long as the call that it makes.
        assert!(ran.calls.values().all(|call| (mean(*call) - 3.0).abs() < 1e-6), "{:?}", ran.calls);
    }
    // From 500 on, when calls have started, agents see the same number of requests at both fidelities.
    for ((application, node, time), seen) in one.seen.range((0, 0, Time::at(500.0))..) {
        if *time < Time::at(500.0) {
            continue;
        }
        let found = rates.seen.get(&(*application, *node, *time)).copied().unwrap_or(0.0);
        assert!((found - seen).abs() < 1e-9, "application {application} at {time}: {found}, not {seen}");
    }
}

/// With two instances of each of 32 applications, the call graph has 2³² paths, too many to enumerate.
#[test]
fn a_deep_graph_with_several_instances_of_each_application_is_settled_in_linear_time() {
    const DEPTH: u32 = 32;
    let mut world = scenario(topology(&[99, 99], &[(0, 1, 2.0)]));
    for application in 0..DEPTH {
        world = world.with_application(1, application % 2, STILL);
        let other = world.deploys.last().expect("it was just deployed").clone();
        world.deploys.push(other);
    }
    world = world.with_user(0, &[Some(0), Some(0)]);
    world.duration = Duration::of(2_000.0);
    world.network.occupancy = Occupancy::Transmission;
    for (called, plan) in (1..).zip(&mut world.applications).take(DEPTH as usize - 1) {
        let requests = if called == 1 { 3 } else { 1 };
        plan.stages = vec![stage(CallOrder::Parallel, &[(called, requests)])];
    }
    for plan in &mut world.applications {
        plan.service_time = Duration::of(0.0);
    }
    for fidelity in [Fidelity::Messages, Fidelity::Flow] {
        let (count, sum) = ran(&world, fidelity).users;
        // Each of the 31 calls passes the link, which takes 2.
        assert!(count > 40 && (sum / count as f64 - 62.0).abs() < 1e-6, "{fidelity:?}: {count}, {sum}");
    }
}

#[test]
fn rates_lose_the_same_calls_as_messages() {
    let world = graph(5, CallOrder::Parallel, Occupancy::Transmission)
        .with_disturbance(4_000.0, DisturbanceEvent::Crash(NodeIndex(2)));
    let [one, rates] = [Fidelity::Messages, Fidelity::Flow].map(|fidelity| ran(&world, fidelity));
    // After the crash, in the second half of the run, every request is lost with its first call.
    for ran in [&one, &rates] {
        assert!(ran.users.0.abs_diff(500) <= 10 && ran.lost.abs_diff(500) <= 10, "{:?} {}", ran.users, ran.lost);
    }
    assert!(one.calls_lost > 450 && rates.calls_lost > 450, "{} {}", one.calls_lost, rates.calls_lost);
}

/// Handmade service graphs without and with queueing, and variants of the preset `shop`.
fn worlds() -> Vec<(&'static str, Scenario)> {
    let own = "workload-and-latency-aware";
    let shop = |policy: &str, settings: &[&str]| {
        let mut document = Document::preset("shop").expect("a preset");
        document.set(&settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>());
        if policy != own {
            document.set_policy(policy);
        }
        document.resolve(&mut NoFiles).expect("a scenario").scenario
    };
    vec![
        ("four services, nothing waits", graph(4, CallOrder::Sequence, Occupancy::Transmission)),
        ("the same, over links that take one message at a time", graph(1, CallOrder::Sequence, Occupancy::Latency)),
        ("the same, with calls in parallel", graph(1, CallOrder::Parallel, Occupancy::Latency)),
        ("`shop`, nobody moves", shop("never-move", &[])),
        ("`shop`", shop(own, &[])),
        ("`shop`, 3 × the users", shop(own, &["mobility.users=120", "mobility.first_users=120"])),
        ("`shop`, at random times", shop(own, &["workload.kind=poisson"])),
    ]
}

#[test]
fn the_documented_errors_of_rates_in_service_graphs_are_current() {
    let mut table = "| graph | response ms, messages | as rates | | requests of calls, messages | as rates | | of 100 evaluations, agents saw the same number |\n\
        |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, world) in worlds() {
        let [one, rates] = [Fidelity::Messages, Fidelity::Flow].map(|fidelity| ran(&world, fidelity));
        let mean = |ran: &Ran| ran.users.1 / ran.users.0 as f64;
        let calls = |ran: &Ran| ran.calls.values().map(|(count, _)| *count).sum::<u64>() as f64;
        let is_same = |(key, seen): &(&(u32, u32, Time), &f64)| {
            rates.seen.get(*key).is_some_and(|found| (found - **seen).abs() < 1e-6)
        };
        let same = one.seen.iter().filter(is_same).count() as f64 * 100.0 / one.seen.len() as f64;
        let percent = |one: f64, other: f64| format!("{:+.1} %", (other / one - 1.0) * 100.0);
        let (response, requests) = ((mean(&one), mean(&rates)), (calls(&one), calls(&rates)));
        writeln!(
            table,
            "| {name} | {:.2} | {:.2} | {} | {} | {} | {} | {same:.0} |",
            response.0,
            response.1,
            percent(response.0, response.1),
            requests.0,
            requests.1,
            percent(requests.0, requests.1),
        )
        .expect("memory takes everything");
    }
    check_page("service-graphs.md", &table);
}
