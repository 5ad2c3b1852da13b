//! The policies of a trace are untrusted: recomputing all decisions stays within one budget of inferences.

use mario_audit::{AuditReport, Options, TraceEnding, audit};

use crate::golden::SMALL;

/// A policy that does not terminate.
const ENDLESS: &str = "operation(undeploy, I, self) :- repeat, atom(I), fail.";

fn report(text: &str, inferences: u64) -> AuditReport {
    audit(text.as_bytes(), Options { inferences, ..Options::default() }, &mut |_| ()).expect("a trace")
}

/// The small trace with another policy text: of its agents (`policies`) or of its manager (`acceptances`).
fn with_text(place: &str, text: &str) -> String {
    let (header, records) = SMALL.split_once('\n').expect("a header");
    let mut header: serde_json::Value = serde_json::from_str(header).expect("JSON");
    header[place][0]["files"][0][1] = text.into();
    format!("{header}\n{records}")
}

#[test]
fn decisions_are_not_recomputed_once_the_budget_is_exhausted() {
    for (what, text) in [
        ("agents", with_text("policies", ENDLESS)),
        ("managers", with_text("acceptances", "reject(_, late) :- repeat, fail.")),
        ("a directive", with_text("policies", ":- repeat, fail.\noperation(undeploy, I, self) :- atom(I).")),
        ("a directive of managers", with_text("acceptances", ":- repeat, fail.\nreject(_, late) :- fail.")),
    ] {
        let report = report(&text, 100_000);
        assert!(report.spent_at.is_some(), "{what}\n{report}");
        assert!(report.is_clean(), "an interrupted decision is not a finding: {what}\n{report}");
        let words = report.to_string();
        assert!(words.contains("not checked: decisions from line "), "{what}\n{words}");
        assert!(words.contains("the policies of the trace used up the budget of 100000 inferences"), "{what}\n{words}");
        assert_eq!(report.ending, TraceEnding::Complete, "the rest is checked nevertheless");
    }
}

#[test]
fn other_checks_need_no_budget() {
    let lie = with_text("policies", ENDLESS).replace("\"lost\":1", "\"lost\":2");
    let report = report(&lie, 100_000);
    assert_eq!(report.found.get("totals"), Some(&1), "{report}");
}

#[test]
fn a_correct_trace_needs_a_small_part_of_the_budget() {
    assert_eq!(report(SMALL, 20_000).spent_at, None);
    assert_eq!(report(SMALL, Options::default().inferences).to_string(), report(SMALL, 20_000).to_string());
}

#[test]
fn many_facts_of_one_neighbour_do_not_take_quadratic_time() {
    // Comparing each of the 100,000 facts with every other would take ten billion steps.
    let facts: Vec<String> = (0..100_000).map(|latency| format!("[2,1,{latency}]")).collect();
    let record = format!("[\"evaluation\",200,1,0,\"unbounded\",[{}],[],[]]\n", facts.join(","));
    let header = SMALL.lines().next().expect("a header");
    let text = format!("{header}\n[\"deployed\",0,1,0,0,0]\n{record}");
    let options = Options { decisions: mario_audit::DecisionCheck::AsRecorded, ..Options::default() };
    let report = audit(text.as_bytes(), options, &mut |_| ()).expect("a trace");
    assert!(report.is_clean(), "{report}");
}
