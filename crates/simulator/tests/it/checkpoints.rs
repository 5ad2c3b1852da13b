//! Tests that a run that is checkpointed, dropped and resumed writes the same bytes as an uninterrupted one, and that
//! damaged, foreign, busy and complete runs are not resumed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mario_domain::{Duration, Models, Time};
use mario_scenario::{Arbitration, Document, Fidelity, Management, Measures, NoFiles, Resolved, Scenario, Search};
use mario_simulator::{
    Checkpoint, Detail, IfExists, OutputError, OutputOptions, ResumeError, Reuse, RunDirectory, RunOptions,
    RunStatistics, Simulation,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::random_worlds::calling::calling;
use crate::random_worlds::world;

/// The number of worlds in a normal test run.
const WORLDS: u64 = 120;

/// The outputs of a run, and whether it reuses proposals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSetup {
    pub(crate) keep: OutputOptions,
    pub(crate) has_regret: bool,
    pub(crate) reuse: Reuse,
}

/// The path of a test directory with this name. A directory that exists there is removed.
pub(crate) fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoints").join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

/// The content of all files in a directory, by name.
pub(crate) fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file")))
        .collect()
}

pub(crate) fn resolved(scenario: Scenario) -> Resolved {
    let resolved = Document::preset("paper").expect("a preset").resolve(&mut NoFiles).expect("a scenario");
    Resolved { scenario, ..resolved }
}

/// The preset `city` with few nodes and users, and a short duration.
pub(crate) fn city(seed: u64) -> Resolved {
    let mut document = Document::preset("city").expect("a preset");
    let keys = ["topology.size=4", "mobility.users=60", "duration=6000"];
    document.set(&keys.map(str::to_owned));
    document.set_seed(seed);
    document.resolve(&mut NoFiles).expect("a scenario")
}

pub(crate) fn begin<'a>(
    resolved: &'a Resolved,
    path: &Path,
    setup: RunSetup,
    threads: usize,
) -> (Simulation<'a>, RunDirectory<'a>) {
    let options = RunOptions { threads, reuse: setup.reuse };
    let simulation = Simulation::new(&resolved.scenario, options).expect("it can be run");
    let kept = RunDirectory::create(path, resolved, setup.keep, IfExists::Refuse).expect("a new directory");
    (simulation, if setup.has_regret { kept.with_regret(&resolved.scenario) } else { kept })
}

/// Runs a world without interruption.
fn whole(resolved: &Resolved, path: &Path, setup: RunSetup) -> RunStatistics {
    let (mut simulation, mut kept) = begin(resolved, path, setup, 1);
    let statistics = simulation.run(kept.recorder());
    kept.complete(&resolved.scenario, statistics.clone()).expect("writable");
    statistics
}

/// Runs until `checks` pause checks have happened, then writes a checkpoint unless the run is over. Returns whether it
/// is over.
pub(crate) fn part(simulation: &mut Simulation<'_>, kept: &mut RunDirectory<'_>, checks: u32) -> bool {
    let mut left = checks;
    simulation.run_until_pause(Time::NEVER, kept.recorder(), || {
        left -= 1;
        left == 0
    });
    if !simulation.is_over() {
        kept.save(simulation).expect("writable");
    }
    simulation.is_over()
}

/// Runs a world with interruptions, after each of which only the directory is left. Returns the statistics and the
/// number of interruptions.
fn broken_off(resolved: &Resolved, path: &Path, setup: RunSetup, dice: &mut Pcg64) -> (RunStatistics, u32) {
    let mut breaks = 0;
    {
        let (mut simulation, mut kept) = begin(resolved, path, setup, 1);
        // Some runs are interrupted before the first event.
        if dice.random_range(0..8) == 0 {
            kept.save(&simulation).expect("writable");
        } else if part(&mut simulation, &mut kept, dice.random_range(1..12)) {
            let statistics = simulation.statistics();
            kept.complete(&resolved.scenario, statistics.clone()).expect("writable");
            return (statistics, breaks);
        }
        if dice.random_range(0..2) == 0 {
            // The run continues after its checkpoint, so resuming must repeat these events.
            simulation.run_until(simulation.now() + Duration::of(dice.random_range(0.0..300.0)), kept.recorder());
        }
    }
    loop {
        breaks += 1;
        let checkpoint = Checkpoint::open(path).expect("a checkpoint");
        let (mut simulation, mut kept) = checkpoint.resume(dice.random_range(1..3)).expect("it can be gone on with");
        let checks = if breaks == 3 { u32::MAX } else { dice.random_range(1..12) };
        if part(&mut simulation, &mut kept, checks) {
            let statistics = simulation.statistics();
            kept.complete(checkpoint.scenario(), statistics.clone()).expect("writable");
            return (statistics, breaks);
        }
    }
}

/// The random world with this number. Some are managed by a planner instead of agents, some have a service graph, and
/// some have measures and models.
pub(crate) fn managed(number: u64) -> Scenario {
    let mut scenario = if number % 5 == 2 { calling(number) } else { world(number) };
    if number % 4 == 1 {
        let models = Models { idle_watts: vec![2.0], message_bits: 8.0, ..Models::default() };
        scenario.measures = Measures { applications: true, models: Some(models) };
    }
    let management = match number % 6 {
        0 => Management::EdgeFirstFit,
        1 => Management::Central(Search::Greedy),
        _ => return scenario,
    };
    scenario.management = management;
    scenario.arbitration = Arbitration::Central;
    scenario
}

