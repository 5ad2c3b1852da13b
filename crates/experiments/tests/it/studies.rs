use std::fs;
use std::path::Path;
use std::time::Duration;

use mario_experiments::comparison::{Comparison, DRAWN_FROM_THE_SEED};
use mario_experiments::runs::Contender;
use mario_experiments::study::{
    MergeError, OwnDirectory, Results, Shard, StoreError, StudyError, StudyPlan, carry_out, load, save,
};
use mario_experiments::sweep;
use mario_scenario::Document;

use crate::{Disk, fresh_directory};

/// The scenario `paper`, shortened to three steps.
fn document(overrides: &[&str]) -> Document {
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&["duration=6000".to_owned(), "mobility.steps=3".to_owned()]);
    document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    document
}

fn plan<'a>(document: &'a Document, policies: &[&str], keys: &[&str], seeds: u64) -> StudyPlan<'a> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    StudyPlan {
        document,
        variants: sweep::variants(&keys).expect("keys"),
        contenders: policies.iter().map(|policy| Contender::read(policy)).collect(),
        seeds,
        shard: Shard::WHOLE,
        jobs: 2,
        metrics: Vec::new(),
        metric_timeout: Duration::from_mins(1),
        functions: mario_policy::PolicyFunctions::default(),
        outcomes: Vec::new(),
        kept_seeds: Vec::new(),
    }
}

/// Carries out a plan. Returns the results and the number of runs that were made.
fn made(plan: &StudyPlan<'_>, directory: Option<&Path>) -> Result<(Results, usize), StudyError> {
    let mut count = 0;
    let results = carry_out(plan, directory, || Disk, &mut |done, _| {
        count = done;
        true
    })?;
    Ok((results, count))
}

fn files(directory: &Path) -> Vec<String> {
    ["study.json", "runs.jsonl", "runs.csv"].map(|name| fs::read_to_string(directory.join(name)).expect(name)).to_vec()
}

const POLICIES: [&str; 2] = ["latency-aware", "workload-and-latency-aware-with-memory@memory.cycles=10"];

#[test]
fn the_number_of_threads_changes_nothing() {
    let document = document(&[]);
    let [one, five] = [1, 5].map(|jobs| {
        let directory = fresh_directory(&format!("threads-{jobs}"));
        let plan = StudyPlan { jobs, ..plan(&document, &POLICIES, &[], 6) };
        let (results, count) = made(&plan, Some(&directory)).expect("runs");
        assert_eq!(count, 12);
        (Comparison::of(&results, &[]).text(), files(&directory))
    });
    assert_eq!(one, five);
}

#[test]
fn a_second_call_makes_only_the_missing_runs() {
    let document = document(&[]);
    let directory = fresh_directory("resumed");
    assert_eq!(made(&plan(&document, &POLICIES[..1], &[], 2), Some(&directory)).expect("runs").1, 2);
    assert_eq!(made(&plan(&document, &POLICIES, &[], 3), Some(&directory)).expect("runs").1, 4);
    assert_eq!(made(&plan(&document, &POLICIES, &[], 3), Some(&directory)).expect("runs").1, 0);
    let at_once = fresh_directory("at-once");
    made(&plan(&document, &POLICIES, &[], 3), Some(&at_once)).expect("runs");
    assert_eq!(files(&directory), files(&at_once));

    // Truncates the last line, as when the program is killed while writing.
    let runs = directory.join("runs.jsonl");
    let text = fs::read_to_string(&runs).expect("runs");
    fs::write(&runs, &text[..text.len() - 40]).expect("a shorter file");
    assert_eq!(made(&plan(&document, &POLICIES, &[], 3), Some(&directory)).expect("runs").1, 1);
    assert_eq!(files(&directory), files(&at_once));
}

#[test]
fn finished_runs_of_an_interrupted_study_are_kept() {
    let document = document(&[]);
    let directory = fresh_directory("broken-off");
    let plan = plan(&document, &POLICIES, &[], 20);
    let broken = carry_out(&plan, Some(&directory), || Disk, &mut |done, _| done < 5);
    assert!(matches!(broken, Err(StudyError::Interrupted)));
    // The five runs that were reported, and any that finished before they could be stopped.
    let kept = load(&directory).expect("a study").runs.len();
    assert!((5..40).contains(&kept), "{kept}");
}

