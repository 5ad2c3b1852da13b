//! The page in a browser: its sections, choices and downloads, on screens and on paper.

use std::collections::BTreeSet;

use mario_experiments::reproduce::Claim;
use mario_report::Report;
use serde_json::Value;

use super::browser::Browser;
use super::data::{PageFile, of_kind, paper_trace, paper_trace_with_regret, records, report, scale};

#[test]
fn opens_from_disk_without_errors_or_network_requests() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let traces = [paper_trace("workload-aware", &[]), paper_trace("latency-aware", &[])];
    let page = PageFile::new("opens", &report(&[&traces[0], &traces[1]]));
    browser.open(page.path());
    // Two tables; for each run operations, movements, instances, tiers, responses, inhibited and steady; one map.
    assert_eq!(browser.number("document.querySelectorAll('figure').length"), 2 + 2 * 7 + 1);
    assert_eq!(browser.number("document.querySelectorAll('.plot svg').length"), 2 * 7 + 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_cycle_has_a_bar_with_a_part_for_every_outcome() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let traces = [paper_trace("workload-aware", &[]), paper_trace("workload-and-latency-aware", &[])];
    let page = PageFile::new("bars", &report(&[&traces[0], &traces[1]]));
    browser.open(page.path());
    for (place, trace) in traces.iter().enumerate() {
        let records = records(trace);
        let cycles = of_kind(&records, "cycle");
        let chart = format!("document.querySelectorAll('#operations figure')[{place}]");
        assert_eq!(browser.number(&format!("{chart}.querySelectorAll('.bar').length")), cycles.len() as i64);
        // Evaluations that propose nothing are hidden at first.
        let parts: usize =
            cycles.iter().map(|cycle| outcomes(cycle).iter().filter(|name| **name != "nop").count()).sum();
        assert_eq!(
            browser.number(&format!("{chart}.querySelectorAll('.bar rect:not([display])').length")),
            parts as i64
        );
    }
    browser.click("#operations input[value=nop]");
    let with_nop: usize = of_kind(&records(&traces[0]), "cycle").iter().map(|cycle| outcomes(cycle).len()).sum();
    assert_eq!(
        browser
            .number("document.querySelector('#operations figure').querySelectorAll('.bar rect:not([display])').length"),
        with_nop as i64
    );
    browser.click("#operations input[value=step]");
    assert_eq!(browser.number("document.querySelector('#operations figure').querySelectorAll('.bar').length"), 26);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The kinds of outcomes in a cycle.
fn outcomes(cycle: &Value) -> BTreeSet<&'static str> {
    let name = |outcome: &Value| {
        if outcome.as_array().expect("an outcome").iter().any(|part| part == "inhibited") {
            return "inhibited";
        }
        ["nop", "undeploy", "migrate", "replicate"].into_iter().find(|name| outcome[1] == *name).expect("it is known")
    };
    cycle[2].as_array().expect("outcomes").iter().map(name).collect()
}

#[test]
fn choosing_applications_affects_the_whole_page() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let trace = paper_trace("workload-aware", &[]);
    let page = PageFile::new("groups", &report(&[&trace]));
    browser.open(page.path());
    let r = || browser.text("#movements .statistic");
    let of_all = r();
    assert!(of_all.starts_with("r = "), "{of_all}");
    // Under this policy, latency-sensitive applications do not act after the first step, so r is undefined for them.
    browser.click("#operations input[name=operations-group][value='2']");
    assert_eq!(r(), "r n/a");
    assert_eq!(browser.evaluate("document.querySelector('input[name=steady-group][value=\"2\"]').checked"), true);
}