/// Compares the files and statistics of an interrupted and resumed run with those of an uninterrupted one. Returns the
/// number of interruptions, and whether traffic is modelled as rates.
fn check(number: u64) -> (u32, bool) {
    let mut dice = Pcg64::seed_from_u64(number);
    // Only in cities are movements generated on the fly.
    let resolved = if number.is_multiple_of(10) { city(number) } else { resolved(managed(number)) };
    let is_flow = resolved.scenario.network.fidelity == Fidelity::Flow;
    let details = [Detail::Full, Detail::Operations, Detail::Full, Detail::Summary];
    let detail = details[(number / 10 + number) as usize % details.len()];
    let setup = RunSetup {
        keep: OutputOptions { detail, messages: !is_flow && number.is_multiple_of(2) },
        has_regret: number.is_multiple_of(9),
        reuse: if number.is_multiple_of(7) { Reuse::Nothing } else { Reuse::Proposals },
    };
    let paths = ["whole", "broken"].map(|name| directory(&format!("{name}-{number}")));
    let expected = whole(&resolved, &paths[0], setup);
    let (statistics, breaks) = broken_off(&resolved, &paths[1], setup, &mut dice);
    assert_eq!(
        RunStatistics { parallel: 0, ..statistics },
        RunStatistics { parallel: 0, ..expected },
        "world {number}"
    );
    let [expected, found] = paths.each_ref().map(|path| files(path));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "world {number}");
    for (name, content) in &expected {
        assert!(found[name] == *content, "world {number}, {setup:?}: another {name}");
    }
    paths.iter().for_each(|path| fs::remove_dir_all(path).expect("it was there"));
    (breaks, is_flow)
}