#[test]
fn a_foreign_directory_is_refused() {
    let first = document(&[]);
    let directory = fresh_directory("refused");
    made(&plan(&first, &POLICIES[..1], &[], 1), Some(&directory)).expect("runs");
    let before = files(&directory);
    for overrides in [["workload.period=20"], ["seed=2"]] {
        let other = document(&overrides);
        let refused = made(&plan(&other, &POLICIES[..1], &[], 1), Some(&directory)).expect_err("another scenario");
        assert!(matches!(refused, StudyError::Store(StoreError::Merge(_, MergeError::Scenario))), "{refused:?}");
    }
    assert_eq!(files(&directory), before);

    let policy = fresh_directory("refused-policy");
    fs::create_dir_all(&policy).expect("a directory");
    let file = policy.join("own.pl");
    let own = file.display().to_string();
    let kept = policy.join("kept");
    fs::write(&file, "operation(undeploy, I, self) :- serviceInstance(I, _, none).\n").expect("a file");
    made(&plan(&first, &[&own], &[], 1), Some(&kept)).expect("runs");
    fs::write(&file, "operation(undeploy, I, self) :- serviceInstance(I, _, nobody).\n").expect("a file");
    let refused = made(&plan(&first, &[&own], &[], 1), Some(&kept)).expect_err("another policy");
    assert!(matches!(refused, StudyError::Store(StoreError::Merge(_, MergeError::Inputs(_)))), "{refused:?}");

    let other = fresh_directory("refused-files");
    fs::create_dir_all(&other).expect("a directory");
    fs::write(other.join("thesis.txt"), "precious").expect("a file");
    let refused = made(&plan(&first, &POLICIES[..1], &[], 1), Some(&other)).expect_err("not a study");
    assert!(matches!(refused, StudyError::Store(StoreError::NotAStudy(_))), "{refused:?}");
}

#[test]
fn a_directory_locked_by_another_process_is_left_alone() {
    let document = document(&[]);
    let directory = fresh_directory("busy");
    let other = OwnDirectory::open(&directory).expect("nobody has it");
    let plan = plan(&document, &POLICIES[..1], &[], 1);
    let refused = made(&plan, Some(&directory)).expect_err("in use");
    assert!(matches!(refused, StudyError::Store(StoreError::Busy(_))), "{refused:?}");
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 0, "nothing was written");
    drop(other);
    assert_eq!(made(&plan, Some(&directory)).expect("runs").1, 1);
}

#[test]
fn merged_parts_equal_an_unsplit_study() {
    let document = document(&[]);
    let keys = ["workload.period=20,40", "agents.period=100,200"];
    let whole_directory = fresh_directory("whole");
    let (whole, _) = made(&plan(&document, &POLICIES, &keys, 3), Some(&whole_directory)).expect("runs");
    assert_eq!(whole.runs.len(), 2 * 2 * 2 * 3);
    let mut parts = Vec::new();
    for part in 1..=5 {
        let directory = fresh_directory(&format!("part-{part}"));
        let plan = StudyPlan { shard: Shard { part, of: 5 }, ..plan(&document, &POLICIES, &keys, 3) };
        made(&plan, Some(&directory)).expect("runs");
        parts.push(load(&directory).expect("a study"));
    }
    assert_eq!(parts.iter().map(|part| part.runs.len()).sum::<usize>(), whole.runs.len(), "no run is made twice");
    assert!(parts[0].missing() > 0);
    for part in &parts {
        assert!((4..=5).contains(&part.runs.len()), "24 runs in 5 parts");
        for policy in POLICIES {
            assert!(part.runs.keys().any(|run| run.policy == policy), "no part has one policy alone");
        }
    }
    // The order of the parts does not matter.
    parts.rotate_left(2);
    let mut joined = parts.remove(0);
    for part in parts {
        joined.merge(part).expect("the same scenario");
    }
    let joined_directory = fresh_directory("joined");
    save(&OwnDirectory::open(&joined_directory).expect("ours"), &joined).expect("a directory");
    assert_eq!(files(&joined_directory), files(&whole_directory));
    assert_eq!((sweep::csv(&joined), joined.missing()), (sweep::csv(&whole), 0));
    let figures = sweep::usual_figures(&joined);
    let table = sweep::text(&joined, &figures);
    assert_eq!(table.lines().count(), 1 + 8, "{table}");

    // Different results of the same run are an error.
    let mut other = joined.clone();
    let lost = other.runs.values_mut().next().and_then(|values| values.get_mut("lost")).expect("a run");
    *lost = Some(-1.0);
    assert!(matches!(joined.merge(other), Err(MergeError::Run(_))));
}

