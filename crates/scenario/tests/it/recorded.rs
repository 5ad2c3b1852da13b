//! Notes and errors about recorded users: unused parts of a record, swapped, distant or invalid coordinates, and
//! records that do not fit into memory. Numbers of users and steps in a preset do not limit a record.

use std::path::Path;

use mario_scenario::{Document, Resolved, ScenarioError};

use crate::scenarios::Texts;

const HEAD: &str = "preset = \"paper\"\n";

fn resolve(keys: &str, name: &str, file: &str) -> Result<Resolved, ScenarioError> {
    let mut files = Texts::default().with(name, file);
    let text = format!("{HEAD}{keys}\n[mobility]\nkind = \"file\"\nfile = \"{name}\"\n");
    let text = if name.ends_with("json") { text.replace("\"file\"\n", "\"attachments\"\n") } else { text };
    Document::file(Path::new("s.toml"), text, &mut files).resolve(&mut files)
}

/// The notes about a scenario with a record, without those about keys of the preset for another kind of mobility.
fn notes(keys: &str, name: &str, file: &str) -> Vec<String> {
    let mut notes = resolve(keys, name, file).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).notes;
    notes.retain(|note| !note.ends_with("was meant for another kind"));
    notes
}

const POSITIONS: &str = "user,step,latitude,longitude\n\
    a,0,41.89,12.47\na,3,41.90,12.48\nb,0,41.91,12.49\nb,1,41.90,12.49\nc,4,41.90,12.47\n";

const ATTACHMENTS: &str = r#"{"users": {"a": {"app": 4}, "b": {"app": 1}},
    "steps": [{"step": 0, "node": {"a": "n3lt0ln0"}}, {"step": 1, "node": {"a": "n3lt0ln1"}},
              {"step": 2, "node": {"a": "n3lt0ln0", "b": "n3lt1ln1"}}, {"step": 3, "node": {"a": null}}]}"#;

#[test]
fn the_unused_part_of_a_record_is_noted_with_numbers() {
    let cut = notes("duration = 6_000", "p.csv", POSITIONS);
    let expected = "the run ends at 6000, after 3 of the 5 steps of the record: 2 of its moves, arrivals and departures and 1 of \
                its 3 users are left out; a `duration` of 10000 includes all";
    assert_eq!(cut, [expected]);
    let cut = notes("duration = 4_000", "a.json", ATTACHMENTS);
    let expected = "the run ends at 4000, after 2 of the 4 steps of the record: 3 of its moves, arrivals and departures and 1 of \
                its 2 users are left out; a `duration` of 8000 includes all";
    assert_eq!(cut, [expected]);
    assert!(notes("duration = 10_000", "p.csv", POSITIONS).is_empty());
    let short = notes("duration = 20_000", "p.csv", POSITIONS);
    let expected = "users stay where they are from 10000 on: 5 steps of 2000 ms end before the run does, at 20000";
    assert_eq!(short, [expected]);
}

#[test]
fn swapped_coordinates_are_detected_in_every_format() {
    let taxi = "1;2014-02-01 00:00:00+01;POINT(12.47 41.89)\n1;2014-02-01 00:01:00+01;POINT(12.48 41.90)\n";
    let gpx = "<gpx><trk><trkseg><trkpt lat=\"12.47\" lon=\"41.89\"><time>2014-02-01T00:00:00Z</time></trkpt>\
               </trkseg></trk></gpx>";
    let sumo = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"41.89\" y=\"12.47\"/></timestep></fcd-export>";
    let tracks = "id,time,latitude,longitude\na,0,12.47,41.89\na,60,12.48,41.90\n";
    let positions = POSITIONS.replace("latitude,longitude", "longitude,latitude");
    for (name, file, remedy) in [
        ("p.csv", positions.as_str(), "exchange the names"),
        ("t.csv", tracks, "exchange the names"),
        ("t.txt", taxi, "POINT(latitude longitude)"),
        ("t.gpx", gpx, "`lat` is the latitude"),
        ("t.xml", sumo, "`x` is the longitude"),
    ] {
        let error = resolve("", name, file).expect_err(name);
        assert_eq!(error.mistakes.len(), 1, "{name}: {:?}", error.mistakes);
        let mistake = error.mistakes[0].to_string();
        assert!(mistake.starts_with("s.toml:5:8: latitude and longitude are exchanged"), "{name}: {mistake}");
        assert!(mistake.contains(remedy), "{name}: {mistake}");
    }
}

#[test]
fn positions_outside_the_topology_are_noted() {
    let far = POSITIONS.replace("41.9", "48.9");
    let notes = notes("duration = 10_000", "p.csv", &far);
    assert_eq!(notes, ["4 of the 5 positions are outside of what the topology covers, `topology.area` or its nodes"]);
}

#[test]
fn a_latitude_beyond_a_pole_is_an_error_that_mentions_the_order_of_coordinates() {
    let beyond = "user,step,latitude,longitude\na,0,116.4,39.9\n";
    let error = resolve("", "p.csv", beyond).expect_err("116 degrees north");
    let mistake = error.mistakes[0].to_string();
    assert!(mistake.starts_with("p.csv:2:5: expected a latitude from -90 to 90"), "{mistake}");
    assert!(mistake.contains("exchanged"), "{mistake}");
}

#[test]
fn tracks_whose_steps_do_not_fit_into_memory_are_rejected_first() {
    let mut tracks = "id,time,latitude,longitude\n".to_owned();
    for user in 0..2_000 {
        tracks += &format!("{user},0,41.89,12.47\n{user},999,41.90,12.48\n");
    }
    let text = format!("{HEAD}[mobility]\nkind = \"file\"\nfile = \"t.csv\"\nstep_seconds = 0.001\n");
    let mut files = Texts::default().with("t.csv", &tracks);
    let error = Document::file(Path::new("s.toml"), text, &mut files).resolve(&mut files).expect_err("75 GiB");
    let mistake = error.mistakes[0].to_string();
    assert!(mistake.starts_with("s.toml:5:16: 999001 steps of 2000 users take 74 GiB"), "{mistake}");
}

#[test]
fn the_users_and_steps_that_a_preset_generates_do_not_limit_a_record() {
    let mut rows = "user,step,latitude,longitude\n".to_owned();
    for user in 0..60 {
        rows += &format!("{user},0,41.89,12.47\n{user},{},41.90,12.48\n", 1 + user % 40);
    }
    let of = |keys: &str| {
        let mut files = Texts::default().with("p.csv", &rows);
        let text = format!("{HEAD}duration = 100_000\n[mobility]\nkind = \"file\"\nfile = \"p.csv\"\n{keys}");
        let document = Document::file(Path::new("s.toml"), text, &mut files);
        document.resolve(&mut files).unwrap_or_else(|error| panic!("{:#?}", error.mistakes))
    };
    let whole = of("");
    assert_eq!((whole.scenario.users.len(), whole.scenario.attachments.step_count()), (60, 41));
    let expected = "`mobility.kind` is `file`: `mobility.users = 51` was meant for another kind";
    assert!(whole.notes.iter().any(|note| note == expected), "{:?}", whole.notes);
    assert_eq!(of("steps = 26\n").scenario.attachments.step_count(), 26);
}
