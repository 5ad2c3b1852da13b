//! The figures of the page: tooltips, hiding outcomes, and the service graph.

use mario_report::Report;
use serde_json::Value;

use super::browser::Browser;
use super::data::{PageFile, paper_scenario, paper_trace, report, response_times, shop_trace};

/// Moves the pointer to the middle of an element. Returns the lines of the tooltip, or none if it is hidden.
fn pointed_at(browser: &Browser, selector: &str) -> Vec<String> {
    let lines = browser.evaluate(&format!(
        "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{block: 'center'}}); \
         const {{left, top, width, height}} = element.getBoundingClientRect(); \
         element.dispatchEvent(new PointerEvent('pointermove', {{bubbles: true, clientX: left + width / 2, clientY: top + height / 2}})); \
         const box = document.getElementById('tooltip'); return box.hidden ? [] : [...box.children].map(line => line.textContent); }})()"
    ));
    lines.as_array().expect("a list").iter().map(|line| line.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn a_pointer_on_a_figure_shows_its_values() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("tips", &report(&[&paper_trace("workload-aware", &[])]));
    browser.open(page.path());
    let bar = pointed_at(&browser, "#operations .hover-area");
    assert!(
        bar[0].starts_with("time 2") && bar.iter().any(|line| line.starts_with("handovers in the step ")),
        "{bar:?}"
    );
    let point = pointed_at(&browser, "#movements circle");
    assert!(point[0].contains("movement") && point[1].starts_with("step"), "{point:?}");
    let area = pointed_at(&browser, "#instances .hover-area");
    assert!(area[0].starts_with("from time ") && area[0].ends_with(" in all") && area.len() > 1, "{area:?}");
    let times = pointed_at(&browser, "#responses rect");
    assert!(times[1].contains(" of ") && times[1].ends_with(" %)"), "{times:?}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn hiding_an_outcome_restacks_the_bars() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("restacked", &report(&[&paper_trace("workload-and-latency-aware", &[])]));
    browser.open(page.path());
    // In each bar, the visible parts are stacked from 0 without gaps.
    let is_stacked = "[...document.querySelectorAll('.bar')].every(bar => { let base = 0; \
                      return [...bar.children].filter(part => !part.hasAttribute('display')).every(part => { \
                      const lies = Number(part.getAttribute('y')) === base; base += Number(part.getAttribute('height')); return lies; }); })";
    let visible = |outcome: &str| {
        let parts = format!("document.querySelectorAll('.bar [fill=\"var(--{outcome})\"]:not([display])').length");
        browser.number(&parts)
    };
    assert!(visible("replicate") > 0 && visible("migrate") > 0 && visible("nop") == 0);
    assert_eq!(browser.evaluate(is_stacked), true);
    let grid = "document.querySelector('[data-scale=all]').hasAttribute('display')";
    assert_eq!(browser.evaluate(grid), true);
    browser.click("#operations input[value=replicate]");
    browser.click("#operations input[value=nop]");
    assert!(visible("replicate") == 0 && visible("migrate") > 0 && visible("nop") > 0);
    assert_eq!(browser.evaluate(is_stacked), true);
    assert_eq!(browser.evaluate(grid), false, "the axis is that of all agents");
}

#[test]
fn the_service_graph_is_readable_on_desktop_and_phone() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = PageFile::new("services", &report(&[&shop_trace()]));
    for width in [1280, 390] {
        browser.resize(width, 900);
        browser.open(page.path());
        assert_eq!(browser.number("document.querySelectorAll('#services rect.service').length"), 6);
        assert_eq!(browser.number("document.querySelectorAll('#services path.call').length"), 7);
        let call = pointed_at(&browser, "#services path.call");
        assert!(call[0].starts_with("front calls auth in stage 1") && call[2].contains(" served, "), "{call:?}");
        let beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.number(beyond), 0, "the page does not scroll sideways");
        let scale = "(() => { const svg = document.querySelector('#services svg'); \
                     return Math.round(100 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width); })()";
        assert!(browser.number(scale) >= 88, "texts of {} % of their size", browser.number(scale));
        assert!(browser.text("#services svg desc").starts_with("front calls auth (1 request), catalogue (2 requests)"));
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The numbers on the axes of the drawings of a section, one list for each run.
fn axes(report: &Report, id: &str) -> Vec<Vec<String>> {
    let data: Value = serde_json::from_str(&report.json()).expect("JSON");
    let sections = data["sections"].as_array().expect("sections");
    let section = sections.iter().find(|section| section["id"] == id).unwrap_or_else(|| panic!("no section {id}"));
    let drawings = report.drawings().into_iter().filter(|drawing| drawing.file_name.contains(&format!("-{id}")));
    let numbers = |svg: String| {
        let texts =
            svg.split("<text").skip(1).filter_map(|text| Some(text.split_once('>')?.1.split_once("</")?.0.to_owned()));
        texts
            .filter(|text| {
                !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || " .\u{202f}".contains(letter))
            })
            .collect()
    };
    let found: Vec<Vec<String>> = drawings.map(|drawing| numbers(drawing.svg)).collect();
    assert!(found.len() >= section["figures"].as_array().expect("figures").len(), "{id}");
    found
}

#[test]
fn charts_of_several_runs_share_their_axes() {
    let short = paper_trace("never-move", &["duration=20000"]);
    let report = report(&[&paper_trace("workload-aware", &[]), &short]);
    for id in ["operations", "instances", "tiers", "responses", "steady", "movements"] {
        let all = axes(&report, id);
        let (one, other) = all.split_at(all.len() / 2);
        assert_eq!(one, other, "{id}");
        assert!(one.iter().all(|numbers| numbers.len() > 1), "{id}: {one:?}");
    }
}

#[test]
fn percentiles_are_those_of_the_finest_bins_and_say_how_exact_they_are() {
    let words = |settings: &[&str]| {
        let report = report(&[&paper_trace("workload-and-latency-aware", settings)]);
        let svg = report.drawings().into_iter().find(|drawing| drawing.file_name.contains("-responses"));
        let svg = svg.expect("a drawing").svg;
        let row = svg.split("<text").find(|text| text.contains(">LS<")).expect("a row").to_owned();
        let after = |word: &str| -> f64 {
            let rest = row.split_once(word).unwrap_or_else(|| panic!("{word}: {row}")).1.trim_start();
            rest.split([',', '<']).next().expect("a number").parse().expect("a number")
        };
        let caption = report.json().split("of the exact ones").next().expect("a caption").to_owned();
        let bound = caption.rsplit_once("are within ").expect("a bound").1.to_owned();
        ([after("median "), after("95 % up to ")], bound)
    };
    let (fine, bound) = words(&["measures.applications=true"]);
    assert_eq!(bound, "0.8 % ");
    let (coarse, bound) = words(&[]);
    assert_eq!(bound, "9.1 % ");
    let scenario = paper_scenario("workload-and-latency-aware");
    let mut times = response_times(&scenario, "LS");
    times.sort_by(f64::total_cmp);
    for (nth, share) in [0.5, 0.95].into_iter().enumerate() {
        let exact = times[((times.len() as f64 * share).ceil() as usize) - 1];
        // Half a unit of the last shown digit is added to the bound.
        assert!((fine[nth] - exact).abs() <= exact * 0.008 + 0.05, "{share}: {} and {exact}", fine[nth]);
        assert!((coarse[nth] - exact).abs() <= exact * 0.091 + 0.5, "{share}: {} and {exact}", coarse[nth]);
    }
}

#[test]
fn paths_along_the_edge_of_the_map_are_inside_the_drawing_and_the_legend_explains_them() {
    // With four access points, users move along the whole edge.
    let report = report(&[&paper_trace("never-move", &["topology.size=2"])]);
    let map = report.drawings().into_iter().find(|drawing| drawing.file_name.ends_with("-map.svg")).expect("a map").svg;
    let curves: Vec<Vec<f64>> = map
        .split(['M', '"'])
        .filter(|curve| curve.contains('Q'))
        .map(|curve| curve.split([' ', 'Q']).filter_map(|number| number.parse().ok()).collect())
        .collect();
    assert!(curves.len() > 10 && curves.iter().all(|curve| curve.len() == 6), "{curves:?}");
    for curve in &curves {
        let middle = [0, 1].map(|axis| (curve[axis] + 2.0 * curve[axis + 2] + curve[axis + 4]) / 4.0);
        assert!(middle.iter().all(|place| (0.0..=560.0).contains(place)), "{curve:?}");
    }
    for name in ["app1", "app6", "access points"] {
        assert!(map.contains(&format!(">{name}</text>")), "{name}: {map}");
    }
    assert!(map.contains("stroke-dasharray=\"7 3\""), "paths differ in their dash");
}

#[test]
fn tables_of_several_runs_have_a_row_for_each_run() {
    let measured = ["measures.applications=true", "duration=9000"];
    let report = report(&[&paper_trace("workload-aware", &measured), &paper_trace("never-move", &measured)]);
    let tables = report.measured_tables();
    let applications = tables.iter().find(|table| table.id == "measured-applications").expect("a table");
    assert_eq!(applications.head[..3], ["application", "run", "served"]);
    let rows: Vec<[&str; 2]> = applications.rows.iter().take(4).map(|row| [row[0].as_str(), row[1].as_str()]).collect();
    let labels = [&report.runs[0].label, &report.runs[1].label];
    let first = [applications.rows[0][0].as_str(), applications.rows[2][0].as_str()];
    assert_ne!(first[0], first[1]);
    assert_eq!(rows, [[first[0], labels[0]], [first[0], labels[1]], [first[1], labels[0]], [first[1], labels[1]]]);
    assert!(tables.iter().all(|table| table.id != "measured-consumption"), "there are no models of cost");
}
