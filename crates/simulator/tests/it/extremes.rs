//! Tests that no number in a scenario makes a run panic, abort or hang.
//!
//! The keys are taken from the schema, so new keys are covered. Each key is set to extreme values, one at a time, in a
//! small world with low limits. Either the scenario is rejected with a location and a hint, or it cannot be started, or
//! its expected number of events is within the limit and the run ends. Keys that set a limit may raise it.

use std::path::Path;

use mario_domain::Time;
use mario_scenario::{Document, Files, schema};
use mario_simulator::{RunOptions, Simulation, Tally};
use serde_json::Value;

const EXTREMES: [&str; 20] = [
    "0",
    "-1",
    "1",
    "0.5",
    "1e-300",
    "1e-9",
    "1000",
    "100000",
    "2147483648",
    "1e9",
    "1000000000",
    "1e18",
    "1e308",
    "-1e308",
    "9223372036854775807",
    "18446744073709551615",
    "123456789012345678901234567890",
    "nan",
    "inf",
    "-inf",
];

/// The part that all worlds share. Most lists have an element, so that the keys of the element can be set.
const WORLD: &str = r#"
duration = 700
[limits]
events = 200_000
memory_mib = 256
[[node]]
id = "NODE"
[[application]]
id = "a"
max_rate = 5
max_latency = 5
[applications]
count = 2
mix = [{ kind = "m", max_rate = [5, 20], max_latency = [5, 20], hardware = [1, 1], service_time = [0.01, 0.02] }]
[[user]]
id = 1
[[deploy]]
application = "a"
[[failures]]
mean_time_between = 500
tiers = [1]
"#;

const TOPOLOGIES: [(&str, &str, [&str; 2]); 6] = [
    ("tiled-tree", "size = 4", ["n0lt0ln0", "n1lt0ln0"]),
    ("tree", "depth = 2", ["n0i0", "n1i0"]),
    ("grid", "height = 4\nwidth = 4", ["x0y0", "x0y1"]),
    ("random-geometric", "nodes = 20", ["n0", "n1"]),
    ("barabasi-albert", "nodes = 20", ["n0", "n1"]),
    ("file", "file = \"town.json\"", ["cloud", "edge one"]),
];

const MOBILITIES: [(&str, &str); 6] = [
    ("static", "users = 6"),
    ("generated", "users = 6\nsteps = 3\nstep = 300"),
    ("city", "users = 6\nstep = 300\nplace = [{ at = [41.9, 12.48] }]"),
    ("file", "file = \"t.csv\"\nstep = 300"),
    ("attachments", "file = \"a.json\"\nstep = 300"),
    ("recorded", "step = 300"),
];

const CHURN: [(&str, &str); 5] = [
    ("crash", "node = \"OTHER\"\ntime = 200"),
    ("leave", "node = \"OTHER\"\ntime = 200"),
    ("join", "node = \"OTHER\"\ntime = 200"),
    ("link-down", "link = [\"NODE\", \"OTHER\"]\ntime = 200"),
    ("link-up", "link = [\"NODE\", \"OTHER\"]\ntime = 300"),
];

/// The kind of each part of a world.
#[derive(Clone, Copy)]
struct Kinds<'k> {
    topology: &'k str,
    mobility: &'k str,
    workload: &'k str,
    churn: &'k str,
}

const USUAL: Kinds<'static> =
    Kinds { topology: "tiled-tree", mobility: "generated", workload: "periodic", churn: "crash" };

/// The files that the worlds name.
struct Texts;

impl Files for Texts {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let text = match path.to_str() {
            Some("town.json") => include_str!("../../../scenario/tests/files/town.json"),
            Some("t.csv") => "id,time,latitude,longitude\n1,0,41.89,12.47\n1,120,41.90,12.48\n",
            Some("a.json") => r#"{"users": {"1": {}}, "steps": [{"node": {"1": "n2lt0ln0"}}]}"#,
            _ => return Err("there is no such file".to_owned()),
        };
        Ok(text.into())
    }
}

