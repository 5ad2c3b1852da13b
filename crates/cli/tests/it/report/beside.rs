//! What a report shows in addition to its runs: published values, how the cost grows with the size of the world, and
//! the claims of a reproduction.

use std::fs;
use std::path::Path;

use super::{TRACE, report, run_directory};
use crate::{mario, stderr};

const POINT: &str = r#"{"nodes":85,"users":243,"agents":40,"cycles":10,"asked":400,"evaluated":100,"cpu_ns_per_agent_cycle":910.5,"peak_bytes":21000000,"wall_s":0.25}"#;

/// The JSON data in the `report.html` of a directory.
fn data(directory: &Path) -> serde_json::Value {
    let page = fs::read_to_string(directory.join("report.html")).expect("it was written");
    let (_, data) = page.split_once("id=\"data\">").expect("the page holds its data");
    serde_json::from_str(data.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn published_values_stand_beside_runs_of_the_same_policy() {
    let named = |name: &str| {
        TRACE.replace("\"policies\":[{\"name\":\"follow\"", &format!("\"policies\":[{{\"name\":\"{name}\""))
    };
    let trace = named("latency-aware");
    assert_ne!(trace, TRACE, "the policy has another name now");
    let directory = run_directory("published", &trace);
    for (option, source, response) in [
        ("--published", "the paper", 2.628),
        ("--published=prototype", "the stored runs of the paper's prototype", 2.6286),
    ] {
        let (code, message) = report(&directory, &[option]);
        assert_eq!(code, Some(0), "{message}");
        let published = &data(&directory)["published"];
        assert_eq!(published["source"], source);
        assert_eq!(published["values"][0]["LS.response"], response);
    }
}

#[test]
fn reports_a_policy_without_published_values() {
    let directory = run_directory("unpublished", TRACE);
    let (code, message) = report(&directory, &["--published"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("nothing was published about the policies of these runs"), "{message}");
    assert!(message.contains("hint: it was about workload-aware, latency-aware"), "{message}");
}

#[test]
fn measurements_of_scale_are_shown_with_and_without_runs() {
    let directory = run_directory("scale", TRACE);
    fs::write(directory.join("town.json"), format!("[{POINT}]\n")).expect("writable");
    let (code, message) = report(&directory, &["--scale", "town.json"]);
    assert_eq!(code, Some(0), "{message}");
    let measured = |data: &serde_json::Value| {
        let sections = data["sections"].as_array().expect("a list").clone();
        let scale = sections.into_iter().find(|section| section["id"] == "scale").expect("it is drawn");
        scale["figures"][0]["data"][0]["csv"].as_str().expect("a text").to_owned()
    };
    assert!(measured(&data(&directory)).contains("\ntown,85,"), "{}", measured(&data(&directory)));
    let alone = mario().args(["report", "--scale", "town.json", "--svg", "figures"]).current_dir(&directory).output();
    let alone = alone.expect("it runs");
    assert_eq!(alone.status.code(), Some(0), "{}", stderr(&alone));
    assert!(measured(&data(&directory)).contains("\ntown,85,"));
    assert_eq!(data(&directory)["title"], "Scale");
    assert!(directory.join("figures/scale-cpu.svg").exists());
}

#[test]
fn rejects_what_is_not_a_measurement_with_its_place() {
    let directory = run_directory("no-scale", TRACE);
    for (text, expected) in [
        ("[]", "cause: there is no measurement in it"),
        ("{\"nodes\":85}", "cause: invalid type: map, expected a sequence at line 1 column 0"),
        ("[{\"nodes\":85}]", "cause: missing field `users` at line 1 column 13"),
        (
            &format!("[{}]", POINT.replace("100", "401")),
            "cause: `evaluated` of measurement 1 must be no more than `asked`",
        ),
        (
            &format!("[{POINT},\n{}]", POINT.replace("85", "-1")),
            "cause: invalid value: integer `-1`, expected u64 at line 2",
        ),
    ] {
        fs::write(directory.join("bad.json"), text).expect("writable");
        let (code, message) = report(&directory, &["--scale", "bad.json"]);
        assert_eq!(code, Some(2), "{message}");
        assert!(
            message.contains("`bad.json` holds no measurements of scale") && message.contains(expected),
            "{message}"
        );
        assert!(message.contains("hint: `mario bench scale --format json` writes them"), "{message}");
    }
    assert!(!directory.join("report.html").exists());
}

#[test]
fn reproducing_again_uses_an_unused_directory() {
    let directory = run_directory("reproduce", TRACE);
    for number in 1..=2 {
        let arguments = ["reproduce", "--set", "duration=2000", "--set", "mobility.steps=1"];
        let output = mario().args(arguments).current_dir(&directory).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let page = format!("runs/reproduction-{number}/report.html");
        assert!(directory.join(&page).exists() && stderr(&output).contains(&page), "{}", stderr(&output));
        let shown = data(&directory.join(format!("runs/reproduction-{number}")))["claims"].clone();
        let shown = shown.as_array().expect("a list");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(printed.contains(&format!("of {} claims hold", shown.len())), "{printed}");
        for claim in shown {
            let verdict = if claim["holds"] == true { "holds        " } else { "does not hold" };
            assert!(printed.contains(&format!("{verdict}  {}", claim["claim"].as_str().expect("text"))), "{claim}");
        }
    }
}
