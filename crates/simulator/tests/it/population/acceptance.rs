//! Acceptance policies: which managers are asked, what they see, and what happens if a policy fails.

use mario_domain::AgentOperation::{Migrate, Replicate, Undeploy};
use mario_domain::{Capacity, Rule, Verdict};
use mario_scenario::{ApplicationIndex, Arbitration, NodeIndex, PolicyIndex};
use mario_simulator::population::{AcceptanceQuery, ContextChange, Deployment, Target};

use crate::population::world::{Plan, deployment, full, inhibited, node};

/// Rejects every undeploy of an instance on the node, and every migration and replica to another node.
const NOTHING_LEAVES: &str = "reject(request(_, _, _, From, To), nothing_leaves) :- node(From, _), To \\== From.\n";

/// Rejects every deploy, and every instance that would arrive from another node.
const NOTHING_COMES: &str = "reject(request(_, _, _, From, To), nothing_comes) :- node(To, _), To \\== From.\n";

fn rejected(by: u32, reason: &str) -> Verdict {
    inhibited(by, Rule::Acceptance { reason: reason.to_owned() })
}

#[test]
fn the_manager_of_the_source_is_asked() {
    for operation in [Migrate, Replicate] {
        let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).build();
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
        let mut world = Plan::line(&[2, 2]).accepting(1, NOTHING_COMES).build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, operation, node(1));
        world.cycle(&[]);
        assert_eq!(world.verdict(), rejected(1, "nothing_comes"));
        assert_eq!(world.placement(), [vec![0], vec![]]);
    }
}

#[test]
fn the_verdict_of_the_source_comes_first() {
    let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).accepting(1, NOTHING_COMES).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(world.verdict(), rejected(0, "nothing_leaves"));
}

#[test]
fn an_undeploy_and_a_deploy_concern_one_manager() {
    let mut world = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).accepting(1, NOTHING_COMES).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Undeploy, Target::Own);
    world.cycle(&[deployment(1), deployment(0)]);
    let expected = [Some(rejected(1, "nothing_comes")), Some(Verdict::Accepted), Some(rejected(0, "nothing_leaves"))];
    assert_eq!(world.verdicts(), expected);
    assert_eq!(world.placement(), [vec![0, 1], vec![]]);
}

#[test]
fn no_policy_overrules_the_hardware() {
    let mut world = Plan::line(&[1, 0]).accepting(0, "accept(_).\n").accepting(1, "accept(_).\n").build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[deployment(1)]);
    assert_eq!(world.verdicts(), [Some(full(1)), Some(full(1))]);
}

#[test]
fn a_manager_sees_its_reservations_of_this_cycle_as_used() {
    let keeps_one = "accept(request(_, _, _, _, To)) :- node(To, Free), Free >= 2.\n";
    let mut world = Plan::line(&[2, 3]).accepting(1, keeps_one).build();
    let agents = world.deploy(&[0, 0]);
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Migrate, node(1));
    world.cycle(&[deployment(1)]);
    let no = rejected(1, "no clause of accept/1 holds");
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(Verdict::Accepted), Some(no)]);
    assert_eq!(world.free(1), Capacity::units(1));
}

#[test]
fn a_rejected_request_reserves_nothing() {
    let no_copies = "reject(request(replicate, _, _, _, _), no_copies).\n";
    let mut world = Plan::line(&[2, 1]).accepting(1, no_copies).build();
    let agents = world.deploy(&[0, 0]);
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(world.verdicts(), [Some(rejected(1, "no_copies")), Some(Verdict::Accepted)]);
}

#[test]
fn a_failing_acceptance_policy_inhibits() {
    for text in ["accept(_) :- throw(broken).\n", "accept(_) :- accept(_), fail.\n", "accept(_) :- halt.\n"] {
        let mut world = Plan::line(&[1, 1]).accepting(1, text).build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, Migrate, node(1));
        world.cycle(&[]);
        let Verdict::Inhibited(inhibition) = world.verdict() else { panic!("accepted") };
        assert!(matches!(inhibition.rule, Rule::AcceptanceFailed { .. }), "{text}: {inhibition}");
        assert_eq!(world.placement(), [vec![0], vec![]]);
    }
}

/// Accepts at most one instance of each application on the node.
const ONE_EACH: &str = "reject(request(_, _, App, _, To), one_each) :- node(To, _), serviceInstance(_, App, To).\n";

/// Rejects if at least four instances are visible, with the list of them as the reason.
const NAMES_FOUR: &str = "reject(request(_, _, _, _, To), Is) :- node(To, _), findall(I, serviceInstance(I, _, _), Is), \
                          length(Is, L), L >= 4.\n";

