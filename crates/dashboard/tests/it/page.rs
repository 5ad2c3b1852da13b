//! The page in a real browser, with a picture composed by the test.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mario_dashboard::picture::{Answer, Topic};
use mario_dashboard::{Picture, serve_picture};
use mario_live::api::{Received, TestbedData, TestbedNode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use crate::browser::Browser;
use crate::canned;

/// A server that runs until it is dropped.
struct Served {
    runtime: Runtime,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
}

impl Served {
    fn new(picture: Picture, port: u16) -> Served {
        Served::with_extra(picture, None, port)
    }

    fn with_extra(picture: Picture, extra: Option<watch::Receiver<TestbedData>>, port: u16) -> Served {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", port))).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        runtime.spawn(async move {
            let ended = async {
                let _ = stopped.await;
            };
            serve_picture(picture, extra, listener, ended).await.expect("it serves");
        });
        Served { runtime, address, stop: Some(stop) }
    }

    fn page(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn end(mut self) -> SocketAddr {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let address = self.address;
        self.runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        address
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64
}

/// Returns the browser's exceptions, console messages, errors and network requests, without the requests to the local
/// server.
fn complaints(browser: &Browser) -> Vec<String> {
    browser.complaints().into_iter().filter(|complaint| !complaint.starts_with("asked for http://127.0.0.1:")).collect()
}

#[test]
fn the_page_shows_nodes_links_instances_and_problems() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    assert_eq!(browser.number("document.querySelectorAll('.stage .link').length"), 20);
    assert_eq!(browser.number("document.querySelectorAll('.stage .link.down').length"), 1);
    assert_eq!(browser.number("document.querySelectorAll('.stage .node.down').length"), 1);
    let instances = browser.number("document.querySelectorAll('.chip').length");
    assert!(instances > 20, "{instances}");
    let problems = browser.text(".problems");
    for part in
        ["Node ap16 has not answered", "The link ap7 – edge2 is down", "has no valid answer", "Node edge4 is draining"]
    {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert!(browser.text("#state").contains("Caused on purpose: the link edge2 – ap7 is cut"));
    assert!(browser.text("h1").contains("The paper's tree"));
    assert!(browser.text(".applications").contains("video"));
    browser.wait_for("document.querySelectorAll('.log-list li').length === 3");
    assert!(browser.text("#log").contains("vi-1 migrates to ap2"));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn selecting_by_mouse_or_list_shows_details() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    browser.click(".node[data-node='edge2'] .box");
    browser.wait_for("document.querySelector('.details h3')?.textContent === 'edge2'");
    let details = browser.text(".player");
    for part in ["1 unit free of 6 units", "Links", "ap7", "down", "122 records", "Routes to 1 application"] {
        assert!(details.contains(part), "{part}: {details}");
    }
    browser.evaluate(
        "(() => { const list = document.querySelector('[data-pick=instance]'); list.value = list.options[3].value; \
         list.dispatchEvent(new Event('change')); return 1; })()",
    );
    browser.wait_for("document.querySelector('.details h3')?.textContent.startsWith('Instance ')");
    let details = browser.text(".player");
    for part in [
        "51 client requests reached it in the last 5 s",
        "it is overloaded",
        "30 of them were later than the tolerated 20 ms",
        "asked for nothing",
        "inhibited: node ap1",
    ] {
        assert!(details.contains(part), "{part}: {details}");
    }
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'})); 1");
    browser.wait_for("document.querySelector('.details').textContent.includes('Choose an instance')");
    // Filters the log.
    browser.evaluate("(() => { const input = document.querySelector('input[type=search]'); input.value = 'ap10'; input.dispatchEvent(new Event('input')); return 1; })()");
    browser.wait_for("document.querySelectorAll('.log-list li').length === 1");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn charts_are_drawn_for_the_width_of_the_page_and_show_values_under_the_pointer() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    for width in [1280, 390] {
        browser.resize(width, 900);
        browser.visit(&served.page());
        browser.wait_for("document.querySelectorAll('.plot.chart svg').length === 3");
        for (name, label) in [("instances", "instances"), ("requests", "requests per second"), ("responses", "ms")] {
            let chart = browser.text(&format!("[data-figure={name}] svg"));
            assert!(chart.contains(label) && chart.contains("seconds before now"), "{chart}");
            assert!(canned::APPLICATIONS.iter().all(|application| chart.contains(application)), "{chart}");
        }
        let scale = "(() => { const svg = document.querySelector('.plot.chart svg'); \
                     return Math.round(100 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width); })()";
        // Waits, because the charts may first be drawn before the layout of the page is complete.
        browser.wait_for(&format!("{scale} >= 95 && {scale} <= 105"));
        let tip = browser.evaluate(
            "(() => { const area = document.querySelector('[data-figure=responses] .hover-area'); \
             area.scrollIntoView({block: 'center'}); const {left, top, width} = area.getBoundingClientRect(); \
             area.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: left + width / 2, clientY: top + 20})); \
             return document.getElementById('tooltip').textContent; })()",
        );
        let tip = tip.as_str().expect("a text");
        assert!(tip.contains("s before now") && tip.contains("video 9.5"), "{tip}");
    }
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn full_nodes_are_grouped_in_one_expandable_line() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let mut picture = canned::picture(now_ms());
    let mut number = 100;
    for node in ["ap1", "ap2", "ap3", "ap5", "ap6"] {
        for _ in 0..6 {
            let mut event = canned::judged_value(number, now_ms(), "migrate", "edge1", node, false);
            event["report"]["rule"] = "capacity".into();
            picture.happened(1, now_ms(), &Received::read(event).expect("an event")).expect("new");
            number += 1;
        }
    }
    let served = Served::new(picture, 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.problems .folded').length === 1");
    assert!(browser.text(".problems .folded summary").contains("5 nodes are full"));
    let height = "document.querySelector('.problems .folded').getBoundingClientRect().height < 40";
    assert_eq!(browser.evaluate(height), Value::Bool(true));
    browser.click(".problems .folded summary");
    browser.wait_for("document.querySelectorAll('.problems .folded[open] li').length === 5");
    browser.click(".problems .folded li button");
    browser.wait_for("document.querySelector('.details h3')?.textContent === 'ap1'");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn texts_of_nodes_are_never_markup() {
    let Some(browser) = Browser::start(800, 700) else { return };
    let mut picture = canned::picture(now_ms());
    let markup = "<img src=x onerror=\"document.title='harmed'\"><b>bold</b>";
    picture.silent(3, now_ms(), markup);
    let event = serde_json::json!({ "number": 99, "time_ms": now_ms(), "event": "fault", "message": markup });
    picture.happened(2, now_ms(), &Received::read(event).expect("an event")).expect("new");
    let served = Served::new(picture, 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelector('.problems')?.textContent.includes('<b>bold</b>')");
    browser.wait_for("document.querySelector('.log-list')?.textContent.includes('<b>bold</b>')");
    assert_eq!(browser.number("document.querySelectorAll('main b, main img').length"), 0);
    assert!(!browser.evaluate("document.title").as_str().expect("a title").contains("harmed"));
}

#[test]
fn the_page_reports_a_lost_connection_and_resumes_when_it_is_back() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    let page = served.page();
    browser.visit(&page);
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    let port = served.end().port();
    browser.wait_for("!document.querySelector('.lost-note').hidden");
    assert_eq!(browser.number("document.querySelectorAll('.stage .node').length"), 21, "what was known stays");
    // Another dashboard starts on the same port. The page reconnects to it without a reload.
    let mut picture = canned::picture(now_ms());
    picture.happened(5, now_ms(), &canned::judged(7, now_ms(), "undeploy", "edge2", "self", true));
    let _served = Served::new(picture, port);
    browser.wait_for("document.querySelector('.lost-note').hidden");
    browser.wait_for("document.querySelectorAll('.log-list li').length === 4");
}

#[test]
fn the_end_of_a_run_is_no_loss_of_the_connection() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let mut extra = canned::extra();
    let (told, extra_seen) = watch::channel(extra.clone());
    let mut picture = canned::picture(now_ms());
    picture.answered(20, now_ms(), Answer::json(Topic::Status, serde_json::json!({ "node": "ap16" })));
    let served = Served::with_extra(picture, Some(extra_seen), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    browser.evaluate("document.querySelector('.chip').dispatchEvent(new MouseEvent('click', {bubbles: true})); 1");
    browser.wait_for("document.querySelector('[data-key=explain]') !== null");
    extra.outcome = Some("It ran for 60 s: 15201 client requests, 0 failed.".to_owned());
    told.send_replace(extra);
    browser.wait_for("!document.querySelector('.over-note').hidden");
    assert!(browser.text(".over-note").contains("The run is over. It ran for 60 s: 15201 client requests, 0 failed."));
    assert_eq!(browser.text("#connection"), "over");
    browser.wait_for("document.querySelector('[data-key=explain]') === null");
    // The page has asked for the last details by the time it shows the end, so it needs the server no more.
    browser.evaluate("new Promise(done => setTimeout(done, 500)).then(() => 1)");
    served.end();
    browser.evaluate("new Promise(done => setTimeout(done, 1500)).then(() => 1)");
    assert_eq!(browser.evaluate("document.querySelector('.lost-note').hidden"), Value::Bool(true));
    assert_eq!(browser.text("#connection"), "over");
    assert!(!browser.text(".problems").contains("has not answered"), "{}", browser.text(".problems"));
    browser.click(".node[data-node='edge2'] .box");
    browser.wait_for("document.querySelector('.details h3')?.textContent === 'edge2'");
    assert!(browser.text(".details").contains("1 unit free of 6 units"));
    browser.evaluate("document.querySelector('.chip').dispatchEvent(new MouseEvent('click', {bubbles: true})); 1");
    browser.wait_for("document.querySelector('.details.rest')?.textContent.includes('Its last decisions')");
}

/// The labels of all nodes on the page.
fn labels(browser: &Browser) -> Vec<String> {
    let labels = browser.evaluate("[...document.querySelectorAll('.node-name')].map(name => name.textContent)");
    labels.as_array().expect("a list").iter().map(|label| label.as_str().expect("a text").to_owned()).collect()
}

/// The pairs of elements that match a selector and whose boxes overlap.
fn overlaps(browser: &Browser, selector: &str) -> Value {
    browser.evaluate(&format!(
        "(() => {{ const all = [...document.querySelectorAll('{selector}')].map(element => [element,          element.getBoundingClientRect()]).filter(([, box]) => box.width);          return all.flatMap(([one, a], place) => all.slice(place + 1).filter(([, b]) => a.left < b.right - 1 &&          b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)          .map(([other]) => `${{one.textContent}} / ${{other.textContent}}`)); }})()"
    ))
}

#[test]
fn names_and_users_of_neighbours_are_told_apart() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    // Names as of the paper's tree: the beginnings differ. Names as of a data centre: the middles differ.
    for rename in [|nth: usize| format!("n{nth}lt{}ln0", nth / 4), |nth| format!("rack-07-node-{nth:03}-eu-west")] {
        let mut picture = Picture::new(Vec::new());
        let nodes = canned::tree().into_iter().enumerate().map(|(nth, (_, _, tier))| {
            let users = if tier == 2 { 3 + 9 * (nth as u64 % 3) } else { 0 };
            (rename(nth), TestbedNode { tier: Some(tier), tier_name: None, users: Some(users) })
        });
        picture.set_extra(TestbedData { nodes: nodes.collect(), ..TestbedData::default() }, now_ms());
        let served = Served::new(picture, 0);
        for width in [1280, 390] {
            browser.resize(width, 900);
            browser.visit(&served.page());
            browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
            let mut names = labels(&browser);
            names.sort();
            names.dedup();
            assert_eq!(names.len(), 21, "{width}: {names:?}");
            assert_eq!(overlaps(&browser, ".node-name"), Value::Array(Vec::new()), "{width}: {names:?}");
            assert_eq!(overlaps(&browser, ".node-users"), Value::Array(Vec::new()), "{width}");
        }
    }
}

#[test]
fn a_phone_shows_the_tree_and_the_whole_menu() {
    let Some(browser) = Browser::start(390, 844) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    assert_eq!(browser.evaluate("document.querySelector('.stage').classList.contains('wrapped')"), Value::Bool(false));
    // The leaves of a parent are all below it, and left of those of the next parent.
    let lefts = browser.evaluate(
        "[1, 2, 3, 4].map(edge => [1, 2, 3, 4].map(leaf => `ap${4 * (edge - 1) + leaf}`).map(id => {          const box = document.querySelector(`.node[data-node='${id}'] .box`).getBoundingClientRect();          return [box.left, box.right]; }))",
    );
    let groups: Vec<(f64, f64)> = lefts
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            let boxes = group.as_array().expect("boxes");
            let edge = |index: usize| boxes.iter().map(move |one| one[index].as_f64().expect("a number"));
            (edge(0).fold(f64::INFINITY, f64::min), edge(1).fold(0.0, f64::max))
        })
        .collect();
    assert!(groups.windows(2).all(|pair| pair[0].1 < pair[1].0), "{groups:?}");
    let clipped = browser.evaluate(
        "[...document.querySelectorAll('.masthead > *, .masthead nav a')].filter(element => {          const {left, right} = element.getBoundingClientRect(); const nav = element.closest('nav');          return left < 0 || right > 390 || (nav && right > nav.getBoundingClientRect().right + 1); })          .map(element => element.textContent)",
    );
    assert_eq!(clipped, Value::Array(Vec::new()));
}

