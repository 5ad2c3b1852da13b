//! The state that results from applying a trace is the simulator's own, after every record that changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::sync::Arc;

use mario_domain::Time;
use mario_scenario::{NodeIndex, Numbering, Scenario};
use mario_simulator::population::{AgentIndex, CompactVerdict, CycleLabel, Population};
use mario_simulator::{Cause, Detail, Recorder, RunOptions, Simulation, TraceRecorder};
use mario_trace::reader::TraceReader;
use mario_trace::{Actor, Change, InstanceEnd, Origin, State};

use super::everything::everything;
use super::sleep::sleeping;
use super::{Growing, Replay, world};

/// The number of worlds of each kind.
const WORLDS: u64 = 120;

/// What both sides know of an instance: its id, application, policy and node, its flavour, whether it sleeps, and whether it
/// is an anchor.
type Known = (String, u32, u32, u32, u32, bool, bool);

/// Applies the trace while it is written, and compares the result with the population.
struct Comparison {
    reader: TraceReader<BufReader<Growing>>,
    state: State,
    /// How often each kind of change was compared.
    seen: BTreeMap<&'static str, u64>,
}

impl Comparison {
    fn new(growing: &Growing) -> Comparison {
        let reader = TraceReader::new(BufReader::new(growing.clone())).expect("a header");
        let state = State::new(Arc::clone(reader.header()));
        Comparison { reader, state, seen: BTreeMap::new() }
    }

    fn catch_up(&mut self) {
        let seen = &mut self.seen;
        while let Some(record) = self.reader.next_record().expect("a record") {
            self.state.apply(&record, &mut |_, change| *seen.entry(kind(change)).or_default() += 1);
        }
    }

    fn compare(&mut self, time: Time, population: &Population) {
        self.catch_up();
        let applied: BTreeSet<Known> = self
            .state
            .existing()
            .map(|(_, instance)| {
                let (node, body) = (instance.node.expect("it exists"), instance.body);
                let id = instance.id.to_string();
                (id, instance.application, instance.policy, node, body.flavour, body.is_asleep, body.is_anchor)
            })
            .collect();
        let agents = (0..population.agent_count()).map(AgentIndex::at);
        let simulated: BTreeSet<Known> = agents
            .filter(|agent| population.agent(*agent).is_alive())
            .map(|index| {
                let agent = population.agent(index);
                let id = population.instance(index).to_string();
                let (application, policy, node) = (agent.application().0, agent.policy().0, agent.node().0);
                (id, application, policy, node, u32::from(agent.flavour().0), agent.is_asleep(), agent.is_anchor())
            })
            .collect();
        assert_eq!(applied, simulated, "time {time}, line {}", self.reader.line());
    }
}

impl Recorder for Comparison {
    // The owners of all nodes have acted before the first record of it, so the acts are compared at the next cycle.
    fn cycle(&mut self, time: Time, _label: &CycleLabel, population: &Population) {
        self.compare(time, population);
    }

    fn woken(&mut self, time: Time, _agent: AgentIndex, _verdict: &CompactVerdict, population: &Population) {
        self.compare(time, population);
    }

    fn node_down(&mut self, time: Time, _: NodeIndex, _: Cause, _gone: &[AgentIndex], population: &Population) {
        // Nodes that are absent at the start are recorded before the initial instances.
        if time > Time::ZERO {
            self.compare(time, population);
        }
    }
}

fn kind(change: Change<'_>) -> &'static str {
    match change {
        Change::Appeared { origin: Origin::Initial, .. } => "initial",
        Change::Appeared { origin: Origin::Deployed, .. } => "deployed",
        Change::Appeared { origin: Origin::Replicated(_), .. } => "replicated",
        Change::Moved { became: None, .. } => "moved",
        Change::Moved { became: Some(_), .. } => "moved and renamed",
        Change::Left { end: InstanceEnd::Undeployed, .. } => "undeployed",
        Change::Left { end: InstanceEnd::Evicted(_), .. } => "evicted",
        Change::Left { end: InstanceEnd::Lost, .. } => "lost",
        Change::Adapted { by: Actor::Agent, .. } => "adapted",
        Change::Adapted { by: Actor::Owner(_), .. } => "shrunk",
        Change::Slept { by: Actor::Agent, .. } => "slept",
        Change::Woke { by: Actor::Agent, .. } => "woke",
        Change::Woke { by: Actor::Client, .. } => "woken",
        Change::EvictionAnnounced { .. } => "announced",
        Change::PolicyChanged { .. } => "policy changed",
        Change::Nop { .. } => "nop",
        Change::Accepted { .. } => "accepted",
        Change::Inhibited { .. } => "inhibited",
        Change::DeployInhibited { .. } => "deploy inhibited",
        Change::WakeInhibited { .. } => "wake inhibited",
        Change::NodeDown { .. } => "node down",
        Change::NodeUp { .. } => "node up",
        Change::NodeLeaving { .. } => "node leaving",
        Change::LinkDown { .. } => "link down",
        Change::LinkUp { .. } => "link up",
        Change::Adapted { by: Actor::Client | Actor::LiveNode, .. }
        | Change::Slept { by: Actor::Owner(_) | Actor::Client | Actor::LiveNode, .. }
        | Change::Woke { by: Actor::Owner(_) | Actor::LiveNode, .. }
        | Change::Anchored { .. }
        | Change::Updated { .. }
        | Change::Draining { .. } => panic!("a simulated run has no such change: {change:?}"),
    }
}

fn check(scenario: &Scenario, seen: &mut BTreeMap<&'static str, u64>) {
    let growing = Growing::default();
    let trace = TraceRecorder::new(growing.clone(), scenario, Detail::Operations);
    let mut recorders = (trace, Comparison::new(&growing));
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("it can be run");
    simulation.run(&mut recorders);
    let (trace, mut comparison) = recorders;
    trace.finish(scenario.end()).expect("memory takes everything");
    comparison.compare(scenario.end(), simulation.population());
    for (what, count) in comparison.seen {
        *seen.entry(what).or_default() += count;
    }
}

#[test]
fn the_applied_trace_is_the_placement_of_the_simulator_after_every_change() {
    let mut seen = BTreeMap::new();
    for number in 0..WORLDS {
        let replay = Replay(number);
        check(&world(number), &mut seen);
        check(&sleeping(number), &mut seen);
        let mut all_features = everything(number);
        check(&all_features, &mut seen);
        all_features.numbering = Numbering::Shared;
        check(&all_features, &mut seen);
        drop(replay);
    }
    let all = [
        "initial",
        "deployed",
        "replicated",
        "moved",
        "moved and renamed",
        "undeployed",
        "evicted",
        "lost",
        "adapted",
        "shrunk",
        "slept",
        "woke",
        "woken",
        "announced",
        "policy changed",
        "nop",
        "accepted",
        "inhibited",
        "deploy inhibited",
        "wake inhibited",
        "node down",
        "node up",
        "node leaving",
        "link down",
        "link up",
    ];
    for what in all {
        assert!(seen.get(what).is_some_and(|count| *count > 3), "too little of `{what}`: {seen:?}");
    }
}
