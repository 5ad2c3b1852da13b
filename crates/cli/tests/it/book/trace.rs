//! The page about traces documents all keys of headers, and exactly the kinds of records, that runs write.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{place, read, shell};

const PAGE: &str = "docs/trace.md";

/// The part of the page below a heading, up to the next heading of level 2.
fn below<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(heading).unwrap_or_else(|| panic!("{PAGE} has no {heading}"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// The names in backquotes in the first column of tables.
fn first_column(text: &str) -> BTreeSet<String> {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", `")).map(|name| name.trim_end_matches('`').to_owned()).collect()
}

#[test]
fn the_trace_page_documents_exactly_the_records_and_keys_of_real_traces() {
    let page = read(PAGE);
    let keys = first_column(below(&page, "## The header"));
    let kinds: BTreeSet<String> = first_column(below(&page, "## The records"))
        .iter()
        .filter_map(|row| Some(row.strip_prefix("[\"")?.split_once('"')?.0.to_owned()))
        .collect();
    let directory = place("trace");
    let disturbed = "--set 'churn=[\
        {kind=\"leave\", time=3000, node=\"n1lt0ln0\", notice=500}, {kind=\"join\", time=5000, node=\"n1lt0ln0\"}, \
        {kind=\"link-down\", time=3000, link=[\"n0lt0ln0\", \"n1lt1ln1\"], repair=500}]'";
    let runs = [
        format!("paper --policy workload-and-latency-aware --set duration=8000 {disturbed}"),
        "prototype --policy workload-and-latency-aware-with-memory --set duration=4000 --regret".to_owned(),
        "paper --policy latency-aware --set duration=4000 \
         --set 'update=[{time=2000, application=\"app1\", policy=\"workload-aware\"}]'"
            .to_owned(),
        "paper --policy cells --set managers.acceptance=accept-what-fits --set duration=4000".to_owned(),
        format!("paper --policy workload-and-latency-aware --trace summary --set duration=8000 {disturbed}"),
    ];
    let mut seen_keys = BTreeSet::new();
    let mut seen_kinds = BTreeSet::new();
    for (number, arguments) in runs.iter().enumerate() {
        let script = format!("mario -q run {arguments} --out {number}");
        let output = shell(&script, &directory).output().expect("there is a shell");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        let trace = fs::read_to_string(directory.join(number.to_string()).join("trace.jsonl")).expect("a trace");
        for (line, value) in trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).enumerate() {
            match value {
                Value::Object(header) if line == 0 => seen_keys.extend(header.into_iter().map(|(key, _)| key)),
                Value::Array(record) => {
                    seen_kinds.insert(record[0].as_str().expect("a kind").to_owned());
                }
                other => panic!("line {}: {other}", line + 1),
            }
        }
    }
    let missing: Vec<&String> = seen_keys.difference(&keys).collect();
    assert!(missing.is_empty(), "{PAGE} does not describe the keys {missing:?} of the header; it has {keys:?}");
    assert_eq!(seen_kinds, kinds, "the records of traces, and those on {PAGE}");
}
