//! What the seed of a scenario draws, and so what the spread between seeds is about.

use serde_json::Value;

use crate::study::Identity;

/// The settings that draw random numbers from the seed, each with a description of what is drawn.
pub const DRAWN_FROM_THE_SEED: [(&str, &str); 7] = [
    ("workload.kind=poisson", "when users send client requests"),
    ("workload.kind=on-off", "when users send client requests, and when they pause"),
    ("workload.assignment=random", "who uses which application, where a record of users does not say so"),
    ("mobility.kind=generated", "users, instead of recorded ones"),
    ("mobility.kind=city", "users who commute, instead of recorded ones"),
    ("topology.kind=random-geometric", "nodes and links, with users who are not recorded for others"),
    ("[[failures]]", "which nodes crash, and when: a table in a scenario file"),
];

/// The kinds of mobility whose users are the same with every seed because they were recorded.
const RECORDED: [&str; 3] = ["file", "attachments", "recorded"];

/// Returns the list of settings that draw from the seed, for users.
pub(super) fn drawn_from_the_seed() -> String {
    let row = |(key, what): (&str, &str)| format!("  {key:<32}{what}\n");
    DRAWN_FROM_THE_SEED.map(row).concat()
}

/// Returns what to know about the percentiles among these figures if traffic is simulated as rates.
pub(crate) fn note_on_rates<'a>(identity: &Identity, mut figures: impl Iterator<Item = &'a str>) -> Option<String> {
    const KEY: &str = "network.fidelity=flow";
    let is_flow = identity.scenario.pointer("/network/fidelity").and_then(Value::as_str) == Some("flow")
        || identity.variants.iter().flatten().any(|set| set == KEY)
        || identity.policies.iter().any(|policy| policy.contains(KEY));
    let is_of_requests = |name: &str| name.contains(".response_p") || name.ends_with(".late_share");
    (is_flow && figures.any(is_of_requests)).then(|| {
        "where traffic is simulated as rates, percentiles and late shares are those of the mean response times of users in each step, \
         not of single requests"
            .to_owned()
    })
}

/// Returns what intervals and tests say nothing about. `is_seedless` says whether all seeds have the same result; then
/// there is no interval that could be misread.
pub(super) fn notes(identity: &Identity, is_seedless: bool) -> Vec<String> {
    let kind = identity.scenario.pointer("/mobility/kind").and_then(Value::as_str).unwrap_or_default();
    // A policy with its own mobility may have users who are drawn from the seed.
    let is_overridden = identity.policies.iter().any(|policy| policy.contains("mobility."));
    if is_seedless || is_overridden || identity.seeds < 2 || !RECORDED.contains(&kind) {
        return Vec::new();
    }
    let drawn: Vec<&str> =
        DRAWN_FROM_THE_SEED.into_iter().filter(|(key, _)| has(&identity.scenario, key)).map(|(_, what)| what).collect();
    let varies = match drawn.as_slice() {
        [] => String::new(),
        drawn => format!(": seeds vary only {}", drawn.join("; ")),
    };
    vec![format!("the users are recorded{varies}. Intervals and tests say nothing about other users")]
}

/// Whether a scenario has a setting of [`DRAWN_FROM_THE_SEED`].
fn has(scenario: &Value, setting: &str) -> bool {
    let table = setting.trim_start_matches("[[").trim_end_matches("]]");
    match setting.split_once('=') {
        None => scenario.get(table).and_then(Value::as_array).is_some_and(|rows| !rows.is_empty()),
        Some((key, value)) => {
            let found = scenario.pointer(&format!("/{}", key.replace('.', "/")));
            found.and_then(Value::as_str) == Some(value)
        }
    }
}
