//! Optional measures at the end of a trace.

use mario_audit::{Finding, FindingKind, Options, audit};

const TRACE: &str = include_str!("../traces/small.jsonl");

/// The response times of 30 requests to an application that tolerates 5 ms: ten take no time, twenty from 3.5 to
/// 3.53125 ms, and the longest 3.52 ms.
const LATENCY: &str = r#"["latency",1000,0,0,3.52,[[null,10],[112,20]]]"#;
const TRAFFIC: &str = r#"["traffic",1000,60]"#;

/// The findings in the small trace with measures and models in its header, and with these records before its end.
fn found(records: &[&str]) -> Vec<Finding> {
    let models = r#""measures":true,"models":{"idle_watts":[9],"unit_watts":[],"joules_per_bit":0,"message_bits":8,
        "unit_hour_price":[],"gigabyte_price":0,"carbon":[]},"nodes":"#;
    let models = models.replace(['\n', ' '], "");
    let text = TRACE.replacen("\"mario_trace\":1", "\"mario_trace\":3", 1).replacen("\"nodes\":", &models, 1);
    let records = records.join("\n") + "\n";
    let text = text.replacen("[\"end\"", &format!("{records}[\"end\""), 1);
    audit(text.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
}

#[test]
fn correct_measures_have_no_findings() {
    assert_eq!(found(&[LATENCY, TRAFFIC]), []);
    // The number of late requests must match the bins: bin 143 ends at the tolerated 5 ms, and bin 145 is above it.
    let late = LATENCY.replace("[112,20]", "[142,12],[145,8]").replace("0,0,3.52", "0,8,5.1");
    assert_eq!(found(&[&late.replace("142", "143"), TRAFFIC]), []);
}

#[test]
fn lies_about_measures_are_detected() {
    for (from, to, expected) in [
        ("[112,20]", "[112,19]", "a histogram of the 30 response times"),
        ("[112,20]", "[112,20],[111,0]", "bins in order"),
        ("3.52", "3.54", "a longest response time from 3.5 to 3.53125"),
        ("3.52", "3.4", "a longest response time from 3.5 to 3.53125"),
        ("1000,0,0", "1000,0,1", "from 0 to 0 requests that took longer than 5"),
        ("[112,20]", "[160,20]", "from 20 to 20 requests that took longer than 5"),
        ("1000,0", "999,0", "totals of the whole run, at 1000"),
    ] {
        let lie = LATENCY.replacen(from, to, 1);
        let found = found(&[&lie, TRAFFIC]);
        assert!(
            found.iter().all(|finding| finding.kind == FindingKind::Totals || finding.kind == FindingKind::Time),
            "{lie}"
        );
        assert!(found.iter().any(|finding| finding.expected.contains(expected)), "{lie}: {found:?}");
    }
}

#[test]
fn missing_or_repeated_measures_are_found() {
    for (records, expected) in [
        (&[TRAFFIC][..], "1 records `latency`, as the header says"),
        (&[LATENCY], "1 records `traffic`, as the header says"),
        (&[LATENCY, LATENCY, TRAFFIC], "the record `latency` of index 1: one for each application, in order"),
    ] {
        let found = found(records);
        assert!(found.iter().any(|finding| finding.expected == expected), "{records:?}: {found:?}");
    }
}
