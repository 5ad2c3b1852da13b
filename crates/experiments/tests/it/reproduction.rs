use std::fs;
use std::path::Path;

use mario_experiments::figures::RunFigures;
use mario_experiments::measures::values;
use mario_experiments::reproduce::{Options, Preset, ReproduceError, Reproduction, World, reproduce};
use mario_scenario::Document;
use mario_simulator::{IfExists, OutputError};

use crate::{Disk, fresh_directory};

fn options<'a>(preset: Preset, document: &'a Document, directory: &'a Path, seeds: u64) -> Options<'a> {
    Options { preset, document, directory, existing: IfExists::Refuse, seeds, jobs: 2, regret: false, worlds: &[] }
}

fn run(preset: Preset, document: &Document, directory: &Path, seeds: u64) -> Result<Reproduction, ReproduceError> {
    reproduce(&options(preset, document, directory, seeds), || Disk, &mut |_, _| true)
}

#[test]
fn the_published_figures_are_reproduced_to_the_last_digit() {
    let document = World::PUBLISHED.document().expect("a preset");
    let directory = fresh_directory("published");
    let preset = World::PUBLISHED.preset;
    let options = Options { worlds: &World::OTHERS, ..options(preset, &document, &directory, 1) };
    let reproduction = reproduce(&options, || Disk, &mut |_, _| true).expect("five experiments in four worlds");
    let mut compared = 0;
    for one in &reproduction.experiments {
        assert_eq!(one.findings, 0, "the auditor found something in {}", one.experiment.name);
        let agreement = one.agreement();
        assert_eq!(agreement.paper.differing, [""; 0], "{}", one.experiment.name);
        assert_eq!(agreement.run.differing, [""; 0], "{}", one.experiment.name);
        compared += agreement.run.of + agreement.paper.of;
        let summary = fs::read_to_string(one.directory.join("summary.json")).expect("a run was kept");
        let counted: RunFigures = serde_json::from_str(&summary).expect("figures");
        assert_eq!(one.figures.figures, counted, "{} was counted otherwise", one.experiment.name);
    }
    // Four figures of the paper for each of four experiments, and 101 of the prototype's stored runs.
    assert_eq!(compared, 16 + 101);
    assert_eq!(values(&reproduction.experiments[0].figures.figures)["LS.pearson_r"], None);
    assert_eq!(values(&reproduction.experiments[1].figures.figures)["WS.pearson_r"], None);

    // The inhibitions under policy 2 in the other worlds, about which the summary makes statements.
    let inhibited: Vec<u64> = reproduction
        .worlds
        .iter()
        .map(|world| world.experiments[1].1.figures.group("all").expect("all applications").operations.inhibited)
        .collect();
    assert!(inhibited[0] > 100 && inhibited[1] > 100 && inhibited[2] == 0, "{inhibited:?}");

    let summary = reproduction.summary();
    assert!(summary.lines().count() <= 52 && summary.lines().all(|line| line.chars().count() <= 110), "{summary}");
    let summary = summary.replace('\n', " ");
    for part in
        ["3.1047   3.104", "16 of 16", "101 of 101", "no stored run", "3 ms", "last link 1 ms", "LS: latency-sensitive"]
    {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
    let tables = reproduction.tables();
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.head.len())));
    reproduction.write(&directory).expect("results");
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(directory.join("results.json")).expect("a file")).expect("JSON");
    assert_eq!(results["worlds"].as_array().map(Vec::len), Some(3));
    assert_eq!(results["experiments"][0]["agreement"]["run"]["of"], 25);
}

#[test]
fn a_figure_that_differs_is_named() {
    let document = World::PUBLISHED.document().expect("a preset");
    let directory = fresh_directory("not-met");
    let mut reproduction = run(World::PUBLISHED.preset, &document, &directory, 1).expect("five experiments");
    let group = &mut reproduction.experiments[0].figures.figures.groups[1];
    group.response = group.response.map(|response| response + 0.002);
    let agreement = reproduction.experiments[0].agreement();
    let name = format!("{}.response", reproduction.experiments[0].figures.figures.groups[1].group);
    assert_eq!((&agreement.paper.differing, &agreement.run.differing), (&vec![name.clone()], &vec![name.clone()]));
    let summary = reproduction.summary();
    assert!(summary.contains(&format!("15 of 16, not {name}")) && summary.contains("100 of 101"), "{summary}");
}

#[test]
fn the_papers_experiments_need_no_input_and_store_all_results() {
    let directory = fresh_directory("paper");
    let document = Document::preset("paper").expect("a preset");
    let reproduction = run(Preset::Paper, &document, &directory, 3).expect("five experiments");
    reproduction.write(&directory).expect("results");
    let names: Vec<&str> = reproduction.experiments.iter().map(|one| one.experiment.name).collect();
    assert_eq!(names, ["policy-1", "policy-2", "policy-3", "policy-4-memory-1", "policy-4-memory-10"]);
    for one in &reproduction.experiments {
        assert!(one.directory.join("trace.jsonl").is_file() && !one.directory.join("PARTIAL").exists());
        assert_eq!((one.others.len(), one.findings), (2, 0));
    }
    let claims = reproduction.claims();
    let judged = |text: &str| claims.iter().find(|judged| judged.claim.claim == text).expect("a claim");
    let stays = judged("under policy 2, WS applications stay in the cloud");
    assert!(stays.claim.holds && (stays.holds_in, stays.of) == (3, 3));
    assert!(judged("no node ever carries more than it can").claim.holds);
    assert!(judged("operations are inhibited only where hardware is short").claim.holds);
    let text = reproduction.text();
    for part in ["policy 4, with memory of 10 cycles", "95 % interval", "difference", "does not hold", "claims hold"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(directory.join("results.json")).expect("a file")).expect("JSON");
    assert_eq!(results["experiments"].as_array().map(Vec::len), Some(5));
    let csv = fs::read_to_string(directory.join("figures.csv")).expect("a file");
    let width = csv.lines().next().expect("a head").split(',').count();
    assert!(csv.lines().count() > 200 && csv.lines().all(|line| line.split(',').count() == width));

    let inside = run(Preset::Paper, &document, &directory.join("policy-1"), 1).expect_err("it is a run itself");
    assert!(matches!(inside, ReproduceError::Keep(OutputError::Exists(_))), "{inside}");
    let again = run(Preset::Paper, &document, &directory, 1).expect_err("there are runs");
    assert!(matches!(again, ReproduceError::Keep(OutputError::Exists(_))), "{again}");
}

#[test]
fn recorded_positions_can_be_replaced() {
    let directory = fresh_directory("positions");
    fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("positions.csv");
    fs::write(&file, mario_reference::synthetic_positions()).expect("a file");
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&["mobility.kind=file".to_owned(), format!("mobility.file={:?}", file.display().to_string())]);
    let reproduction = run(Preset::Paper, &document, &directory.join("runs"), 1).expect("five experiments");
    let movements = reproduction.experiments[0].figures.figures.groups[0].movements;
    assert!((60..=120).contains(&movements), "{movements}");
}
