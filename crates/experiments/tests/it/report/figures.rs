//! The figures of the page: tooltips, hiding outcomes, and the service graph.

use super::browser::Browser;
use super::data::{PageFile, paper_trace, report, shop_trace};

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
