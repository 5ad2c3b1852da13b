use std::env;
use std::fs;
use std::path::Path;

use super::*;

#[test]
fn the_committed_facts_are_those_of_the_full_records() {
    for policy in 1..=4 {
        let Some(directory) = crate::full(&format!("prototype/P{policy}")) else { return };
        let text = RecordedRun::convert(&directory).expect("the prototype's records").to_text();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/policy-{policy}.txt"));
        if env::var_os("UPDATE_REFERENCE").is_some() {
            fs::write(&path, &text).expect("the sources are writable");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let differing = text.lines().zip(committed.lines()).position(|(full, committed)| full != committed);
        assert_eq!(differing.map(|line| line + 1), None, "the first line of {} that differs", path.display());
        assert_eq!(text.len(), committed.len(), "{}", path.display());
    }
}

#[test]
fn the_committed_facts_are_complete_and_small() {
    let mut bytes = 0;
    let mut evaluations = 0;
    for policy in 1..=4 {
        let run = RecordedRun::of_policy(policy);
        let text = run.to_text();
        assert_eq!(RecordedRun::parse(&text).as_ref(), Ok(&run));
        assert_eq!(run.activations.len(), 259, "policy {policy}");
        assert_eq!(run.messages.checksums.len(), run.messages.count.div_ceil(MESSAGES_PER_CHECKSUM));
        bytes += text.len();
        evaluations += run.evaluations.len();
    }
    assert_eq!(evaluations, 33_252);
    assert!(bytes < 2_000_000, "{bytes}");
}

#[test]
fn a_malformed_run_is_rejected_with_its_line() {
    for (text, line) in [
        ("", Some(1)),
        ("evaluations\nactivations", Some(3)),
        ("messages 3", Some(1)),
        ("evaluations\nat 3\n2", Some(3)),
        ("evaluations\n2 1 000 8; 111:7; ; ", Some(2)),
        ("evaluations\n2 1 000 8; ; ; x111", Some(2)),
        ("evaluations\nactivations\n300 6r1é0+1", Some(3)),
        ("evaluations\nactivations\nmessages 1\n1 2 3", Some(4)),
    ] {
        let refused = RecordedRun::parse(text).err();
        assert_eq!(refused.map(|error| error.line), line, "{text}");
    }
}

#[test]
fn any_change_of_messages_changes_the_checksum() {
    let message = |emitted: f64| Message { user: 3, instance: 65, times: [46.0, 46.01, emitted, 46.0] };
    let of = |messages: &[Message]| {
        let mut known = Messages::default();
        messages.iter().for_each(|message| known.push(*message));
        known
    };
    let two = of(&[message(40.0), message(41.0)]);
    assert_ne!(two, of(&[message(41.0), message(40.0)]));
    assert_ne!(two.checksums, of(&[message(40.0), message(41.0_f64.next_up())]).checksums);
    assert_ne!(two.count, of(&[message(40.0)]).count);
    let many = of(&vec![message(40.0); 2 * MESSAGES_PER_CHECKSUM + 1]);
    assert_eq!((many.checksums.len(), many.first.len()), (3, CLEAR_MESSAGES));
    assert_eq!(many.checksums[0], many.checksums[1]);
}
