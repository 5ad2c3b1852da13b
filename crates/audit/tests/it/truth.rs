//! Correct traces have no findings.

use mario_audit::TraceEnding;

use crate::trace::audit_text;
use crate::world::{Rules, generate};

#[test]
fn finds_nothing_in_correct_traces() {
    let mut seen = mario_audit::Counts::default();
    for rules in [Rules::Default, Rules::Prototype] {
        for seed in 0..60 {
            let trace = generate(seed, rules);
            let report = trace.audit();
            assert!(report.is_clean(), "seed {seed}\n{report}");
            assert_eq!(report.ending, TraceEnding::Complete);
            assert_eq!(report.counts.decisions, report.counts.evaluations);
            for (rule, count) in &report.counts.inhibited {
                *seen.inhibited.entry(rule).or_default() += count;
            }
            for (operation, count) in &report.counts.operations {
                *seen.operations.entry(operation).or_default() += count;
            }
            seen.outside_neighbourhood += report.counts.outside_neighbourhood;
            seen.acceptances += report.counts.acceptances;
            if rules == Rules::Default {
                assert_eq!(report.counts.outside_neighbourhood, 0);
            }
        }
    }
    // The worlds are varied: each of these rules and operations occurs in them.
    for rule in ["capacity", "neighbourhood", "leaving", "acceptance"] {
        assert!(seen.inhibited.get(rule).is_some_and(|count| *count > 8), "{rule}: {:?}", seen.inhibited);
    }
    for operation in ["deploy", "undeploy", "migrate", "replicate"] {
        assert!(seen.operations.get(operation).is_some_and(|count| *count > 40), "{:?}", seen.operations);
    }
    assert!(seen.outside_neighbourhood > 40 && seen.acceptances > 40);
}

#[test]
fn checks_a_truncated_trace_up_to_its_end() {
    let text = generate(7, Rules::Default).to_string();
    let header = text.find('\n').expect("a header") + 1;
    for cut in [header, header + 1, header + 500, text.len() - 1] {
        let report = audit_text(&text[..cut]);
        assert_eq!(report.ending, TraceEnding::Interrupted, "{cut}");
        assert!(report.is_clean(), "{report}");
    }
    // A line without a line break is ignored, even if it looks complete.
    let lines = text.lines().count() as u64;
    assert_eq!(audit_text(&text[..text.len() - 1]).counts.records, lines - 2);
}

#[test]
fn reports_what_cannot_be_checked_without_evaluations() {
    let mut trace = generate(3, Rules::Default);
    trace.header["detail"] = "operations".into();
    trace.records.retain(|record| record[0] != "evaluation");
    let report = trace.audit();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.counts.decisions, 0);
    assert!(report.unchecked.iter().any(|words| words.contains("no evaluations")), "{report}");
}
