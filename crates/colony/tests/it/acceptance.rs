//! Both sides are asked: the node that the instance is on, and the target.

use mario_colony::Target;
use mario_domain::OperationName::{Migrate, Replicate, Undeploy};
use mario_domain::{Capacity, Rule, Verdict};

use crate::world::{Plan, deployment, full, inhibited, node};

/// Rejects everything that leaves, or a copy of which leaves, the node.
const NOTHING_LEAVES: &str = "reject(request(_, _, _, From, To), nothing_leaves) :- node(From, _), To \\== From.\n";

/// Rejects everything that comes.
const NOTHING_COMES: &str = "reject(request(_, _, _, From, To), nothing_comes) :- node(To, _), To \\== From.\n";

fn rejected(by: u32, reason: &str) -> Verdict {
    inhibited(by, Rule::Acceptance { reason: reason.to_owned() })
}

#[test]
fn the_manager_of_the_source_is_asked() {
    for operation in [Migrate, Replicate] {
        let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).found();
        let agents = world.deploy(&[0, 1]);
        world.propose(agents[0], operation, node(1));
        world.propose(agents[1], operation, node(0));
        world.cycle(&[]);
        assert_eq!(world.verdicts(), [Some(rejected(0, "nothing_leaves")), Some(Verdict::Accepted)]);
    }
}

#[test]
fn the_manager_of_the_target_is_asked() {
    for operation in [Migrate, Replicate] {
        let mut world = Plan::line(&[2, 2]).accepting(1, NOTHING_COMES).found();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, operation, node(1));
        world.cycle(&[]);
        assert_eq!(world.verdict(), rejected(1, "nothing_comes"));
        assert_eq!(world.placement(), [vec![0], vec![]]);
    }
}

#[test]
fn the_manager_of_the_source_says_no_first() {
    let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).accepting(1, NOTHING_COMES).found();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(world.verdict(), rejected(0, "nothing_leaves"));
}

#[test]
fn an_undeploy_and_a_deploy_concern_one_manager() {
    let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).accepting(1, NOTHING_COMES).found();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Undeploy, Target::Own);
    world.cycle(&[deployment(1), deployment(0)]);
    let expected = [Some(rejected(1, "nothing_comes")), Some(Verdict::Accepted), Some(rejected(0, "nothing_leaves"))];
    assert_eq!(world.verdicts(), expected);
    assert_eq!(world.placement(), [vec![0, 1], vec![]]);
}

#[test]
fn no_policy_overrules_the_hardware() {
    let mut world = Plan::line(&[1, 0]).accepting(0, "accept(_).\n").accepting(1, "accept(_).\n").found();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[deployment(1)]);
    assert_eq!(world.verdicts(), [Some(full(1)), Some(full(1))]);
}

#[test]
fn a_manager_sees_what_it_has_promised_in_this_cycle_as_taken() {
    let keeps_one = "accept(request(_, _, _, _, To)) :- node(To, Free), Free >= 2.\n";
    let mut world = Plan::line(&[2, 3]).accepting(1, keeps_one).found();
    let agents = world.deploy(&[0, 0]);
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Migrate, node(1));
    world.cycle(&[deployment(1)]);
    let no = rejected(1, "no clause of accept/1 holds");
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(Verdict::Accepted), Some(no)]);
    assert_eq!(world.free(1), Capacity::units(1));
}

#[test]
fn a_rejected_request_promises_nothing() {
    let no_copies = "reject(request(replicate, _, _, _, _), no_copies).\n";
    let mut world = Plan::line(&[2, 1]).accepting(1, no_copies).found();
    let agents = world.deploy(&[0, 0]);
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(world.verdicts(), [Some(rejected(1, "no_copies")), Some(Verdict::Accepted)]);
}

#[test]
fn a_policy_that_gives_no_answer_inhibits() {
    for text in ["accept(_) :- throw(broken).\n", "accept(_) :- accept(_), fail.\n", "accept(_) :- halt.\n"] {
        let mut world = Plan::line(&[1, 1]).accepting(1, text).found();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, Migrate, node(1));
        world.cycle(&[]);
        let Verdict::Inhibited(inhibition) = world.verdict() else { panic!("accepted") };
        assert!(matches!(inhibition.rule, Rule::AcceptanceFailed { .. }), "{text}: {inhibition}");
        assert_eq!(world.placement(), [vec![0], vec![]]);
    }
}
