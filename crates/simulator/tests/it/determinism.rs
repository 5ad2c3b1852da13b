//! Tests that a scenario with the same seed produces the same bytes, regardless of threads, reuse and pauses.

use mario_domain::{Duration, Time};
use mario_scenario::{Document, NoFiles, Scenario, Workload};
use mario_simulator::{Detail, Reuse, RunOptions};

use crate::world::{SPREADS, ScenarioExt, outputs, scenario, topology};

/// A world with enough simultaneous evaluations that two or three threads share them.
fn crowded() -> Scenario {
    let units = vec![300; 12];
    let links: Vec<(u32, u32, f64)> = (1..12).map(|node| ((node - 1) / 2, node, 2.0)).collect();
    let mut world = scenario(topology(&units, &links));
    let greedy = ":- dynamic requests/4, inhibited/3.\n\
        operation(replicate, I, M) :- requests(I, M, R, _), R > 3, M \\== self, \\+ inhibited(replicate, I, M).\n\
        operation(migrate, I, M) :- requests(I, M, _, _), M \\== self.\n";
    for number in 0..40 {
        world =
            world.with_application(1 + number % 3, number as u32 % 12, if number % 2 == 0 { greedy } else { SPREADS });
    }
    for (position, policy) in world.policies.iter_mut().enumerate() {
        policy.memory = position as u32 % 4;
    }
    let deploys = world.deploys.clone();
    world.deploys = (0..20).flat_map(|_| deploys.clone()).collect();
    for user in 0..200_u32 {
        world = world.with_user(user % 40, &[Some(user % 12), Some((user * 5) % 12), Some((user * 7) % 12)]);
        let workload = match user % 3 {
            0 => Workload::Periodic { period: Duration::of(40.0), phase: Duration::of(7.0) },
            1 => Workload::Poisson { mean_period: Duration::of(30.0) },
            _ => Workload::OnOff {
                period: Duration::of(10.0),
                mean_on: Duration::of(100.0),
                mean_off: Duration::of(300.0),
            },
        };
        world.users[user as usize].workload = workload;
    }
    world.redeploy_delay = Some(Duration::of(100.0));
    world
}

#[test]
fn threads_and_reuse_change_no_byte() {
    let world = crowded();
    for detail in [Detail::Full, Detail::Operations] {
        let (expected, alone) = outputs(&world, RunOptions::default(), detail);
        assert_eq!(alone.parallel, 0);
        let lines = expected.each_ref().map(|bytes| bytes.split(|byte| *byte == b'\n').count());
        assert!(lines.iter().all(|lines| *lines > 10), "something happens in it: {lines:?}");
        for (threads, reuse) in [
            (1, Reuse::Proposals),
            (1, Reuse::Nothing),
            (2, Reuse::Proposals),
            (2, Reuse::Nothing),
            (3, Reuse::Proposals),
            (3, Reuse::Nothing),
        ] {
            let (found, statistics) = outputs(&world, RunOptions { threads, reuse }, detail);
            assert!(found == expected, "{threads} threads, {reuse:?}, {detail:?}");
            assert_eq!(statistics.due, alone.due);
            assert!((threads == 1) == (statistics.parallel == 0), "{statistics:?}");
            let evaluated = if reuse == Reuse::Proposals { alone.evaluated } else { alone.due };
            assert_eq!(statistics.evaluated, evaluated, "{threads} threads, {reuse:?}, {detail:?}");
        }
    }
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_seed_different_ones() {
    let run = |seed: &str| {
        let mut document = Document::preset("paper").expect("a preset");
        document.set(&[format!("seed={seed}"), "duration=9000".to_owned()]);
        let scenario = document.resolve(&mut NoFiles).expect("a scenario").scenario;
        outputs(&scenario, RunOptions::default(), Detail::Full).0
    };
    assert!(run("5") == run("5"));
    assert!(run("5") != run("6"));
}

#[test]
fn a_run_in_parts_writes_the_same_bytes() {
    let world = crowded();
    let (expected, _) = outputs(&world, RunOptions::default(), Detail::Full);
    let mut writer = mario_simulator::TraceRecorder::new(Vec::new(), &world, Detail::Full);
    let mut simulation = mario_simulator::Simulation::new(&world, RunOptions::default()).expect("it can be run");
    for part in 1..=40 {
        simulation.run_until(Time::at(f64::from(part) * 61.7), &mut writer);
    }
    assert!(writer.finish(world.end()).expect("memory takes everything") == expected[0]);
}
