//! Scenarios from presets, files and overrides.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mario_domain::{Capacity, NodeId};
use mario_simulator::scenario::{Document, Files, NoFiles, Resolved, ScenarioError, Settings, preset_names};
use mario_simulator::{Arbitration, Memory, Numbering, Observation, Occupancy, Routing, Workload};

/// Files that exist in a test only.
#[derive(Default)]
struct Texts(BTreeMap<String, String>);

impl Texts {
    fn with(mut self, path: &str, text: &str) -> Texts {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }
}

impl Files for Texts {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let text = self.0.get(&path.display().to_string()).ok_or("there is no such file")?;
        Ok(text.clone().into_bytes())
    }
}

fn preset(name: &str, overrides: &[&str]) -> Resolved {
    try_preset(name, overrides).unwrap_or_else(|error| panic!("{:#?}", error.mistakes))
}

fn try_preset(name: &str, overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let mut document = Document::preset(name)?;
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    document.set(&overrides);
    document.resolve(&mut NoFiles)
}

/// Hardware of each level, and latency of the links below each.
fn levels(resolved: &Resolved) -> (Vec<Capacity>, Vec<f64>) {
    let topology = &resolved.scenario.topology;
    let mut hardware = Vec::new();
    let mut latency = Vec::new();
    let mut name = "n0lt0ln0".to_owned();
    while let Some(node) = topology.find(&NodeId::name(&name).expect("a name")) {
        hardware.push(topology.node(node).capacity);
        name = format!("n{}lt0ln0", hardware.len());
        if let Some(child) = topology.find(&NodeId::name(&name).expect("a name")) {
            let link = topology.link_between(node, child).expect("a child has a link to its parent");
            latency.push(topology.link(link).latency);
        }
    }
    (hardware, latency)
}

fn units(levels: &[u64]) -> Vec<Capacity> {
    levels.iter().map(|units| Capacity::units(*units)).collect()
}

#[test]
fn the_prototype_has_its_hardware_and_latencies_in_all_sizes() {
    for (size, nodes, hardware, latency) in [
        ("1", 1, &[14][..], &[][..]),
        ("2", 5, &[14, 1], &[1.0]),
        ("4", 21, &[14, 4, 1], &[2.0, 1.0]),
        ("8", 85, &[14, 6, 4, 1], &[3.0, 2.0, 1.0]),
        ("16", 341, &[14, 8, 6, 4, 1], &[4.0, 3.0, 2.0, 1.0]),
    ] {
        let resolved = preset("prototype", &[&format!("topology.size={size}")]);
        assert_eq!(resolved.scenario.topology.node_count(), nodes, "{size}");
        assert_eq!(levels(&resolved), (units(hardware), latency.to_vec()), "{size}");
    }
}

#[test]
fn the_paper_has_its_hardware_and_latencies() {
    let resolved = preset("paper", &[]);
    let mut hardware = units(&[0, 9, 6, 1]);
    hardware[0] = Capacity::Unbounded;
    assert_eq!(levels(&resolved), (hardware, vec![3.0, 2.0, 3.0]));
    assert_eq!(resolved.scenario.topology.node_count(), 85);
    assert_eq!(resolved.scenario.topology.access_points().count(), 64);
    preset("paper", &["topology.size=4"]);
    preset("paper", &["topology.size=16"]);
}

#[test]
fn the_paper_and_the_prototype_differ_in_their_strategies() {
    let paper = preset("paper", &[]).scenario;
    let prototype = preset("prototype", &[]).scenario;
    assert_eq!((paper.observation, paper.arbitration), (Observation::Arrivals, Arbitration::Managers));
    assert_eq!((paper.memory, paper.numbering), (Memory::Sliding, Numbering::Counted));
    assert_eq!((prototype.observation, prototype.arbitration), (Observation::RouteEntries, Arbitration::Sequential));
    assert_eq!((prototype.memory, prototype.numbering), (Memory::Periodic { every: 5 }, Numbering::Shared));
    assert_eq!(prototype.routing, Routing::LeastUsed);
    for scenario in [&paper, &prototype] {
        assert_eq!((scenario.agents.start, scenario.agents.period, scenario.management_period), (100.0, 200.0, 100.0));
        assert_eq!((scenario.duration, scenario.step), (52_000.0, 2_000.0));
        assert_eq!(scenario.network.occupancy, Occupancy::Latency);
        assert_eq!(scenario.users.len(), 51);
        assert!(scenario.users.iter().all(|user| user.workload == Workload::Periodic { period: 40.0, phase: 40.0 }));
        assert_eq!(scenario.deploys.len(), 6);
        assert!(scenario.deploys.iter().all(|deploy| deploy.time == 0.0 && deploy.node.0 == 0));
        for (position, plan) in scenario.applications.iter().enumerate() {
            let (kind, rate, latency) = if position < 3 { ("WS", 5, 10) } else { ("LS", 40, 1) };
            assert_eq!(plan.kind, kind);
            assert_eq!(plan.application.max_rate.as_whole(), Some(rate));
            assert_eq!(plan.application.max_latency.as_whole(), Some(latency));
            assert_eq!((plan.application.hardware.as_units(), plan.service_time), (1, 0.01));
        }
    }
    let ids = |scenario: &mario_simulator::Scenario| {
        scenario.applications.iter().map(|plan| plan.application.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&paper), "app1 app2 app3 app4 app5 app6");
    assert_eq!(ids(&prototype), "1 2 3 4 5 6");
    assert!(matches!(prototype.applications[0].application.id.id(), mario_domain::Id::Number(1)));
}

#[test]
fn settings_written_out_and_read_again_are_the_same() {
    for name in preset_names() {
        let settings = preset(name, &["redeploy.delay=\"2 s\"", "memory.cycles=10"]).settings;
        let text = toml::to_string(&settings).expect("settings are TOML");
        let again: Settings =
            Document::file(Path::new("again.toml"), text.clone(), &mut NoFiles).settings().unwrap_or_else(|error| {
                panic!("{:#?}\n{text}", error.mistakes);
            });
        assert_eq!(again, settings, "{text}");
    }
}

#[test]
fn the_prototypes_users_are_attached_as_its_run_says() {
    let Some(path) = mario_reference::path("prototype/P1/users.json") else { return };
    let text = fs::read_to_string(&path).expect("it is there");
    let mut document = Document::preset("prototype").expect("it ships");
    document.set_attachments(Path::new("users.json"));
    document.set_policy("workload-aware");
    let mut files = Texts::default().with("users.json", &text);
    let scenario = document.resolve(&mut files).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario;
    assert_eq!(scenario.attachments.users.len(), 51);
    assert_eq!(scenario.attachments.users[0].id.to_string(), "taxi_89");
    assert_eq!(scenario.users[0].application.0, 3);
    assert_eq!(scenario.attachments.steps.len(), 26);
    assert_eq!(scenario.attachments.steps[0].len(), 50);
    assert_eq!(scenario.policies.len(), 1);
    assert_eq!(scenario.policies[0].name, "workload-aware");
    assert_eq!(scenario.policies[0].files.len(), 2);
}
