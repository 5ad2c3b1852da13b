//! Unusual traces: without events, truncated, of a newer format, with one user, with many instances or applications,
//! or with hostile names.

use std::fmt::Write;

use mario_report::Run;
use mario_trace::reader::ReadError;

use super::browser::Browser;
use super::data::{PageFile, paper_trace, report};

/// The header of a small trace. `users` are the users as JSON objects, separated by commas.
pub(super) fn small_header(users: &str) -> String {
    let policy = r#"{"name":"p","files":[["p.pl","operation(migrate, i, edge)."]]}"#;
    format!(
        r#"{{"mario_trace":1,"program":"by hand","scenario":"small","seed":1,"duration":300,"step":100,"evaluation_period":10,"detail":"full","observation":"arrivals","routing":"nearest","arbitration":"managers","memory":"sliding","applications":[{{"id":"quick","hardware":1,"max_rate":4,"max_latency":1,"kind":"LS","policy":0}}],"nodes":[{{"id":"cloud","capacity":"unbounded","tier":0,"neighbours":[1]}},{{"id":"edge","capacity":2,"tier":1,"neighbours":[0]}}],"policies":[{policy}],"users":[{users}]}}"#
    ) + "\n"
}

/// Opens the page of a trace, and returns the browser and the text of the page; `None` if there is no browser.
fn shown(name: &str, trace: &str) -> Option<(Browser, String)> {
    let browser = Browser::start(1280, 900)?;
    let page = PageFile::new(name, &report(&[trace]));
    browser.open(page.path());
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let text = browser.text("main");
    Some((browser, text))
}

#[test]
fn a_run_without_events_is_shown_as_such() {
    let trace = small_header("");
    assert!(!Run::read(trace.as_bytes()).expect("a trace").is_complete());
    let Some((_, text)) = shown("empty", &trace) else { return };
    assert!(text.contains("Nothing has happened in this run."), "{text}");
    assert!(text.contains("is not complete: what is shown ends at time 0 of 300"), "{text}");
}

#[test]
fn a_truncated_trace_is_shown_up_to_its_end() {
    let whole = paper_trace("latency-aware", &[]);
    let cut = &whole[..whole.len() / 2];
    assert!(!cut.ends_with('\n'), "the cut is inside a line");
    assert!(!Run::read(cut.as_bytes()).expect("a trace").is_complete());
    let Some((browser, text)) = shown("cut", cut) else { return };
    assert!(text.contains("latency-aware is not complete"), "{text}");
    assert_eq!(
        browser.text("[data-figure=response-and-usage] td"),
        "n/a",
        "there are no clients' means before the end"
    );
    assert!(browser.number("document.querySelectorAll('.chip, .users circle').length") > 0);
}

#[test]
fn a_trace_of_a_newer_format_is_refused() {
    let trace = small_header("").replace("\"mario_trace\":1", "\"mario_trace\":99");
    assert!(matches!(Run::read(trace.as_bytes()), Err(ReadError::Format(99))));
}

