//! Tests of sizes, scenarios and tables. The tests of the command line cover measuring.

use mario_scenario::NoFiles;

use super::*;

#[test]
fn sizes_are_those_of_full_trees_with_users_in_proportion() {
    let nodes = DEFAULT_NODES.split(',').map(|nodes| nodes.parse().expect("a number"));
    let users: Vec<u64> = nodes.map(|nodes| Size::with_nodes(nodes).expect("a full tree").users()).collect();
    assert_eq!(users, [243, 3_905, 62_499, 1_000_000]);
    assert_eq!(Size::with_nodes(1).expect("the cloud alone").users(), 3);
}

#[test]
fn a_size_between_two_trees_names_both() {
    let error = Size::with_nodes(1_000).expect_err("no tree");
    assert_eq!((error.below.map(Size::nodes), error.above.map(Size::nodes)), (Some(341), Some(1_365)));
    assert!(error.to_string().contains("1000 nodes"), "{error}");
    let nothing = Size::with_nodes(0).expect_err("no tree");
    assert_eq!((nothing.below, nothing.above.map(Size::nodes)), (None, Some(1)));
    let huge = Size::with_nodes(u64::MAX).expect_err("no tree");
    assert_eq!((huge.below.map(Size::nodes), huge.above), (Some(5_592_405), None));
    let full = Size::with_nodes(22_369_621).expect_err("a full tree of thirteen levels");
    assert!(full.to_string().contains("22369621 nodes is too large"), "{full}");
}

fn scenario(nodes: u64, growth: Growth) -> mario_scenario::Scenario {
    let size = Size::with_nodes(nodes).expect("a full tree");
    let config = ScaleConfig { size, policy: "workload-and-latency-aware".to_owned(), seed: 1, threads: 1, growth };
    config.document().resolve(&mut NoFiles).expect("a scenario").scenario
}

#[test]
fn handovers_per_user_do_not_grow_with_the_town() {
    let per_user = |nodes, growth| {
        let scenario = scenario(nodes, growth);
        assert_eq!(scenario.topology.node_count() as u64, nodes);
        scenario.attachments.handovers().total() as f64 / scenario.users.len() as f64
    };
    // The tolerance is for random differences.
    let [small, larger, large] = [85, 1_365, 21_845].map(|nodes| per_user(nodes, Growth::Town));
    assert!((larger / small - 1.0).abs() < 0.2 && (large / larger - 1.0).abs() < 0.05, "{small} {larger} {large}");
    // In a town of constant area, the distance between access points shrinks with their number.
    let dense = per_user(21_845, Growth::Density);
    assert!(dense / large > 2.5, "{large} {dense}");
}

#[test]
fn the_table_ends_with_the_ratio_of_the_largest_to_the_smallest() {
    let measured = |nodes, cpu_ns_per_agent_cycle| ScaleMeasurement {
        nodes,
        users: 3 * nodes,
        agents: 10,
        cycles: 5,
        asked: 50,
        evaluated: 7,
        cpu_ns_per_agent_cycle,
        peak_bytes: 3 << 20,
        wall_s: 1.5,
    };
    let text = table(&[measured(85, 1_000.0), measured(1_365, 1_500.0)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1].split_whitespace().eq(["85", "255", "10", "5", "50", "7", "1000", "3.0", "1.50"]), "{text}");
    assert_eq!(lines[3], "CPU per agent and cycle, 1365 nodes against 85: 1.50 times");
    assert_eq!(table(&[measured(85, 1.0)]).lines().count(), 2);
}
