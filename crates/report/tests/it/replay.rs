//! The replay: its controls, the details of instances and nodes, and the marks of operations.

use serde_json::Value;

use super::browser::Browser;
use super::data::{PageFile, header, of_kind, paper_trace, records, report};

const MOMENT: &str = "Number(document.querySelector('.timeline input').value)";
const LAST: &str = "Number(document.querySelector('.timeline input').max)";
const IS_PLAYING: &str = "document.querySelector('[data-control=play]').dataset.playing === 'true'";

fn opened(name: &str, trace: &str) -> Option<(Browser, PageFile)> {
    let browser = Browser::start(1280, 900)?;
    let page = PageFile::new(name, &report(&[trace]));
    browser.open(page.path());
    Some((browser, page))
}

#[test]
fn plays_pauses_steps_and_scrubs_by_mouse() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("mouse", &trace) else { return };
    let control = |name: &str| browser.click(&format!("[data-control={name}]"));
    control("next");
    control("next");
    assert_eq!(browser.number(MOMENT), 2);
    control("back");
    assert_eq!(browser.number(MOMENT), 1);
    control("end");
    assert_eq!(browser.number(MOMENT), browser.number(LAST));
    control("start");
    assert_eq!(browser.number(MOMENT), 0);
    control("play");
    browser.wait_for(&format!("{MOMENT} >= 3"));
    control("play");
    assert_eq!(browser.evaluate(IS_PLAYING), false);
    browser.click(".timeline input");
    let (middle, last) = (browser.number(MOMENT), browser.number(LAST));
    assert!((middle - last / 2).abs() <= 3, "{middle} of {last}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn plays_pauses_and_steps_by_keyboard() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("keyboard", &trace) else { return };
    browser.evaluate("document.getElementById('replay').scrollIntoView(); 1");
    browser.press("ArrowRight", false);
    browser.press("ArrowRight", false);
    assert_eq!(browser.number(MOMENT), 2);
    browser.press("ArrowLeft", false);
    assert_eq!(browser.number(MOMENT), 1);
    browser.press(" ", false);
    browser.wait_for(&format!("{IS_PLAYING} && {MOMENT} >= 3"));
    browser.press(" ", false);
    assert_eq!(browser.evaluate(IS_PLAYING), false);
    browser.press("Home", false);
    assert_eq!(browser.number(MOMENT), 0);
    browser.press("ArrowRight", true);
    assert_eq!(browser.text(".clock b"), "2\u{202f}000", "the next step of mobility");
    browser.press("End", false);
    assert_eq!(browser.number(MOMENT), browser.number(LAST));
    // Home and the right arrow key do the same while the slider has the focus.
    browser.evaluate("document.querySelector('.timeline input').focus(); 1");
    browser.press("Home", false);
    browser.press("ArrowRight", false);
    assert_eq!(browser.number(MOMENT), 1);
}

/// Moves the replay to a time.
fn go_to(browser: &Browser, trace: &str, time: i64) {
    let records = records(trace);
    let mut times: Vec<i64> = records
        .iter()
        .filter(|record| ["cycle", "handover", "deployed"].iter().any(|kind| record[0] == *kind))
        .map(|record| record[1].as_i64().expect("a whole time"))
        .collect();
    times.dedup();
    let moment = times.iter().position(|other| *other == time).expect("something happened then");
    browser.evaluate(&format!(
        "(() => {{ const slider = document.querySelector('.timeline input'); slider.value = {moment}; slider.dispatchEvent(new Event('input')); }})()"
    ));
}

/// The last evaluation of an instance up to `time` whose record lists the facts.
fn last_evaluation<'a>(evaluations: &[&'a Value], instance: &Value, time: i64) -> &'a Value {
    let of_instance =
        evaluations.iter().rev().filter(|record| record[2] == *instance && record[1].as_i64() <= Some(time));
    of_instance.copied().find(|record| record[5] != "same").expect("it has evaluated")
}

#[test]
fn the_details_of_an_instance_show_its_decision_and_reasons_from_the_trace() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("explanation", &trace) else { return };
    let (records, header) = (records(&trace), header(&trace));
    let time = 2700;
    go_to(&browser, &trace, time);
    let evaluations = of_kind(&records, "evaluation");
    let chips = browser.evaluate("[...document.querySelectorAll('.chip')].map(chip => Number(chip.dataset.instance))");
    let chips: Vec<i64> = chips.as_array().expect("a list").iter().filter_map(Value::as_i64).collect();
    assert!(chips.len() > 30, "{} instances are drawn", chips.len());
    let ids = browser
        .evaluate("JSON.parse(document.getElementById('data').textContent).runs[0].replay.instances.map(([id]) => id)");
    let mut asked = 0;
    for chip in chips.iter().step_by(4) {
        browser.click(&format!(".chip[data-instance='{chip}']"));
        let id = &ids[*chip as usize];
        assert_eq!(browser.text(".details h3"), format!("Instance {id}"));
        let evaluation = last_evaluation(&evaluations, id, time);
        let details = browser.text(".details");
        let rate: i64 = evaluation[5].as_array().expect("requests").iter().filter_map(|fact| fact[1].as_i64()).sum();
        if rate > 0 {
            assert!(details.contains(&format!("{rate} client requests reached it")), "{id}: {details}");
        }
        let Some(solution) = evaluation[7].get(0) else {
            assert!(details.contains("It asked for nothing"), "{id}: {details}");
            continue;
        };
        asked += 1;
        let target = solution[1].as_u64().map(|node| header["nodes"][node as usize]["id"].as_str().expect("an id"));
        let wish = match (solution[0].as_str().expect("an operation"), target) {
            ("undeploy", _) => "undeploy".to_owned(),
            (operation, Some(target)) => format!("{operation} to {target}"),
            (operation, None) => format!("{operation} on its own node"),
        };
        assert!(details.contains(&format!("It asked to {wish}")), "{id}: {details}");
        let clause = solution[2].as_u64().expect("a clause");
        assert!(details.contains(&format!("clause {} of workload-and-latency-aware", clause + 1)), "{id}: {details}");
        let policy = header["policies"][0]["files"][0][1].as_str().expect("a text");
        let shown = browser.text(".details pre");
        assert!(
            policy.contains(&shown) && shown.starts_with(&format!("operation({}", solution[0].as_str().unwrap_or("")))
        );
    }
    assert!(asked >= 3, "{asked} instances asked for something");
}

