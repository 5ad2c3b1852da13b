//! Assigns users to applications.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::index::ApplicationIndex;

/// How users are assigned to applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assignment {
    /// Nearly equal numbers of users and handovers for all kinds of applications, and for all applications of a kind.
    Balanced,
    /// Round robin over the kinds, in the order of users; and round robin over the applications of each kind.
    RoundRobin,
    /// Like `RoundRobin`, but with the users in a random order.
    Random {
        /// The seed.
        seed: u64,
    },
    /// Drawn independently for each user, regardless of the kind: the second application half as often as the first,
    /// the third a third as often, and so on.
    Popular {
        /// The seed.
        seed: u64,
    },
}

/// Assigns an application to each user. `handovers` has the number of handovers of each user; `kinds` has the
/// applications of each kind. Returns `None` if there are no applications.
pub fn assign(handovers: &[u32], kinds: &[Vec<ApplicationIndex>], how: Assignment) -> Option<Vec<ApplicationIndex>> {
    let kinds: Vec<&[ApplicationIndex]> = kinds.iter().map(Vec::as_slice).filter(|kind| !kind.is_empty()).collect();
    let mut application_of = vec![*kinds.first()?.first()?; handovers.len()];
    if let Assignment::Popular { seed } = how {
        return Some(by_popularity(handovers.len(), kinds.concat(), seed));
    }
    let mut users: Vec<usize> = (0..handovers.len()).collect();
    match how {
        Assignment::Balanced => users.sort_by_key(|user| std::cmp::Reverse(handovers[*user])),
        Assignment::RoundRobin | Assignment::Popular { .. } => {}
        Assignment::Random { seed } => users.shuffle(&mut Pcg64::seed_from_u64(seed)),
    }
    let among_kinds = deal(&users, kinds.len(), handovers, how);
    for (kind, users) in kinds.into_iter().zip(among_kinds) {
        let within_kind = deal(&users, kind.len(), handovers, how);
        for (application, users) in kind.iter().zip(within_kind) {
            for user in users {
                application_of[user] = *application;
            }
        }
    }
    Some(application_of)
}

/// Draws an application for each user. Applications are ranked by index, regardless of their kind; the weight of an
/// application is the inverse of its rank.
fn by_popularity(users: usize, mut applications: Vec<ApplicationIndex>, seed: u64) -> Vec<ApplicationIndex> {
    applications.sort_unstable();
    let mut sum = 0.0;
    let weights = (1..=applications.len()).map(|rank| {
        sum += 1.0 / rank as f64;
        sum
    });
    let sums: Vec<f64> = weights.collect();
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = || {
        let drawn = random.random::<f64>() * sum;
        applications[sums.partition_point(|sum| *sum <= drawn).min(applications.len() - 1)]
    };
    (0..users).map(|_| draw()).collect()
}

/// Distributes users over `heaps` heaps in rounds. In each round, every heap gets one user; in the last, some may get
/// none.
fn deal(users: &[usize], heaps: usize, handovers: &[u32], how: Assignment) -> Vec<Vec<usize>> {
    let mut dealt = vec![Vec::new(); heaps];
    let mut sums = vec![0_u64; heaps];
    for round in users.chunks(heaps) {
        let mut turns: Vec<usize> = (0..heaps).collect();
        if how == Assignment::Balanced {
            // Users are in descending order of handovers, so the first user of a round goes to the heap with the fewest
            // handovers so far. In an incomplete last round, users have few handovers and go to the heaps with the
            // most, which keeps the mean numbers of handovers per user close.
            turns.sort_by_key(|heap| if round.len() == heaps { sums[*heap] } else { u64::MAX - sums[*heap] });
        }
        for (user, heap) in round.iter().zip(turns) {
            dealt[heap].push(*user);
            sums[heap] += u64::from(handovers[*user]);
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<Vec<ApplicationIndex>> {
        vec![[0, 1, 2].map(ApplicationIndex).into(), [3, 4, 5].map(ApplicationIndex).into()]
    }

    fn sums(handovers: &[u32], how: Assignment) -> [(usize, u32); 2] {
        let assigned = assign(handovers, &kinds(), how).expect("there are applications");
        let of = |kind: u32| {
            let users = assigned.iter().zip(handovers).filter(|(application, _)| application.0 / 3 == kind);
            users.fold((0, 0), |(count, sum), (_, handovers)| (count + 1, sum + handovers))
        };
        [of(0), of(1)]
    }

    #[test]
    fn balanced_assignment_yields_equal_users_and_handovers_for_all_kinds() {
        let handovers: Vec<u32> = (0..50).map(|user| user * 7 % 11 % 5).collect();
        let [one, other] = sums(&handovers, Assignment::Balanced);
        assert_eq!((one.0, other.0), (25, 25));
        assert!(one.1.abs_diff(other.1) <= 2, "{one:?} {other:?}");
    }

    #[test]
    fn every_assignment_splits_evenly_over_kinds_and_applications() {
        let handovers = vec![1; 51];
        for how in [Assignment::Balanced, Assignment::RoundRobin, Assignment::Random { seed: 3 }] {
            let [one, other] = sums(&handovers, how);
            assert!(one.0 + other.0 == 51 && one.0.abs_diff(other.0) == 1, "{how:?}: {one:?} {other:?}");
            let assigned = assign(&handovers, &kinds(), how).expect("there are applications");
            for application in 0..6 {
                let users = assigned.iter().filter(|assigned| assigned.0 == application).count();
                assert!((8..=9).contains(&users), "{how:?}: {users}");
            }
        }
    }

    #[test]
    fn round_robin_follows_the_order_of_users_or_of_a_seed() {
        let assigned =
            assign(&[9, 0, 9, 0, 0, 0, 0], &kinds(), Assignment::RoundRobin).expect("there are applications");
        assert_eq!(assigned, [0, 3, 1, 4, 2, 5, 0].map(ApplicationIndex));
        let random = |seed| assign(&[0; 20], &kinds(), Assignment::Random { seed });
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        assert_eq!(assign(&[0], &[vec![]], Assignment::Balanced), None);
    }

    #[test]
    fn popular_assignment_prefers_the_first_applications() {
        let users = 60_000;
        let assigned =
            assign(&vec![0; users], &kinds(), Assignment::Popular { seed: 1 }).expect("there are applications");
        let all: f64 = (1..=6).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in 1..=6_u32 {
            let found = assigned.iter().filter(|application| application.0 + 1 == rank).count() as f64;
            let expected = users as f64 / f64::from(rank) / all;
            assert!((found / expected - 1.0).abs() < 0.05, "{rank}: {found} {expected}");
        }
        assert_eq!(assign(&[0], &[vec![]], Assignment::Popular { seed: 1 }), None);
    }
}
