//! Compares the results of service graphs, with simulated messages, with values computed by hand or by queueing theory.

use mario_domain::{Duration, Time};
use mario_scenario::{ApplicationIndex, Call, CallOrder, DisturbanceEvent, NodeIndex, Scenario, Stage, Workload};
use mario_simulator::{CallIndex, Recorder, RunOptions, Served, ServedCall, Simulation};

use crate::world::{STILL, ScenarioExt, scenario, story, topology};

/// A stage of calls, each given by application and number of requests.
pub fn stage(order: CallOrder, calls: &[(u32, u32)]) -> Stage {
    let call = |(application, requests): &(u32, u32)| Call {
        application: ApplicationIndex(*application),
        requests: *requests,
    };
    Stage { order, calls: calls.iter().map(call).collect() }
}

/// A recorder of served and lost requests of users and of calls.
#[derive(Default)]
struct Answers {
    /// The response times of users' requests.
    users: Vec<f64>,
    lost: Vec<f64>,
    /// The index of the call and the response time, for each served request of a call.
    calls: Vec<(u32, f64)>,
    sent: u64,
    calls_lost: u64,
}

impl Recorder for Answers {
    fn served(&mut self, served: &Served) {
        self.users.push((served.ended - served.emitted).units());
    }

    fn lost(&mut self, time: Time, _user: mario_scenario::UserIndex, _application: ApplicationIndex) {
        self.lost.push(time.units());
    }

    fn call_sent(&mut self, _call: CallIndex, requests: u32) {
        self.sent += u64::from(requests);
    }

    fn call_served(&mut self, call: CallIndex, served: &ServedCall) {
        self.calls.push((call.0, (served.ended - served.emitted).units()));
    }

    fn call_lost(&mut self, _time: Time, _call: CallIndex, _application: ApplicationIndex) {
        self.calls_lost += 1;
    }
}