const ACCEPTED: Option<Verdict> = Some(Verdict::Accepted);

#[test]
fn a_limit_on_instances_is_kept_within_a_cycle() {
    for operation in [Migrate, Replicate] {
        for arbitration in [Arbitration::Managers, Arbitration::Sequential] {
            let mut world = Plan { arbitration, ..Plan::line(&[9, 9]).accepting(1, ONE_EACH) }.build();
            for agent in world.deploy(&[0, 0, 0]) {
                world.propose(agent, operation, node(1));
            }
            world.cycle(&[]);
            let no = || Some(rejected(1, "one_each"));
            assert_eq!(world.verdicts(), [ACCEPTED, no(), no()], "{operation} {arbitration:?}");
            assert_eq!(world.population.node(NodeIndex(1)).agents().len(), 1);
        }
    }
}

#[test]
fn a_deploy_counts_for_requests_of_agents_in_the_same_cycle() {
    for arbitration in [Arbitration::Managers, Arbitration::Sequential] {
        let mut world = Plan { arbitration, ..Plan::line(&[9, 9]).accepting(1, ONE_EACH) }.build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, Migrate, node(1));
        world.cycle(&[deployment(1), deployment(1)]);
        let no = || Some(rejected(1, "one_each"));
        assert_eq!(world.verdicts(), [ACCEPTED, no(), no()], "{arbitration:?}");
    }
}

#[test]
fn a_replica_on_the_own_node_counts() {
    let at_most_two = "reject(request(_, _, _, _, To), two) :- node(To, _), \
                       setof(I, serviceInstance(I, app1, To), Is), length(Is, N), N >= 2.\n";
    for arbitration in [Arbitration::Managers, Arbitration::Sequential] {
        let plan = Plan { arbitration, ..Plan::line(&[9, 9]).accepting(0, at_most_two).accepting(1, at_most_two) };
        let mut world = plan.build();
        let agents = world.deploy(&[0, 1, 1]);
        world.propose(agents[0], Replicate, Target::Own);
        world.propose(agents[1], Replicate, node(0));
        world.propose(agents[2], Replicate, node(0));
        world.cycle(&[]);
        let accepted = world.verdicts().iter().filter(|verdict| **verdict == ACCEPTED).count();
        assert_eq!(accepted, 1, "{arbitration:?}: {:?}", world.verdicts());
        assert_eq!(world.population.node(NodeIndex(0)).agents().len(), 2);
    }
}

#[test]
fn instances_of_other_applications_are_not_counted() {
    let plan = Plan { applications: vec![1, 1], ..Plan::line(&[9, 9]).accepting(1, ONE_EACH) };
    let mut world = plan.build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    let other = Deployment { application: ApplicationIndex(1), node: NodeIndex(1), policy: PolicyIndex(0) };
    world.cycle(&[other]);
    assert_eq!(world.verdicts(), [ACCEPTED, ACCEPTED]);
}

#[test]
fn a_reserved_instance_is_listed_after_existing_ones() {
    let mut world = Plan::line(&[9, 9]).accepting(1, NAMES_FOUR).build();
    let agents = world.deploy(&[0, 0, 1]);
    world.propose(agents[0], Migrate, node(1));
    world.propose(agents[1], Replicate, node(1));
    world.propose(agents[2], Replicate, Target::Own);
    world.cycle(&[deployment(1)]);
    // Instances 1 and 2 were deployed on n0, instance 3 on n1.
    let no = Some(rejected(1, "[3,promised_1,1,promised_2]"));
    assert_eq!(world.verdicts(), [ACCEPTED, ACCEPTED, ACCEPTED, no]);
    world.propose(agents[2], Replicate, Target::Own);
    world.cycle(&[]);
    assert_eq!(world.verdict(), rejected(1, "[3,4,1,5]"), "after the cycle, all have ids");
}

#[test]
fn a_leaving_instance_is_visible_until_the_cycle_ends() {
    for leaves in [Migrate, Undeploy] {
        let mut world = Plan::line(&[9, 9, 9]).accepting(1, ONE_EACH).build();
        let agents = world.deploy(&[1, 0]);
        world.propose(agents[0], leaves, if leaves == Migrate { node(2) } else { Target::Own });
        world.propose(agents[1], Migrate, node(1));
        world.cycle(&[]);
        assert_eq!(world.verdicts(), [ACCEPTED, Some(rejected(1, "one_each"))]);
        world.propose(agents[1], Migrate, node(1));
        world.cycle(&[]);
        assert_eq!(world.verdict(), Verdict::Accepted, "there is room in the next cycle");
    }
}

