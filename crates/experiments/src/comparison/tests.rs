use std::collections::BTreeMap;

use super::*;
use crate::measures::{LOST, key};
use crate::study::{Identity, RunKey};

/// The results of two policies: `new` answers LS requests about 2 ms faster, runs 3 more LS instances, answers WS
/// requests sometimes faster and sometimes slower, and otherwise equals `old`. The cycles to the steady state are
/// undefined for both. Unless `is_drawn`, all seeds have equal results.
fn results(seeds: u64, is_drawn: bool) -> Results {
    let policies = vec!["old".to_owned(), "new".to_owned()];
    let identity = Identity {
        program: "mario".to_owned(),
        scenario: serde_json::json!({"seed": 1}),
        variants: vec![Vec::new()],
        policies: policies.clone(),
        seeds,
        inputs: BTreeMap::new(),
        outcomes: Vec::new(),
        notes: Vec::new(),
    };
    let mut results = Results::new(identity);
    for seed in 1..=seeds {
        for policy in &policies {
            let chance = if is_drawn { seed as f64 } else { 1.0 };
            let wobble = (chance * 1.7).sin() / 10.0;
            let mut values = Values::new();
            for group in ["all", "WS", "LS"] {
                for measure in Measure::ALL {
                    let usual = Some(10.0 + chance);
                    let value = match (group, measure, policy.as_str()) {
                        (_, Measure::CyclesMean, _) => None,
                        ("LS", Measure::Response, "new") => Some(8.0 + chance + wobble),
                        ("LS", Measure::InstancesMean, "new") => Some(13.0 + chance),
                        // Better in one seed and worse in the next.
                        ("WS", Measure::Response, "new") => Some(
                            10.0 + chance
                                + if (chance as u64).is_multiple_of(2) { wobble.abs() } else { -wobble.abs() },
                        ),
                        _ => usual,
                    };
                    values.insert(key(group, measure), value);
                }
            }
            values.insert(LOST.to_owned(), Some(0.0));
            results.runs.insert(RunKey { variant: Vec::new(), policy: policy.clone(), seed }, values);
        }
    }
    results
}

fn test<'a>(comparison: &'a Comparison, name: &str) -> &'a FigureTest {
    comparison.pairs[0].tests.iter().find(|test| test.figure.name == name).expect("a figure")
}

#[test]
fn there_are_fewer_lost_requests_and_less_response_time() {
    let mut results = results(12, true);
    for (key, values) in results.runs.iter_mut().filter(|(key, _)| key.policy == "old") {
        values.insert(LOST.to_owned(), Some(5.0 + key.seed as f64));
    }
    let verdict = &Comparison::of(&results, &[]).pairs[0].verdict;
    assert!(verdict.ends_with("less response time (LS); fewer lost client requests"), "{verdict}");
}

#[test]
fn a_single_kind_is_compared_unless_it_is_all_applications() {
    for (kind, names) in [("WS", &["all.response", "lost"][..]), ("LS", &["all.response", "LS.response", "lost"])] {
        let mut results = results(6, true);
        for values in results.runs.values_mut() {
            values.retain(|name, _| name == LOST || name.starts_with("all.") || name.starts_with(kind));
            if kind == "WS" {
                for measure in Measure::ALL {
                    values.insert(key("WS", measure), values[&key("all", measure)]);
                }
            }
        }
        let comparison = Comparison::of(&results, &[]);
        let primary = comparison.figures.iter().filter(|row| row.figure.role == Role::Primary);
        assert_eq!(primary.map(|row| row.figure.name.as_str()).collect::<Vec<_>>(), names);
    }
}

