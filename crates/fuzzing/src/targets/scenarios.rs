//! Scenarios, and the files that they name.

use std::path::Path;

use mario_scenario::topology::{GraphDefaults, GraphFormat, read_graph};
use mario_scenario::{Document, Files, NoFiles, Resolved, ScenarioError};

use super::{Outcome, Target, file};

/// Settings that bound the size of a world, so that no input exhausts memory. Small worlds use the same readers.
const LIMITS: [&str; 2] = ["limits.memory_mib=64", "limits.events=1000000000"];

/// Resolves a text as a scenario. The result must be a world, or mistakes with positions inside their texts.
pub(super) const SCENARIO: Target = Target {
    name: "scenario",
    reads: "a scenario",
    run: scenario,
    seeds: || {
        let city = "preset = \"city\"\nduration = 6000\n[topology]\nsize = 4\n[mobility]\nusers = 60\n";
        let shipped = ["paper", "prototype", "shop", "new"].map(|name| file(&format!("scenarios/{name}.toml")));
        shipped.into_iter().chain([city.as_bytes().to_vec()]).collect()
    },
    pieces: &[
        "preset = \"shop\"\n",
        "[[application]]\n",
        "[[deploy]]\n",
        "[[nodes]]\ntier = 1\n",
        "[[churn]]\n",
        "[[failures]]\n",
        "kind = \"grid\"\n",
        "kind = \"random-geometric\"\n",
        "kind = \"barabasi-albert\"\n",
        "kind = \"tree\"\n",
        "kind = \"recorded\"\n",
        "kind = \"static\"\n",
        "include = [\"fuzz.toml\"]\n",
        "inf",
        "\"\"",
        "{",
        "é",
    ],
    inputs: 300,
};

fn scenario(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let mut document = Document::file(Path::new("fuzz.toml"), text, &mut NoFiles);
    document.set(&LIMITS.map(str::to_owned));
    resolved(document.resolve(&mut NoFiles))
}

/// Checks that each mistake has a message, and that its positions are inside the text.
fn resolved(result: Result<Resolved, ScenarioError>) -> Outcome {
    let Err(error) = result else { return Outcome::Accepted };
    assert!(!error.mistakes.is_empty(), "an error without a mistake");
    for mistake in &error.mistakes {
        assert!(!mistake.message.is_empty());
        let context = mistake.context.as_ref().map(|(place, _)| place);
        for place in mistake.place.iter().chain(context) {
            let is_inside = place.text.text.get(place.span.clone()).is_some();
            assert!(is_inside, "{mistake:?} points into a character or beyond the text");
            let (line, column) = place.position();
            assert!(line > 0 && column > 0);
        }
    }
    Outcome::Rejected
}

/// Reads bytes as a file of the users' access points in each step.
pub(super) const ATTACHMENTS: Target = Target {
    name: "attachments",
    reads: "the access points of users in each step",
    run: attachments,
    seeds: || {
        let small = r#"{"users": {"ann": {"app": 4, "step": 0}, "7": {"app": 1}},
"steps": [{"step": 0, "node": {"ann": "n3lt0ln0"}},
{"step": 2, "node": {"ann": null, "7": "n3lt0ln1"}}]}"#;
        vec![small.as_bytes().to_vec(), file("scenarios/recorded-users.json")]
    },
    pieces: &["null", "\"step\"", "\"node\"", "\"app\"", "{}", "[]", "\"n3lt0ln1\"", "1000001"],
    inputs: 300,
};

/// A file system in which every path has this content.
struct OneFile<'a>(&'a [u8]);

impl Files for OneFile<'_> {
    fn read(&mut self, _: &Path) -> Result<Vec<u8>, String> {
        Ok(self.0.to_vec())
    }
}

fn attachments(bytes: &[u8]) -> Outcome {
    let mut document = Document::preset("prototype").expect("it ships");
    document.set(&LIMITS.map(str::to_owned));
    document.set_attachments(Path::new("users.json"));
    resolved(document.resolve(&mut OneFile(bytes)))
}

/// Reads bytes as a graph, in each format.
pub(super) const GRAPH: Target = Target {
    name: "graph",
    reads: "an infrastructure as GraphML, GEXF, GML or node-link JSON",
    run: graph,
    seeds: || {
        ["graphml", "gexf", "gml", "json"]
            .map(|ending| file(&format!("crates/scenario/tests/files/town.{ending}")))
            .into()
    },
    pieces: &[
        "<edge source=\"0\" target=\"1\"/>",
        "<node id=\"9\">",
        "&#x0;",
        "&amp;",
        "<!--",
        "]]>",
        "node [",
        "edge [",
        "\"nodes\"",
        "null",
    ],
    inputs: 3_000,
};

fn graph(bytes: &[u8]) -> Outcome {
    let formats = [GraphFormat::GraphMl, GraphFormat::Gexf, GraphFormat::Gml, GraphFormat::NodeLink];
    let mut is_accepted = false;
    for format in formats {
        match read_graph(bytes, format, &GraphDefaults::default()) {
            Ok(graph) => {
                assert!(graph.node_count() > 0, "an empty infrastructure");
                is_accepted = true;
            }
            Err(error) => {
                assert!(
                    error.span.start <= error.span.end && error.span.end <= bytes.len(),
                    "{error:?} is beyond the file"
                );
                assert!(!error.to_string().is_empty());
            }
        }
    }
    Outcome::of(is_accepted)
}