/// Audits the trace of a world, and returns the recorded requests of a second run.
fn answers(scenario: &Scenario) -> Answers {
    story(scenario);
    let mut answers = Answers::default();
    Simulation::new(scenario, RunOptions::default()).expect("it can be run").run(&mut answers);
    answers
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A user at node 0 sends requests to a front end on the same node, whose service time is 3. The front end calls an
/// application on node 1, over a link of latency 2. The service time of the called application is 1.5.
fn two(stages: Vec<Stage>) -> Scenario {
    let mut world = scenario(topology(&[9, 9], &[(0, 1, 2.0)]))
        .with_application(1, 0, STILL)
        .with_application(1, 1, STILL)
        .with_user(0, &[Some(0)]);
    world.applications[0].service_time = Duration::of(3.0);
    world.applications[1].service_time = Duration::of(1.5);
    world.applications[0].stages = stages;
    world
}

#[test]
fn calls_in_sequence_take_the_sum_of_their_times() {
    for requests in [1, 2, 5] {
        let found = answers(&two(vec![stage(CallOrder::Sequence, &[(1, requests)])]));
        // Each call takes 2 for the link and 1.5 for the service before the next is sent.
        let expected = 3.0 + f64::from(requests) * 3.5;
        assert_eq!(found.users.len(), 49, "one every 40");
        assert!(found.users.iter().all(|time| (time - expected).abs() < 1e-9), "{:?}", found.users);
        assert_eq!(found.sent, 49 * u64::from(requests));
        assert!(found.calls.iter().all(|(_, time)| (time - 3.5).abs() < 1e-9));
    }
}

#[test]
fn calls_in_parallel_take_as_long_as_the_slowest() {
    for requests in [1, 2, 5] {
        let found = answers(&two(vec![stage(CallOrder::Parallel, &[(1, requests)])]));
        // The link carries one request per 2 units of time, and the instance finishes each before the next arrives.
        let expected = 3.0 + f64::from(requests) * 2.0 + 1.5;
        assert!(found.users.iter().all(|time| (time - expected).abs() < 1e-9), "{:?}", found.users);
        let of_calls = (1..=requests).map(|number| f64::from(number) * 2.0 + 1.5).sum::<f64>() / f64::from(requests);
        let times: Vec<f64> = found.calls.iter().map(|(_, time)| *time).collect();
        assert!((mean(&times) - of_calls).abs() < 1e-9);
    }
}

#[test]
fn stages_follow_each_other_and_calls_may_call_others() {
    // Application 0 calls 1, then 2 and 3 in parallel. Application 2 calls 3 twice. Application 3 is on node 0.
    let mut world = scenario(topology(&[9, 9], &[(0, 1, 2.0)]))
        .with_application(1, 0, STILL)
        .with_application(1, 1, STILL)
        .with_application(1, 1, STILL)
        .with_application(1, 0, STILL)
        .with_user(0, &[Some(0)]);
    for (place, time) in [1.0, 0.5, 0.25, 4.0].into_iter().enumerate() {
        world.applications[place].service_time = Duration::of(time);
    }
    world.applications[0].stages =
        vec![stage(CallOrder::Sequence, &[(1, 1)]), stage(CallOrder::Parallel, &[(2, 1), (3, 1)])];
    world.applications[2].stages = vec![stage(CallOrder::Sequence, &[(3, 2)])];
    let found = answers(&world);
    // Own service: 1. First stage: 2 + 0.5. Second stage: 2 + 0.25 for application 2, which then calls 3 over the link
    // in 2. That call arrives 4.25 after the start of the stage, when 3 has been idle since 4. So each of the two
    // calls of application 2 takes 2 + 4, and the call of application 0 to 3 takes 4.
    let third = 2.0 + 0.25 + 2.0 * (2.0 + 4.0);
    assert!(found.users.iter().all(|time| (time - (1.0 + 2.5 + third)).abs() < 1e-9), "{:?}", found.users);
    let of =
        |call: u32| found.calls.iter().filter(|(number, _)| *number == call).map(|(_, time)| *time).collect::<Vec<_>>();
    assert!(of(0).iter().all(|time| (time - 2.5).abs() < 1e-9));
    assert!(of(1).iter().all(|time| (time - third).abs() < 1e-9));
    assert!(of(2).iter().all(|time| (time - 4.0).abs() < 1e-9));
    assert!(of(3).iter().all(|time| (time - 6.0).abs() < 1e-9));
    assert_eq!([0, 1, 2, 3].map(|call| of(call).len()), [49, 49, 49, 98]);
}

/// Poisson arrivals pass two servers with constant service times. By Friedman (1965), their total wait equals the wait
/// at the slower server alone: ρ s / (2 (1 − ρ)), where s is its service time and ρ its utilisation.
#[test]
fn the_wait_at_two_servers_equals_queueing_theory() {
    for (first, second, period) in [(5.0, 3.0, 10.0), (3.0, 5.0, 8.0), (6.0, 6.0, 10.0)] {
        let mut world = scenario(topology(&[9], &[]))
            .with_application(1, 0, STILL)
            .with_application(1, 0, STILL)
            .with_user(0, &[Some(0)]);
        world.duration = Duration::of(2_000_000.0);
        world.step = Duration::of(2_000_000.0);
        world.users[0].workload = Workload::Poisson { mean_period: Duration::of(period) };
        world.applications[0].service_time = Duration::of(first);
        world.applications[1].service_time = Duration::of(second);
        world.applications[0].stages = vec![stage(CallOrder::Sequence, &[(1, 1)])];
        let mut found = Answers::default();
        Simulation::new(&world, RunOptions::default()).expect("it can be run").run(&mut found);
        let slower = f64::max(first, second);
        let busy = slower / period;
        let expected = first + second + busy * slower / (2.0 * (1.0 - busy));
        let error = mean(&found.users) / expected - 1.0;
        assert!(found.users.len() > 190_000 && error.abs() < 0.02, "{first} {second} {period}: {error}");
    }
}

#[test]
fn a_lost_call_loses_its_request() {
    // The called application has no instance from 1,000 on.
    let world = two(vec![stage(CallOrder::Sequence, &[(1, 2)])])
        .with_disturbance(1_000.0, DisturbanceEvent::Crash(NodeIndex(1)));
    let found = answers(&world);
    // The request sent at 1,000 is lost, too: its first call is sent after its service, at 1,003.
    assert_eq!(found.users.len(), 24);
    assert_eq!((found.lost.len(), found.calls_lost), (25, 25), "{:?}", found.lost);
    assert!(found.lost.iter().all(|time| *time > 1_000.0));
    // Of two calls in sequence, the second is not sent if the first is lost.
    assert_eq!(found.sent, 2 * 24 + 25);
}

#[test]
fn a_removed_instance_loses_its_pending_requests() {
    // At 1,004, the front end has sent the call for the request sent at 1,000.
    let world = two(vec![stage(CallOrder::Sequence, &[(1, 1)])])
        .with_disturbance(1_004.0, DisturbanceEvent::Crash(NodeIndex(0)));
    let found = answers(&world);
    assert_eq!(found.users.len(), 24);
    assert_eq!(found.lost.first(), Some(&1_004.0));
    // The sent call is delivered and served, but its answer is ignored.
    assert_eq!((found.calls.len(), found.calls_lost), (25, 0));
}
