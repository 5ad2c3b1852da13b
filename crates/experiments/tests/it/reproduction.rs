use std::fs;
use std::path::Path;

use mario_experiments::figures::RunFigures;
use mario_experiments::measures::values;
use mario_experiments::published::published;
use mario_experiments::reproduce::{Options, Preset, ReproduceError, Reproduction, reproduce};
use mario_simulator::scenario::Document;
use mario_simulator::{Existing, KeepError};

use crate::{Disk, fresh_directory};

fn run(preset: Preset, document: &Document, directory: &Path, seeds: u64) -> Result<Reproduction, ReproduceError> {
    let options = Options { preset, document, directory, existing: Existing::Refuse, seeds, jobs: 2, regret: false };
    reproduce(&options, || Disk, &mut |_, _| true)
}

/// The digits after the point that a figure of the stored runs was printed with.
fn printed_digits(figure: &str) -> i32 {
    match figure.split_once('.').map(|(_, measure)| measure) {
        Some("response" | "service_usage") => 4,
        Some("instances_mean") => 1,
        Some("cycles_mean") => 2,
        Some("inhibited" | "instances_max" | "cycles_max") => 0,
        _ => 3,
    }
}

#[test]
fn the_prototypes_runs_come_out_to_the_last_printed_digit() {
    // One attachments file serves all experiments; each must serve.
    for of in ["P1", "P4"] {
        let Some(attachments) = mario_reference::path(&format!("prototype/{of}/users.json")) else { return };
        let mut document = Document::preset("prototype").expect("a preset");
        document.set_attachments(&attachments);
        let directory = fresh_directory(&format!("prototype-{of}"));
        let reproduction = run(Preset::Prototype, &document, &directory, 1).expect("four experiments");
        assert_eq!(reproduction.experiments.len(), 4);
        let mut compared = 0;
        for one in &reproduction.experiments {
            assert_eq!(one.findings, 0, "the auditor found something in {}", one.experiment.name);
            let ours = values(&one.figures.figures);
            for (figure, expected) in &published(one.experiment.published).expect("it was published").run {
                let found = ours[figure].unwrap_or_else(|| panic!("{figure} of {}", one.experiment.name));
                let half_a_digit = 0.5 * 10_f64.powi(-printed_digits(figure)) + 1e-9;
                let exact = if printed_digits(figure) == 0 { 0.0 } else { half_a_digit };
                assert!((found - expected).abs() <= exact, "{figure} of {}: {found}", one.experiment.name);
                compared += 1;
            }
            let summary = fs::read_to_string(one.directory.join("summary.json")).expect("a run was kept");
            let counted: RunFigures = serde_json::from_str(&summary).expect("figures");
            assert_eq!(one.figures.figures, counted, "{} was counted otherwise", one.experiment.name);
        }
        assert!(compared > 90, "{compared}");
        assert_eq!(values(&reproduction.experiments[0].figures.figures)["LS.pearson_r"], None);
        assert_eq!(values(&reproduction.experiments[1].figures.figures)["WS.pearson_r"], None);
    }
}

#[test]
fn the_papers_experiments_need_nothing_and_leave_everything() {
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

    let again = run(Preset::Paper, &document, &directory, 1).expect_err("there are runs");
    assert!(matches!(again, ReproduceError::Keep(KeepError::Exists(_))), "{again}");
}

#[test]
fn positions_of_others_can_be_used() {
    let Some(positions) = mario_reference::path("prototype/positions.csv.gz") else { return };
    let mut text = Vec::new();
    let packed = fs::read(positions).expect("reference data");
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed.as_slice()), &mut text).expect("gzip");
    let directory = fresh_directory("positions");
    fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("positions.csv");
    fs::write(&file, text).expect("a file");
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&["mobility.kind=file".to_owned(), format!("mobility.file={:?}", file.display().to_string())]);
    let reproduction = run(Preset::Paper, &document, &directory.join("runs"), 1).expect("five experiments");
    let movements = reproduction.experiments[0].figures.figures.groups[0].movements;
    assert!((60..=120).contains(&movements), "{movements}");
}
