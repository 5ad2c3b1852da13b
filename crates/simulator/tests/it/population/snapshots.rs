//! Recurring snapshots of request facts: observing one by its number has the same effect as observing its facts.

use mario_policy::SolutionLimit;
use mario_scenario::NodeIndex;
use mario_simulator::population::{AgentIndex, Basis, ContextChange, Neighbour, RequestFact};
use mario_testing::Random;

use crate::population::world::{Plan, World, deployment};

/// Migrates or replicates towards requests. The decision depends on the requests and on the free hardware.
const FOLLOWS: &str = "operation(migrate, I, M) :- requests(I, M, R, _), R > 3, M \\== self.\n\
                       operation(replicate, I, M) :- requests(I, M, 2, _), node(_, Free), Free > 3.\n";

fn drawn(random: &mut Random) -> Vec<RequestFact> {
    let rate = random.below(5_u64) as f64;
    let fact = |rate| RequestFact { neighbour: Neighbour::Node(NodeIndex(1)), rate, latency: 2.0 };
    match random.below(4) {
        0 => Vec::new(),
        1 => vec![RequestFact { neighbour: Neighbour::Own, rate, latency: 0.0 }, fact(4.0)],
        _ => vec![fact(rate)],
    }
}

/// An agent, and its expected state.
struct Watched {
    world: World,
    agent: AgentIndex,
    /// The request facts of its last evaluation; `None` if it has not evaluated, or other facts have changed since.
    evaluated: Option<Vec<RequestFact>>,
    recalled: u32,
}

impl Watched {
    fn check(&mut self, facts: &[RequestFact], random: &mut Random) {
        let (population, agent) = (&mut self.world.population, self.agent);
        assert_eq!(population.agent(agent).requests(), facts);
        let rate: f64 = facts.iter().map(|fact| fact.rate).sum();
        assert!((population.agent(agent).rate() - rate).abs() < 1e-12);
        assert_eq!(population.is_unchanged(agent), self.evaluated.as_deref() == Some(facts));
        let decision = self.world.evaluator.evaluate(population, agent, SolutionLimit::First);
        let proposal = population.proposal(agent, decision);
        if population.is_unchanged(agent) && random.below(4) > 0 {
            population.repeat_proposal(agent);
        } else if population.has_cached_proposal(agent) && random.below(4) > 0 {
            population.propose_cached(agent);
            self.recalled += 1;
        } else {
            population.propose(agent, proposal.clone(), Basis::Past);
        }
        assert_eq!(population.agent(agent).proposal(), proposal.as_ref());
        self.evaluated = Some(facts.to_vec());
        self.world.cycle(&[]);
    }
}

#[test]
fn snapshots_by_number_lead_to_the_same_facts_and_proposals() {
    let mut random = Random::new(1);
    for _ in 0..60 {
        let mut world = Plan::line(&[9, 0]).policy(FOLLOWS, 0).build();
        let agent = world.deploy(&[0])[0];
        let mut watched = Watched { world, agent, evaluated: None, recalled: 0 };
        for _ in 0..12 {
            // First several new snapshots, then a recurring pattern.
            for _ in 0..random.below(8) {
                let facts = drawn(&mut random);
                watched.world.population.r2(ContextChange::Requests { agent, facts: &facts });
                watched.check(&facts, &mut random);
            }
            let round: Vec<Vec<RequestFact>> = (0..=random.below(6)).map(|_| drawn(&mut random)).collect();
            for turn in 0..random.below(30) {
                let position = turn as usize % round.len();
                let facts = (turn as usize == position).then_some(&round[position][..]);
                watched.world.population.observe_recurring(agent, position as u8, facts);
                watched.check(&round[position], &mut random);
                if random.below(40) == 0 {
                    watched.world.cycle(&[deployment(0)]);
                    if watched.world.label.accepted().count() > 0 {
                        watched.evaluated = None;
                        assert!(
                            !watched.world.population.is_unchanged(agent)
                                && !watched.world.population.has_cached_proposal(agent)
                        );
                    }
                }
            }
        }
        assert!(watched.recalled > 0);
    }
}

#[test]
fn an_unknown_snapshot_number_changes_nothing() {
    let mut world = Plan::line(&[9, 0]).policy(FOLLOWS, 0).build();
    let agent = world.deploy(&[0])[0];
    world.population.observe_recurring(agent, 3, None);
    assert!(world.population.agent(agent).requests().is_empty());
}
