//! Compares the corrected rates with counts of individual requests.

use mario_scenario::NodeIndex;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::flow::inflow::Inflow;
use crate::flow::round_robin::RoundRobins;
use crate::flow::window::Span;
use crate::population::{Neighbour, RequestFact};

const WINDOW: Duration = Duration::of(200.0);

/// The evaluation period before `now`.
fn window(now: Time) -> Window {
    Window { length: WINDOW, now }
}

/// A user whose requests are counted individually.
struct User {
    schedule: Schedule,
    arrival: Time,
    /// The spans in which the user sent requests to this instance, and the path of each.
    stays: Vec<(Span, ArrivalPath)>,
}

impl User {
    fn is_here(&self) -> bool {
        self.stays.last().is_some_and(|(span, _)| !span.until.is_finite())
    }

    /// How many requests the user sent in a span, counted one by one if their times are known.
    fn sent(&self, from: Time, until: Time) -> f64 {
        match self.schedule {
            Schedule::Exact { first, period } => {
                let times = (0..).map(|number| first + period * f64::from(number));
                times.take_while(|time| *time < until).filter(|time| *time >= from).count() as f64
            }
            Schedule::Mean { rate, .. } => (until - from.max(self.arrival)).units().max(0.0) * rate,
        }
    }
}

/// Draws a user with an exact or a mean schedule. Times are multiples of a quarter, so that simultaneous events are
/// exactly simultaneous.
fn user(random: &mut Pcg64Mcg, now: Time) -> User {
    let schedule = if random.random_range(0..4) == 0 {
        Schedule::Mean { arrival: now, rate: [0.025, 0.1, 1.0 / 3.0][random.random_range(0..3)] }
    } else {
        let period = Duration::of([8.0, 12.5, 40.0, 50.0, 200.0][random.random_range(0..5)]);
        let first = now + Duration::of(f64::from(random.random_range(0..=1_200)) / 4.0);
        Schedule::Exact { first: [now + period, first][random.random_range(0..2)], period }
    };
    User { schedule, arrival: now, stays: Vec::new() }
}

fn expected(users: &[User], paths: &[ArrivalPath], now: Time) -> Vec<f64> {
    let of_path = |path: &ArrivalPath| {
        let sent = window(now).sent(path.latency);
        let stays = users.iter().flat_map(|user| user.stays.iter().map(move |stay| (user, stay)));
        let here = stays.filter(|(_, (_, taken))| taken == path);
        here.map(|(user, (stay, _))| user.sent(stay.from.max(sent.from), stay.until.min(sent.until))).sum()
    };
    paths.iter().map(of_path).collect()
}

fn found(facts: &[RequestFact], paths: &[ArrivalPath]) -> Vec<f64> {
    let is_of = |path: &ArrivalPath, fact: &RequestFact| {
        fact.neighbour == path.neighbour && fact.latency.to_bits() == path.latency.units().to_bits()
    };
    let rate = |path: &ArrivalPath| facts.iter().filter(|fact| is_of(path, fact)).map(|fact| fact.rate).sum();
    paths.iter().map(rate).collect()
}

#[test]
fn joins_and_leaves_count_the_same_as_individual_requests() {
    let path =
        |node, latency| ArrivalPath { neighbour: Neighbour::Node(NodeIndex(node)), latency: Duration::of(latency) };
    // Some requests take longer than a period.
    let paths = [
        ArrivalPath { neighbour: Neighbour::Own, latency: Duration::ZERO },
        path(1, 3.0),
        path(1, 45.0),
        path(2, 260.0),
    ];
    for seed in 0..60 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut inflow = Inflow::default();
        let mut users: Vec<User> = Vec::new();
        let mut now = Time::ZERO;
        for _ in 0..400 {
            // Draws steps such that several changes often coincide, and many fall into one period.
            now += Duration::of(f64::from(random.random_range(0..4) * random.random_range(0..60)) / 4.0);
            if random.random_range(0..4) == 0 {
                let newcomer = user(&mut random, now);
                users.push(newcomer);
            }
            if let Some(last) = users.len().checked_sub(1) {
                let user = &mut users[random.random_range(0..=last)];
                if user.is_here() {
                    let (span, path) = user.stays.last_mut().expect("it is here");
                    span.until = now;
                    inflow.leave(1, *path, user.schedule, window(now));
                } else {
                    let path = paths[random.random_range(0..paths.len())];
                    user.stays.push((Span { from: now, until: Time::NEVER }, path));
                    inflow.join(1, path, user.schedule, window(now));
                }
            }
            if random.random_range(0..8) == 0 {
                let (found, expected) = (
                    found(&inflow.seen(window(now), &mut RoundRobins::default()), &paths),
                    expected(&users, &paths, now),
                );
                let is_equal = found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-6);
                assert!(is_equal, "seed {seed}, time {now}: {found:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn equal_numbers_of_joins_and_leaves_cancel_out() {
    let path = ArrivalPath { neighbour: Neighbour::Own, latency: Duration::ZERO };
    let schedule = Schedule::Exact { first: Time::at(40.0), period: Duration::of(40.0) };
    let mut changes = Changes::default();
    for users in [-1, -2, 4] {
        changes.add(users, path, schedule, Time::at(100.0));
        assert_eq!(changes.len(), 1);
    }
    // No request was sent in between, so this join cancels out the leave.
    changes.add(-1, path, schedule, Time::at(110.0));
    assert!(changes.is_empty());
}

#[test]
fn users_with_one_schedule_count_the_same_together_as_separately() {
    let path = ArrivalPath { neighbour: Neighbour::Own, latency: Duration::of(3.0) };
    let schedule = Schedule::Exact { first: Time::at(40.0), period: Duration::of(40.0) };
    let (mut together, mut one_by_one) = (Inflow::default(), Inflow::default());
    together.join(3, path, schedule, window(Time::at(90.0)));
    together.leave(2, path, schedule, window(Time::at(170.0)));
    for _ in 0..3 {
        one_by_one.join(1, path, schedule, window(Time::at(90.0)));
    }
    for _ in 0..2 {
        one_by_one.leave(1, path, schedule, window(Time::at(170.0)));
    }
    for now in [180.0, 250.0, 300.0, 500.0].map(Time::at) {
        assert_eq!(
            together.seen(window(now), &mut RoundRobins::default()),
            one_by_one.seen(window(now), &mut RoundRobins::default()),
            "{now}"
        );
    }
}