#[test]
fn the_declared_outcomes_are_kept_with_the_study() {
    let document = document(&[]);
    let directory = fresh_directory("outcomes");
    let declared = vec!["all.migrate".to_owned()];
    let with = |outcomes: &[String]| StudyPlan { outcomes: outcomes.to_vec(), ..plan(&document, &POLICIES, &[], 2) };
    made(&with(&declared), Some(&directory)).expect("runs");
    // A call that declares none keeps those of the study.
    let (results, count) = made(&with(&[]), Some(&directory)).expect("runs");
    assert_eq!((count, &results.identity.outcomes), (0, &declared));
    let comparison = Comparison::of(&load(&directory).expect("a study"), &[]);
    assert_eq!(comparison.figures[0].figure.name, "all.migrate");
    let other = vec!["lost".to_owned()];
    assert_eq!(made(&with(&other), Some(&directory)).expect("runs").0.identity.outcomes, other);
}

#[test]
fn every_documented_random_setting_depends_on_the_seed() {
    let is_seedless = |document: &Document| {
        let (results, _) = made(&plan(document, &POLICIES, &[], 3), None).expect("runs");
        Comparison::of(&results, &[]).is_seedless
    };
    let still = ["mobility.kind=static", "mobility.users=12"];
    assert!(is_seedless(&document(&still)));
    for (key, _) in DRAWN_FROM_THE_SEED {
        let drawn = if key == "[[failures]]" {
            let text = "preset = \"paper\"\nduration = 6000\n[mobility]\nkind = \"static\"\nusers = 12\n\
                        [[failures]]\nmean_time_between = 9000\nmean_repair = 2000\ntiers = [1, 2]\n";
            Document::file(Path::new("failing.toml"), text, &mut Disk)
        } else {
            let mut drawn = document(&still);
            drawn.set(&[key.to_owned()]);
            drawn
        };
        assert!(!is_seedless(&drawn), "{key}");
    }
}

#[test]
fn a_failing_policy_is_noted_with_the_results() {
    let directory = fresh_directory("unanswering");
    fs::create_dir_all(&directory).expect("writable");
    let policy = directory.join("misspelt.pl");
    fs::write(&policy, "operation(migrate, I, N) :- reqests(I, N, R, _), R > 3.\n").expect("writable");
    let document = document(&[]);
    let name = policy.to_str().expect("a path of text");
    let (results, _) = made(&plan(&document, &[name, POLICIES[0]], &[], 2), None).expect("runs");
    let told: Vec<&String> = results.identity.notes.iter().filter(|note| note.contains("gave no answer")).collect();
    assert_eq!(told.len(), 1, "{:?}", results.identity.notes);
    assert!(told[0].contains("misspelt.pl"), "{told:?}");
    let undefined = |warning: &&String| warning.contains("misspelt.pl:1:29: reqests/4 is not defined");
    assert_eq!(results.warnings.iter().filter(undefined).count(), 1, "{:?}", results.warnings);
    assert_eq!(results.warnings.iter().filter(|warning| !undefined(warning)).collect::<Vec<_>>(), told);
}

#[test]
fn measures_of_applications_appear_in_tables_and_tests() {
    let document = document(&["measures.applications=true", "energy.idle_watts=[100,10]", "energy.unit_watts=[5]"]);
    let (results, _) = made(&plan(&document, &["latency-aware", "workload-aware"], &[], 6), None).expect("runs");
    let comparison = Comparison::of(&results, &[]);
    let names: Vec<&str> = comparison.figures.iter().map(|row| row.figure.name.as_str()).collect();
    for name in ["application/app1.late_share", "application/app6.response_p95", "energy_joules"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("tier/") && name.ends_with(".utilisation")), "{names:?}");
    // Operations are compared by kind of application, and not again by single application.
    assert!(!names.iter().any(|name| name.starts_with("application/") && name.ends_with(".migrate")), "{names:?}");
    let energy = comparison.pairs[0].tests.iter().find(|test| test.figure.name == "energy_joules").expect("tested");
    // Only primary outcomes are corrected, so measures do not lower the power of their tests.
    assert!(energy.test.is_some() && energy.p_corrected.is_none() && energy.figure.unit() == "J", "{energy:?}");
    let text = comparison.text();
    assert!(text.contains("share of served requests that were late, app1") && text.contains("energy"), "{text}");
    let csv = sweep::csv(&results);
    assert!(csv.contains(",application/app1.response_p99,6,"), "{csv}");
}

