//! A module is named after what is in it, and a type does not have a retired name.
//!
//! Modules with meaningless names accumulate unrelated code. A module `foo` is in `foo.rs` beside `foo/`, not in
//! `foo/mod.rs`, so that the tabs of an editor have different names.

use crate::{Finding, Workspace};

const SAY_NOTHING: [&str; 9] = ["util", "utils", "utilities", "helper", "helpers", "common", "misc", "stuff", "mod"];

/// Names that types once had, each with its replacement, or with a hint if the replacement depends on the type.
const RETIRED: [(&str, &str); 41] = [
    ("Beside", "ReferenceValues"),
    ("Blindness", "NameInvariance"),
    ("Compared", "RegretSample"),
    ("Crowd", "Cohort"),
    ("Decide", "DecisionCheck"),
    ("Effort", "RunStatistics"),
    ("Equipment", "DaemonDependencies"),
    ("Founding", "ColonyConfig"),
    ("Gathering", "TrajectoriesBuilder"),
    ("Happened", "LiveEvent"),
    ("Intent", "Proposal"),
    ("Keep", "OutputOptions"),
    ("KeepError", "OutputError"),
    ("KeptLedger", "StoredLedger"),
    ("Listens", "ListenAddresses"),
    ("Look", "LineRole"),
    ("Luggage", "AgentSnapshot"),
    ("Mind", "Agent"),
    ("Miscount", "AccountingError"),
    ("Moment", "the snapshot or the time that it is"),
    ("Nobody", "NullRecorder"),
    ("Onward", "NextHop"),
    ("Passage", "PathDelay"),
    ("Pasts", "Histories"),
    ("Promise", "AcceptedOperation"),
    ("Recalled", "VisibleHistory"),
    ("Remembers", "MemoryDeclaration"),
    ("Resting", "Parked"),
    ("Rooms", "FullNodes"),
    ("Ruling", "Verdict"),
    ("Sight", "RequestSnapshot"),
    ("Spot", "FieldEntry"),
    ("Stepping", "Resampling"),
    ("Told", "the event or the message that it is"),
    ("Turns", "RoundRobin"),
    ("Versus", "ValueComparison"),
    ("Wandering", "RandomWaypoint"),
    ("Way", "ArrivalPath"),
    ("Whereabouts", "the position or the state that it is"),
    ("Wish", "Proposal"),
    ("Worth", "PlacementValue"),
];

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.rust_files() {
        for part in file.path.split('/') {
            let name = part.strip_suffix(".rs").unwrap_or(part);
            if SAY_NOTHING.contains(&name) {
                findings.push(Finding::new(&file.path, format!("`{part}` does not say what is in it")));
            }
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(name) = inline_module(line).filter(|name| SAY_NOTHING.contains(name)) {
                let place = format!("{}:{}", file.path, index + 1);
                findings.push(Finding::new(place, format!("`mod {name}` does not say what is in it")));
            }
            let retired = defined_type(line).and_then(|name| RETIRED.iter().find(|(retired, _)| *retired == name));
            if let Some((name, instead)) = retired {
                let place = format!("{}:{}", file.path, index + 1);
                findings.push(Finding::new(place, format!("`{name}` is a retired name of a type: write `{instead}`")));
            }
        }
    }
    findings
}

/// The name in `mod name {`. A module in a separate file is found by its path.
fn inline_module(line: &str) -> Option<&str> {
    let (declaration, _) = line.split_once(" {")?;
    let (visibility, name) = declaration.split_once("mod ")?;
    let visibility = visibility.trim();
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// The name of the type that a line defines; `None` if it defines none.
fn defined_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    words.next().filter(|word| matches!(*word, "struct" | "enum" | "trait" | "type"))?;
    words.next()?.split(|character: char| !character.is_alphanumeric()).next()
}
