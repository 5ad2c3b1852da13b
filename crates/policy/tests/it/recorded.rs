//! Decisions that were recorded when the paper's prototype ran.

use std::fs::File;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use mario_policy::{Decider, Ending, KnowledgeBase, Recorded, Wanted};
use mario_prolog::Engine;

use crate::{PAPER, shipped};

/// The applications of the prototype: numbers 1 to 6, three that mind the load and three that mind the latency.
pub const SERVICES: &str = "
    service(1, 1, 5, 10). service(2, 1, 5, 10). service(3, 1, 5, 10).
    service(4, 1, 40, 1). service(5, 1, 40, 1). service(6, 1, 40, 1).
";

#[test]
fn decides_every_recorded_evaluation_as_recorded() {
    let engine = Engine::new();
    let mut decider = Decider::new(&engine);
    let mut evaluations = 0;
    for (index, name) in PAPER.iter().enumerate() {
        let part = format!("prototype/P{}/agents.jsonl.gz", index + 1);
        let Some(path) = mario_reference::path(&part) else { return };
        let policy = shipped(&engine, name);
        let mut facts = KnowledgeBase::new(engine.symbols());
        facts.read(&engine, "services", SERVICES).expect("these are facts");
        let file = File::open(path).expect("it is there");
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let line = line.expect("the file is whole");
            let recorded = Recorded::parse(engine.symbols(), &line).expect("a knowledge base");
            recorded.fill(&mut facts);
            let decision = decider.decide(&policy, &facts, recorded.instance, Wanted::All);
            assert_eq!(decision.ending, Ending::Complete, "{name}: {line}");
            let decided: Vec<[String; 3]> =
                decision.solutions.iter().map(|solution| solution.texts(engine.symbols())).collect();
            assert_eq!(decided, expected(&line), "{name}: {line}");
            evaluations += 1;
        }
    }
    assert_eq!(evaluations, 33_252);
}

fn expected(line: &str) -> Vec<[String; 3]> {
    let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let operations = record["ops"].as_array().expect("a list");
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    operations.iter().map(|operation| [text(&operation[0]), text(&operation[1]), text(&operation[2])]).collect()
}
