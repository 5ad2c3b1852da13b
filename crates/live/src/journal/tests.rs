mod damage;
mod store;

use mario_colony::JournalId;
use mario_testing::{Scratch, copy_previous_data};

use super::*;
use crate::identity::node_id;

fn node(name: &str) -> NodeId {
    node_id(name).expect("a name")
}

fn boot(number: u32) -> JournalRecord {
    JournalRecord::Boot { node: node("edge-1"), journal: JournalId(7), boot: number }
}

fn peer(sequence: u64) -> JournalRecord {
    JournalRecord::Peer { node: node("edge-2"), journal: JournalId(8), sequence }
}

fn reopened(scratch: &Scratch) -> Result<(DiskJournal, Ledger), LiveError> {
    DiskJournal::open(scratch.path(), &node("edge-1"))
}

#[test]
fn appended_records_survive_a_reopen() {
    let scratch = Scratch::new("journal");
    let mut expected = Ledger::default();
    for number in 0..3 {
        let (mut journal, ledger) = reopened(&scratch).expect("a journal");
        assert_eq!(ledger, expected);
        let records = [boot(number), peer(u64::from(number))];
        journal.append(&records).expect("a disk");
        records.iter().for_each(|record| expected.apply(record));
        assert_eq!(journal.count(), 2 * (u64::from(number) + 1));
    }
}

#[test]
fn a_journal_that_was_not_closed_is_known_as_such_once() {
    let scratch = Scratch::new("unclosed");
    let path = scratch.path().join("journal.redb");
    let (mut journal, _) = reopened(&scratch).expect("a journal");
    assert_eq!(journal.state(), JournalState::Closed);
    journal.append(&[boot(0), peer(1)]).expect("a disk");
    // What a killed daemon leaves.
    let left = fs::read(&path).expect("a file");
    drop(journal);
    fs::write(&path, left).expect("written");
    assert_eq!(DiskJournal::check(scratch.path(), &node("edge-1")).expect("whole"), JournalState::Unclosed);
    let (journal, ledger) = reopened(&scratch).expect("a journal");
    assert_eq!((journal.state(), ledger.sequence()), (JournalState::Closed, 2));
}

#[test]
fn a_second_daemon_and_another_node_are_refused() {
    let scratch = Scratch::new("second");
    let (mut journal, _) = reopened(&scratch).expect("a journal");
    journal.append(&[boot(0)]).expect("a disk");
    let line = reopened(&scratch).err().expect("in use").line();
    assert!(line.contains("another daemon uses it") && line.contains("data directory of its own"), "{line}");
    drop(journal);
    let line = DiskJournal::open(scratch.path(), &node("edge-9")).err().expect("another node").line();
    assert!(line.contains("that of node edge-1, and this is node edge-9"), "{line}");
}

fn change(scratch: &Scratch, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = Database::create(scratch.path().join("journal.redb")).expect("a database");
    let transaction = database.begin_write().expect("begun");
    change(&transaction);
    transaction.commit().expect("a disk");
}

#[test]
fn newer_and_damaged_journals_are_rejected() {
    let scratch = Scratch::new("damaged");
    let (mut journal, _) = reopened(&scratch).expect("a journal");
    journal.append(&[boot(0), peer(1), peer(2)]).expect("a disk");
    drop(journal);
    let put = |number: u64, content: &[u8]| {
        let mut bytes = content.to_vec();
        bytes.extend_from_slice(&crc32fast::hash(content).to_be_bytes());
        change(&scratch, |transaction| {
            transaction.open_table(RECORDS).expect("a table").insert(number, bytes.as_slice()).expect("inserted");
        });
    };
    put(2, &[99, 1, 2, 3]);
    let line = reopened(&scratch).err().expect("newer").line();
    assert!(line.contains("record 2") && line.contains("newer version"), "{line}");
    put(2, &[1, 0xff, 0xff]);
    let line = reopened(&scratch).err().expect("damaged").line();
    assert!(line.contains("record 2 of its journal is damaged"), "{line}");
    change(&scratch, |transaction| {
        transaction.open_table(RECORDS).expect("a table").insert(2, [1, 2, 3, 4, 5].as_slice()).expect("inserted");
    });
    assert!(reopened(&scratch).err().expect("damaged").line().contains("checksum"));
    change(&scratch, |transaction| {
        transaction.open_table(RECORDS).expect("a table").remove(1).expect("removed");
    });
    assert!(
        reopened(&scratch).err().expect("a gap").line().contains("record 1 of its journal is damaged: it is missing")
    );
    change(&scratch, |transaction| {
        transaction.open_table(SETTINGS).expect("a table").insert("layout", 3).expect("inserted");
    });
    assert!(reopened(&scratch).err().expect("newer").line().contains("layout 3"));
}

#[test]
fn a_file_that_is_not_a_journal_is_refused() {
    let scratch = Scratch::new("garbage");
    fs::write(scratch.path().join("journal.redb"), vec![7; 10_000]).expect("written");
    assert!(reopened(&scratch).err().expect("garbage").line().contains("cannot open"));
}

