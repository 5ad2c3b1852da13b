//! A trace continues after a crash, lines are buffered while the disk fails, and dropped lines are marked as a gap.

use std::fs;
use std::path::{Path, PathBuf};

use mario_colony::{JournalId, JournalRecord, Ledger, TraceEvent};
use mario_domain::{Capacity, NodeId};
use mario_testing::Scratch;
use mario_trace::live::{LiveEvent, PART_VERSION, PartHeader, PartLine, PartRecord, Stamp};

use super::{Change, PENDING_BYTES_MAX, RETRY_AFTER, Recorder};

fn node() -> NodeId {
    NodeId::name("a").expect("a name")
}

fn header() -> PartHeader {
    PartHeader {
        mario_trace_part: PART_VERSION,
        program: "mario".to_owned(),
        colony: "harbour".to_owned(),
        node: node(),
        journal: format!("{:032x}", 7),
        part: 0,
        capacity: Capacity::units(4),
        neighbours: Vec::new(),
        facts: Vec::new(),
        has_acceptance: false,
        evaluation_ms: 1_000,
        decision_budget: 1_000,
    }
}

fn boot(boot: u32) -> JournalRecord {
    JournalRecord::Boot { node: node(), journal: JournalId(7), boot }
}

fn peer(number: u64) -> JournalRecord {
    JournalRecord::Peer { node: NodeId::name("b").expect("a name"), journal: JournalId(8), sequence: number }
}

/// The ledger of some records.
fn ledger(records: &[JournalRecord]) -> Ledger {
    let mut ledger = Ledger::default();
    records.iter().for_each(|record| ledger.apply(record));
    ledger
}

/// The lines of all parts in a data directory, without their headers.
fn lines(data: &Path) -> Vec<PartRecord> {
    let mut parts: Vec<PathBuf> =
        fs::read_dir(data.join("trace")).expect("a directory").map(|entry| entry.expect("one").path()).collect();
    parts.sort();
    let texts = parts.iter().map(|part| fs::read_to_string(part).expect("a part"));
    texts
        .flat_map(|text| text.lines().skip(1).map(|line| serde_json::from_str(line).expect(line)).collect::<Vec<_>>())
        .collect()
}

fn state_of(line: &PartRecord) -> Option<(u64, bool)> {
    match &line.2 {
        PartLine::Event(LiveEvent::State(state)) => Some((state.records, state.follows)),
        _ => None,
    }
}

#[test]
fn records_missing_from_the_trace_are_added_at_the_next_start_with_an_earlier_time() {
    let directory = Scratch::new("recorder-crash");
    let (mut recorder, last) = Recorder::open(directory.path(), header(), 1 << 20);
    assert_eq!(last, None);
    recorder.catch_up(&[]);
    recorder.record(1, &boot(0));
    assert_eq!(recorder.flush(&ledger(&[boot(0)])), None);
    drop(recorder);

    // The daemon crashed after it wrote the second and third record to the journal, but before it wrote them to the
    // trace.
    let (mut recorder, last) = Recorder::open(directory.path(), header(), 1 << 20);
    assert_eq!(last, Some(1));
    recorder.catch_up(&[(2, peer(1)), (3, peer(2))]);
    recorder.record(4, &boot(1));
    recorder.flush(&ledger(&[boot(0), peer(1), peer(2), boot(1)]));

    let lines = lines(directory.path());
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line.1).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let stamps: Vec<Stamp> = lines.iter().map(|line| line.0).collect();
    assert!(stamps.is_sorted_by(|one, other| one < other), "{stamps:?}");
    assert_eq!(lines.iter().filter_map(state_of).collect::<Vec<_>>(), [(1, true), (4, true)]);
}

#[test]
fn a_trace_that_lacks_the_journal_has_a_gap() {
    let directory = Scratch::new("recorder-late");
    let (mut recorder, last) = Recorder::open(directory.path(), header(), 1 << 20);
    assert_eq!(last, None);
    recorder.record(5, &boot(4));
    recorder.flush(&ledger(&[boot(0), boot(1), boot(2), boot(3), boot(4)]));
    assert_eq!(lines(directory.path()).iter().filter_map(state_of).collect::<Vec<_>>(), [(5, false)]);
}

#[test]
fn a_truncated_last_line_is_ignored() {
    let directory = Scratch::new("recorder-torn");
    let (mut recorder, _) = Recorder::open(directory.path(), header(), 1 << 20);
    recorder.catch_up(&[]);
    recorder.record(1, &boot(0));
    recorder.record(2, &peer(1));
    recorder.flush(&ledger(&[boot(0), peer(1)]));
    let part = directory.path().join("trace/00000001.jsonl");
    let text = fs::read_to_string(&part).expect("a part");
    // The line of the second record is truncated, and the state after it is missing.
    let end = text.find("\"peer\"").expect("it is told");
    fs::write(&part, &text[..end]).expect("written");
    let (_, last) = Recorder::open(directory.path(), header(), 1 << 20);
    assert_eq!(last, Some(1));
}

#[test]
fn lines_are_buffered_while_the_disk_fails_and_dropped_beyond_a_bound() {
    let directory = Scratch::new("recorder-full");
    let in_the_way = directory.path().join("trace");
    fs::write(&in_the_way, "a file").expect("written");
    let (mut recorder, _) = Recorder::open(directory.path(), header(), 64 << 20);
    recorder.catch_up(&[]);
    let mut records = vec![boot(0)];
    recorder.record(1, &boot(0));
    assert!(matches!(recorder.flush(&ledger(&records)), Some(Change::Fails(_))));
    assert!(recorder.fault().is_some());
    records.push(peer(1));
    recorder.record(2, &peer(1));
    let up = vec![NodeId::name(&"n".repeat(200)).expect("a name"); 100];
    for _ in 0..PENDING_BYTES_MAX / 20_000 + 10 {
        recorder.report(&TraceEvent::Neighbours { up: up.clone(), introduced: Vec::new() });
        // The failure is reported only once.
        assert_eq!(recorder.flush(&ledger(&records)), None);
    }
    assert!(recorder.pending.len() <= PENDING_BYTES_MAX);
    fs::remove_file(&in_the_way).expect("removed");
    std::thread::sleep(RETRY_AFTER);
    records.push(peer(2));
    recorder.record(3, &peer(2));
    assert_eq!(recorder.flush(&ledger(&records)), Some(Change::Works));
    let told: Vec<(u64, bool)> = lines(directory.path()).iter().filter_map(state_of).collect();
    assert!(told.contains(&(2, false)) || told.contains(&(3, false)), "{told:?}");
}
