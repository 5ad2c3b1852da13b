//! Tests the journal on a simulated disk that loses unsynced writes, wholly or in part.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mario_testing::Random;
use redb::StorageBackend;

use super::*;

/// A simulated disk. If `dies_at` is set, its power fails after this number of operations.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    /// The content at the last sync.
    safe: Vec<u8>,
    now: Vec<u8>,
    /// Unsynced writes: offset, and number of bytes.
    unsynced: Vec<(usize, usize)>,
    operations: u64,
    dies_at: Option<u64>,
}

impl Disk {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation. Returns an error if the power is off.
    fn step(&self) -> io::Result<MutexGuard<'_, Content>> {
        let mut content = self.content();
        content.operations += 1;
        match content.dies_at {
            Some(last) if content.operations > last => Err(io::Error::other("no power")),
            _ => Ok(content),
        }
    }

    /// Returns the disk after the power failure. Of each unsynced write, at random, all bytes, only the first ones or
    /// none reached the disk.
    fn revive(&self, seed: u64) -> Disk {
        let content = self.content();
        let mut disk = content.safe.clone();
        disk.resize(content.now.len(), 0);
        let mut random = Random::new(seed);
        for (at, length) in &content.unsynced {
            let arrived = match random.below(4) {
                0 => 0,
                1 => random.below(length + 1),
                _ => *length,
            };
            let end = (at + arrived).min(disk.len());
            if *at < end {
                disk[*at..end].copy_from_slice(&content.now[*at..end]);
            }
        }
        Disk(Arc::new(Mutex::new(Content { safe: disk.clone(), now: disk, ..Content::default() })))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.step()?.now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let content = self.step()?;
        let at = offset as usize;
        let bytes = content.now.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.step()?.now.resize(length as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut content = self.step()?;
        content.safe = content.now.clone();
        content.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut content = self.step()?;
        let at = offset as usize;
        content.now[at..at + data.len()].copy_from_slice(data);
        content.unsynced.push((at, data.len()));
        Ok(())
    }
}

fn database(disk: &Disk) -> Result<Database, DatabaseError> {
    Database::builder().create_with_backend(disk.clone())
}

/// A disk with an empty database.
fn made() -> Disk {
    let disk = Disk::default();
    creation::begin(&database(&disk).expect("made")).expect("begun");
    disk.content().operations = 0;
    disk
}

/// Writes ten rounds of records, each followed by a compaction, or fewer if the disk dies. Returns the last ledger that
/// is certainly on disk, and the last that may be.
fn write_until_it_dies(disk: &Disk) -> (Ledger, Ledger) {
    let (mut sure, mut maybe) = (Ledger::default(), Ledger::default());
    let Ok(database) = database(disk) else { return (sure, maybe) };
    for round in 0..10_u32 {
        let records = [boot(round), peer(u64::from(round)), peer(u64::from(round) + 1)];
        records.iter().for_each(|record| maybe.apply(record));
        if write(&database, sure.sequence(), &records).is_err() {
            break;
        }
        sure = maybe.clone();
        if compact(&database, &sure, 2).is_err() {
            break;
        }
    }
    std::mem::forget(database);
    (sure, maybe)
}

#[test]
fn a_write_that_dies_anywhere_is_atomic() {
    let whole = made();
    write_until_it_dies(&whole);
    let operations = whole.content().operations;
    assert!(operations > 100, "{operations} operations");
    let mut survived = 0;
    for last in 0..operations {
        let disk = made();
        disk.content().dies_at = Some(last);
        let (sure, maybe) = write_until_it_dies(&disk);
        for seed in [last, last + 7_919] {
            let revived = disk.revive(seed);
            let mut opened =
                database(&revived).unwrap_or_else(|error| panic!("operation {last}, seed {seed}: {error}"));
            let verified = verify(&mut opened);
            verified.unwrap_or_else(|fault| panic!("operation {last}, seed {seed}: {}", fault.line()));
            let read = read(&opened, &node("edge-1"));
            let read = read.unwrap_or_else(|fault| panic!("operation {last}, seed {seed}: {}", fault.line()));
            assert!(read.ledger == sure || read.ledger == maybe, "operation {last}, seed {seed}");
            survived += u64::from(read.ledger.sequence() > 0);
        }
    }
    assert!(survived > operations, "most of them have something to lose: {survived}");
}
