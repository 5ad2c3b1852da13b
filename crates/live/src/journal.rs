//! The write-ahead journal of a node on disk. At each start, the node's [`mario_colony::Ledger`] is restored from it.
//!
//! Records are stored by number, each with a checksum, in a [redb] file. [`Journal::append`] returns when they are on
//! disk. From time to time [`Journal::compact`] compacts the journal: it stores the ledger, and removes the records
//! that the ledger covers, except for the newest 1,024. Each append and each compaction is one transaction, so that a
//! crash leaves either the old or the new state.
//!
//! **Invariant:** no damage of the file causes a panic. It is reported when the journal is opened, because then all
//! checksums are verified; the file stays as it is, so that it is reported each time.

mod contained;
mod crash;
mod creation;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mario_colony::{JournalRecord, Ledger};
use mario_domain::NodeId;
use mario_wire::{DecodeError, decode_ledger, decode_record, encode_ledger, encode_record};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};

use crate::error::LiveError;

pub use contained::contains_panics;

use contained::contained;
use creation::create_if_missing;

/// The durable storage of a node's records.
pub trait Journal: Send {
    /// Appends records in order. After success, they are on disk. After an error, either none or all of them are on
    /// disk, and the caller must append the same records again before any others.
    fn append(&mut self, records: &[JournalRecord]) -> Result<(), LiveError>;

    /// How many records were ever appended, including those that were removed.
    fn count(&self) -> u64;

    /// How many records follow the last stored ledger.
    fn grown(&self) -> u64;

    /// Stores the ledger of all records, and removes the records, except for the newest `KEPT_RECORDS`. Does nothing if
    /// the ledger does not cover exactly the appended records.
    fn compact(&mut self, ledger: &Ledger) -> Result<(), LiveError>;
}

const RECORDS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("records");
const SETTINGS: TableDefinition<'static, &str, u64> = TableDefinition::new("settings");
/// The stored ledger, with the number of records that it covers as its key.
const LEDGERS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("ledgers");

/// How many records are kept although a ledger covers them, for a trace that may still lack them.
const KEPT_RECORDS: u64 = 1_024;

/// The version of the table layout. A file with a higher number was written by a newer version of mario.
const LAYOUT: u64 = 2;

/// The size of the page cache. It is small because records are read only when the daemon starts.
const CACHE_BYTES: usize = 1 << 20;

/// A journal in a redb file. The open file is locked against a second daemon.
pub struct DiskJournal {
    path: PathBuf,
    /// The open file; `None` after a failed write, until a write succeeds.
    database: Option<Database>,
    count: u64,
    /// How many records the stored ledger covers.
    shortened: u64,
    state: JournalState,
    crash: crash::Plan,
}

/// The state in which a journal was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JournalState {
    /// There was none, or its daemon had closed it.
    Closed,
    /// Its daemon, or the machine, had ended before it was closed. The database then undoes its last transaction if
    /// that is incomplete, and cannot tell this from a complete one that was damaged since.
    Unclosed,
}

impl DiskJournal {
    /// Checks that a node can use a data directory: that its journal can be opened or, if there is none, that one can be
    /// created. Creates nothing.
    pub fn check(directory: &Path, node: &NodeId) -> Result<JournalState, LiveError> {
        let attempted = || format!("cannot use the data directory {}", directory.display());
        match directory.join("journal.redb").try_exists() {
            Ok(true) => DiskJournal::open(directory, node).map(|(journal, _)| journal.state),
            Ok(false) => {
                creation::check(directory).map_err(|fault| LiveError::new(attempted()).caused_by(fault))?;
                Ok(JournalState::Closed)
            }
            Err(error) => Err(LiveError::new(attempted()).caused_by(error)),
        }
    }

    /// The state in which the journal was found.
    pub fn state(&self) -> JournalState {
        self.state
    }