#[test]
fn describes_which_primary_outcomes_differ_and_which_do_not() {
    let comparison = Comparison::of(&results(20, true), &[]);
    assert!((comparison.seeds, comparison.pairs.len(), comparison.is_seedless) == (20, 1, false));
    let faster = test(&comparison, "LS.response");
    assert!(faster.verdict.starts_with("new answers LS requests 1.995 ms faster"), "{}", faster.verdict);
    assert!(faster.verdict.contains("(95 % interval 1.956 to 2.028)"), "{}", faster.verdict);
    assert!(faster.verdict.ends_with("p < 0.001, in every seed that differs"), "{}", faster.verdict);
    let more = test(&comparison, "LS.instances_mean");
    assert!(more.verdict.starts_with("new runs 3.0 more LS instances"), "{}", more.verdict);
    assert!(more.verdict.contains("(exploratory, not corrected)") && !more.is_real(), "{}", more.verdict);
    let same = test(&comparison, "WS.response");
    assert!(
        !same.is_real() && same.verdict.starts_with("no difference found in response time, WS"),
        "{}",
        same.verdict
    );
    assert_eq!(test(&comparison, "all.cycles_mean").test, None, "nobody has it");
    assert_eq!(comparison.pairs[0].verdict, "new is better than old in what differs: less response time (LS)");
    let text = comparison.text();
    assert!(text.contains("B against A: new against old\n  B answers LS requests"), "{text}");
    assert!(text.contains("  no difference found in response time (WS)\n"), "{text}");
    assert!(text.contains("  equal in every seed: response time; lost client requests\n"), "{text}");
    assert!(text.contains("Overall: B is better than A in what differs: less response time (LS)."), "{text}");
    // One short row for each exploratory measure that differs.
    assert!(text.contains("\n    instances, mean           LS +3.0\n"), "{text}");
    assert_eq!(comparison.csv().lines().count(), 1 + 25);
    let columns = |line: &str| line.split(',').count();
    let csv = comparison.csv();
    let mut lines = csv.lines();
    let head = columns(lines.next().expect("a head"));
    assert!(lines.filter(|line| !line.contains('"')).all(|line| columns(line) == head), "{csv}");
}

#[test]
fn only_primary_outcomes_that_differ_are_corrected() {
    let comparison = Comparison::of(&results(20, true), &[]);
    // Of the four primary outcomes, `all.response` and `lost` are equal in every seed, and so cannot be false findings.
    assert_eq!(comparison.test_count(), 2);
    let faster = test(&comparison, "LS.response");
    // All 20 differences have the same sign, so p is 2^-19. Holm's method multiplies the smallest p-value by the number
    // of tests.
    let p = faster.test.expect("tested").p;
    assert!((p - 2_f64.powi(-19)).abs() < 1e-12);
    assert!((faster.p_corrected.expect("tested") - 2.0 * p).abs() < 1e-12);
    assert_eq!(test(&comparison, "all.response").p_corrected, Some(1.0));
    assert_eq!(test(&comparison, "LS.instances_mean").p_corrected, None, "exploratory");
}

