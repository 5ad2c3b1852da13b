use std::collections::BTreeMap;

use super::*;
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
fn describes_which_figures_differ_and_which_do_not() {
    let comparison = Comparison::of(&results(20, true), &[]);
    assert!((comparison.seeds, comparison.pairs.len(), comparison.is_seedless) == (20, 1, false));
    let faster = test(&comparison, "LS.response");
    assert!(faster.verdict.starts_with("new answers LS requests 1.995 ms faster"), "{}", faster.verdict);
    assert!(faster.verdict.contains("(95 % interval 1.956 to 2.028)"), "{}", faster.verdict);
    assert!(faster.verdict.ends_with("p < 0.001, in every seed that differs"), "{}", faster.verdict);
    let more = test(&comparison, "LS.instances_mean");
    assert!(more.verdict.starts_with("new runs 3.0 more LS instances"), "{}", more.verdict);
    let same = test(&comparison, "WS.response");
    assert!(
        !same.is_real() && same.verdict.starts_with("no difference found in response time, WS"),
        "{}",
        same.verdict
    );
    assert_eq!(test(&comparison, "all.cycles_mean").test, None, "nobody has it");
    assert_eq!(
        comparison.pairs[0].verdict,
        "new gains something over old and pays for it: less response time (LS); more instances, mean (LS)"
    );
    let text = comparison.text();
    assert!(text.contains("B against A: new against old\n  B answers LS requests"), "{text}");
    assert!(text.contains("Overall: B gains something over A and pays for it"), "{text}");
    assert_eq!(comparison.csv().lines().count(), 1 + 25);
    let columns = |line: &str| line.split(',').count();
    let csv = comparison.csv();
    let mut lines = csv.lines();
    let head = columns(lines.next().expect("a head"));
    assert!(lines.filter(|line| !line.contains('"')).all(|line| columns(line) == head), "{csv}");
}

#[test]
fn all_tests_are_corrected_together() {
    let comparison = Comparison::of(&results(20, true), &[]);
    let faster = test(&comparison, "LS.response");
    // 22 tests were made: 8 figures of 3 groups and the lost requests, without the three that are undefined. In LS
    // response time and LS instances, all 20 differences have the same sign, so p is 2^-19. Holm's method multiplies
    // the smallest p-value by the number of tests.
    let p = faster.test.expect("tested").p;
    assert!((p - 2_f64.powi(-19)).abs() < 1e-12);
    assert!((faster.p_corrected.expect("tested") - 22.0 * p).abs() < 1e-12);
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
fn too_few_seeds_for_the_number_of_tests_are_reported() {
    let comparison = Comparison::of(&results(8, true), &[]);
    assert!(!test(&comparison, "LS.response").is_real());
    assert!(comparison.text().contains("With 8 seeds no difference can be told from chance"), "{}", comparison.text());
    assert!(!Comparison::of(&results(20, true), &[]).text().contains("no difference can be told"));
}