    /// Opens the journal of a node in a data directory, which is created if needed. Returns the journal and its ledger.
    /// A file that is empty or damaged is an error; only without a file does a new journal begin.
    pub fn open(directory: &Path, node: &NodeId) -> Result<(DiskJournal, Ledger), LiveError> {
        let attempted = || format!("cannot use the data directory {}", directory.display());
        fs::create_dir_all(directory).map_err(|error| LiveError::new(attempted()).caused_by(error))?;
        let path = directory.join("journal.redb");
        let failed = |fault: LiveError| LiveError::new(attempted()).caused_by(fault);
        create_if_missing(&path).map_err(failed)?;
        let unreadable = |error| LiveError::new(attempted()).caused_by(error);
        let bytes = fs::read(&path).map_err(unreadable)?;
        let (mut database, state) = open_database(&path).map_err(failed)?;
        let verified = contained(|| verify(&mut database)).unwrap_or_else(|cause| Err(damaged_file(cause)));
        match verified {
            Ok(Verified::Whole) => {}
            // A database has to be reopened after a failed write.
            Ok(Verified::DiskFails) => {
                drop(database);
                (database, _) = open_database(&path).map_err(failed)?;
            }
            Err(fault) => {
                let _ = contained(|| drop(database));
                // The database repairs itself by undoing its last transaction, and the next start would not notice.
                put_back(&path, &bytes).map_err(unreadable)?;
                return Err(failed(fault));
            }
        }
        drop(bytes);
        let content = contained(|| read(&database, node));
        let content = content.unwrap_or_else(|cause| Err(damaged_file(cause)));
        let Content { ledger, shortened } = match content {
            Ok(content) => content,
            Err(fault) => {
                // The database of a damaged file may panic when it is closed, too.
                let _ = contained(|| drop(database));
                return Err(failed(fault));
            }
        };
        let (count, crash) = (ledger.sequence(), crash::Plan::from_environment());
        Ok((DiskJournal { path, database: Some(database), count, shortened, state, crash }, ledger))
    }

    /// Returns the records after number `number`, counted from 1, with their numbers. Returns `None` if the journal is
    /// shorter, some of these records were removed, or its file is closed after a failed write.
    pub fn records_after(&self, number: u64) -> Result<Option<Vec<(u64, JournalRecord)>>, LiveError> {
        let Some(database) = self.database.as_ref().filter(|_| number <= self.count) else { return Ok(None) };
        if number == self.count {
            return Ok(Some(Vec::new()));
        }
        contained(|| records_after(database, number)).unwrap_or_else(|cause| Err(damaged_file(cause)))
    }
}

/// The records after number `number`, with their numbers; `None` if some of them were removed.
fn records_after(database: &Database, number: u64) -> Result<Option<Vec<(u64, JournalRecord)>>, LiveError> {
    let failed = |error: AnyError| LiveError::new("cannot read the journal").caused_by(error);
    let transaction = database.begin_read().map_err(|error| failed(error.into()))?;
    let table = transaction.open_table(RECORDS).map_err(|error| failed(error.into()))?;
    let first = table.first().map_err(|error| failed(error.into()))?.map(|(first, _)| first.value());
    if first.is_none_or(|first| first > number) {
        return Ok(None);
    }
    let mut records = Vec::new();
    for entry in table.range(number..).map_err(|error| failed(error.into()))? {
        let (at, bytes) = entry.map_err(|error| failed(error.into()))?;
        records.push((at.value() + 1, decode(bytes.value(), at.value())?));
    }
    Ok(Some(records))
}

impl Journal for DiskJournal {
    fn append(&mut self, records: &[JournalRecord]) -> Result<(), LiveError> {
        let count = self.count;
        self.transact(|database| write(database, count, records))?;
        self.count += records.len() as u64;
        self.crash.after();
        Ok(())
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn grown(&self) -> u64 {
        self.count - self.shortened
    }

    fn compact(&mut self, ledger: &Ledger) -> Result<(), LiveError> {
        // Ignores a ledger that does not cover exactly the records on disk.
        if ledger.sequence() != self.count {
            return Ok(());
        }
        self.transact(|database| compact(database, ledger, KEPT_RECORDS))?;
        self.shortened = self.count;
        self.crash.after();
        Ok(())
    }
}

impl DiskJournal {
    fn transact(&mut self, change: impl FnOnce(&Database) -> Result<(), AnyError>) -> Result<(), LiveError> {
        self.crash.before();
        if self.crash.has_full_disk() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::StorageFull).into()));
        }
        let database = match self.database.take() {
            Some(database) => database,
            // redb requires a file to be reopened after a failed write.
            None => open_database(&self.path)?.0,
        };
        match contained(|| change(&database)) {
            Ok(Ok(())) => {
                self.database = Some(database);
                Ok(())
            }
            Ok(Err(error)) => {
                let _ = contained(|| drop(database));
                Err(failed(error))
            }
            Err(cause) => {
                let _ = contained(|| drop(database));
                Err(failed(Box::new(damaged_file(cause))))
            }
        }
    }
}

