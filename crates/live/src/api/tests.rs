use std::path::Path;

use mario_testing::check_stored;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Capacity, Confirmation, Event, Happening, Hardware, Instance, Instances, JournalStatus, Links, NodeEvent,
    NodeReport, PeerState, Received, Report, Routes, Status, Word, openapi_text,
};

/// Answers of a node of the first version that served operators.
const OLDER: &str = include_str!("tests/older.json");

fn told<T: DeserializeOwned>(answer: &Value) -> Received<T> {
    Received::read(answer.clone()).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// The paths of what this version does not know.
fn unknown<T: DeserializeOwned + Serialize>(answer: &Value) -> Vec<String> {
    told::<T>(answer).unknown().into_iter().map(|part| part.path).collect()
}

#[test]
fn the_openapi_file_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    check_stored(&path, &openapi_text(), "UPDATE_DOCUMENTS");
}

#[test]
fn answers_of_an_older_node_are_read_and_what_they_lack_has_defaults() {
    let older: Value = serde_json::from_str(OLDER).expect("JSON");
    let status: Status = told(&older["status"]).known;
    assert_eq!((status.version.as_str(), status.free), ("0.1.0", Some(Capacity::Bounded(Hardware::Units(3)))));
    assert!(status.confirmation.is(&Confirmation::Confirmed) && status.outdated.is_none());
    assert_eq!((status.evaluation_ms, status.certificates.len(), status.copies_down), (None, 0, 0));
    let Instances { instances } = told(&older["instances"]).known;
    let owned = instances[0].owned().expect("its node owns it");
    assert!(!owned.is_asleep && !owned.is_anchor && owned.is_pinned && owned.is_healthy() && !owned.is_down());
    assert_eq!((owned.version, &owned.digest, &owned.flavour, &owned.restart), (0, &None, &None, &None));
    let decisions = owned.decisions.as_deref().expect("decisions");
    assert!(matches!(decisions[0].known(), Some(NodeReport::Evaluated { has_failed: false, .. })));
    assert!(matches!(decisions[1].known(), Some(NodeReport::Judged { is_accepted: false, rule: None, .. })));
    assert!(matches!(&instances[1], Instance::InCustody(custody) if !custody.is_anchor), "{instances:?}");
    let Links { links } = told(&older["links"]).known;
    assert!(links[0].is_up && !links[0].is_rejected && links[0].fault.is_none());
    let routes: Routes = told(&older["routes"]).known;
    assert_eq!((routes.next_hops.len(), routes.names_claimed_twice.len()), (1, 0));
    let journal: JournalStatus = told(&older["journal"]).known;
    assert!(journal.records_since_ledger == 0 && journal.peers[0].state.is(&PeerState::Known));
}

#[test]
fn fields_words_and_states_of_a_newer_node_are_tolerated_and_named() {
    let mut answers: Value = serde_json::from_str(OLDER).expect("JSON");
    answers["status"]["mood"] = "fine".into();
    answers["status"]["free"] = json!({ "units": 3, "npu": 1 });
    assert_eq!(unknown::<Status>(&answers["status"]), ["mood"]);
    let status: Received<Status> = told(&answers["status"]);
    assert_eq!(status.unknown()[0].to_string(), "mood = \"fine\"");
    assert_eq!(json!(status), answers["status"], "it is printed as the node sent it");
    let free = Hardware::Kinds(vec![("units".to_owned(), 3), ("npu".to_owned(), 1)]);
    assert_eq!(status.known.free, Some(Capacity::Bounded(free)));

    let instances = &mut answers["instances"];
    instances["instances"][0]["copy"]["state"] = "hibernating".into();
    instances["instances"][0]["copy"]["heat"] = 40.into();
    instances["instances"][0]["decisions"][0] = json!({ "kind": "pondered", "about": "b" });
    instances["instances"][1]["state"] = "cloned".into();
    let paths = ["instances[].copy", "instances[].copy.heat", "instances[].target"];
    assert_eq!(unknown::<Instances>(instances), paths);
    let Instances { instances } = told(instances).known;
    let owned = instances[0].owned().expect("its node owns it");
    assert_eq!(owned.copy_state(), Some(&Word::Unknown("hibernating".to_owned())));
    let decisions = owned.decisions.as_deref().expect("decisions");
    assert!(matches!(&*decisions[0], Report::Unknown(unknown) if unknown.kind == "pondered"), "{decisions:?}");
    assert!(matches!(&instances[1], Instance::Other(other) if other.state == "cloned"), "{instances:?}");
}

#[test]
fn events_have_their_json_and_newer_ones_are_kept() {
    let known = json!({ "number": 3, "time_ms": 9, "event": "link-up", "neighbour": "b", "repeated": 7 });
    assert_eq!(json!(told::<Event>(&known).known), known);
    assert!(unknown::<Event>(&known).is_empty());
    let extended = json!({ "number": 3, "time_ms": 9, "event": "link-up", "neighbour": "b", "speed": 1 });
    assert_eq!(unknown::<Event>(&extended), ["speed"]);
    let event = told::<Event>(&extended).known.event;
    assert!(matches!(event, Happening::Known(NodeEvent::LinkUp { .. })), "{event:?}");
    let newer = json!({ "number": 4, "time_ms": 9, "event": "sun-rose", "where": ["east"] });
    let Received { known, .. } = told::<Event>(&newer);
    assert!(matches!(&known.event, Happening::Unknown(unknown) if unknown.event == "sun-rose"), "{known:?}");
    assert_eq!(json!(known), newer, "it loses nothing");
    let changed = json!({ "number": 5, "time_ms": 9, "event": "link-up", "neighbours": ["b"] });
    assert!(matches!(told::<Event>(&changed).known.event, Happening::Unknown(_)), "its fields are others");
}