#[test]
fn an_interrupted_and_resumed_run_writes_the_same_bytes() {
    /// May exceed the number of cores, because threads mostly wait for the disk.
    const THREADS: u64 = 8;
    let done: Vec<(u32, bool)> = std::thread::scope(|scope| {
        let workers = (0..THREADS).map(|thread| {
            scope.spawn(move || (thread..WORLDS).step_by(THREADS as usize).map(check).collect::<Vec<_>>())
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("all worlds are the same")).collect()
    });
    let breaks: u32 = done.iter().map(|(breaks, _)| breaks).sum();
    let flows = done.iter().filter(|(breaks, is_flow)| *is_flow && *breaks > 0).count();
    // Without interruptions, the test would prove nothing.
    assert!(breaks > 150 && flows > 5, "{breaks} breaks, {flows} runs with traffic as rates");
}

/// The directory of an interrupted run with a checkpoint.
fn saved_run(name: &str) -> PathBuf {
    let resolved = resolved(world(8));
    let path = directory(name);
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    let setup = RunSetup { keep, has_regret: false, reuse: Reuse::Proposals };
    let (mut simulation, mut kept) = begin(&resolved, &path, setup, 1);
    assert!(!part(&mut simulation, &mut kept, 3), "it is not over yet");
    path
}

/// The error of an attempt to resume a run, which must not change its directory.
fn refusal(path: &Path) -> ResumeError {
    let before = files(path);
    let result = Checkpoint::open(path).and_then(|checkpoint| checkpoint.resume(1).map(|_| ()));
    assert!(files(path) == before, "the directory stays as it is");
    result.expect_err("it cannot be resumed")
}

#[test]
fn a_flipped_bit_or_missing_byte_in_a_checkpoint_is_detected() {
    let path = saved_run("damaged");
    for name in ["checkpoint", "checkpoint.scenario"] {
        let file = path.join(name);
        let whole = fs::read(&file).expect("it is there");
        let places = (0..whole.len()).step_by(whole.len() / 50 + 1).chain([whole.len() - 1]);
        for place in places {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            for content in [&flipped[..], &whole[..place]] {
                fs::write(&file, content).expect("writable");
                let error = refusal(&path);
                assert!(matches!(&error, ResumeError::Damaged(damaged) if *damaged == file), "{place}: {error}");
            }
        }
        fs::write(&file, whole).expect("writable");
    }
    assert!(Checkpoint::open(&path).expect("a checkpoint").resume(1).is_ok());
}

#[test]
fn the_stored_scenario_of_another_run_is_rejected() {
    let path = saved_run("exchanged");
    let resolved = resolved(world(9));
    let other = directory("exchanged-other");
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    let (simulation, mut kept) =
        begin(&resolved, &other, RunSetup { keep, has_regret: false, reuse: Reuse::Proposals }, 1);
    kept.save(&simulation).expect("writable");
    fs::copy(other.join("checkpoint.scenario"), path.join("checkpoint.scenario")).expect("writable");
    assert!(matches!(refusal(&path), ResumeError::Damaged(file) if file.ends_with("checkpoint.scenario")));
}

/// Changes the first line of a run's checkpoint, and corrects the checksum.
fn readdress(path: &Path, change: impl FnOnce(&str) -> String) {
    let file = path.join("checkpoint");
    let content = fs::read(&file).expect("it is there");
    let end = content.iter().position(|byte| *byte == b'\n').expect("a first line");
    let line = std::str::from_utf8(&content[..end]).expect("text");
    let mut changed = change(line).into_bytes();
    changed.extend_from_slice(&content[end..content.len() - 4]);
    changed.extend_from_slice(&crc32fast::hash(&changed).to_le_bytes());
    fs::write(&file, changed).expect("writable");
}

#[test]
fn files_of_another_build_are_reported_as_such() {
    let path = saved_run("foreign");
    readdress(&path, |line| format!("{line}0"));
    let error = refusal(&path);
    let ResumeError::Foreign { by, this, .. } = &error else { panic!("{error}") };
    assert!(by != this && by.starts_with("mario "), "{error}");
}

#[test]
fn files_of_another_format_are_reported_with_both_versions() {
    let path = saved_run("format");
    readdress(&path, |line| {
        assert!(line.starts_with("checkpoint format 3 of mario "), "{line}");
        line.replacen("format 3", "format 4", 1)
    });
    let error = refusal(&path);
    assert!(matches!(error, ResumeError::Version { found: 4, read: 3, .. }), "{error}");
    assert!(error.to_string().ends_with("has format 4, and this mario reads 3"), "{error}");
}

#[test]
fn a_shortened_output_is_detected_before_anything_is_changed() {
    let path = saved_run("short");
    let trace = path.join("trace.jsonl");
    let whole = fs::read(&trace).expect("it is there");
    fs::write(&trace, &whole[..whole.len() - 1]).expect("writable");
    let error = refusal(&path);
    let expected = whole.len() as u64;
    assert!(
        matches!(error, ResumeError::Short { saved, found: Some(found), .. } if saved == expected && found + 1 == saved)
    );
    fs::remove_file(&trace).expect("it was there");
    assert!(matches!(refusal(&path), ResumeError::Short { found: None, .. }));
}

#[test]
fn a_flipped_bit_in_an_output_is_detected_before_anything_is_changed() {
    let path = saved_run("altered");
    let names = ["trace.jsonl", "operations.csv", "moves.csv", "handovers.csv", "run.json"];
    for name in names {
        let file = path.join(name);
        let whole = fs::read(&file).expect("it is there");
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            fs::write(&file, flipped).expect("writable");
            let error = refusal(&path);
            let is_named = match &error {
                ResumeError::Altered { path, saved } => *path == file && *saved == whole.len() as u64,
                ResumeError::Damaged(path) => *path == file && name == "run.json",
                _ => false,
            };
            assert!(is_named, "byte {place} of {name}: {error}");
        }
        fs::write(&file, whole).expect("writable");
    }
    // Output after the checkpoint is not checked, because the resumed run replaces it.
    let mut trace = fs::read(path.join("trace.jsonl")).expect("it is there");
    trace.extend_from_slice(b"anything");
    fs::write(path.join("trace.jsonl"), trace).expect("writable");
    assert!(Checkpoint::open(&path).expect("a checkpoint").resume(1).is_ok());
}

#[test]
fn only_one_of_several_concurrent_runs_in_a_directory_is_stored() {
    const THREADS: usize = 4;
    let resolved = resolved(world(8));
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    for round in 0..20 {
        let path = directory(&format!("at-once-{round}"));
        let start = std::sync::Barrier::new(THREADS);
        let create = || {
            start.wait();
            RunDirectory::create(&path, &resolved, keep, IfExists::Refuse)
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(create)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let is_inhibited = |error: &OutputError| matches!(error, OutputError::Exists(_) | OutputError::Busy(_));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "round {round}");
        assert!(results.iter().filter_map(|result| result.as_ref().err()).all(is_inhibited), "round {round}");
        fs::remove_dir_all(path).expect("it was there");
    }
}

#[test]
fn resume_refuses_complete_foreign_and_unsaved_runs() {
    let path = saved_run("refused");
    assert!(matches!(Checkpoint::open(&path.join("nowhere")), Err(ResumeError::NoRun(_))));
    {
        let checkpoint = Checkpoint::open(&path).expect("a checkpoint");
        let _running = checkpoint.resume(1).expect("it can be gone on with");
        assert!(matches!(Checkpoint::open(&path), Err(ResumeError::Busy(_))));
    }
    fs::rename(path.join("checkpoint"), path.join("elsewhere")).expect("it was there");
    assert!(matches!(refusal(&path), ResumeError::NoCheckpoint(_)));
    fs::rename(path.join("elsewhere"), path.join("checkpoint")).expect("it was there");
    let checkpoint = Checkpoint::open(&path).expect("a checkpoint");
    let (mut simulation, mut kept) = checkpoint.resume(1).expect("it can be gone on with");
    let statistics = simulation.run(kept.recorder());
    kept.complete(checkpoint.scenario(), statistics.clone()).expect("writable");
    assert!(matches!(refusal(&path), ResumeError::Complete(_)));
}
