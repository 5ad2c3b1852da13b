//! Failures of nodes and links, and their consequences.

use mario_domain::{Capacity, Duration, Time};
use mario_scenario::{
    ApplicationIndex, Deploy, DisturbanceEvent, NodeIndex, PolicyIndex, Position, Scenario, TopologyBuilder, Workload,
};

use crate::world::{SPREADS, STILL, ScenarioExt, described, scenario, story, topology};

fn crash(node: u32) -> DisturbanceEvent {
    DisturbanceEvent::Crash(NodeIndex(node))
}

fn join(node: u32) -> DisturbanceEvent {
    DisturbanceEvent::Join(NodeIndex(node))
}

fn link_down(one: u32, other: u32) -> DisturbanceEvent {
    DisturbanceEvent::LinkDown(NodeIndex(one), NodeIndex(other))
}

fn link_up(one: u32, other: u32) -> DisturbanceEvent {
    DisturbanceEvent::LinkUp(NodeIndex(one), NodeIndex(other))
}

/// Three nodes in a line with five units each and links of five milliseconds. The instance is on the first node, the
/// user on the last.
fn line(policy: &str) -> Scenario {
    scenario(topology(&[5, 5, 5], &[(0, 1, 5.0), (1, 2, 5.0)])).with_application(1, 0, policy).with_user(0, &[Some(2)])
}

#[test]
fn users_are_rerouted_when_an_instance_is_lost_with_its_node() {
    // A second instance runs on node 1, nearer to the user. When node 1 goes down, the first instance serves over the
    // direct link of latency 20.
    let ring = topology(&[5, 5, 5], &[(0, 1, 5.0), (1, 2, 5.0), (0, 2, 20.0)]);
    let mut world = scenario(ring).with_application(1, 0, STILL).with_user(0, &[Some(2)]);
    world.deploys.push(Deploy {
        time: Time::ZERO,
        application: ApplicationIndex(0),
        node: NodeIndex(1),
        policy: PolicyIndex(0),
    });
    world.routing = mario_scenario::Routing::Nearest(mario_scenario::Metric::Latency);
    let story = story(&world.with_disturbance(500.0, crash(1)));
    assert_eq!(story.downs, [(500.0, 1, 1)]);
    let by =
        |agent| story.served.iter().filter(move |served| served.agent.0 == agent).map(|served| served.emitted.units());
    assert!(by(1).all(|emitted| emitted < 500.0) && by(1).count() == 12);
    assert!(by(0).all(|emitted| emitted > 500.0) && by(0).count() == 37);
    let travelled: Vec<f64> = story.served.iter().map(|served| (served.arrived - served.emitted).units()).collect();
    assert_eq!((&travelled[..12], &travelled[12..]), (&[5.0; 12][..], &[20.0; 37][..]));
    assert_eq!(story.lost, []);
}

/// Replicates to a neighbour that forwards requests, and never undeploys.
const STAYS_AND_SPREADS: &str =
    ":- dynamic requests/4.\noperation(replicate, I, M) :- requests(I, M, _, _), M \\== self.\n";

#[test]
fn the_survivors_recover_the_service() {
    // Replicas spread towards the user until one is at the access point. Then that node goes down, and comes up empty.
    let world = line(STAYS_AND_SPREADS).with_disturbance(1_010.0, crash(2)).with_disturbance(1_030.0, join(2));
    let story = story(&world);
    let hops = |from: f64, until: f64| {
        let within = story.served.iter().filter(|served| (from..until).contains(&served.emitted.units()));
        within.map(|served| ((served.arrived - served.emitted).units() / 5.0).round() as u32).collect::<Vec<u32>>()
    };
    // The first replica is created at 300, and the second, on the user's access point, at 500.
    assert_eq!((hops(0.0, 300.0), hops(500.0, 1_010.0)), (vec![2; 7], vec![0; 13]));
    // The instance in the middle survives, serves the user again, and replicates to the access point again.
    assert_eq!(story.downs, [(1_010.0, 2, 1)]);
    let (meanwhile, after) = (hops(1_040.0, 1_100.0), hops(1_500.0, 2_000.0));
    assert!(meanwhile.iter().all(|hops| *hops == 1) && !meanwhile.is_empty(), "{meanwhile:?}");
    assert!(after.iter().all(|hops| *hops == 0) && !after.is_empty(), "{after:?}");
}

#[test]
fn an_instance_at_the_access_point_is_unaffected_by_the_loss_of_others() {
    let story = story(&line(SPREADS).with_disturbance(950.0, crash(1)).with_disturbance(1_050.0, join(1)));
    assert_eq!((story.lost.len(), story.served.len()), (0, 49));
}

