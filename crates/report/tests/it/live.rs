//! Served pages: they follow a run in progress, work like the file, and run no injected script.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use mario_report::{Report, Server, Source};

use super::browser::Browser;
use super::data::{paper_trace, report};
use super::input::small_header;

/// A source with several stages of a trace. It reports on the one that `stage` selects.
struct Growing {
    stages: Vec<String>,
    stage: Arc<AtomicUsize>,
}

impl Source for Growing {
    fn version(&self) -> String {
        self.stage.load(Ordering::SeqCst).to_string()
    }

    fn report(&mut self) -> Result<Report, String> {
        let mut report = report(&[&self.stages[self.stage.load(Ordering::SeqCst)]]);
        report.title = report.default_title();
        Ok(report)
    }
}

#[test]
fn a_served_page_updates_with_its_run_and_keeps_its_position() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let whole = paper_trace("workload-aware", &[]);
    let stages = vec![whole[..whole.len() / 3].to_owned(), whole];
    let stage = Arc::new(AtomicUsize::new(0));
    let address = serve(Growing { stages, stage: Arc::clone(&stage) });

    browser.visit(&address);
    assert!(browser.text("main").contains("is not complete"));
    let bars = "document.querySelectorAll('#operations .bar').length";
    let before = browser.number(bars);
    browser.evaluate("document.querySelector('.timeline input').focus(); 1");
    browser.press("ArrowRight", false);
    browser.press("ArrowRight", false);
    // The page notices a change only after it has asked for the version once.
    browser.evaluate("new Promise(done => setTimeout(done, 1500))");

    stage.store(1, Ordering::SeqCst);
    browser.wait_for("!document.querySelector('main').textContent.includes('is not complete')");
    browser.wait_for(&format!("{bars} > {before}"));
    assert_eq!(browser.number("Number(document.querySelector('.timeline input').value)"), 2);
    assert_eq!(complaints(&browser, &address), Vec::<String>::new());
}

/// Serves until the process ends; returns the address.
fn serve(source: impl Source) -> String {
    let server = Server::bind(0).expect("a port is free");
    let address = format!("http://{}/", server.address());
    thread::spawn(move || server.serve(source, &AtomicBool::new(false)));
    address
}

/// The complaints of the browser, except for requests to the server.
fn complaints(browser: &Browser, address: &str) -> Vec<String> {
    let asked = format!("asked for {address}");
    browser.complaints().into_iter().filter(|complaint| !complaint.starts_with(&asked)).collect()
}

fn serve_trace(trace: &str) -> String {
    serve(Growing { stages: vec![trace.to_owned()], stage: Arc::default() })
}

/// Clicks on and points at up to 60 elements of the page, such as instances and nodes, and moves the replay to its end.
const USE_THE_PAGE: &str = "(async () => { const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 20))); \
    for (const element of [...document.querySelectorAll('summary, .chip, .node, .users circle')].slice(0, 60)) { \
      element.dispatchEvent(new MouseEvent('click', { bubbles: true })); \
      element.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 5, clientY: 5 })); await frame(); } \
    for (const slider of document.querySelectorAll('.timeline input')) { \
      slider.value = slider.max; slider.dispatchEvent(new Event('input', { bubbles: true })); await frame(); } return 1; })()";

#[test]
fn a_served_page_looks_and_works_like_the_file() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let trace = paper_trace("workload-aware", &[]);
    let address = serve_trace(&trace);
    browser.visit(&address);
    assert_eq!(browser.number("document.querySelectorAll('.plot svg').length"), 8);
    // Both the page's own styles and those set by scripts apply.
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('.masthead')).position"), "sticky");
    let colours =
        "new Set([...document.querySelectorAll('#instances .area')].map(area => getComputedStyle(area).fill)).size";
    assert!(browser.number(colours) > 1, "areas have their colours");
    browser.evaluate(USE_THE_PAGE);
    browser
        .evaluate("window.taken = null; URL.createObjectURL = (blob) => { window.taken = blob; return 'data:,'; }; 1");
    browser.click("#operations figure .save:nth-of-type(2)");
    browser.wait_for("window.taken !== null");
    assert_eq!(complaints(&browser, &address), Vec::<String>::new());
}

#[test]
fn a_served_page_runs_no_injected_script() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let address = serve_trace(&paper_trace("workload-aware", &[]));
    browser.visit(&address);
    // Tries three ways to inject a script.
    browser.evaluate(
        "(() => { const script = document.createElement('script'); \
         try { script.textContent = 'window.broken = 1'; document.body.append(script); } catch { } \
         try { document.body.innerHTML += '<img src=x onerror=\"window.broken = 2\">'; } catch { } \
         try { document.body.setAttribute('onclick', 'window.broken = 3'); document.body.click(); } catch { } \
         return 1; })()",
    );
    browser.evaluate("new Promise(done => setTimeout(done, 200))");
    assert_eq!(browser.evaluate("window.broken ?? 0"), 0);
}

#[test]
fn names_with_markup_stay_text_in_a_served_page() {
    let image = "<img src=x onerror='window.broken=true'>";
    let script = "</script><script>window.broken=true</script>";
    let trace = small_header(&format!(r#"{{"id":"{image}{script}","application":0}}"#))
        .replace("\"small\"", &format!("\"{script}{image}\""))
        .replace("\"id\":\"quick\"", &format!("\"id\":\"{image}{script}\""))
        .replace("\"id\":\"edge\"", &format!("\"id\":\"{script}{image}\""))
        .replace("\"id\":\"cloud\"", &format!("\"id\":\"{image}\""))
        .replace("\"name\":\"p\"", &format!("\"name\":\"{script}{image}\""))
        + "[\"deployed\",0,1,0,1,0]\n[\"handover\",0,0,null,1]\n[\"evaluation\",10,1,0,\"unbounded\",[[1,2,3]],[],[[\"migrate\",1,0]]]\n\
           [\"cycle\",10,[[1,\"migrate\",0,\"accepted\"]]]\n";
    let Some(browser) = Browser::start(1280, 900) else { return };
    let address = serve_trace(&trace);
    browser.visit(&address);
    browser.evaluate(USE_THE_PAGE);
    let text = browser.text("main");
    assert!(text.contains(image) && text.contains(script), "they are shown as what they are: {text}");
    assert!(browser.evaluate("document.title").as_str().is_some_and(|title| title.contains(image)));
    assert_eq!(browser.number("document.querySelectorAll('img, main script').length"), 0);
    assert_eq!(browser.evaluate("window.broken ?? false"), false);
    assert_eq!(complaints(&browser, &address), Vec::<String>::new());
}