#[test]
fn figures_and_their_data_can_be_downloaded() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let trace = paper_trace("workload-aware", &[]);
    let page = PageFile::new("download", &report(&[&trace]));
    browser.open(page.path());
    browser.evaluate("URL.createObjectURL = (blob) => { window.taken = blob; return 'data:,'; }; 1");
    browser.click("#operations figure .save:nth-of-type(2)");
    let table = browser.evaluate("window.taken.text()");
    let lines: Vec<&str> = table.as_str().expect("text").lines().collect();
    assert_eq!(lines[0], "time,group,undeploy,nop,migrate,replicate,inhibited,handovers_in_step");
    let cycles = of_kind(&records(&trace), "cycle").len();
    assert_eq!(lines.len(), 1 + 3 * cycles, "a line for each group and cycle");
    browser.click("#operations figure .save:nth-of-type(1)");
    let drawing = browser.evaluate("window.taken.text()");
    let drawing = drawing.as_str().expect("text");
    assert!(drawing.starts_with("<?xml") && drawing.contains("xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(!drawing.contains("var(--"), "colours are written out");
    let parses = "window.taken.text().then(text => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null)";
    assert_eq!(browser.evaluate(parses), true);
}

#[test]
fn regret_is_drawn_only_for_runs_that_were_compared_with_the_best() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let traces = [paper_trace_with_regret("workload-aware"), paper_trace("latency-aware", &["duration=6000"])];
    let page = PageFile::new("regret", &report(&[&traces[0], &traces[1]]));
    browser.open(page.path());
    assert_eq!(browser.number("document.querySelectorAll('#regret figure').length"), 1);
    let records = records(&traces[0]);
    let moments = of_kind(&records, "regret");
    assert_eq!(moments.len(), 59, "the managers are active every 100 until 6000");
    let satisfied = |side: usize| moments.iter().map(|moment| moment[side][1].as_f64().expect("a number")).sum::<f64>();
    let mean = (satisfied(5) - satisfied(4)) / moments.len() as f64;
    assert!(browser.text("#regret .plot").contains(&format!("mean regret {mean:.2}")), "{mean}");
    assert!(browser.text("[data-figure=response-and-usage]").contains(&format!("{mean:.2}")));
    browser.evaluate("URL.createObjectURL = (blob) => { window.taken = blob; return 'data:,'; }; 1");
    browser.click("#regret figure .save:nth-of-type(2)");
    let table = browser.evaluate("window.taken.text()");
    let lines: Vec<&str> = table.as_str().expect("text").lines().collect();
    assert_eq!(lines[0], "time,users,satisfied,satisfied_best,latency,latency_best,instances,instances_best");
    assert_eq!(lines.len(), 1 + moments.len());
    browser.click("#regret input[value=instances]");
    assert!(browser.text("#regret .plot").contains("instances"), "drawn again");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert!(report(&[&traces[0]]).drawings().iter().any(|drawing| drawing.file_name.ends_with("-regret.svg")));
}

#[test]
fn claims_are_listed_with_their_results() {
    let Some(browser) = Browser::start(390, 900) else { return };
    let mut report = report(&[&paper_trace("latency-aware", &["duration=6000"])]);
    let page = PageFile::new("no-claims", &report);
    browser.open(page.path());
    assert_eq!(browser.number("document.querySelectorAll('#claims').length"), 0);
    for (claim, holds) in [("all is well", true), ("nothing moves", false), ("nobody waits", false)] {
        report.claims.push(Claim { claim: claim.to_owned(), holds, numbers: "7 of 9".to_owned() });
    }
    let page = PageFile::new("claims", &report);
    browser.open(page.path());
    assert!(browser.text("#claims").contains("1 of 3 claims"));
    assert!(browser.text("#claims li:nth-child(2)").starts_with("does not hold"), "{}", browser.text("#claims"));
    assert_eq!(browser.number("document.querySelectorAll('#claims li.fails').length"), 2);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn measurements_of_scale_are_drawn_with_runs_and_alone() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let alone = Report { title: "Scale".to_owned(), scale: vec![scale()], ..Report::default() };
    let mut with_run = report(&[&paper_trace("latency-aware", &["duration=6000"])]);
    with_run.scale = vec![scale(), scale()];
    for (name, report, points) in [("scale-alone", &alone, 5), ("scale-with-run", &with_run, 10)] {
        let page = PageFile::new(name, report);
        browser.open(page.path());
        assert_eq!(browser.number("document.querySelectorAll('#scale figure').length"), 3);
        let drawn = "document.querySelector('#scale figure').querySelectorAll('.scale-point').length";
        assert_eq!(browser.number(drawn), points);
        assert!(browser.text("#scale .plot").contains("21\u{202f}845"), "sizes are on the axis");
        assert_eq!(browser.complaints(), Vec::<String>::new());
        let names: Vec<String> = report.drawings().into_iter().map(|drawing| drawing.file_name).collect();
        assert!(names.contains(&"scale-cpu.svg".to_owned()) && names.contains(&"scale-memory.svg".to_owned()));
    }
}

#[test]
fn tiers_have_the_scenarios_names_or_default_names() {
    let trace = paper_trace("latency-aware", &["duration=6000"]);
    let names = |trace: &str| {
        let data: Value = serde_json::from_str(&report(&[trace]).json()).expect("JSON");
        data["runs"][0]["tier_names"].to_string()
    };
    assert_eq!(names(&trace), r#"["cloud","data centres","edge nodes","access points"]"#);
    // Names for a different number of tiers are not used.
    let larger = paper_trace("latency-aware", &["duration=2000", "topology.size=16"]);
    assert_eq!(names(&larger), r#"["cloud","tier 1","tier 2","tier 3","access points"]"#);
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("tiers", &report(&[&trace]));
    browser.open(page.path());
    for name in ["cloud", "data centres", "edge nodes", "access points"] {
        assert!(browser.text("#tiers .plot").contains(name), "{name}");
        assert!(browser.text(".details").contains(name), "{name}");
    }
}

#[test]
fn prints_every_section_without_controls() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("print", &report(&[&paper_trace_with_regret("workload-aware")]));
    browser.open(page.path());
    let pages = browser.printed_pages();
    assert!((5..=14).contains(&pages), "{pages} pages");
    browser.print_media();
    assert_eq!(
        browser.number("document.querySelectorAll('table.narrow').length"),
        0,
        "paper has room for whole tables"
    );
    for control in [".transport", ".saves", ".controls", ".masthead", ".pickers"] {
        let shown = format!("document.querySelector('{control}').getClientRects().length");
        assert_eq!(browser.number(&shown), 0, "{control} is of no use on paper");
    }
    let cut = browser.evaluate(
        "[...document.querySelectorAll('main, .table, figure')].filter(element => element.scrollWidth > element.clientWidth + 1).length",
    );
    assert_eq!(cut, 0, "nothing is cut off");
}

#[test]
fn the_colour_scheme_follows_the_system_unless_chosen() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("theme", &report(&[&paper_trace("latency-aware", &[])]));
    let brightness = "(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); return r + g + b; })()";
    browser.prefer("dark");
    browser.open(page.path());
    assert!(browser.number(brightness) < 150);
    browser.click("#theme");
    assert!(browser.number(brightness) > 600);
    browser.prefer("light");
    browser.open(page.path());
    assert!(browser.number(brightness) > 600);
    browser.click("#theme");
    assert!(browser.number(brightness) < 150);
}

#[test]
fn the_page_fits_a_phone() {
    let Some(browser) = Browser::start(390, 844) else { return };
    let traces = [
        paper_trace("workload-and-latency-aware-with-memory", &["memory.cycles=10"]),
        paper_trace("latency-aware", &[]),
    ];
    let page = PageFile::new("phone", &report(&[&traces[0], &traces[1]]));
    browser.open(page.path());
    assert_eq!(browser.number("document.documentElement.scrollWidth"), 390);
    assert_eq!(browser.number("window.innerWidth"), 390);
    // Bars of single cycles would be too thin, so the page starts with steps.
    assert_eq!(browser.evaluate("document.querySelector('input[name=operations-by][value=step]').checked"), true);
    let smallest =
        "Math.min(...[...document.querySelectorAll('.control')].map(button => button.getBoundingClientRect().height))";
    assert!(browser.number(smallest) >= 40, "fingers need room");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_data_of_all_five_experiments_take_less_than_five_megabytes() {
    let with_memory = "workload-and-latency-aware-with-memory";
    let traces = [
        paper_trace("workload-aware", &[]),
        paper_trace("latency-aware", &[]),
        paper_trace("workload-and-latency-aware", &[]),
        paper_trace(with_memory, &["memory.cycles=1"]),
        paper_trace(with_memory, &["memory.cycles=10"]),
    ];
    let report = report(&traces.iter().map(String::as_str).collect::<Vec<&str>>());
    let page = report.html();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let data: Value = serde_json::from_str(&report.json()).expect("JSON");
    for (run, trace) in data["runs"].as_array().expect("runs").iter().zip(&traces) {
        let records = records(trace);
        let kinds = run["replay"]["events"]["kinds"].as_array().expect("the kinds of events");
        let handovers = kinds.iter().find(|table| table["kind"] == "handover").expect("handovers");
        assert_eq!(handovers["events"]["length"], of_kind(&records, "handover").len());
        let counts = run["replay"]["decisions"]["columns"]["count"].as_array().expect("a column");
        let decided: u64 = counts.iter().filter_map(Value::as_u64).sum();
        assert_eq!(decided, of_kind(&records, "evaluation").len() as u64);
    }
}
