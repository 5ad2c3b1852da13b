//! Keys that depend on other keys: if a later layer overrides a key, dependent values of earlier layers are dropped or
//! adjusted with a note. Keys without effect are noted or rejected.

use std::path::Path;

use mario_scenario::settings::{GeneratedSettings, MobilitySettings};
use mario_scenario::{Document, NoFiles, Resolved, ScenarioError};

/// Lists of overrides, one for each call of `Document::set`.
type Calls<'c> = &'c [&'c [&'c str]];

/// The paper's scenario with overrides. Each list is a separate call, as with `--set` and the keys of a sweep.
fn paper(calls: Calls<'_>) -> Result<Resolved, ScenarioError> {
    let mut document = Document::preset("paper").expect("a preset");
    for keys in calls {
        document.set(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
    }
    document.resolve(&mut NoFiles)
}

fn generated(resolved: &Resolved) -> &GeneratedSettings {
    match &resolved.settings.mobility {
        MobilitySettings::Generated(users) => users,
        other => panic!("{other:?}"),
    }
}

/// The number of users at the start, and in total.
fn at_first_and_in_all(resolved: &Resolved) -> (usize, usize) {
    (resolved.scenario.attachments.steps[0].len(), resolved.scenario.users.len())
}

#[test]
fn overriding_the_number_of_users_drops_the_number_of_first_users() {
    let cases: [(Calls<'_>, (usize, usize)); 8] = [
        (&[], (50, 51)),
        (&[&["mobility.users=51"]], (50, 51)),
        (&[&["mobility.users=200"]], (200, 200)),
        (&[&["mobility.users=20"]], (20, 20)),
        (&[&["mobility.first_users=50", "mobility.users=200"]], (50, 200)),
        (&[&["mobility.first_users=10"], &["mobility.users=200"]], (10, 200)),
        (&[&["mobility.users=200"], &["mobility.first_users=10"]], (10, 200)),
        (&[&["mobility.users=200", "mobility.arrivals_per_step=30"]], (50, 200)),
    ];
    for (calls, expected) in cases {
        assert_eq!(at_first_and_in_all(&paper(calls).expect("no mistakes")), expected, "{calls:?}");
    }
    let notes = paper(&[&["mobility.users=200"]]).expect("no mistakes").notes;
    let expected = "`mobility.users` is 200, and all of them are there from the first step on: `mobility.first_users = 50` was \
                meant for 51";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    assert_eq!(paper(&[]).expect("no mistakes").notes, ["51 users are generated from seed 1"]);
}

#[test]
fn a_file_on_top_of_a_preset_is_a_layer_and_a_file_alone_is_not() {
    let resolved = |text: &str| {
        let document = Document::file(Path::new("s.toml"), text, &mut NoFiles);
        document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{:#?}", error.mistakes))
    };
    assert_eq!(at_first_and_in_all(&resolved("preset = \"paper\"\n[mobility]\nusers = 80\n")), (80, 80));
    assert_eq!(
        at_first_and_in_all(&resolved("preset = \"paper\"\n[mobility]\nusers = 80\nfirst_users = 7\n")),
        (7, 80)
    );
    // The resolved settings, written as a file, give the same users and steps.
    let shown = toml::to_string(&paper(&[&["mobility.users=80", "duration=60000"]]).expect("no mistakes").settings);
    let again = resolved(&shown.expect("settings are plain data"));
    assert_eq!((at_first_and_in_all(&again), generated(&again).steps), ((80, 80), 30));
    assert_eq!(again.notes, ["80 users are generated from seed 1"]);
}

#[test]
fn the_number_of_steps_follows_the_duration_and_the_step_unless_given_with_them() {
    for (calls, steps) in [
        (&[&["duration=104000"][..]][..], 52),
        (&[&["mobility.step=1000"]], 52),
        (&[&["duration=52001"]], 27),
        // The number of steps does not shrink, so a shorter run starts like a longer one.
        (&[&["duration=4000"]], 26),
        (&[&["mobility.step=4000"]], 26),
        (&[&["duration=104000", "mobility.steps=30"]], 30),
        (&[&["mobility.steps=30"], &["duration=104000"]], 30),
    ] {
        assert_eq!(generated(&paper(calls).expect("no mistakes")).steps, steps, "{calls:?}");
    }
    let has_note = |calls: Calls<'_>, words: &str| {
        let notes = paper(calls).expect("no mistakes").notes;
        assert!(notes.iter().any(|note| note.contains(words)), "{calls:?}: {notes:?}");
    };
    has_note(
        &[&["duration=104000"]],
        "users move in 52 steps of 2000 ms, as long as the run takes: 26 would end at 52000",
    );
    has_note(
        &[&["mobility.steps=10"]],
        "users stay where they are from 20000 on: 10 steps of 2000 ms end before the run does, at 52000",
    );
    has_note(&[&["duration=1000"]], "1 of the 51 users never come: the run ends before, at 1000");
}

#[test]
fn keys_without_effect_and_times_after_the_end_are_noted() {
    let cases: [(&str, &[&str], &str); 6] = [
        ("prototype", &["memory.cycles=4"], "`memory.cycles` has no effect: `memory.strategy` is `periodic`"),
        (
            "prototype",
            &["routing.metric=latency"],
            "`routing.metric` has no effect: `routing.strategy` is `least-used`",
        ),
        ("paper", &["memory.every=4"], "`memory.every` has no effect: `memory.strategy` is `sliding`"),
        ("paper", &["agents.start=52000"], "no agent evaluates"),
        ("paper", &["managers.period=60000"], "no manager judges"),
        ("paper", &["workload.period=60000"], "no client request is sent"),
    ];
    for (preset, keys, words) in cases {
        let mut document = Document::preset(preset).expect("a preset");
        document.set(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        let notes = document.resolve(&mut NoFiles).expect("no mistakes").notes;
        assert!(notes.iter().any(|note| note.starts_with(words)), "{keys:?}: {notes:?}");
    }
    for preset in ["paper", "prototype", "city", "shop"] {
        let notes = Document::preset(preset).expect("a preset").resolve(&mut NoFiles).expect("no mistakes").notes;
        assert_eq!(notes.len(), 1, "{preset}: {notes:?}");
    }
}

#[test]
fn a_later_key_without_effect_because_of_a_list_of_levels_is_an_error() {
    let list = "topology.hardware=[\"unbounded\", 9, 6, 2]";
    assert!(paper(&[&[list]]).is_ok());
    let error = paper(&[&[list], &["topology.access_hardware=5"]]).expect_err("no effect");
    let mistake = error.mistakes[0].to_string();
    assert!(mistake.starts_with("--set:1:26: `access_hardware` has no effect: `hardware` lists"), "{mistake}");
    let error = paper(&[&["topology.latency=[1, 2, 3]"], &["topology.latency_step=5"]]).expect_err("no effect");
    assert!(error.mistakes[0].message.starts_with("`latency_step` has no effect"), "{}", error.mistakes[0]);
}

#[test]
fn names_of_tiers_belong_to_their_kind_of_topology() {
    let tiers_and_note = |calls: Calls<'_>| {
        let resolved = paper(calls).expect("a scenario");
        (resolved.settings.tiers.len(), resolved.notes.iter().any(|note| note.contains("names in `tiers`")))
    };
    assert_eq!(tiers_and_note(&[]), (4, false));
    assert_eq!(tiers_and_note(&[&["topology.kind=tiled-tree"]]), (4, false));
    // Names are dropped with the kind, although this tree has four tiers as well.
    assert_eq!(tiers_and_note(&[&["topology.kind=tree", "topology.depth=3"]]), (0, true));
    assert_eq!(
        tiers_and_note(&[&["topology.kind=tree", "topology.depth=1", "tiers=[\"top\", \"leaves\"]"]]),
        (2, false)
    );
}
