//! The report of a run that is still going.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mario_experiments::report::{Report, Server, Source};

use super::browser::Browser;
use super::data::{paper_trace, report};

/// A trace that grows when it is told to.
struct Growing {
    stages: Vec<String>,
    stage: Arc<AtomicUsize>,
}

impl Source for Growing {
    fn version(&self) -> String {
        self.stage.load(Ordering::SeqCst).to_string()
    }

    fn report(&mut self) -> Result<Report, String> {
        Ok(report(&[&self.stages[self.stage.load(Ordering::SeqCst)]]))
    }
}

#[test]
fn a_page_that_is_served_grows_with_its_run_and_stays_where_it_is() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let whole = paper_trace("workload-aware", &[]);
    let stages = vec![whole[..whole.len() / 3].to_owned(), whole];
    let stage = Arc::new(AtomicUsize::new(0));
    let server = Server::bind(0).expect("a port is free");
    let address = format!("http://{}/", server.address());
    let source = Growing { stages, stage: Arc::clone(&stage) };
    thread::spawn(move || server.serve(source));

    browser.visit(&address);
    assert!(browser.text("main").contains("is not complete"));
    let bars = "document.querySelectorAll('#operations .bar').length";
    let before = browser.number(bars);
    browser.evaluate("document.querySelector('.timeline input').focus(); 1");
    browser.press("ArrowRight", false);
    browser.press("ArrowRight", false);
    // The first version must be known before it can change.
    browser.evaluate("new Promise(done => setTimeout(done, 1500))");

    stage.store(1, Ordering::SeqCst);
    browser.wait_for("!document.querySelector('main').textContent.includes('is not complete')");
    browser.wait_for(&format!("{bars} > {before}"));
    assert_eq!(browser.number("Number(document.querySelector('.timeline input').value)"), 2);
}
