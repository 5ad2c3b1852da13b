//! Tests that the small worlds of the explorer and the population of the simulator obey the same rules.
//!
//! The explorer and a population run the same world side by side, cycle by cycle. The population receives the client
//! requests that reach the instances of the explorer, because where requests go is no rule of management. Each proposal,
//! each verdict with its reason, the placement with flavours and sleepers, and the free hardware of all nodes must then
//! be the same, whatever was cached.

mod drawn;
mod twin;

use std::collections::BTreeMap;

use mario_domain::{FlavourIndex, Verdict};
use mario_policy::{Policy, PolicySettings, PolicyText, analyse};
use mario_prolog::Engine;
use mario_testing::Random;

use super::decider::{CachedDecider, Proposed};
use super::names::Names;
use super::run::{Body, Run};
use super::shape::{Shape, placements};
use super::variations::Variations;
use super::world::{CAPACITIES, LIMITS, World, application};
use twin::Twin;

/// The maximum number of nodes of a world.
const NODES: usize = 4;
const CYCLES: u32 = 8;
/// The number of random policies.
const POLICIES: u64 = 200;
/// A world with more instances ends. Sleeping replicas need no hardware, so their number may double in each cycle.
const INSTANCES_MAX: usize = 40;

/// How often something happened, by its name.
type Counts = BTreeMap<&'static str, u32>;

/// Runs a number of random worlds of one policy.
fn compare(text: &PolicyText, worlds: usize, random: &mut Random, counts: &mut Counts) {
    let engine = Engine::new();
    let (name, main) = text.main().expect("it has a text");
    let interests = analyse(&engine, name, main, &|| text.resolver()).expect("it loads").interests;
    let variations = Variations::of(&interests.expect("it is a policy of agents"));
    let load = |memory| {
        let settings = PolicySettings { memory, ..PolicySettings::default() };
        Policy::load(&engine, name, main, Some(text.resolver()), settings).expect("it loads")
    };
    let policy = load(0);
    let mut decider = CachedDecider::new(&engine, &policy);
    let names = Names::of(NODES);
    let shapes: Vec<Shape> = (1..=NODES).flat_map(Shape::all).collect();
    for _ in 0..worlds {
        let shape = random.choose(&shapes);
        let (limits, gpus) = (random.pick(&LIMITS), random.pick(variations.gpus));
        let (instances, clients) = (random.between(1, 3) as usize, random.below(4));
        let world = World {
            names: &names,
            shape,
            clients: random.choose(&placements(shape.nodes(), clients)).clone(),
            instances: random.choose(&placements(shape.nodes(), instances)).clone(),
            limits,
            gpus,
            application: application(&variations, limits, gpus),
            units: random.pick(&CAPACITIES),
            memory: random.pick(variations.memories),
            extra: &variations.extra,
            spread: random.pick(variations.spreads),
            drawn: variations.drawn,
            notice: random.pick(variations.notices),
            begins_asleep: random.pick(variations.sleeps),
        };
        if world.has_room() {
            let twin = Twin::new(&engine, load(world.memory), &world);
            run_beside(&world, &mut decider, twin, counts);
        }
    }
}

/// Runs a world and its twin, and compares them after each cycle.
fn run_beside(world: &World<'_>, decider: &mut CachedDecider<'_>, mut twin: Twin, counts: &mut Counts) {
    let mut run = Run::new(world);
    assert_eq!(twin.placement(), placement(&run), "{:?}", world.description());
    for _ in 0..CYCLES {
        let (woken, newest) = (run.woken, run.agents.last().map_or(0, |agent| agent.id));
        let steps = run.cycle(decider);
        let outcomes = twin.cycle(world, &steps);
        let told = || format!("{:?}\n{steps:?}", world.description());
        for (step, outcome) in steps.iter().zip(&outcomes) {
            let proposed = match &*step.proposed {
                Proposed::Operation { operation, target, .. } => Some(operation.towards(target.clone())),
                Proposed::Nothing | Proposed::Invalid { .. } | Proposed::Failed(_) => None,
            };
            assert_eq!(outcome.proposed, proposed, "of i{}: {}", step.instance, told());
            assert_eq!(outcome.verdict, step.verdict, "on i{}: {}", step.instance, told());
            if let (Some(proposed), Some(Verdict::Accepted)) = (&proposed, &step.verdict) {
                *counts.entry(proposed.name().as_str()).or_default() += 1;
            }
            if let Some(Verdict::Inhibited(inhibition)) = &step.verdict {
                *counts.entry(inhibition.rule.as_str()).or_default() += 1;
            }
        }
        assert_eq!(outcomes.len(), steps.len(), "{}", told());
        assert_eq!(twin.placement(), placement(&run), "{}", told());
        assert_eq!(twin.free(), run.free(), "{}", told());
        *counts.entry("cycles").or_default() += 1;
        *counts.entry("woken").or_default() += u32::from(run.woken != woken);
        *counts.entry("evicted").or_default() += twin.evicted;
        for replica in run.agents.iter().filter(|agent| agent.id > newest) {
            let Body { flavour, wakefulness } = replica.body;
            *counts.entry("flavoured replicas").or_default() += u32::from(flavour != FlavourIndex::DEFAULT);
            *counts.entry("sleeping replicas").or_default() += u32::from(wakefulness.is_asleep());
        }
        if run.agents.len() > INSTANCES_MAX || twin.is_announced_again() {
            return;
        }
    }
}

fn placement(run: &Run<'_>) -> Vec<twin::Placed> {
    run.agents.iter().map(|agent| (agent.id, agent.node, agent.body.flavour, agent.body.wakefulness)).collect()
}

#[test]
fn shipped_policies_run_by_the_rules_of_the_population() {
    let mut counts = Counts::new();
    for (number, text) in (0..).zip(drawn::shipped()) {
        compare(&text, 120, &mut Random::new(number), &mut counts);
    }
    for what in ["undeploy", "migrate", "replicate", "adapt", "sleep", "capacity", "woken"] {
        assert!(counts.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {counts:?}");
    }
}

#[test]
fn instances_in_other_flavours_and_asleep_move_by_the_rules_of_the_population() {
    let mut counts = Counts::new();
    for (number, text) in (0..).zip(drawn::written()) {
        compare(&text, 400, &mut Random::new(number), &mut counts);
    }
    for what in ["migrate", "adapt", "wake", "capacity", "flavoured replicas", "sleeping replicas"] {
        assert!(counts.get(what).is_some_and(|count| *count > 20), "too little of `{what}`: {counts:?}");
    }
}

#[test]
fn random_policies_run_by_the_rules_of_the_population() {
    let mut counts = Counts::new();
    for number in 0..POLICIES {
        let mut random = Random::new(number);
        let text = drawn::policy(&mut random);
        eprintln!("policy {number}:\n{}", text.files[0].1);
        compare(&text, 20, &mut random, &mut counts);
    }
    let operations = ["undeploy", "migrate", "replicate", "adapt", "sleep", "wake"];
    let rules = ["capacity", "neighbourhood", "flavour", "asleep", "awake"];
    for what in operations.into_iter().chain(rules).chain(["woken", "evicted"]) {
        assert!(counts.get(what).is_some_and(|count| *count > 20), "too little of `{what}`: {counts:?}");
    }
}
