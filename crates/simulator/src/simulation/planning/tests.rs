//! Tests that all operations of a plan are enacted in one cycle, even if one needs the hardware that another frees.

use std::path::Path;

use mario_domain::{NodeId, OperationName, Time};
use mario_scenario::{ApplicationIndex, Document, NoFiles, NodeIndex, Scenario};

use super::{Answers, Planner, View};
use crate::optimum::{Allocation, changes};
use crate::population::{CycleLabel, Deployed, Outcome, Plan, Population};
use crate::recorder::Recorder;
use crate::simulation::{RunOptions, Simulation};

/// A cloud above four access points with room for one instance each. Two applications have an instance at one access
/// point each.
const TEXT: &str = r#"
preset = "paper"
reset = ["application"]
[topology]
size = 2
[management]
strategy = "central-greedy"
[[application]]
id = "one"
max_rate = 5
max_latency = 10
[[application]]
id = "other"
max_rate = 5
max_latency = 10
[[deploy]]
application = "one"
node = "n1lt0ln0"
[[deploy]]
application = "other"
node = "n1lt0ln1"
"#;

fn scenario() -> Scenario {
    let document = Document::file(Path::new("swap.toml"), TEXT, &mut NoFiles);
    document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario
}

fn node(scenario: &Scenario, name: &str) -> NodeIndex {
    scenario.topology.find(&NodeId::name(name).expect("a name")).expect("there is such a node")
}

/// A planner that always wants the same allocations.
struct Fixed(Vec<Allocation>);

impl Planner for Fixed {
    fn plan(&mut self, view: &View<'_>) -> Plan {
        changes(view.scenario, &self.0, view.placement, view.population, &view.rooms())
    }

    fn memory(&self) -> Option<Answers> {
        None
    }

    fn remember(&mut self, _memory: Answers) {}
}

/// Records all operations and verdicts.
#[derive(Default)]
struct Operations(Vec<(OperationName, bool)>);

impl Recorder for Operations {
    fn cycle(&mut self, _time: Time, label: &CycleLabel, _colony: &Population) {
        for outcome in label.iter() {
            match &outcome {
                Outcome::Nop(_) => {}
                Outcome::Judged(judged) => {
                    self.0.push((OperationName::of(judged.proposal.operation), judged.verdict.is_accepted()));
                }
                Outcome::Deployed(Deployed { verdict, .. }) => {
                    self.0.push((OperationName::Deploy, verdict.is_accepted()));
                }
            }
        }
    }
}

/// Runs a planner that wants this placement. Returns the operations and whether each was accepted.
fn operations(wanted: [&[&str]; 2]) -> Vec<(OperationName, bool)> {
    let scenario = scenario();
    let allocations: Vec<Allocation> = wanted
        .iter()
        .map(|names| {
            let mut allocation = Allocation::default();
            names.iter().for_each(|name| allocation.add(node(&scenario, name).0));
            allocation
        })
        .collect();
    let mut simulation = Simulation::new(&scenario, RunOptions::default()).expect("it can be run");
    simulation.planner = Some(Box::new(Fixed(allocations.clone())));
    let mut recorder = Operations::default();
    // One activation of the managers, and one more that changes nothing.
    simulation.run_until(Time::at(250.0), &mut recorder);
    let current = (0..2).map(|application| {
        Allocation::current(&simulation.placement, ApplicationIndex(application), &simulation.population)
    });
    assert!(current.eq(allocations), "{wanted:?}");
    recorder.0
}

#[test]
fn an_instance_migrates_to_any_node_in_one_cycle() {
    let found = operations([&["n1lt1ln1"], &["n1lt0ln1"]]);
    assert_eq!(found, [(OperationName::Migrate, true)]);
}

#[test]
fn a_migration_waits_for_the_room_freed_by_another() {
    let found = operations([&["n1lt0ln1"], &["n0lt0ln0"]]);
    assert_eq!(found, [(OperationName::Migrate, true), (OperationName::Migrate, true)]);
}

#[test]
fn two_instances_on_full_nodes_are_exchanged() {
    let found = operations([&["n1lt0ln1"], &["n1lt0ln0"]]);
    let expected = [OperationName::Undeploy, OperationName::Migrate, OperationName::Deploy];
    assert_eq!(found, expected.map(|operation| (operation, true)));
}

#[test]
fn surplus_instances_are_undeployed_first() {
    let found = operations([&[], &["n1lt0ln1", "n1lt0ln0"]]);
    assert_eq!(found, [(OperationName::Undeploy, true), (OperationName::Deploy, true)]);
}
