//! Damages the file of a journal, anywhere.

use mario_testing::Random;

use super::*;

/// A journal with a stored ledger and records after it. Returns the bytes of its file, and the ledgers after each
/// write.
fn whole() -> (Vec<u8>, Vec<Ledger>) {
    let scratch = Scratch::new("whole");
    let (mut journal, mut ledger) = reopened(&scratch).expect("a journal");
    let mut ledgers = vec![ledger.clone()];
    for round in 0..40_u64 {
        let records = match round {
            0 => vec![boot(0)],
            _ => (0..20).map(|number| peer(round * 100 + number)).collect(),
        };
        journal.append(&records).expect("a disk");
        records.iter().for_each(|record| ledger.apply(record));
        ledgers.push(ledger.clone());
        if round == 30 {
            journal.compact(&ledger).expect("a disk");
        }
    }
    drop(journal);
    (fs::read(scratch.path().join("journal.redb")).expect("a file"), ledgers)
}

/// Opens a journal with this content, and uses it. Nothing may panic. Returns whether it was opened.
fn open_and_use(scratch: &Scratch, bytes: &[u8], ledgers: &[Ledger], damage: &str) -> bool {
    fs::write(scratch.path().join("journal.redb"), bytes).expect("written");
    match reopened(scratch) {
        Ok((mut journal, ledger)) => {
            // The damage hit unused space, or undid the last writes as a whole. Neighbours detect the latter.
            let known = ledgers.iter().rposition(|known| *known == ledger);
            assert!(known.is_some_and(|known| known + 2 >= ledgers.len()), "{damage}: the ledger is after {known:?}");
            let _ = journal.records_after(ledger.sequence().saturating_sub(5));
            let next = boot(1);
            let mut after = ledger;
            if journal.append(std::slice::from_ref(&next)).is_ok() {
                after.apply(&next);
                let _ = journal.compact(&after);
                drop(journal);
                let reopened = reopened(scratch).unwrap_or_else(|fault| panic!("{damage}: {}", fault.line()));
                assert!(reopened.1 == after, "{damage}: what was written is there");
            }
            true
        }
        Err(fault) => {
            let line = fault.line();
            assert!(line.starts_with("cannot use the data directory"), "{damage}: {line}");
            assert!(fault.help().is_some(), "{damage}: {line}");
            assert!(reopened(scratch).is_err(), "{damage}: the next start reports it, too");
            false
        }
    }
}

#[test]
fn flipped_bits_and_lost_ends_of_a_journal_are_reported_and_never_panic() {
    let (bytes, ledgers) = whole();
    let scratch = Scratch::new("flipped");
    let mut random = Random::new(3);
    let (mut refused, mut total) = (0, 0);
    let mut check = |bytes: &[u8], damage: &str| {
        total += 1;
        refused += usize::from(!open_and_use(&scratch, bytes, &ledgers, damage));
    };
    assert!(open_and_use(&scratch, &bytes, &ledgers, "no damage"));
    // The head of the file is small, and decides how all the rest is read: each of its bytes is tried.
    let head = (0..320).map(|at| (at, random.below(8)));
    let anywhere: Vec<(usize, usize)> = head.collect();
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let in_use: Vec<(usize, usize)> = (0..300).map(|_| (used[random.below(used.len())], random.below(8))).collect();
    for (at, bit) in anywhere.into_iter().chain(in_use) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        check(&damaged, &format!("bit {bit} of byte {at} flipped"));
    }
    for _ in 0..40 {
        let length = random.below(bytes.len());
        check(&bytes[..length], &format!("cut to {length} bytes"));
    }
    for _ in 0..40 {
        let mut damaged = bytes.clone();
        let at = random.below(bytes.len() - 200);
        damaged[at..at + 200].fill_with(|| random.below(256) as u8);
        check(&damaged, &format!("200 bytes at {at} replaced"));
    }
    println!("{refused} of {total} damaged files were refused");
    assert!(refused * 3 > total, "only {refused} of {total} were refused");
}
