//! Tests that work is charged by its size, in units. One unit is one inference of the budget.
//!
//! [`work_on_large_arguments_is_charged_by_its_size`] counts units in each test run. To count instructions with
//! valgrind, for large and for small arguments, run by hand: `cargo test --release -p mario-prolog --test it
//! units::no_unit -- --ignored --nocapture`.

mod cases;

use crate::campaign::Campaign;
use crate::fuzz::{builtins, setting};
use cases::{CASES, CONSTANT, SETTINGS, SMALL_CALLS};
use mario_prolog::{Budget, Outcome, Resource};
use mario_testing::Scratch;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const BUDGET: Budget = Budget {
    inferences: 1_000_000_000,
    heap_bytes: 64 << 20,
    trail_entries: 8_000_000,
    choice_points: 1_000_000,
    answers: 3,
    output_bytes: 1 << 26,
};
/// The maximum number of words that may be processed per unit. Walks are charged one unit per 6 cells; comparisons of
/// long texts and numbers, which take less time per word, one unit per 48 words. The maximum is twice that.
const WORDS_PER_UNIT: f64 = 96.0;
/// The maximum ratio between the instructions per unit of the most expensive goal and those of `loop`.
const RATIO_MAX: f64 = 20.0;

/// The units that a goal uses until it has no more answers, raises an exception, or exhausts its budget.
fn units(campaign: &mut Campaign, goal: &str, budget: &Budget) -> u64 {
    let usage = campaign.run(goal, budget).unwrap_or_else(|| panic!("{goal} is no goal"));
    match usage.outcome {
        // Exits of clauses use up the budget, too, but are not counted as inferences.
        Outcome::Exhausted(Resource::Inferences) => usage.inferences.max(budget.inferences),
        _ => usage.inferences,
    }
}

/// The goal that builds the arguments of a case, the minimum number of words of the arguments divided by `size`, and
/// the call.
fn at_size(setting: &str, call: &str, size: u64) -> (String, f64, String) {
    let (_, words, setup) = SETTINGS.iter().find(|(name, _, _)| *name == setting).expect("it is there");
    let size = size.to_string();
    (setup.replace('#', &size), *words, call.replace('#', &size))
}

#[test]
fn work_on_large_arguments_is_charged_by_its_size() {
    const SIZES: [u64; 2] = [500, 2_500];
    let mut campaign = Campaign::new();
    let mut wrong = Vec::new();
    for (name, setting, call) in CASES {
        let [small, large] = SIZES.map(|size| {
            let (setup, _, call) = at_size(setting, call, size);
            let before = units(&mut campaign, &format!("{setup}, fail"), &BUDGET);
            units(&mut campaign, &format!("{setup}, {call}, fail"), &BUDGET).saturating_sub(before)
        });
        let (_, words, _) = at_size(setting, call, 1);
        let least = (words * (SIZES[1] - SIZES[0]) as f64 / WORDS_PER_UNIT).max(1.0);
        if (large.saturating_sub(small) as f64) < least {
            wrong.push(format!("{name}: {call} with {setting}: {small} and {large} units, not {least} more"));
        }
    }
    assert!(wrong.is_empty(), "{} cases are not charged by their size:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_builtin_has_a_case_or_constant_work() {
    let names: Vec<&str> = CASES.iter().map(|(name, _, _)| *name).chain(CONSTANT.iter().copied()).collect();
    let missing: Vec<String> = builtins()
        .into_iter()
        .map(|(name, _)| name.trim_matches('\'').replace("\\\\", "\\"))
        .filter(|name| !names.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "say in `units/cases.rs` how the work of these grows: {missing:?}");
}

// ---- by hand: instructions ------------------------------------------------------------------------

/// The goals to measure: each case with large arguments, and calls with small ones.
fn measured() -> Vec<(String, String)> {
    let size = setting("MARIO_UNITS_SIZE", 1_000);
    let large = CASES.iter().map(|(_, setting, call)| {
        let (setup, _, call) = at_size(setting, call, size);
        (setup, call)
    });
    let small = SMALL_CALLS.iter().map(|call| ("true".to_owned(), (*call).to_owned()));
    large.chain(small).collect()
}

/// The function that valgrind measures. Valgrind writes a file each time the function returns.
#[inline(never)]
fn counted_units(campaign: &mut Campaign, goal: &str, budget: &Budget) -> u64 {
    units(campaign, goal, budget)
}

/// Runs only in a separate process that [`no_unit_costs_more_than_twenty_times_the_cheapest`] starts. Each call is
/// repeated until it has used `MARIO_UNITS` units, 4,000 by default.
#[test]
#[ignore = "it is a part of another test"]
fn measured_goals() {
    let mut campaign = Campaign::new();
    for (setup, call) in measured() {
        let before = counted_units(&mut campaign, &format!("{setup}, fail"), &BUDGET);
        let budget = Budget { inferences: before + setting("MARIO_UNITS", 4_000), ..BUDGET };
        let goal = format!("{setup}, repeat, catch(({call}), _, true), fail");
        let after = counted_units(&mut campaign, &goal, &budget);
        println!("units {}", after - before);
    }
}

/// The number of instructions in each of the files that valgrind wrote, in order.
fn instructions(directory: &Path) -> impl Iterator<Item = u64> {
    let file = |number: u32| -> PathBuf { directory.join(format!("counts.{number}")) };
    (1..).map_while(move |number| {
        let text = fs::read_to_string(file(number)).ok()?;
        let totals = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
        totals.trim().parse::<u64>().ok()
    })
}

#[test]
#[ignore = "it takes a minute and an optimized build, and needs valgrind"]
fn no_unit_costs_more_than_twenty_times_the_cheapest() {
    let directory = Scratch::new("units");
    let function = "it::units::counted_units";
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", directory.join("counts").display()))
        .args([format!("--dump-after={function}"), format!("--zero-before={function}")])
        .arg(env::current_exe().expect("it runs"))
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", "units::measured_goals"])
        .output()
        .expect("valgrind is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let units = text.lines().filter_map(|line| line.rsplit_once("units ")?.1.parse::<u64>().ok());
    let counts: Vec<u64> = instructions(&directory).collect();
    let mut costs: Vec<(f64, u64, String)> = measured()
        .into_iter()
        .zip(units)
        .zip(counts.chunks_exact(2))
        .map(|(((setup, call), units), counts)| {
            let per_unit = counts[1].saturating_sub(counts[0]) as f64 / units.max(1) as f64;
            (per_unit, units, format!("{call}  with  {setup}"))
        })
        .collect();
    assert_eq!(costs.len(), measured().len(), "{text}");
    costs.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (per_unit, units, goal) in &costs {
        println!("{per_unit:8.1} instructions a unit, {units:6} units: {goal}");
    }
    // The goal `loop`, a bare call, is the reference. Some goals take fewer instructions per unit, because they are
    // charged more than their work, or charged and then refused.
    let (call, _, _) = costs.iter().find(|(_, _, goal)| goal.starts_with("loop ")).expect("it is there");
    let (dearest, _, goal) = &costs[0];
    assert!(*dearest <= RATIO_MAX * call, "{:.1} times a call: {goal}", dearest / call);
}
