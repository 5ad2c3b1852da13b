//! The preset `city`: its rush hours are as documented, its applications are drawn from ranges and complement listed
//! ones, and errors in the settings of drawn applications are reported.

use std::path::Path;

use mario_scenario::{Document, NoFiles, Resolved, Scenario};

fn city(overrides: &[&str]) -> Resolved {
    let mut document = Document::preset("city").expect("a preset");
    document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The preset `city` with one listed application, in addition to the drawn ones.
fn with_an_application(id: &str) -> Document {
    let text = format!("preset = \"city\"\n[[application]]\nid = \"{id}\"\nmax_rate = 40\nmax_latency = 5\n");
    Document::file(Path::new("mine.toml"), text, &mut NoFiles)
}

#[test]
fn rush_hours_are_as_documented() {
    let handovers = city(&[]).scenario.attachments.handovers().in_step;
    // The second day. Two steps are an hour.
    let hours: Vec<u32> = handovers[48..].chunks(2).map(|hour| hour.iter().sum()).collect();
    let page = include_str!("../../../../docs/mobility.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| handovers | "));
    let rows = rows.filter(|row| row.split(" | ").count() == 12);
    let documented: Vec<u32> = rows
        .flat_map(|row| row.trim_end_matches(" |").split(" | "))
        .map(|count| count.parse().expect("a number"))
        .collect();
    assert_eq!(hours, documented);
}

#[test]
fn the_first_drawn_applications_do_not_depend_on_their_number() {
    let of = |count: u32| city(&[&format!("applications.count={count}"), "mobility.users=50"]).scenario.applications;
    let (few, many) = (of(3), of(500));
    assert_eq!((few.len(), many.len()), (3, 500));
    for (one, other) in few.iter().zip(&many) {
        assert_eq!((&one.application, &one.kind), (&other.application, &other.kind));
    }
    let in_range = |value: f64, low: f64, high: f64| (low..=high).contains(&value);
    for plan in &many {
        let application = &plan.application;
        let (rate, latency) = (application.max_rate.value(), application.max_latency.value());
        let hardware = application.hardware.as_units();
        match plan.kind.as_str() {
            "WS" => assert!((1..=2).contains(&hardware) && in_range(rate, 5.0, 20.0) && in_range(latency, 10.0, 30.0)),
            "LS" => assert!(hardware == 1 && in_range(rate, 20.0, 60.0) && in_range(latency, 1.0, 8.0)),
            other => panic!("{other}"),
        }
    }
    let of_kind = many.iter().filter(|plan| plan.kind == "WS").count();
    assert!((245..=255).contains(&of_kind), "{of_kind}");
    // Each whole latency from 1 to 8 occurs.
    let latencies: std::collections::BTreeSet<u64> =
        many.iter().filter(|plan| plan.kind == "LS").map(|plan| plan.application.max_latency.value() as u64).collect();
    assert_eq!(latencies.len(), 8, "{latencies:?}");
}

#[test]
fn drawn_applications_complement_listed_ones_and_follow_the_policy_of_the_command_line() {
    let mut document = with_an_application("video");
    document.set(&[
        "mobility.users=20".to_owned(),
        "applications.mix=[{ kind = \"X\", max_rate = [1, 1], max_latency = [2, 2], service_time = [1, 3], policy = \"latency-aware\" }]"
            .to_owned(),
    ]);
    let scenario = document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{error:?}")).scenario;
    assert_eq!(scenario.applications.len(), 13);
    assert_eq!(scenario.applications[0].application.id.to_string(), "video");
    assert!(scenario.applications[1..].iter().all(|plan| (1.0..=3.0).contains(&plan.service_time.units())));
    let policy_of = |scenario: &Scenario, place: usize| {
        scenario.policies[scenario.applications[place].policy.position()].name.clone()
    };
    assert_eq!(policy_of(&scenario, 1), "latency-aware");
    document.set_policy("workload-aware");
    let scenario = document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{error:?}")).scenario;
    assert!((0..13).all(|place| policy_of(&scenario, place) == "workload-aware"));
}

#[test]
fn invalid_settings_of_drawn_applications_are_reported_with_their_place() {
    let mistake = |overrides: &[&str]| {
        let mut document = Document::preset("city").expect("a preset");
        document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let error = document.resolve(&mut NoFiles).expect_err("a mistake");
        error.mistakes.iter().map(|mistake| mistake.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let bad_range = "applications.mix=[{ kind = \"X\", max_rate = [5, 1], max_latency = [2, 2] }]";
    assert!(mistake(&[bad_range]).contains("`max_rate` is from the lesser"), "{}", mistake(&[bad_range]));
    assert!(mistake(&["applications.mix=[]"]).contains("no sort"));
    assert!(mistake(&["applications.count=200000"]).contains("`count` must be from 0 to 100000"));
    assert!(mistake(&["applications.count=0"]).contains("no application"));
    let twice = with_an_application("app3").resolve(&mut NoFiles).expect_err("a mistake");
    assert!(twice.mistakes[0].message.contains("`app3` is listed, and drawn too"), "{twice:?}");
    assert!(mistake(&["mobility.evening=9"]).contains("evening"));
    assert!(mistake(&["mobility.step=0.001"]).contains("steps"));
    assert!(mistake(&["mobility.place=[{ at = [0, 0] }]"]).contains("place"));
    let elephant = "applications.mix=[{ kind = \"X\", max_rate = [1, 1], max_latency = [2, 2], hardware = [1, 99] }]";
    assert!(mistake(&[elephant, "topology.cloud_hardware=9"]).contains("fits on no node"));
    assert!(mistake(&["mobility.users=4000000000"]).contains("`users` must be from 0 to 16777216"));
}