#[cfg(unix)]
#[test]
fn a_user_defined_metric_appears_in_tables_tests_and_merged_parts() {
    use mario_experiments::metric::{Metric, MetricCause};
    use mario_experiments::runs::RunError;
    let document = document(&[]);
    let lines = Metric::read(r#"lines=sh -c 'wc -l <"$1/trace.jsonl"' sh"#).expect("a metric");
    let seven = Metric::read("seven=sh -c 'echo 7' sh").expect("a metric");
    let wanted = |metrics: &[&Metric]| StudyPlan {
        metrics: metrics.iter().map(|metric| (*metric).clone()).collect(),
        ..plan(&document, &POLICIES, &[], 3)
    };
    let directory = fresh_directory("metrics");
    let (results, count) = made(&wanted(&[&lines]), Some(&directory)).expect("runs");
    assert_eq!(count, 6);
    assert!(results.runs.values().all(|values| values["metric/lines"].is_some_and(|lines| lines > 100.0)));
    let comparison = Comparison::of(&results, &[]);
    assert!(comparison.figures.iter().any(|row| row.figure.name == "metric/lines"));
    // A metric does not change the other figures.
    let (plain, _) = made(&plan(&document, &POLICIES, &[], 3), None).expect("runs");
    for (key, values) in &plain.runs {
        assert!(values.iter().all(|(name, value)| results.runs[key][name] == *value), "{key}");
    }
    // No run is missing. With another metric, all runs are made again and keep the value of the first metric.
    assert_eq!(made(&wanted(&[&lines]), Some(&directory)).expect("runs").1, 0);
    let (both, count) = made(&wanted(&[&seven]), Some(&directory)).expect("runs");
    assert_eq!(count, 6);
    let has_both = |values: &mario_experiments::measures::Values| {
        values["metric/seven"] == Some(7.0) && values["metric/lines"].is_some()
    };
    assert!(both.runs.values().all(has_both));
    // Merged parts equal an unsplit study.
    let whole = load(&directory).expect("a study");
    let parts = [1, 2].map(|part| {
        let directory = fresh_directory(&format!("metrics-{part}"));
        let plan = StudyPlan { shard: Shard { part, of: 2 }, ..wanted(&[&lines, &seven]) };
        made(&plan, Some(&directory)).expect("runs");
        load(&directory).expect("a study")
    });
    let [mut joined, other] = parts;
    joined.merge(other).expect("parts of one study");
    assert_eq!(joined.csv(), whole.csv());
    // Another command under the same name is refused, and a failing program is an error.
    let eight = Metric::read("seven=echo 8").expect("a metric");
    let refused = made(&wanted(&[&eight]), Some(&directory)).expect_err("another command");
    assert!(matches!(refused, StudyError::Store(StoreError::Merge(_, MergeError::Inputs(_)))), "{refused:?}");
    let failing = Metric::read("fails=false").expect("a metric");
    let failed = made(&wanted(&[&failing]), None).expect_err("it fails");
    let StudyError::Run(RunError::Metric(error)) = failed else { panic!("{failed:?}") };
    assert!(matches!(error.cause, MetricCause::Failed(..)), "{error:?}");
}

#[test]
fn chosen_runs_are_stored_with_their_traces() {
    let document = document(&[]);
    let directory = fresh_directory("kept-runs");
    let plan = StudyPlan { kept_seeds: vec![2], ..plan(&document, &POLICIES, &[], 3) };
    made(&plan, Some(&directory)).expect("runs");
    let kept: Vec<_> =
        fs::read_dir(directory.join("runs")).expect("kept runs").map(|entry| entry.expect("one").path()).collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    for run in kept {
        let trace = fs::File::open(run.join("trace.jsonl")).expect("a trace");
        let report = mario_audit::audit(std::io::BufReader::new(trace), mario_audit::Options::default(), &mut |_| {});
        assert!(report.expect("a trace").findings.is_empty());
        assert!(run.join("summary.json").exists() && !run.join("PARTIAL").exists());
    }
}