fn failed(error: AnyError) -> LiveError {
    LiveError::new("cannot write to the journal")
        .caused_by(error)
        .hint("no new instance is accepted until it can be written: make sure that the disk has free space and works")
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Opens a file, and tells whether it had been closed.
fn open_database(path: &Path) -> Result<(Database, JournalState), LiveError> {
    let failed =
        |error: AnyError| LiveError::new(format!("cannot open {}", path.display())).caused_by(error).hint(DAMAGED_HINT);
    if fs::metadata(path).map_err(|error| failed(error.into()))?.len() == 0 {
        return Err(damaged_file("journal.redb has 0 bytes".to_owned()));
    }
    let is_repaired = Arc::new(AtomicBool::new(false));
    let mut builder = builder();
    let repaired = Arc::clone(&is_repaired);
    builder.set_repair_callback(move |_| repaired.store(true, Ordering::Relaxed));
    let opened = contained(|| builder.open(path)).map_err(damaged_file)?;
    let state = if is_repaired.load(Ordering::Relaxed) { JournalState::Unclosed } else { JournalState::Closed };
    opened.map(|database| (database, state)).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => LiveError::new("another daemon uses it")
            .hint("stop that one first, or give this one a data directory of its own"),
        DatabaseError::UpgradeRequired(_) => {
            LiveError::new("its journal is of an older version that cannot be read").caused_by(error)
        }
        error => failed(error.into()),
    })
}

/// Verifies the checksums of the whole file. redb does that only after a crash.
fn verify(database: &mut Database) -> Result<Verified, LiveError> {
    match database.check_integrity() {
        Ok(true) => Ok(Verified::Whole),
        // A full disk keeps no node from starting.
        Err(DatabaseError::Storage(redb::StorageError::Io(error)))
            if error.kind() != std::io::ErrorKind::UnexpectedEof =>
        {
            Ok(Verified::DiskFails)
        }
        Ok(false) => Err(damaged_file("its checksums do not fit".to_owned())),
        Err(error) => Err(damaged_file(error.to_string())),
    }
}

/// What the verification of a file shows that is not damaged as far as it can be read.
enum Verified {
    Whole,
    DiskFails,
}

