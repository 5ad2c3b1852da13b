//! Scenarios from presets, files and overrides.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mario_domain::{Capacity, Duration, Id, NodeId, Time};
use mario_scenario::{
    Arbitration, Document, Files, Memory, NoFiles, Numbering, Observation, Occupancy, Resolved, Routing, ScenarioError,
    Settings, Workload, preset_names,
};
use mario_testing::Random;

/// Files in memory.
#[derive(Default)]
pub struct Texts(BTreeMap<String, String>);

impl Texts {
    pub fn with(mut self, path: &str, text: &str) -> Texts {
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

pub fn preset(name: &str, overrides: &[&str]) -> Resolved {
    try_preset(name, overrides).unwrap_or_else(|error| panic!("{:#?}", error.mistakes))
}

fn try_preset(name: &str, overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let mut document = Document::preset(name)?;
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    document.set(&overrides);
    document.resolve(&mut NoFiles)
}

/// The capacity of the first node of each level of a tiled tree, and the latency of its link to the next level.
pub fn levels(resolved: &Resolved) -> (Vec<Capacity>, Vec<f64>) {
    let topology = &resolved.scenario.topology;
    let mut hardware = Vec::new();
    let mut latency = Vec::new();
    let mut name = "n0lt0ln0".to_owned();
    while let Some(node) = topology.find(&NodeId::name(&name).expect("a name")) {
        hardware.push(topology.node(node).capacity);
        name = format!("n{}lt0ln0", hardware.len());
        if let Some(child) = topology.find(&NodeId::name(&name).expect("a name")) {
            let link = topology.link_between(node, child).expect("a child has a link to its parent");
            latency.push(topology.link(link).latency.units());
        }
    }
    (hardware, latency)
}

fn units(levels: &[u64]) -> Vec<Capacity> {
    levels.iter().map(|units| Capacity::units(*units)).collect()
}

#[test]
fn the_preset_prototype_has_the_published_hardware_and_latencies_in_all_sizes() {
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
fn the_preset_paper_has_the_published_hardware_and_latencies() {
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
fn the_presets_paper_and_prototype_differ_in_their_strategies() {
    let paper = preset("paper", &[]).scenario;
    let prototype = preset("prototype", &[]).scenario;
    assert_eq!((paper.observation, paper.arbitration), (Observation::Arrivals, Arbitration::Managers));
    assert_eq!((paper.memory, paper.numbering), (Memory::Sliding, Numbering::Counted));
    assert_eq!((prototype.observation, prototype.arbitration), (Observation::RouteEntries, Arbitration::Sequential));
    assert_eq!((prototype.memory, prototype.numbering), (Memory::Periodic { every: 5 }, Numbering::Shared));
    assert_eq!(prototype.routing, Routing::LeastUsed);
    for scenario in [&paper, &prototype] {
        assert_eq!((scenario.agents.start, scenario.agents.period), (Time::at(100.0), Duration::of(200.0)));
        assert_eq!(
            [scenario.management_period, scenario.duration, scenario.step],
            [100.0, 52_000.0, 2_000.0].map(Duration::of)
        );
        assert_eq!(scenario.network.occupancy, Occupancy::Latency);
        assert_eq!(scenario.users.len(), 51);
        let period = Duration::of(40.0);
        assert!(scenario.users.iter().all(|user| user.workload == Workload::Periodic { period, phase: period }));
        assert_eq!(scenario.deploys.len(), 6);
        assert!(scenario.deploys.iter().all(|deploy| deploy.time == Time::ZERO && deploy.node.0 == 0));
        for (position, plan) in scenario.applications.iter().enumerate() {
            let (kind, rate, latency) = if position < 3 { ("WS", 5, 10) } else { ("LS", 40, 1) };
            assert_eq!(plan.kind, kind);
            assert_eq!(plan.application.max_rate.as_whole(), Some(rate));
            assert_eq!(plan.application.max_latency.as_whole(), Some(latency));
            assert_eq!((plan.application.hardware.as_units(), plan.service_time), (1, Duration::of(0.01)));
        }
    }
    let ids = |scenario: &mario_scenario::Scenario| {
        scenario.applications.iter().map(|plan| plan.application.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&paper), "app1 app2 app3 app4 app5 app6");
    assert_eq!(ids(&prototype), "1 2 3 4 5 6");
    assert!(matches!(prototype.applications[0].application.id.id(), Id::Number(1)));
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
fn recorded_users_can_be_selected_by_kind_and_by_file_in_both_presets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/recorded-users.json");
    let text = fs::read_to_string(&path).expect("it ships");
    let mut files = Texts::default().with("users.json", &text);
    for preset in ["paper", "prototype"] {
        let mut by_kind = Document::preset(preset).expect("it ships");
        by_kind.set(&["mobility.kind=recorded".to_owned()]);
        let mut by_file = Document::preset(preset).expect("it ships");
        by_file.set_attachments(Path::new("users.json"));
        let mut resolve = |mut document: Document| {
            document.set_policy("workload-aware");
            document.resolve(&mut files).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario
        };
        let (by_kind, by_file) = (resolve(by_kind), resolve(by_file));
        assert_eq!(by_kind.attachments, by_file.attachments);
        assert_eq!(by_kind.users, by_file.users);
    }
    let mut smaller = Document::preset("prototype").expect("it ships");
    smaller.set(&["mobility.kind=recorded".to_owned(), "topology.size=4".to_owned()]);
    let mistakes = smaller.resolve(&mut files).expect_err("its access points are others").mistakes;
    let place = mistakes[0].place.as_ref().expect("a place");
    assert_eq!(place.text.name, "recorded users");
    assert!(mistakes[0].hint.as_ref().is_some_and(|hint| hint.contains("topology")), "{mistakes:?}");
}

#[test]
fn the_recorded_users_are_51_with_85_handovers() {
    let mut document = Document::preset("prototype").expect("it ships");
    document.set(&["mobility.kind=recorded".to_owned()]);
    document.set_policy("workload-aware");
    let resolved = document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{:#?}", error.mistakes));
    let scenario = resolved.scenario;
    assert_eq!(scenario.attachments.users.len(), 51);
    assert_eq!(scenario.attachments.users[0].id.to_string(), "user1");
    assert_eq!(scenario.users[0].application.0, 3);
    let handovers = scenario.attachments.handovers();
    assert_eq!((handovers.total(), handovers.arrivals[0], handovers.late_arrivals()), (85, 50, 1));
    assert_eq!(scenario.attachments.steps.len(), 26);
    assert_eq!(scenario.attachments.steps[0].len(), 50);
    assert_eq!(scenario.policies.len(), 1);
    assert_eq!(scenario.policies[0].name, "workload-aware");
    assert_eq!(scenario.policies[0].files.len(), 2);
}

pub fn resolve(text: &str, files: &mut Texts) -> Resolved {
    let document = Document::file(Path::new("s.toml"), text, files);
    document.resolve(files).unwrap_or_else(|error| panic!("{:#?}", error.mistakes))
}

#[test]
fn later_layers_override_keys_and_extend_lists() {
    let mut files = Texts::default()
        .with("lib/one.toml", "[agents]\nperiod = 300\nstart = 7\n[[application]]\nid = \"app1\"\nmax_rate = 9\n")
        .with(
            "lib/two.toml",
            "[agents]\nperiod = 400\n[[application]]\nid = \"video\"\nmax_rate = 1\nmax_latency = 2\n",
        );
    let text = "preset = \"paper\"\ninclude = [\"lib/one.toml\", \"lib/two.toml\"]\n[agents]\nstart = 8\n";
    let scenario = resolve(text, &mut files).scenario;
    assert_eq!((scenario.agents.start, scenario.agents.period), (Time::at(8.0), Duration::of(400.0)));
    let ids: Vec<String> = scenario.applications.iter().map(|plan| plan.application.id.to_string()).collect();
    assert_eq!(ids, ["app1", "app2", "app3", "app4", "app5", "app6", "video"]);
    assert_eq!(scenario.applications[0].application.max_rate.as_whole(), Some(9));
    assert_eq!(scenario.applications[0].application.max_latency.as_whole(), Some(10));
    assert_eq!(scenario.name, "paper");
}

#[test]
fn a_list_that_is_reset_starts_empty() {
    let text =
        "preset = \"paper\"\nreset = [\"application\"]\n[[application]]\nid = 1\nmax_rate = 1\nmax_latency = 2\n";
    let scenario = resolve(text, &mut Texts::default()).scenario;
    assert_eq!(scenario.applications.len(), 1);
    assert!(scenario.users.iter().all(|user| user.application.0 == 0));
}

#[test]
fn policies_are_shipped_or_files_with_the_files_that_they_load() {
    let mine = ":- ensure_loaded('library.pl').\n:- ensure_loaded('parts/more.pl').\noperation(undeploy, I, self) :- idle(I), more.\n";
    let mut files = Texts::default().with("p/mine.pl", mine).with("p/parts/more.pl", "more :- inhibited(_, _, _).\n");
    let text = "preset = \"paper\"\n[[application]]\nid = \"app1\"\npolicy = \"p/mine.pl\"\n\
        [[application]]\nid = \"app2\"\npolicy = \"workload-and-latency-aware-with-memory\"\n\
        [[application]]\nid = \"app3\"\npolicy = \"workload-and-latency-aware-with-memory\"\nmemory = 10\n";
    let scenario = resolve(text, &mut files).scenario;
    let described: Vec<(&str, u32, Vec<&str>)> = scenario
        .policies
        .iter()
        .map(|policy| {
            let files = policy.files.iter().map(|(name, _)| name.as_str()).collect();
            (policy.name.as_str(), policy.memory, files)
        })
        .collect();
    let with_memory = "workload-and-latency-aware-with-memory";
    let with_memory_file = "workload-and-latency-aware-with-memory.pl";
    assert_eq!(
        described,
        [
            ("p/mine.pl", 0, vec!["mine.pl", "library.pl", "parts/more.pl"]),
            (with_memory, 1, vec![with_memory_file, "library.pl"]),
            (with_memory, 10, vec![with_memory_file, "library.pl"]),
            ("workload-and-latency-aware", 0, vec!["workload-and-latency-aware.pl", "library.pl"]),
        ]
    );
}

#[test]
fn a_policy_of_the_command_line_applies_to_all_or_to_one() {
    let mut document = Document::preset("paper").expect("it ships");
    document.set_policy("workload-aware");
    document.set_policy("app2=latency-aware");
    let scenario = document.resolve(&mut NoFiles).expect("valid").scenario;
    let policy =
        |application: usize| scenario.policies[scenario.applications[application].policy.position()].name.as_str();
    assert_eq!((policy(0), policy(1), policy(2)), ("workload-aware", "latency-aware", "workload-aware"));
    document.set_policy("app9=latency-aware");
    let error = document.resolve(&mut NoFiles).expect_err("there is no such application");
    assert_eq!(error.mistakes[0].message, "there is no application `app9`");
}

#[test]
fn every_kind_of_topology_mobility_and_workload_can_be_run() {
    for overrides in [
        &["topology.kind=tree", "topology.fan_out=3"][..],
        &["topology.kind=grid", "topology.width=5"],
        &["topology.kind=random-geometric", "topology.nodes=30"],
        &["topology.kind=barabasi-albert", "topology.nodes=30"],
        &["mobility.kind=static", "mobility.users=9"],
        &["workload.kind=poisson"],
        &["workload.kind=on-off", "workload.mean_on=\"1 s\""],
        &["workload.assignment=random"],
        &["workload.assignment=round-robin"],
        &["network.bandwidth=10", "network.occupancy=transmission"],
        &["managers.acceptance=accept-what-fits"],
    ] {
        let scenario = preset("paper", overrides).scenario;
        assert_eq!(scenario.users.len(), scenario.attachments.users.len(), "{overrides:?}");
        assert!(!scenario.users.is_empty(), "{overrides:?}");
    }
}

#[test]
fn spread_users_send_one_after_the_other() {
    let scenario = preset("paper", &["workload.phase=spread", "mobility.kind=static", "mobility.users=4"]).scenario;
    let phases: Vec<Workload> = scenario.users.iter().map(|user| user.workload).collect();
    let expected = [10.0, 20.0, 30.0, 40.0]
        .map(Duration::of)
        .map(|phase| Workload::Periodic { period: Duration::of(40.0), phase });
    assert_eq!(phases, expected);
}

#[test]
fn failures_are_drawn_from_the_seed_and_spare_the_cloud() {
    let text = "preset = \"paper\"\n[[churn]]\nkind = \"crash\"\ntime = 10\nnode = \"n1lt0ln0\"\nrepair = 90\n\
        [[failures]]\nmean_time_between = \"50 s\"\nmean_repair = \"1 s\"\n";
    let scenario = resolve(text, &mut Texts::default()).scenario;
    let again = resolve(text, &mut Texts::default()).scenario;
    assert_eq!(scenario.disturbances, again.disturbances);
    let other = resolve(&text.replace("preset", "seed = 2\npreset"), &mut Texts::default()).scenario;
    assert_ne!(scenario.disturbances, other.disturbances);
    assert!(scenario.disturbances.len() > 80, "{}", scenario.disturbances.len());
    assert!(scenario.disturbances.is_sorted_by(|one, next| one.time <= next.time));
    let cloud = mario_scenario::NodeIndex(0);
    let crash_of_cloud = mario_scenario::DisturbanceEvent::Crash(cloud);
    assert!(scenario.disturbances.iter().all(|disturbance| disturbance.event != crash_of_cloud));
    let listed = mario_scenario::NodeIndex(1);
    let of_listed = scenario.disturbances.iter().filter(|disturbance| {
        let event = disturbance.event;
        event == mario_scenario::DisturbanceEvent::Crash(listed)
            || event == mario_scenario::DisturbanceEvent::Join(listed)
    });
    let times: Vec<f64> = of_listed.map(|disturbance| disturbance.time.units()).collect();
    assert_eq!(times, [10.0, 100.0]);
}

#[test]
fn nodes_can_have_hardware_facts_owners_and_policies() {
    let text = "preset = \"paper\"\n[[node]]\nid = \"n1lt0ln0\"\ncapacity = 2\nowner = \"acme\"\n\
        acceptance = \"accept-what-fits\"\nfacts = { region = \"eu\", price = 0.5 }\n";
    let scenario = resolve(text, &mut Texts::default()).scenario;
    let node = scenario.topology.node(mario_scenario::NodeIndex(1));
    assert_eq!(node.capacity, Capacity::units(2));
    let facts: Vec<String> = node.facts.iter().map(|fact| format!("{} {:?}", fact.key, fact.value)).collect();
    assert_eq!(facts.len(), 3, "{facts:?}");
    assert_eq!(scenario.acceptances.len(), 1);
    assert_eq!(scenario.acceptance_of[1], Some(0));
    assert_eq!(scenario.acceptance_of[0], None);
}

#[test]
fn the_generated_users_of_the_paper_have_the_published_handovers() {
    let scenario = preset("paper", &[]).scenario;
    let handovers = scenario.attachments.handovers();
    assert_eq!((handovers.total(), handovers.late_arrivals()), (81, 1));
}

#[test]
fn the_starting_text_is_a_scenario() {
    let text = mario_scenario::starting_text();
    let scenario = resolve(text, &mut Texts::default()).scenario;
    assert_eq!(scenario.applications.len(), 2);
    // The commented keys are valid as well, except `include`, whose file does not exist.
    let all: String = text
        .split_inclusive('\n')
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if rest != "\n" && !rest.starts_with(' ') && !rest.starts_with("include") => rest,
            _ => line,
        })
        .collect();
    let scenario = resolve(&all, &mut Texts::default()).scenario;
    assert_eq!(scenario.applications.len(), 8);
    assert!(!scenario.disturbances.is_empty());
}

#[test]
fn no_mutation_of_a_scenario_makes_the_reader_panic() {
    let pieces = [
        "[[",
        "]]",
        "=",
        "\"",
        "-",
        "0",
        "99999999999",
        "nan",
        "inf",
        "'",
        "\n",
        "kind",
        "file",
        "static",
        "grid",
        "{",
        "}",
        "[",
        "]",
        ",",
        "true",
        "\u{1f}",
        "é",
        "preset = \"paper\"\n",
        "include = [\"s.toml\"]\n",
        "size = 2\n",
        "id = \"app1\"\n",
    ];
    let seeds: u64 = std::env::var("MARIO_SCENARIO_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(400);
    let originals = [mario_scenario::starting_text(), include_str!("../../../../scenarios/prototype.toml")];
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let mut text = originals[seed as usize % 2].to_owned();
        for _ in 0..=random.below(4) {
            let boundaries: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
            let from = random.pick(&boundaries);
            let to = random.pick(&boundaries);
            match random.below(3) {
                0 => text.insert_str(from, random.pick(&pieces)),
                1 => text.replace_range(
                    from.min(to)..from.max(to).min(from.min(to) + 12).min(text.len()).max(from.min(to)),
                    "",
                ),
                _ => {
                    let line: String = text[from..].lines().next().unwrap_or_default().to_owned();
                    text.insert_str(to, &format!("{line}\n"));
                }
            }
        }
        let mut files = Texts::default();
        match Document::file(Path::new("s.toml"), text, &mut files).resolve(&mut files) {
            Ok(_) => valid += 1,
            Err(error) => {
                assert!(!error.mistakes.is_empty(), "seed {seed}");
                invalid += 1;
            }
        }
    }
    assert!(valid > 0 && invalid > 0, "{valid} {invalid}");
}

#[test]
fn generated_users_move_in_the_area_of_a_graph() {
    let town = r#"graph [
        node [ id 0 label "core" capacity 9 latitude 41.90 longitude 12.48 ]
        node [ id 1 label "a" latitude 41.89 longitude 12.47 access_point 1 ]
        node [ id 2 label "b" latitude 41.91 longitude 12.50 access_point 1 ]
        edge [ source 0 target 1 ] edge [ source 0 target 2 ] ]"#;
    let scenario = "preset = \"paper\"\n[topology]\nkind = \"file\"\nfile = \"town.gml\"\n";
    let resolve = |town: &str| {
        let mut files = Texts::default().with("town.gml", town);
        Document::file(Path::new("scenario.toml"), scenario, &mut files).resolve(&mut files)
    };
    let resolved = resolve(town).unwrap_or_else(|error| panic!("{:#?}", error.mistakes));
    let attachments = &resolved.scenario.attachments;
    let used: BTreeSet<_> = attachments.steps.iter().flatten().filter_map(|(_, node)| *node).collect();
    assert_eq!((attachments.users.len(), used.len()), (51, 2));
    let nowhere = town.replace("latitude", "height").replace("longitude", "width");
    let error = resolve(&nowhere).map(|_| ()).expect_err("nodes are nowhere");
    assert!(error.mistakes[0].hint.as_ref().is_some_and(|hint| hint.contains("mobility.area")), "{error:?}");
}

#[test]
fn the_topology_of_every_preset_round_trips_through_graphml() {
    use mario_scenario::topology::write_graphml;
    let json = |resolved: &Resolved| serde_json::to_value(&resolved.scenario.topology).expect("plain data");
    for name in preset_names() {
        let first = preset(name, &[]);
        let mut files = Texts::default().with("t.graphml", &write_graphml(&first.scenario.topology).expect("written"));
        let text = format!(
            "preset = \"{name}\"\n[topology]\nkind = \"file\"\nfile = \"t.graphml\"\n[mobility]\nkind = \"static\"\n"
        );
        let mut second = json(&resolve(&text, &mut files));
        let mut first = json(&first);
        // The names of tiers in a preset are dropped when the kind of topology changes.
        for topology in [&mut first, &mut second] {
            topology["tier_names"] = serde_json::Value::Null;
        }
        assert!(first == second, "{name}");
    }
}