#[test]
fn a_compacted_journal_has_the_same_ledger_and_stays_small() {
    let scratch = Scratch::new("shortened");
    let size = |scratch: &Scratch| fs::metadata(scratch.path().join("journal.redb")).expect("a file").len();
    let mut expected = Ledger::default();
    let (mut journal, _) = reopened(&scratch).expect("a journal");
    let append = |journal: &mut DiskJournal, expected: &mut Ledger, record: JournalRecord| {
        journal.append(std::slice::from_ref(&record)).expect("a disk");
        expected.apply(&record);
    };
    append(&mut journal, &mut expected, boot(0));
    let mut largest = 0;
    for round in 0..6_u64 {
        let records: Vec<JournalRecord> = (0..1_500).map(|number| peer(round * 1_500 + number)).collect();
        for batch in records.chunks(100) {
            journal.append(batch).expect("a disk");
        }
        records.iter().for_each(|record| expected.apply(record));
        assert_eq!(journal.grown(), if round == 0 { 1_501 } else { 1_500 });
        journal.compact(&expected).expect("a disk");
        assert_eq!(journal.grown(), 0);
        largest = if round == 1 { size(&scratch) } else { largest };
    }
    assert!(size(&scratch) <= largest * 2, "{} bytes, and {largest} after two rounds", size(&scratch));
    append(&mut journal, &mut expected, peer(99_999));
    assert_eq!(journal.count(), 9_002);
    drop(journal);
    let (journal, ledger) = reopened(&scratch).expect("a journal");
    assert_eq!((&ledger, journal.count(), journal.grown()), (&expected, 9_002, 1));
    // Records that a trace may lack are available, as long as they are kept.
    assert_eq!(journal.records_after(9_000).expect("readable").map(|records| records.len()), Some(2));
    assert_eq!(journal.records_after(8_000).expect("readable").map(|records| records.len()), Some(1_002));
    assert_eq!(journal.records_after(100).expect("readable"), None);
    // Compacting to a ledger that is ahead of the written records does nothing, and a damaged ledger is detected when
    // the journal is opened.
    let mut journal = journal;
    let mut ahead = expected.clone();
    ahead.apply(&peer(1));
    journal.compact(&ahead).expect("nothing to do");
    assert_eq!(journal.grown(), 1);
    drop(journal);
    change(&scratch, |transaction| {
        transaction.open_table(LEDGERS).expect("a table").insert(9_001, [1, 2, 3, 4, 5].as_slice()).expect("inserted");
    });
    let line = reopened(&scratch).err().expect("damaged").line();
    assert!(line.contains("the ledger of its journal is damaged"), "{line}");
}

#[test]
fn a_journal_of_the_previous_version_is_read_and_continued() {
    let scratch = Scratch::new("previous");
    copy_previous_data(&scratch);
    let (mut journal, ledger) = DiskJournal::open(&scratch, &node("a")).expect("an older journal");
    let owned: Vec<String> = ledger.owned().map(|owned| owned.instance.to_string()).collect();
    assert!(owned[0].ends_with("-0-0") && owned[1].ends_with("-0-1") && owned.len() == 2, "{owned:?}");
    let custody: Vec<&NodeId> = ledger.custody().map(|custody| &custody.target).collect();
    assert_eq!(custody, [&node("b")]);
    let mut expected = ledger.clone();
    let record =
        JournalRecord::Pinned { instance: ledger.owned().next().expect("two").instance.clone(), is_pinned: true };
    journal.append(std::slice::from_ref(&record)).expect("a disk");
    expected.apply(&record);
    drop(journal);
    assert_eq!(DiskJournal::open(&scratch, &node("a")).expect("continued").1, expected);
}

/// A downgrade: a newer version wrote the file. Both versions are named, and what to do.
#[test]
fn a_newer_record_or_ledger_is_refused_with_both_versions() {
    let newest = mario_wire::RECORD_FORMAT;
    let formats = format!("it is in format {}, and this version reads formats up to {newest}", newest + 1);
    let mut content = Vec::new();
    encode_record(&boot(1), &mut content).expect("a record");
    content[0] = newest as u8 + 1;
    content.extend_from_slice(&crc32fast::hash(&content).to_be_bytes());
    let newer = |table: TableDefinition<'static, u64, &'static [u8]>, number: u64| {
        let scratch = Scratch::new("downgrade");
        let (mut journal, _) = reopened(&scratch).expect("a journal");
        journal.append(&[boot(0)]).expect("a disk");
        drop(journal);
        change(&scratch, |transaction| {
            transaction.open_table(table).expect("a table").insert(number, content.as_slice()).expect("inserted");
        });
        reopened(&scratch).err().expect("newer").line()
    };
    for (line, what) in
        [(newer(RECORDS, 1), "record 1 of its journal"), (newer(LEDGERS, 1), "the ledger of its journal")]
    {
        assert!(line.contains(&format!("{what} is from a newer version of mario")), "{line}");
        assert!(line.contains(&formats) && line.contains("use the version of mario that wrote it"), "{line}");
    }
}

/// A power cut may leave an empty file; a new journal would forget the instances of the node.
#[test]
fn an_empty_file_is_an_error_and_not_a_new_journal() {
    let scratch = Scratch::new("empty");
    drop(reopened(&scratch).expect("a new journal"));
    assert!(reopened(&scratch).is_ok(), "a journal without a record is a new one");
    fs::write(scratch.path().join("journal.redb"), []).expect("written");
    let line = reopened(&scratch).err().expect("empty").line();
    assert!(
        line.contains("its journal is damaged: journal.redb has 0 bytes") && line.contains("mario node lost"),
        "{line}"
    );
    assert_eq!(fs::metadata(scratch.path().join("journal.redb")).expect("a file").len(), 0, "nothing is written to it");
}