/// Writes the former content of a file over it, without making it empty first, because the disk may be full.
fn put_back(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

fn damaged_file(cause: String) -> LiveError {
    LiveError::new("its journal is damaged").caused_by(cause).hint(DAMAGED_HINT)
}

type AnyError = Box<dyn Error + Send + Sync>;

fn write(database: &Database, count: u64, records: &[JournalRecord]) -> Result<(), AnyError> {
    let transaction = database.begin_write()?;
    {
        transaction.open_table(SETTINGS)?.insert("layout", LAYOUT)?;
        let mut table = transaction.open_table(RECORDS)?;
        let mut bytes = Vec::new();
        for (number, record) in (count..).zip(records) {
            bytes.clear();
            encode_record(record, &mut bytes)?;
            let checksum = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&checksum.to_be_bytes());
            table.insert(number, bytes.as_slice())?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Stores a ledger, and removes the records that it covers, except for the newest `kept_records`.
fn compact(database: &Database, ledger: &Ledger, kept_records: u64) -> Result<(), AnyError> {
    let count = ledger.sequence();
    let transaction = database.begin_write()?;
    {
        transaction.open_table(SETTINGS)?.insert("layout", LAYOUT)?;
        let mut bytes = Vec::new();
        encode_ledger(ledger, &mut bytes)?;
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        let mut ledgers = transaction.open_table(LEDGERS)?;
        ledgers.retain(|_, _| false)?;
        ledgers.insert(count, bytes.as_slice())?;
        let first = count.saturating_sub(kept_records);
        transaction.open_table(RECORDS)?.retain_in(..first, |_, _| false)?;
    }
    transaction.commit()?;
    Ok(())
}

/// The content of the file.
struct Content {
    /// The ledger of all records.
    ledger: Ledger,
    /// How many records the stored ledger covers.
    shortened: u64,
}

/// Reads the stored ledger, and applies the records after it. Fails if the file is damaged, has an unknown layout, or
/// belongs to another node.
fn read(database: &Database, node: &NodeId) -> Result<Content, LiveError> {
    let failed = |error: AnyError| LiveError::new("cannot read its journal").caused_by(error);
    let transaction = database.begin_read().map_err(|error| failed(error.into()))?;
    let settings = match transaction.open_table(SETTINGS) {
        // Every journal has a layout from its beginning.
        Err(redb::TableError::TableDoesNotExist(_)) => return Err(damaged_file("it has no layout".to_owned())),
        other => other.map_err(|error| failed(error.into()))?,
    };
    let layout = settings.get("layout").map_err(|error| failed(error.into()))?.map_or(0, |layout| layout.value());
    if !(1..=LAYOUT).contains(&layout) {
        return Err(LiveError::new(format!("its journal has layout {layout}, and this version knows 1 to {LAYOUT}"))
            .hint("use the version of mario that wrote it, or a newer one"));
    }
    let mut ledger = read_ledger(&transaction)?.unwrap_or_default();
    let shortened = ledger.sequence();
    let table = match transaction.open_table(RECORDS) {
        // The first start was interrupted before its record was written.
        Err(redb::TableError::TableDoesNotExist(_)) if shortened == 0 => return Ok(Content { ledger, shortened }),
        other => other.map_err(|error| failed(error.into()))?,
    };
    check_owner(&ledger, node)?;
    // Some records that the ledger covers are kept for the trace.
    let first = table.first().map_err(|error| failed(error.into()))?.map_or(shortened, |(first, _)| first.value());
    let mut count = first.min(shortened);
    for entry in table.iter().map_err(|error| failed(error.into()))? {
        let (number, bytes) = entry.map_err(|error| failed(error.into()))?;
        if number.value() != count {
            return Err(damaged(count, "it is missing"));
        }
        let record = decode(bytes.value(), count)?;
        if count == 0 && !matches!(record, JournalRecord::Boot { .. }) {
            return Err(damaged(count, "it is not the beginning of a journal"));
        }
        if count >= shortened {
            ledger.apply(&record);
        }
        count += 1;
    }
    if count < shortened {
        return Err(damaged(count, "it is missing"));
    }
    check_owner(&ledger, node)?;
    Ok(Content { ledger, shortened })
}

/// Checks that a journal is empty or belongs to the node.
fn check_owner(ledger: &Ledger, node: &NodeId) -> Result<(), LiveError> {
    match ledger.node() {
        Some(whose) if whose != node => {
            Err(LiveError::new(format!("its journal is that of node {whose}, and this is node {node}"))
                .hint("give each node a data directory of its own"))
        }
        _ => Ok(()),
    }
}

/// The last stored ledger; `None` if none was stored.
fn read_ledger(transaction: &redb::ReadTransaction) -> Result<Option<Ledger>, LiveError> {
    let failed = |error: AnyError| LiveError::new("cannot read its journal").caused_by(error);
    let table = match transaction.open_table(LEDGERS) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        other => other.map_err(|error| failed(error.into()))?,
    };
    let Some((count, bytes)) = table.last().map_err(|error| failed(error.into()))? else { return Ok(None) };
    let wrong = |cause: &str| {
        LiveError::new("the ledger of its journal is damaged").caused_by(cause.to_owned()).hint(DAMAGED_HINT)
    };
    let Some((content, checksum)) =
        bytes.value().split_last_chunk::<4>().map(|(content, sum)| (content.to_vec(), *sum))
    else {
        return Err(wrong("it is cut off"));
    };
    if crc32fast::hash(&content) != u32::from_be_bytes(checksum) {
        return Err(wrong("its checksum does not fit"));
    }
    let ledger = decode_ledger(&content).map_err(|error| {
        if error.is_newer() { newer("the ledger of its journal", error) } else { wrong(&error.to_string()) }
    })?;
    if ledger.sequence() != count.value() {
        return Err(wrong("it adds up another number of records than it says"));
    }
    Ok(Some(ledger))
}

fn decode(bytes: &[u8], number: u64) -> Result<JournalRecord, LiveError> {
    let Some((content, checksum)) = bytes.split_last_chunk::<4>() else { return Err(damaged(number, "it is cut off")) };
    if crc32fast::hash(content) != u32::from_be_bytes(*checksum) {
        return Err(damaged(number, "its checksum does not fit"));
    }
    decode_record(content).map_err(|error| {
        if error.is_newer() {
            newer(&format!("record {number} of its journal"), error)
        } else {
            damaged(number, &error.to_string())
        }
    })
}

fn newer(what: &str, error: DecodeError) -> LiveError {
    LiveError::new(format!("{what} is from a newer version of mario"))
        .caused_by(error)
        .hint("use the version of mario that wrote it, or a newer one")
}

/// The error of a journal that ends before record `noted`, which the trace of the node has.
pub(crate) fn cut_short(count: u64, noted: u64) -> LiveError {
    let cause = format!("it ends with record {count}, and the trace beside it has record {noted}");
    LiveError::new("its journal has lost records that were on disk").caused_by(cause).hint(DAMAGED_HINT)
}

fn damaged(number: u64, cause: &str) -> LiveError {
    LiveError::new(format!("record {number} of its journal is damaged")).caused_by(cause.to_owned()).hint(DAMAGED_HINT)
}

const DAMAGED_HINT: &str = "see that the disk works; then move the data directory away and start again: the node begins a new journal, and \
                            its neighbours are told with `mario node lost` that the old one is lost (docs/live.md, Crashes and restarts)";

#[cfg(test)]
mod tests;