#[test]
fn measures_do_not_hide_a_clear_difference_of_a_primary_outcome() {
    let mut results = results(10, true);
    for (key, values) in &mut results.runs {
        for number in 0..50_u32 {
            let longer = if key.policy == "new" { 1.0 } else { 0.0 };
            let value = f64::from(number) + (key.seed as f64 * f64::from(number + 1)).sin() + longer;
            values.insert(format!("application/app{number}.response_p95"), Some(value));
        }
    }
    let comparison = Comparison::of(&results, &[]);
    assert!(test(&comparison, "LS.response").is_real());
    let text = comparison.text();
    let rows = text.lines().filter(|line| line.starts_with("    "));
    assert!(rows.clone().count() > 1 && rows.clone().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn declared_outcomes_are_the_primary_ones() {
    let mut results = results(20, true);
    results.identity.outcomes = vec!["LS.instances_mean".to_owned(), "LS.instances_max".to_owned()];
    let comparison = Comparison::of(&results, &[]);
    let primary: Vec<&str> = (comparison.figures.iter().filter(|row| row.figure.role == Role::Primary))
        .map(|row| row.figure.name.as_str())
        .collect();
    // A figure that is not compared by default can be declared.
    assert_eq!(primary, ["LS.instances_mean", "LS.instances_max"]);
    assert!(test(&comparison, "LS.instances_mean").is_real());
    assert!(!test(&comparison, "LS.response").is_real(), "exploratory");
    assert_eq!(comparison.pairs[0].verdict, "new is worse than old in what differs: more instances, mean (LS)");
}

#[test]
fn a_difference_between_counts_is_a_number_per_run_and_not_a_factor() {
    let mut results = results(20, true);
    for (key, values) in &mut results.runs {
        let migrations = if key.policy == "new" { 12.0 } else { 492.0 };
        values.insert("all.migrate".to_owned(), Some(migrations + key.seed as f64));
    }
    let comparison = Comparison::of(&results, &[]);
    let verdict = &test(&comparison, "all.migrate").verdict;
    assert!(verdict.starts_with("new makes 480 fewer migrations per run (95 % interval 480 to 480)"), "{verdict}");
}

#[test]
fn identical_runs_of_all_seeds_count_as_one() {
    let comparison = Comparison::of(&results(20, false), &[]);
    assert!(comparison.is_seedless);
    assert!(comparison.pairs[0].tests.iter().all(|test| test.test.is_none()));
    assert!(comparison.pairs[0].verdict.starts_with("nothing can be said about new against old"));
    let text = comparison.text();
    assert!(text.starts_with("All 20 seeds came out the same"), "{text}");
    assert!(DRAWN_FROM_THE_SEED.iter().all(|(key, what)| text.contains(key) && text.contains(what)), "{text}");
}

#[test]
fn too_few_seeds_are_reported_with_the_number_that_is_needed() {
    let comparison = Comparison::of(&results(5, true), &[]);
    assert!(!test(&comparison, "LS.response").is_real());
    assert_eq!(comparison.seeds_needed(), 7);
    let text = comparison.text();
    assert!(text.contains("With 5 seeds no difference can be told from chance"), "{text}");
    assert!(text.contains("the smallest corrected p of 2 tests is 0.12; 7 seeds are needed"), "{text}");
    assert!(!Comparison::of(&results(20, true), &[]).text().contains("seeds are"));
}

#[test]
fn percentiles_of_user_means_are_marked() {
    let mut results = results(20, true);
    results.identity.scenario = serde_json::json!({"seed": 1, "network": {"fidelity": "flow"}});
    let has_note = |results: &Results| Comparison::of(results, &[]).text().contains("mean response times of users");
    assert!(!has_note(&results), "there are no percentiles");
    for values in results.runs.values_mut() {
        values.insert("application/a.response_p95".to_owned(), Some(1.0));
    }
    assert!(has_note(&results));
    let table = |figure: &str| crate::sweep::text(&results, &[figure.to_owned()]);
    assert!(table("application/a.response_p95").contains("mean response times of users"));
    assert!(!table("all.response").contains("note: "));
    results.identity.scenario = serde_json::json!({"seed": 1, "network": {"fidelity": "messages"}});
    assert!(!has_note(&results));
}

#[test]
fn recorded_users_are_named_as_what_the_seeds_do_not_vary() {
    let mut results = results(20, true);
    let recorded = serde_json::json!({"seed": 1, "mobility": {"kind": "file"}, "workload": {"kind": "poisson"}});
    results.identity.scenario = recorded;
    let text = Comparison::of(&results, &[]).text();
    let note = "note: the users are recorded: seeds vary only when users send client requests. Intervals and tests say \
                nothing about other users.";
    assert!(text.contains(note), "{text}");
    results.identity.scenario = serde_json::json!({"seed": 1, "mobility": {"kind": "generated"}});
    assert_eq!(Comparison::of(&results, &[]).notes, Vec::<String>::new());
}