#[test]
fn one_user_who_never_moves_has_no_correlation() {
    let trace = small_header(r#"{"id":"ann","application":0}"#)
        + r#"["deployed",0,1,0,0,0]
["handover",0,0,null,1]
["evaluation",10,1,0,"unbounded",[[1,2,3]],[],[["migrate",1,0]]]
["cycle",10,[[1,"migrate",1,"accepted"]]]
["cycle",20,[[1,"nop"]]]
["responses",300,0,6,0,18,[[6,6]]]
["usage",300,0,2,1]
["client",300,0,6,0,18]
["end",300,{"evaluations":2,"operations":1,"inhibited":0,"handovers":1,"served":6,"lost":0,"instances":1}]
"#;
    let Some((browser, text)) = shown("one-user", &trace) else { return };
    assert_eq!(browser.text("#movements .statistic"), "r n/a");
    assert!(text.contains("Nothing was inhibited."), "{text}");
    // No user moved, so operations per movement are undefined.
    assert_eq!(browser.text("[data-figure=operations-per-movement] td"), "n/a");
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let hostile = "</script><script>window.broken = true</script>";
    let trace = small_header(&format!(r#"{{"id":"{hostile}","application":0}}"#))
        .replace("\"small\"", &format!("\"{hostile}\""))
        + "[\"deployed\",0,1,0,0,0]\n[\"handover\",0,0,null,1]\n";
    let Some((browser, text)) = shown("hostile", &trace) else { return };
    assert_eq!(browser.evaluate("window.broken ?? false"), false);
    assert!(text.contains(hostile), "it is shown as what it is");
}

/// The trace of 100,000 instances on 4,096 nodes. Each of 20 cycles undeploys 50 instances.
fn large_trace() -> String {
    let (side, instances) = (64, 100_000);
    let mut nodes = String::new();
    for node in 0..side * side {
        let (row, column) = (node / side, node % side);
        let neighbour = if node == 0 { 1 } else { node - 1 };
        let _ = write!(
            nodes,
            r#"{}{{"id":"n{node}","capacity":40,"tier":{},"neighbours":[{neighbour}],"position":[{},{}],"access_point":true}}"#,
            if node == 0 { "" } else { "," },
            node % 3,
            41.0 + f64::from(row) / 100.0,
            12.0 + f64::from(column) / 100.0
        );
    }
    let header = small_header("");
    let start = header.find("\"nodes\":[").expect("nodes") + "\"nodes\":[".len();
    let end = header.find("],\"policies\"").expect("policies");
    let mut trace = format!("{}{nodes}{}", &header[..start], &header[end..]);
    for instance in 0..instances {
        let _ = writeln!(trace, r#"["deployed",0,{instance},0,{},0]"#, instance % (side * side));
    }
    for cycle in 0..20 {
        let gone: Vec<String> =
            (cycle * 50..(cycle + 1) * 50).map(|instance| format!(r#"[{instance},"undeploy","accepted"]"#)).collect();
        let _ = writeln!(trace, r#"["cycle",{},[{}]]"#, 10 * (cycle + 1), gone.join(","));
    }
    trace
}

#[test]
fn a_hundred_thousand_instances_are_shown_by_area() {
    let trace = large_trace();
    let page = report(&[&trace]).html();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let Some((browser, text)) = shown("large", &trace) else { return };
    assert!(text.contains("too large to show instance by instance"), "{text}");
    browser.evaluate("document.getElementById('replay').scrollIntoView(); 1");
    browser.press("End", false);
    // Each of the twenty cycles removed fifty instances.
    assert_eq!(browser.text(".details h3"), "99\u{202f}000 instances");
    assert!(browser.number("document.querySelectorAll('*').length") < 5_000, "the page stays light");
    let steps = "(() => { const began = performance.now(); const slider = document.querySelector('.timeline input'); \
                 for (let moment = 0; moment <= Number(slider.max); moment += 1) { slider.value = moment; slider.dispatchEvent(new Event('input')); } \
                 return Math.round((performance.now() - began) / (Number(slider.max) + 1)); })()";
    let milliseconds = browser.number(steps);
    assert!(milliseconds < 100, "a step takes {milliseconds} ms: it is to be played at 10 a second");
    browser.resize(390, 844);
    assert_eq!(browser.number("document.documentElement.scrollWidth"), 390);
}

#[test]
fn labels_of_many_applications_are_dropped_but_kept_in_the_data() {
    let quick = r#"{"id":"quick","hardware":1,"max_rate":4,"max_latency":1,"kind":"LS","policy":0}"#;
    let applications: Vec<String> = (0..20).map(|place| quick.replace("quick", &format!("a{place}"))).collect();
    let header = small_header("");
    assert!(header.contains(quick));
    let mut trace = header.replace(quick, &applications.join(","));
    for place in 0..20 {
        let _ = writeln!(trace, r#"["deployed",0,{place},{place},0,0]"#);
    }
    trace += "[\"cycle\",10,[[0,\"nop\"]]]\n[\"cycle\",20,[[0,\"nop\"]]]\n";
    let drawings = report(&[&trace]).drawings();
    let drawing = drawings.iter().find(|drawing| drawing.file_name.ends_with("-instances.svg")).expect("it is drawn");
    assert!(drawing.svg.contains(">9 others<") && drawing.svg.contains(">a10<") && !drawing.svg.contains(">a11<"));
    let Some((browser, _)) = shown("many-applications", &trace) else { return };
    let labels = browser.text("#instances .plot");
    assert!(labels.contains("9 others") && labels.contains("a10") && !labels.contains("a11"), "{labels}");
    let places = "[...document.querySelectorAll('#instances .plot text.direct')].map(text => text.getBoundingClientRect()) \
                  .sort((one, other) => one.top - other.top)";
    let overlap = format!("{places}.some((one, nth, all) => nth && all[nth - 1].top + 12 > one.top)");
    assert_eq!(browser.evaluate(&overlap), false, "no label lies on another");
    browser.evaluate("URL.createObjectURL = (blob) => { window.taken = blob; return 'data:,'; }; 1");
    browser.click("#instances figure .save:nth-of-type(2)");
    let table = browser.evaluate("window.taken.text()");
    let first = table.as_str().expect("text").lines().next().map(|line| line.split(',').count());
    assert_eq!(first, Some(21), "the data has all of them");
}

#[test]
fn drawings_of_runs_without_events_are_complete_files() {
    for trace in [small_header(""), paper_trace("workload-aware", &[])] {
        let drawings = report(&[&trace]).drawings();
        assert!(drawings.len() >= 9, "{}", drawings.len());
        for drawing in drawings {
            let (name, svg) = (&drawing.file_name, &drawing.svg);
            assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"), "{name}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
        }
    }
}

/// A trace of live nodes that an update of an application has given two descriptions.
#[test]
fn a_live_colony_has_one_application_for_all_its_descriptions_and_neither_seed_nor_users() {
    let header = small_header("");
    let (before, rest) = header.split_once("\"applications\":[").expect("applications");
    let (application, after) = rest.split_once("],\"nodes\"").expect("nodes");
    let live = format!(
        "{before}\"applications\":[{application},{application}],\"live\":{{\"began_ms\":0,\"application_facts\":[0,0]}},\"nodes\"{after}"
    );
    let live = live.replace("\"mario_trace\":1", "\"mario_trace\":8");
    let Some((browser, text)) = shown("live-colony", &live) else { return };
    assert!(text.contains("Live colony small") && text.contains("1 application "), "{text}");
    assert!(!text.contains("seed 1") && !text.contains("0 users"), "{text}");
    let about = browser.text("#about");
    assert_eq!(about.matches("not recorded").count(), 2, "{about}");
}
