//! Compares round robins with counting request by request, and shared round robins with separate ones.

use mario_scenario::NodeIndex;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::flow::inflow::{ArrivalPath, Inflow, Share};
use crate::population::{Neighbour, RequestFact};

/// Counts the requests of a span that go to an instance, by enumerating the first 100 requests of each user.
fn one_by_one(round_robin: &RoundRobin, place: u32, span: Span) -> f64 {
    let Members::Regular { firsts, period } = &round_robin.members else { panic!("they are regular") };
    let times = (0..100).flat_map(|round| firsts.iter().map(move |first| *first + *period * f64::from(round)));
    let numbered = (round_robin.turn..).zip(times).filter(|(_, time)| *time >= span.from && *time < span.until);
    numbered.filter(|(number, _)| number % round_robin.count == u64::from(place)).count() as f64
}

#[test]
fn a_cycle_counts_the_same_as_counting_request_by_request() {
    let mut table = RoundRobins::default();
    for (firsts, period) in [
        (vec![40.0], 40.0),
        (vec![3.0, 11.5, 30.0], 40.0),
        (vec![1.0, 2.0, 3.0, 4.0, 5.0], 20.0),
        (vec![7.0, 7.0], 50.0),
    ] {
        for instances in 1..7_usize {
            for turn in 0..instances as u64 {
                let members = Members::Regular {
                    firsts: firsts.iter().copied().map(Time::at).collect(),
                    period: Duration::of(period),
                };
                let index = table.begin(members, Window { length: WINDOW, now: Time::ZERO }, turn, instances);
                let round_robin = table.get(index);
                assert_eq!(round_robin.cycle(WINDOW, Time::at(period - 1.0)), None, "it has not begun for all");
                let begins = Time::at(57.0);
                let cycle = round_robin.cycle(WINDOW, begins).expect("they have begun");
                for place in 0..instances as u32 {
                    let mut cycle = cycle;
                    for period in 0..9 {
                        let from = begins + WINDOW * f64::from(period);
                        let span = Span { from, until: from + WINDOW };
                        let expected = one_by_one(round_robin, place, span);
                        let counted = round_robin.count(u64::from(place), span);
                        assert!((counted - expected).abs() < 1e-12, "{firsts:?} {instances} {turn} {place}");
                        assert!((cycle.take(place) - expected).abs() < 1e-12, "{firsts:?} {instances} {turn} {place}");
                    }
                }
                table.end(index, Time::at(100.0));
            }
        }
    }
}

/// Two instances, and the round robins between them.
#[derive(Default)]
struct Pair {
    table: RoundRobins,
    inflows: [Inflow; 2],
}

const WINDOW: Duration = Duration::of(200.0);

impl Pair {
    fn share(round_robin: RoundRobinIndex, place: u32, cell: usize) -> Share {
        let path =
            ArrivalPath { neighbour: Neighbour::Node(NodeIndex(7)), latency: Duration::of(f64::from(cell as u32 % 2)) };
        Share { path, round_robin, place, cells: 1, cycle: None }
    }

    fn begin(&mut self, cell: usize, firsts: &[Time], turn: u64, now: Time) -> RoundRobinIndex {
        let members = Members::Regular { firsts: firsts.iter().copied().collect(), period: Duration::of(40.0) };
        let round_robin = self.table.begin(members, Window { length: WINDOW, now }, turn, 2);
        for (place, inflow) in (0..).zip(&mut self.inflows) {
            inflow.join_round_robin(Pair::share(round_robin, place, cell), &mut self.table);
        }
        round_robin
    }

    fn end(&mut self, cell: usize, round_robin: RoundRobinIndex, now: Time) {
        let Some(ended) = self.table.end(round_robin, now) else { return };
        for (place, inflow) in (0..).zip(&mut self.inflows) {
            inflow.leave_round_robin(Pair::share(round_robin, place, cell), ended, &mut self.table);
        }
        self.table.release(ended);
    }

    /// For each of the two instances, the request rates with latency 0 and with latency 1.
    fn seen(&mut self, now: Time) -> Vec<f64> {
        let facts = self.inflows.iter_mut().map(|inflow| inflow.seen(Window { length: WINDOW, now }, &mut self.table));
        let rate = |facts: &[RequestFact], latency: f64| -> f64 {
            facts.iter().filter(|fact| fact.latency.to_bits() == latency.to_bits()).map(|fact| fact.rate).sum()
        };
        facts.flat_map(|facts| [rate(&facts, 0.0), rate(&facts, 1.0)]).collect()
    }
}

#[test]
fn cells_that_share_a_round_robin_send_the_same_as_separate_ones() {
    for seed in 0..200 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut shared = Pair::default();
        let mut alone: Vec<Pair> = (0..9).map(|_| Pair::default()).collect();
        let mut taken: Vec<Option<[RoundRobinIndex; 2]>> = vec![None; alone.len()];
        for period in 0..30 {
            let now = Time::at(100.0) + WINDOW * f64::from(period);
            for (cell, pair) in alone.iter_mut().enumerate() {
                let change = random.random_range(0..3);
                if let Some([together, by_itself]) = taken[cell].filter(|_| change < 2) {
                    shared.end(cell, together, now);
                    pair.end(cell, by_itself, now);
                    taken[cell] = None;
                }
                if taken[cell].is_none() && change > 0 {
                    let firsts =
                        &[40.0, 40.0, 55.0].map(|after| now + Duration::of(after))[..random.random_range(1..=3)];
                    let turn = random.random_range(0..2);
                    let together = shared.begin(cell, firsts, turn, now);
                    taken[cell] = Some([together, pair.begin(cell, firsts, turn, now)]);
                }
            }
            if random.random_range(0..10) == 0 {
                // An instance moves, so its earlier inflow no longer counts.
                let place = random.random_range(0..2);
                shared.inflows[place].clear(&mut shared.table);
                for pair in &mut alone {
                    pair.inflows[place].clear(&mut pair.table);
                }
            }
            let looked = now + WINDOW;
            let mut sum = vec![0.0; 4];
            for pair in &mut alone {
                sum.iter_mut().zip(pair.seen(looked)).for_each(|(sum, more)| *sum += more);
            }
            assert_eq!(shared.seen(looked), sum, "seed {seed}, period {period}");
        }
        assert!(shared.table.all.len() < alone.iter().map(|pair| pair.table.all.len()).sum(), "some are shared");
        for (cell, round_robin) in taken.iter().enumerate() {
            if let Some([together, _]) = round_robin {
                shared.end(cell, *together, Time::at(6_200.0));
            }
        }
        for inflow in &mut shared.inflows {
            inflow.clear(&mut shared.table);
        }
        assert_eq!(shared.table.free.len(), shared.table.all.len(), "no reference is left, seed {seed}");
    }
}