fn document(kinds: Kinds<'_>) -> (Document, Texts) {
    let (_, shape, [node, other]) =
        TOPOLOGIES.iter().find(|(kind, ..)| *kind == kinds.topology).expect("describe the new kind of topology here");
    // The recorded users need a larger tree.
    let shape = if kinds.mobility == "recorded" { &"size = 8" } else { shape };
    let told = |list: &[(&str, &'static str)], kind: &str| {
        list.iter().find(|(known, _)| *known == kind).map(|(_, keys)| *keys).expect("describe the new kind here")
    };
    let (mobility, churn) = (told(&MOBILITIES, kinds.mobility), told(&CHURN, kinds.churn));
    // A link has to be down before it can be up.
    let before = match kinds.churn {
        "link-up" => "[[churn]]\nkind = \"link-down\"\nlink = [\"NODE\", \"OTHER\"]\ntime = 200\n",
        _ => "",
    };
    let text = format!(
        "{WORLD}[topology]\nkind = \"{}\"\n{shape}\n[mobility]\nkind = \"{}\"\n{mobility}\n[workload]\nkind = \"{}\"\n\
         [[churn]]\nkind = \"{}\"\n{churn}\n{before}",
        kinds.topology, kinds.mobility, kinds.workload, kinds.churn
    );
    let text = text.replace("NODE", node).replace("OTHER", other);
    let mut files = Texts;
    (Document::file(Path::new("s.toml"), text, &mut files), files)
}

/// A key with a number as its value.
#[derive(Clone, PartialEq, Debug)]
struct Key {
    path: String,
    /// The text around the number, e.g. brackets.
    around: (String, String),
    schema: Value,
}

fn target<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    match part["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).expect("references lead somewhere"),
        None => part,
    }
}