#[test]
fn inhibited_requests_cover_no_instance_and_no_number() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let (told, extra) = watch::channel(canned::extra());
    let served = Served::with_extra(canned::picture(now_ms()), Some(extra), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    drop(told);
    // The map is drawn in layers: arrows are below nodes and instances.
    let order =
        browser.evaluate("[...document.querySelector('.stage').children].map(layer => layer.getAttribute('class'))");
    let place = |name: &str| order.as_array().expect("a list").iter().position(|layer| layer == name);
    assert!(
        place("arrows").is_some() && place("arrows") < place("nodes") && place("arrows") < place("chips"),
        "{order}"
    );
}

#[test]
fn a_selection_leaves_no_empty_area_and_ids_are_short() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let mut picture = canned::picture(now_ms());
    let id = "4f0d6c31c2f5d1b00f4ee7a3a5c3ab11-13-0";
    let status = serde_json::json!({ "node": "ap16", "capacity": 3, "evaluation_ms": 5000 });
    picture.answered(20, now_ms(), Answer::json(Topic::Status, status));
    let one = serde_json::json!({
        "instance": id, "application": "video", "state": "owned", "copy": { "state": "healthy" }, "hardware": 1,
        "decisions": (0..20).map(|target| serde_json::json!({ "kind": "evaluated", "operation": "migrate", "target": format!("ap{target}") })).collect::<Vec<_>>(),
    });
    picture.answered(20, now_ms(), Answer::json(Topic::Instances, serde_json::json!({ "instances": [one] })));
    let served = Served::new(picture, 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    browser.evaluate(&format!(
        "document.querySelector('.chip[data-instance=\"{id}\"]').dispatchEvent(new MouseEvent('click', {{bubbles: true}})); 1"
    ));
    browser.wait_for("document.querySelector('.details.rest')?.textContent.includes('Its last decisions')");
    let empty = browser.number(
        "document.querySelector('.side').getBoundingClientRect().bottom -          document.querySelector('.stage-column').getBoundingClientRect().bottom",
    );
    assert!(empty < 100, "{empty} px are empty below the map");
    assert!(!browser.text(".player").contains(id), "ids are shortened");
    assert!(browser.text(".details").contains("4f0d6c…-13-0"));
    assert_eq!(browser.evaluate("document.querySelector('.details code').title"), Value::String(id.to_owned()));
    // Without access to the clipboard, the button shows the whole id, selected.
    browser.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true}); 1");
    browser.click(".details [data-key^='copy']");
    browser.wait_for(&format!("getSelection().toString() === '{id}'"));
}