#[test]
fn in_sequence_an_instance_that_left_is_not_visible() {
    let plan = Plan { arbitration: Arbitration::Sequential, ..Plan::line(&[9, 9, 9]).accepting(1, ONE_EACH) };
    let mut world = plan.build();
    let agents = world.deploy(&[0, 1]);
    world.propose(agents[0], Migrate, node(1));
    world.propose(agents[1], Migrate, node(2));
    world.cycle(&[]);
    assert_eq!(world.verdicts(), [ACCEPTED, ACCEPTED], "the last proposal is judged and enacted first");
}

#[test]
fn in_sequence_the_managers_of_source_and_target_are_asked() {
    let plan = Plan::line(&[2, 2]).accepting(0, NOTHING_LEAVES).accepting(1, NOTHING_COMES);
    let mut world = Plan { arbitration: Arbitration::Sequential, ..plan }.build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Undeploy, Target::Own);
    world.cycle(&[deployment(1)]);
    assert_eq!(world.verdicts(), [Some(rejected(1, "nothing_comes")), Some(rejected(0, "nothing_leaves"))]);
    assert_eq!(world.placement(), [vec![0], vec![]]);
}

#[test]
fn a_request_accepted_by_only_one_manager_reserves_nothing() {
    // n0 would accept the replica from n1, but n1 lets none leave.
    let mut world = Plan::line(&[9, 9]).accepting(0, ONE_EACH).accepting(1, NOTHING_LEAVES).build();
    let agent = world.deploy(&[1])[0];
    world.propose(agent, Replicate, node(0));
    world.cycle(&[]);
    assert_eq!(world.verdict(), rejected(1, "nothing_leaves"));
    world.cycle(&[deployment(0)]);
    assert_eq!(world.verdict(), Verdict::Accepted);
}

#[test]
fn acceptance_policies_work_without_policies_of_agents() {
    let mut world = Plan { policies: Vec::new(), ..Plan::line(&[1]).accepting(0, "reject(_, never).\n") }.build();
    world.cycle(&[deployment(0)]);
    assert_eq!(world.verdict(), rejected(0, "never"));
}

#[test]
fn a_manager_that_cannot_see_its_node_inhibits() {
    let mut world = Plan::line(&[1, 1]).accepting(0, "accept(_).\n").build();
    let neighbours = &[NodeIndex(1), NodeIndex(1)];
    world.population.r2(ContextChange::Neighbours { node: NodeIndex(0), neighbours });
    world.cycle(&[deployment(0)]);
    let Verdict::Inhibited(inhibition) = world.verdict() else { panic!("accepted") };
    assert!(
        matches!(&inhibition.rule, Rule::AcceptanceFailed { cause } if cause.contains("not asked")),
        "{inhibition}"
    );
}

#[test]
fn failed_acceptance_policies_are_counted() {
    let throws = "reject(request(migrate, _, _, _, _), _) :- throw(broken).\naccept(_).\n";
    let mut world = Plan::line(&[9, 9]).accepting(0, "accept(_).\n").accepting(1, throws).build();
    let agents = world.deploy(&[0, 0, 0]);
    world.judge.take_counts();
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Migrate, node(1));
    world.propose(agents[2], Migrate, node(1));
    world.cycle(&[]);
    let asked = world.judge.take_counts();
    assert_eq!((asked.asked, asked.failed), (6, 2));
    let (node, asked, failure) = asked.first.expect("a failure");
    let AcceptanceQuery::Request(request) = asked else { panic!("{asked:?}") };
    assert_eq!((node, request.instance().expect("an agent asked").to_string()), (NodeIndex(1), "2".to_owned()));
    assert_eq!(failure.cause, "it raised broken");
    assert_eq!(failure.place.expect("reject/2 has a clause").position(), (1, 1));
    assert_eq!(world.judge.take_counts().asked, 0, "they are told once");
}

#[test]
fn a_rejection_needs_a_reason() {
    let mut world = Plan::line(&[1, 1]).accepting(1, "reject(_, _).\n").build();
    world.cycle(&[deployment(1)]);
    let Verdict::Inhibited(inhibition) = world.verdict() else { panic!("accepted") };
    let cause = "it rejected without a reason".to_owned();
    assert_eq!(inhibition.rule, Rule::AcceptanceFailed { cause });
    assert_eq!(world.judge.take_counts().failed, 1);
}
