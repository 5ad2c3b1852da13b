//! Traces of counts, and the tables of measures.

use mario_report::{Report, Run};
use mario_simulator::{Detail, RunOptions, Simulation, TraceRecorder};
use serde_json::Value;

use crate::data::paper_scenario;
use crate::input::small_header;

#[test]
fn the_page_of_a_trace_of_counts_shows_the_figures_that_need_only_counts() {
    let scenario = paper_scenario("workload-and-latency-aware");
    let data = |detail| {
        let mut trace = TraceRecorder::new(Vec::new(), &scenario, detail);
        Simulation::new(&scenario, RunOptions::default()).expect("a scenario that can be run").run(&mut trace);
        let run = Run::read(trace.finish(scenario.end()).expect("memory").as_slice()).expect("a trace");
        let report = Report { title: "counts".to_owned(), runs: vec![run], ..Report::default() };
        assert!(report.html().contains("</html>"));
        serde_json::from_str::<Value>(&report.json()).expect("JSON")
    };
    let (full, summary) = (data(Detail::Full), data(Detail::Summary));
    for part in ["figures", "groups", "applications"] {
        assert_eq!(full["runs"][0][part], summary["runs"][0][part], "{part}");
    }
    let figures = |data: &Value, id: &str| {
        let sections = data["sections"].as_array().expect("a list");
        sections.iter().find(|section| section["id"] == id).expect("it is drawn")["figures"].clone()
    };
    for id in ["operations", "movements", "instances", "tiers", "responses", "steady"] {
        assert_eq!(figures(&full, id), figures(&summary, id), "{id}");
    }
    let inhibited = figures(&summary, "inhibited")[0]["data"][0]["csv"].as_str().expect("a text").to_owned();
    assert!(inhibited.contains("\nall nodes,"), "{inhibited}");
    let summary = &summary["runs"][0];
    assert_eq!(summary["about"]["detail"], "summary");
    assert!(summary["replay"].is_null());
    assert_eq!(summary["areas"]["by"], "tiers");
    assert!(!summary["areas"]["frames"]["values"].as_array().expect("frames").is_empty());
}

#[test]
fn reasons_of_owners_are_a_table_of_the_report() {
    let header = small_header("").replace("\"detail\":\"full\"", "\"detail\":\"operations\"");
    let rejected =
        "[1,\"migrate\",1,\"inhibited\",{\"node\":\"edge\",\"rule\":\"acceptance\",\"reason\":\"untrusted\"}]";
    let text = format!("{header}[\"deployed\",0,1,0,0,0]\n[\"cycle\",10,[{rejected}]]\n[\"cycle\",20,[{rejected}]]\n");
    let run = Run::read(text.as_bytes()).expect("a trace");
    let report = Report { runs: vec![run], ..Report::default() };
    let tables = report.measured_tables();
    assert_eq!(tables.len(), 1, "the trace has no measures");
    assert_eq!(tables[0].rows, [["untrusted", "edge", "2"].map(str::to_owned).to_vec()]);
}