/// The texts in the page's data that explain the last decision of an instance up to `time`.
fn explanation(browser: &Browser, chip: i64, time: i64) -> Vec<String> {
    let texts = browser.evaluate(&format!(
        "(() => {{ const replay = JSON.parse(document.getElementById('data').textContent).runs[0].replay; \
         const {{instance, first, explanation}} = replay.decisions.columns; \
         const place = explanation[instance.findLastIndex((one, row) => one === {chip} && first[row] <= {time})]; \
         const {{texts, lines, parts, all}} = replay.explanations; \
         return all[place].flatMap(part => parts[part].map(line => texts[lines[line][2] ?? 0])); }})()"
    ));
    texts.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn the_details_of_an_instance_explain_why_it_proposed_nothing() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("why-not", &trace) else { return };
    let time = 2700;
    go_to(&browser, &trace, time);
    let chips = browser.evaluate("[...document.querySelectorAll('.chip')].map(chip => Number(chip.dataset.instance))");
    let mut silent = 0;
    for chip in chips.as_array().expect("a list").iter().filter_map(Value::as_i64).step_by(3) {
        browser.click(&format!(".chip[data-instance='{chip}']"));
        let details = browser.text(".details");
        if !details.contains("It asked for nothing") {
            assert!(details.contains("Why nothing else"), "{details}");
            continue;
        }
        silent += 1;
        let texts = explanation(&browser, chip, time);
        assert!(texts[0].starts_with("nop: "), "{texts:?}");
        for text in &texts[1..] {
            let title = text.replacen("no ", "No ", 1);
            assert!(details.contains(text.as_str()) || details.contains(&title), "{text:?} is not in {details}");
        }
        for operation in ["No undeploy", "No migrate", "No replicate"] {
            assert!(details.contains(operation), "{details}");
        }
        // The reasons are open without a click.
        assert_eq!(browser.number("document.querySelectorAll('.details details.missed[open]').length"), 3);
        let failed = browser.text(".details .line.failed");
        assert!(failed.starts_with("fails "), "{failed}");
        assert!(browser.text(".details .line.change").starts_with("would "), "the smallest change");
    }
    assert!(silent >= 3, "{silent} instances asked for nothing");
}

#[test]
fn the_details_of_a_node_list_its_verdicts_so_far() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("node", &trace) else { return };
    let (records, header) = (records(&trace), header(&trace));
    let time = 10_300;
    go_to(&browser, &trace, time);
    let outcomes = of_kind(&records, "cycle").into_iter().filter(|cycle| cycle[1].as_i64() <= Some(time));
    let outcomes: Vec<&Value> = outcomes.flat_map(|cycle| cycle[2].as_array().expect("outcomes")).collect();
    let inhibited_by = |id: &Value| outcomes.iter().filter(|outcome| outcome[4]["node"] == *id).count();
    let nodes = header["nodes"].as_array().expect("nodes");
    let (place, busiest) = nodes.iter().enumerate().max_by_key(|(_, node)| inhibited_by(&node["id"])).expect("nodes");
    browser.evaluate(&format!(
        "document.querySelector(\".node[data-node='{place}']\").dispatchEvent(new MouseEvent('click')); 1"
    ));
    assert_eq!(browser.text(".details h3"), busiest["id"].as_str().expect("an id"));
    let details = browser.text(".details");
    assert!(details.contains(&format!("{} inhibited so far", inhibited_by(&busiest["id"]))), "{details}");
    assert!(details.contains("0 is free, and 1 is needed"), "{details}");
}

#[test]
fn operations_are_marked_on_the_stage() {
    let trace = paper_trace("workload-and-latency-aware", &[]);
    let Some((browser, _page)) = opened("marks", &trace) else { return };
    let records = records(&trace);
    for cycle in of_kind(&records, "cycle").into_iter().take(12) {
        go_to(&browser, &trace, cycle[1].as_i64().expect("a whole time"));
        let outcomes = cycle[2].as_array().expect("outcomes");
        let inhibited = outcomes.iter().filter(|outcome| outcome[3] == "inhibited").count() as i64;
        let accepted =
            |name: &str| outcomes.iter().filter(|one| one[1] == name && one[3] != "inhibited").count() as i64;
        let marks = |name: &str| browser.number(&format!("document.querySelectorAll('.mark.{name}').length"));
        assert_eq!(marks("cross"), inhibited);
        // A migration is drawn as a line and an arrowhead, a replication as a line and a ring.
        assert_eq!((marks("migrate"), marks("replicate")), (2 * accepted("migrate"), 2 * accepted("replicate")));
        assert_eq!(marks("undeploy"), accepted("undeploy"));
    }
}