#[test]
fn an_application_without_instances_is_redeployed_after_the_delay() {
    let mut world = line(STILL).with_disturbance(510.0, crash(0)).with_disturbance(550.0, join(0));
    world.redeploy_delay = Some(Duration::of(300.0));
    let story = story(&world);
    // Lost at 510, proposed at 810, judged at the next activation.
    assert_eq!(story.deploys, [(900.0, 0, true)]);
    // Requests sent in between are lost.
    let lost: Vec<f64> = story.lost.iter().map(|(time, _)| *time).collect();
    assert!(lost.iter().all(|time| (510.0..900.0).contains(time)), "{lost:?}");
    assert_eq!(lost.len(), 10);
    assert_eq!(story.served.len(), 49 - 10);
}

#[test]
fn without_a_delay_nothing_is_redeployed() {
    let story = story(&line(STILL).with_disturbance(510.0, crash(0)).with_disturbance(550.0, join(0)));
    assert_eq!(story.deploys, []);
    assert_eq!(story.lost.len(), 49 - 12);
}

#[test]
fn a_redeploy_on_a_home_that_is_down_is_retried() {
    let mut world = line(STILL).with_disturbance(510.0, crash(0)).with_disturbance(1_150.0, join(0));
    world.redeploy_delay = Some(Duration::of(200.0));
    let story = story(&world);
    // Proposed at 710, then 200 after each inhibition.
    assert_eq!(story.deploys, [(800.0, 0, false), (1_000.0, 0, false), (1_200.0, 0, true)]);
}

#[test]
fn a_redeploy_is_cancelled_if_no_longer_needed() {
    let mut world = line(STILL).with_disturbance(510.0, crash(0)).with_disturbance(520.0, join(0));
    world.redeploy_delay = Some(Duration::of(300.0));
    // The scenario itself deploys before the delay ends at 810: at 530, which is inhibited, and at 620.
    for (time, node) in [(530.0, 1), (620.0, 0)] {
        world.deploys.push(Deploy {
            time: Time::at(time),
            application: ApplicationIndex(0),
            node: NodeIndex(node),
            policy: PolicyIndex(0),
        });
    }
    let world = world.with_disturbance(525.0, crash(1)).with_disturbance(620.0, join(1));
    let story = story(&world);
    assert_eq!(story.deploys, [(600.0, 1, false), (700.0, 0, true)]);
}

#[test]
fn an_application_removed_without_users_is_redeployed_with_them() {
    let undeploys = ":- dynamic requests/4.\noperation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n";
    let mut world = scenario(topology(&[5], &[])).with_application(1, 0, undeploys).with_user(0, &[None, Some(0)]);
    world.redeploy_delay = Some(Duration::of(50.0));
    let story = story(&world);
    assert_eq!(story.deploys, [(1_100.0, 0, true)]);
    let emitted: Vec<f64> = story.served.iter().map(|served| served.emitted.units()).collect();
    assert_eq!(emitted[..2], [1_120.0, 1_160.0]);
}

#[test]
fn an_application_with_a_pending_deploy_is_not_redeployed() {
    let mut world = line(STILL);
    world.deploys[0].time = Time::at(950.0);
    world.redeploy_delay = Some(Duration::of(50.0));
    assert_eq!(story(&world).deploys, [(1_000.0, 0, true)]);
}

#[test]
fn a_pending_agent_is_lost_with_its_node() {
    // The managers judge every 400, so the evaluation at 300 is still pending when the node goes down at 350.
    let mut world = line(SPREADS).with_disturbance(350.0, crash(0));
    world.management_period = Duration::of(400.0);
    let story = story(&world);
    assert_eq!(story.downs, [(350.0, 0, 1)]);
    assert!(story.cycles.is_empty(), "no agent is left to be judged");
}

#[test]
fn a_node_that_is_down_forwards_no_messages() {
    // The request sent at 480 is in transit from node 2 to node 1 when node 1 goes down.
    let world = line(STILL).with_disturbance(482.0, crash(1)).with_disturbance(488.0, join(1));
    let story = story(&world);
    assert_eq!(story.lost, [(485.0, 0)]);
}

#[test]
fn a_message_passes_a_link_that_goes_down_and_is_lost_at_the_next_one() {
    let on_it = story(&line(STILL).with_disturbance(481.0, link_down(1, 2)).with_disturbance(500.0, link_up(1, 2)));
    assert_eq!(on_it.lost, []);
    let next = story(&line(STILL).with_disturbance(481.0, link_down(0, 1)).with_disturbance(500.0, link_up(0, 1)));
    assert_eq!(next.lost, [(485.0, 0)]);
}