#[test]
fn columns_of_applications_are_explained() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.applications th').length > 0");
    assert!(browser.text(".meanings").contains("late: of the latest 500 requests"));
    let untitled = "[...document.querySelectorAll('.applications thead th')].filter(head => !head.title).map(head => head.textContent)";
    assert_eq!(browser.evaluate(untitled), serde_json::json!(["application"]));
}

#[test]
fn axe_finds_nothing_serious_in_light_and_dark_on_desktop_and_phone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/tests/page/node_modules/axe-core/axe.min.js");
    let Ok(axe) = std::fs::read_to_string(path) else {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "axe-core is not installed, and CI must not skip this test"
        );
        println!("skipped: axe-core is not installed; `./test` installs it");
        return;
    };
    let Some(browser) = Browser::start(1280, 900) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
        browser.resize(width, 900);
        browser.prefer(scheme);
        browser.visit(&served.page());
        browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
        browser.evaluate("document.querySelector('.chip').dispatchEvent(new MouseEvent('click', {bubbles: true})); 1");
        browser.wait_for("document.querySelector('.details h3')?.textContent.startsWith('Instance ')");
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
fn nothing_scrolls_sideways_on_a_phone() {
    let Some(browser) = Browser::start(390, 844) else { return };
    let served = Served::new(canned::picture(now_ms()), 0);
    browser.visit(&served.page());
    browser.wait_for("document.querySelectorAll('.stage .node').length === 21");
    browser.click(".node[data-node='edge2'] .box");
    browser.wait_for("document.querySelector('.details h3')?.textContent === 'edge2'");
    assert_eq!(browser.number("document.documentElement.scrollWidth"), 390);
    let wide = browser.evaluate(
        "[...document.querySelectorAll('main *, footer *')].filter(element => element.getBoundingClientRect().right > 391) \
         .map(element => `${element.tagName} ${element.getAttribute('class')}`)",
    );
    assert_eq!(wide, Value::Array(Vec::new()));
}
