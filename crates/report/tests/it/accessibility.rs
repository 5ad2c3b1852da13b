//! The accessibility of the page: checked by axe-core, with the keyboard alone, and on a phone 360 pixels wide.

use std::env;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::browser::Browser;
use super::data::{PageFile, paper_trace_with_regret, report, scale, shop_trace};

/// Returns the source of axe-core, which `./test` installs. If it is missing, prints a message and returns `None`; in
/// CI, panics.
fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/tests/page/node_modules/axe-core/axe.min.js");
    let program = fs::read_to_string(path).ok();
    if program.is_none() {
        assert!(env::var("CI").as_deref() != Ok("true"), "axe-core is not installed, and CI must not skip this test");
        println!("skipped: axe-core is not installed; `./test` installs it");
    }
    program
}

/// A page with two equal runs with regret, a run with a service graph, and measurements of scale.
fn whole_page(name: &str) -> PageFile {
    let trace = paper_trace_with_regret("workload-and-latency-aware");
    let mut report = report(&[&trace, &trace, &shop_trace()]);
    report.runs[1].label = "the same again".to_owned();
    report.scale = vec![scale()];
    PageFile::new(name, &report)
}

const PICK: &str = "(() => { const slider = document.querySelector('.timeline input'); slider.value = 40; \
                    slider.dispatchEvent(new Event('input')); \
                    document.querySelector('.chip').dispatchEvent(new MouseEvent('click', {bubbles: true})); return 1; })()";

#[test]
fn axe_finds_nothing_serious_in_light_and_dark_on_desktop_and_phone() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = whole_page("axe");
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
        browser.resize(width, 900);
        browser.prefer(scheme);
        browser.open(page.path());
        browser.evaluate(PICK);
        browser.evaluate(&format!("{axe}\n1"));
        let found = browser.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations \
             .filter(({impact}) => impact === 'serious' || impact === 'critical') \
             .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(node => node.target.join(' ')).join(', ')}`))",
        );
        assert_eq!(found, Value::Array(Vec::new()), "{scheme}, {width} wide");
    }
}

#[test]
fn nothing_scrolls_horizontally_on_the_narrowest_phone() {
    let Some(browser) = Browser::start(360, 740) else { return };
    let page = whole_page("narrow");
    browser.open(page.path());
    browser.evaluate(PICK);
    assert_eq!(browser.number("document.documentElement.scrollWidth"), 360);
    let wide = browser.evaluate(
        "[...document.querySelectorAll('main *, footer *')].filter(element => element.getBoundingClientRect().right > 361 \
         || (element.scrollWidth > element.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(element).overflowX))) \
         .map(element => `${element.tagName} ${element.getAttribute('class')}`)",
    );
    assert_eq!(wide, Value::Array(Vec::new()), "no table, chart or text either");
    assert_eq!(browser.number("document.querySelectorAll('table.narrow').length"), 6, "two tables for each run");
    browser.resize(1280, 740);
    browser.wait_for("document.querySelectorAll('table.narrow').length === 0");
}

#[test]
fn every_control_is_reachable_by_keyboard() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let page = whole_page("tab");
    browser.open(page.path());
    // The number of elements that Tab should reach. Instances and nodes in the replay are not counted: they can be
    // chosen from lists.
    let places = browser.number("[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')].filter(element => element.getClientRects().length).length");
    browser.evaluate("window.reached = new Set(); document.addEventListener('focusin', event => window.reached.add(event.target)); 1");
    for _ in 0..places {
        browser.press("Tab", false);
    }
    // Tab reaches one radio button of each choice, and the arrow keys reach the others.
    let missed = browser.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')] \
         .filter(element => element.getClientRects().length && !window.reached.has(element) && element.type !== 'radio') \
         .map(element => element.outerHTML.slice(0, 120))",
    );
    assert_eq!(missed, Value::Array(Vec::new()));
    browser.evaluate(
        "(() => { const list = document.querySelector('[data-pick=instance]'); list.focus(); list.value = list.options[3].value; \
         list.dispatchEvent(new Event('change')); return 1; })()",
    );
    assert!(browser.text(".details h3").starts_with("Instance "));
}