#[test]
fn a_second_failure_of_a_link_is_ignored() {
    let mut world = line(STILL).with_disturbance(400.0, link_up(0, 1));
    for time in [500.0, 600.0] {
        world = world.with_disturbance(time, link_down(0, 1)).with_disturbance(time + 200.0, link_up(1, 0));
    }
    assert_eq!(story(&world).links, [(500.0, false), (700.0, true)]);
}

#[test]
fn a_node_announces_its_departure_once_and_a_join_does_not_cancel_it() {
    let event = |event: fn(NodeIndex) -> DisturbanceEvent| event(NodeIndex(1));
    let world = line(STILL)
        .with_disturbance(400.0, event(DisturbanceEvent::Notice))
        .with_disturbance(450.0, event(DisturbanceEvent::Notice))
        .with_disturbance(500.0, join(1))
        .with_disturbance(600.0, event(DisturbanceEvent::Leave))
        .with_disturbance(650.0, event(DisturbanceEvent::Leave))
        .with_disturbance(700.0, join(1));
    let story = story(&world);
    assert_eq!(story.leaving, [(400.0, 1)]);
    assert_eq!((story.downs, story.ups), (vec![(600.0, 1, 0)], vec![(700.0, 1)]));
}

/// Access points 0, 1, 2 and 3 in a line from west to east. The user is at 0, the instance on 3.
fn street() -> Scenario {
    let mut builder = TopologyBuilder::default();
    for (number, longitude) in [12.40, 12.41, 12.43, 12.46].into_iter().enumerate() {
        let position = Some(Position { latitude: 41.9, longitude });
        let node = builder.node(mario_scenario::NodeDescription { position, ..described(number, Capacity::units(5)) });
        let node = node.expect("a new node");
        if number > 0 {
            builder.link(NodeIndex(node.0 - 1), node, Duration::of(1.0), None).expect("a link");
        }
    }
    let topology = builder.build().expect("an infrastructure");
    scenario(topology).with_application(1, 3, STILL).with_user(0, &[Some(0)])
}

#[test]
fn users_of_a_failed_access_point_use_the_nearest_until_it_recovers() {
    let world = street()
        .with_disturbance(300.0, crash(0))
        .with_disturbance(400.0, crash(1))
        .with_disturbance(500.0, join(1))
        .with_disturbance(600.0, join(0));
    let expected = [
        (0.0, 0, None, Some(0)),
        (300.0, 0, Some(0), Some(1)),
        (400.0, 0, Some(1), Some(2)),
        (500.0, 0, Some(2), Some(1)),
        (600.0, 0, Some(1), Some(0)),
    ];
    assert_eq!(story(&world).handovers, expected);
}

#[test]
fn requests_are_lost_while_no_access_point_is_up() {
    let mut world = street();
    for node in 0..4 {
        world = world.with_disturbance(300.0 + f64::from(node), crash(node));
    }
    let mut world = world.with_disturbance(500.0, join(3)).with_disturbance(800.0, join(2));
    world.redeploy_delay = Some(Duration::of(100.0));
    let story = story(&world);
    let moves: Vec<(f64, Option<u32>)> = story.handovers.iter().map(|(time, _, _, to)| (*time, *to)).collect();
    let expected = [
        (0.0, Some(0)),
        (300.0, Some(1)),
        (301.0, Some(2)),
        (302.0, Some(3)),
        (303.0, None),
        (500.0, Some(3)),
        (800.0, Some(2)),
    ];
    assert_eq!(moves, expected);
    let lost: Vec<f64> = story.lost.iter().map(|(time, _)| *time).collect();
    // The delay ends at 403, and the deploy is judged just after its home has come back.
    assert_eq!(story.deploys, [(500.0, 3, true)]);
    assert_eq!(lost, [320.0, 360.0, 400.0, 440.0, 480.0]);
}

#[test]
fn a_returning_user_restarts_the_schedule() {
    // A request every 1,500 units, the first 700 after the arrival. The user is away from 1,000 to 2,000.
    let mut world = scenario(topology(&[5], &[])).with_application(1, 0, STILL).with_user(0, &[Some(0), None, Some(0)]);
    world.users[0].workload = Workload::Periodic { period: Duration::of(1_500.0), phase: Duration::of(700.0) };
    world.duration = Duration::of(6_000.0);
    let emitted: Vec<f64> = story(&world).served.iter().map(|served| served.emitted.units()).collect();
    assert_eq!(emitted, [700.0, 2_700.0, 4_200.0, 5_700.0]);
}
