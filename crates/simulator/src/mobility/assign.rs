//! Which user uses which application.

use mario_colony::ApplicationIndex;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// How users are dealt out to applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assignment {
    /// So that all kinds of applications, and within a kind all applications, get as many users, and users who move as
    /// often.
    Balanced,
    /// In turns, in the order of users: kind after kind, and within a kind application after application.
    RoundRobin,
    /// In turns, in an order that is drawn from this seed.
    Random {
        /// The seed.
        seed: u64,
    },
}

/// Gives each user an application. `handovers` has one number for each user; `kinds` has, for each kind of application,
/// the applications of that kind. Kinds without applications are passed over; `None` when no application is left.
pub fn assign(handovers: &[u32], kinds: &[Vec<ApplicationIndex>], how: Assignment) -> Option<Vec<ApplicationIndex>> {
    let kinds: Vec<&[ApplicationIndex]> = kinds.iter().map(Vec::as_slice).filter(|kind| !kind.is_empty()).collect();
    let mut application_of = vec![*kinds.first()?.first()?; handovers.len()];
    let mut users: Vec<usize> = (0..handovers.len()).collect();
    match how {
        Assignment::Balanced => users.sort_by_key(|user| std::cmp::Reverse(handovers[*user])),
        Assignment::RoundRobin => {}
        Assignment::Random { seed } => users.shuffle(&mut Pcg64::seed_from_u64(seed)),
    }
    let mut among_kinds = Dealer::new(kinds.len(), how);
    let mut within_kind: Vec<Dealer> = kinds.iter().map(|kind| Dealer::new(kind.len(), how)).collect();
    for user in users {
        let kind = among_kinds.deal(handovers[user]);
        application_of[user] = kinds[kind][within_kind[kind].deal(handovers[user])];
    }
    Some(application_of)
}

/// Deals in rounds, in each of which everybody gets one user.
struct Dealer {
    balanced: bool,
    /// The handovers that each has got so far.
    handovers: Vec<u64>,
    /// Who is still to get a user in this round, the next at the end.
    round: Vec<usize>,
}

impl Dealer {
    fn new(count: usize, how: Assignment) -> Dealer {
        Dealer { balanced: how == Assignment::Balanced, handovers: vec![0; count], round: Vec::new() }
    }

    fn deal(&mut self, handovers: u32) -> usize {
        if self.round.is_empty() {
            self.round.extend((0..self.handovers.len()).rev());
            if self.balanced {
                // Users come with fewer and fewer handovers, so the first of a round goes to who has least so far.
                self.round.sort_by_key(|turn| std::cmp::Reverse(self.handovers[*turn]));
            }
        }
        let turn = self.round.pop().unwrap_or(0);
        self.handovers[turn] += u64::from(handovers);
        turn
    }
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
    fn balanced_kinds_get_as_many_users_who_move_as_often() {
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
    fn turns_are_in_the_order_of_users_or_of_a_seed() {
        let assigned =
            assign(&[9, 0, 9, 0, 0, 0, 0], &kinds(), Assignment::RoundRobin).expect("there are applications");
        assert_eq!(assigned, [0, 3, 1, 4, 2, 5, 0].map(ApplicationIndex));
        let random = |seed| assign(&[0; 20], &kinds(), Assignment::Random { seed });
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        assert_eq!(assign(&[0], &[vec![]], Assignment::Balanced), None);
    }
}