/// Collects all keys with numbers in a part of the schema. Ids, which may be numbers, and the values of facts are
/// skipped.
fn keys(schema: &Value, part: &Value, path: &str, around: (&str, &str), found: &mut Vec<Key>) {
    const IDS: &str = "WrittenId";
    if part["$ref"].as_str().is_some_and(|reference| reference.ends_with(IDS)) {
        return;
    }
    let part = target(schema, part);
    let types: Vec<&str> = match &part["type"] {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if types.contains(&"number") || types.contains(&"integer") {
        let around = (around.0.to_owned(), around.1.to_owned());
        found.push(Key { path: path.to_owned(), around, schema: part.clone() });
    }
    for alternative in part["anyOf"].as_array().into_iter().flatten() {
        keys(schema, alternative, path, around, found);
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, value) in part["properties"].as_object().into_iter().flatten() {
        keys(schema, value, &below(key), ("", ""), found);
    }
    if let (true, Some(items)) = (types.contains(&"array"), part.get("items")) {
        let inner = target(schema, items);
        if inner.get("properties").is_some() {
            let element = match path {
                "node" => "NODE",
                "application" => "a",
                "user" => "1",
                _ => "0",
            };
            keys(schema, items, &below(element), ("", ""), found);
        } else if part["maxItems"] == 2 {
            keys(schema, items, path, ("[", ", 12.47]"), found);
            keys(schema, items, path, ("[41.89, ", "]"), found);
        } else {
            keys(schema, items, path, ("[", "]"), found);
        }
    }
}

/// The keys with numbers in a section; if it has kinds, those of `kind`.
fn keys_of(section: &str, kind: Option<&str>) -> Vec<Key> {
    let schema = schema();
    let mut part = &schema["properties"][section];
    if section == "churn" {
        part = &part["items"];
    }
    let mut part = target(&schema, part);
    if let Some(kind) = kind {
        let kinds = part["oneOf"].as_array().expect("it has kinds");
        part = kinds.iter().find(|part| part["properties"]["kind"]["const"] == kind).expect("the kind is known");
    }
    let mut found = Vec::new();
    let path = if section == "churn" { "churn.0" } else { section };
    keys(&schema, part, path, ("", ""), &mut found);
    found
}

fn kinds_of(section: &str) -> Vec<String> {
    let schema = schema();
    let part = &schema["properties"][section];
    let part = target(&schema, part.get("items").unwrap_or(part));
    let kinds = part["oneOf"].as_array().into_iter().flatten();
    kinds.filter_map(|kind| kind["properties"]["kind"]["const"].as_str()).map(str::to_owned).collect()
}

/// Sets a key to each extreme value, and runs the scenario if it is valid. Returns the numbers of invalid and valid
/// scenarios.
fn push(kinds: Kinds<'_>, key: &Key) -> [usize; 2] {
    let (usual, mut files) = document(kinds);
    let (_, _, [node, _]) = TOPOLOGIES.iter().find(|(kind, ..)| *kind == kinds.topology).expect("a known kind");
    let mut counts = [0, 0];
    for extreme in EXTREMES {
        let mut document = usual.clone();
        let line = format!("{}={}{extreme}{}", key.path.replace("NODE", node), key.around.0, key.around.1);
        document.set(std::slice::from_ref(&line));
        match document.resolve(&mut files) {
            Err(error) => {
                counts[0] += 1;
                for mistake in error.mistakes {
                    assert!(mistake.place.is_some() && mistake.hint.is_some(), "{line}: {mistake}");
                }
            }
            Ok(resolved) => {
                counts[1] += 1;
                // If the key is itself a limit, the expected cost may exceed the usual limit.
                assert!(resolved.cost.events <= 200_000.0 || key.path.starts_with("limits"), "{line}");
                let mut tally = Tally::new(&resolved.scenario);
                let Ok(mut simulation) = Simulation::new(&resolved.scenario, RunOptions::default()) else { continue };
                // The pause check is called at least once per 64 events, so this limits their number.
                let mut left = 200_000;
                let is_over = simulation.run_until_pause(Time::NEVER, &mut tally, || {
                    left -= 1;
                    left == 0
                });
                assert!(is_over, "{line}: {} takes more than it was expected to", resolved.cost);
            }
        }
    }
    counts
}

fn push_all(kinds: Kinds<'_>, keys: &[Key]) {
    assert!(!keys.is_empty(), "there is no number in it");
    for key in keys {
        let [refused, run] = push(kinds, key);
        assert!(refused > 0, "{}: nothing at all is refused", key.path);
        assert!(run + refused == EXTREMES.len(), "{}", key.path);
    }
}

#[test]
fn the_base_world_can_be_run() {
    for topology in kinds_of("topology") {
        let (document, mut files) = document(Kinds { topology: &topology, ..USUAL });
        let resolved = document.resolve(&mut files).unwrap_or_else(|error| panic!("{:#?}", error.mistakes));
        assert!(Simulation::new(&resolved.scenario, RunOptions::default()).is_ok(), "{topology}");
    }
}

#[test]
fn every_number_of_the_schema_has_a_range_and_a_reason() {
    let mut found = Vec::new();
    let schema = schema();
    for (section, part) in schema["properties"].as_object().expect("it is a table") {
        match kinds_of(section).as_slice() {
            [] => keys(&schema, part, section, ("", ""), &mut found),
            kinds => kinds.iter().for_each(|kind| found.extend(keys_of(section, Some(kind)))),
        }
    }
    assert!(found.len() > 90, "{}", found.len());
    for Key { path, schema, .. } in found {
        let is_number = |word: &str| schema[word].is_number();
        assert!(is_number("minimum") && is_number("maximum") && schema["$comment"].is_string(), "{path}: {schema}");
    }
}

#[test]
fn extremes_of_topologies_are_rejected_or_run() {
    for topology in kinds_of("topology") {
        let kinds = Kinds { topology: &topology, mobility: "static", ..USUAL };
        push_all(kinds, &keys_of("topology", Some(&topology)));
    }
}

#[test]
fn extremes_of_mobility_are_rejected_or_run() {
    for mobility in kinds_of("mobility") {
        push_all(Kinds { mobility: &mobility, ..USUAL }, &keys_of("mobility", Some(&mobility)));
    }
}

#[test]
fn extremes_of_workloads_and_churn_are_rejected_or_run() {
    for workload in kinds_of("workload") {
        push_all(Kinds { workload: &workload, ..USUAL }, &keys_of("workload", Some(&workload)));
    }
    for churn in kinds_of("churn") {
        push_all(Kinds { churn: &churn, ..USUAL }, &keys_of("churn", Some(&churn)));
    }
}

#[test]
fn extremes_of_all_other_keys_are_rejected_or_run() {
    let schema = schema();
    let sections = schema["properties"].as_object().expect("it is a table").keys();
    for section in sections.filter(|section| kinds_of(section).is_empty()) {
        let keys = keys_of(section, None);
        if !keys.is_empty() {
            push_all(USUAL, &keys);
        }
    }
}
