//! Creates a journal, and checks beforehand whether one can be created.

use std::fs;
use std::path::Path;

use redb::Database;
use rustix::fs::{Access, access};

use super::{AnyError, LAYOUT, SETTINGS, builder};
use crate::error::LiveError;

/// Checks that a data directory without a journal can be written or, if it is missing, created in its parent. Creates
/// nothing.
pub(super) fn check(directory: &Path) -> Result<(), LiveError> {
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = if directory.exists() { directory } else { parent };
    let shown = place.display();
    if !place.exists() {
        return Err(
            LiveError::new(format!("the directory {shown} does not exist")).hint("create it, or correct `data`")
        );
    }
    if !place.is_dir() {
        return Err(LiveError::new(format!("{shown} is not a directory")).hint("correct `data`"));
    }
    access(place, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
        LiveError::new(format!("cannot write to the directory {shown}"))
            .caused_by(error)
            .hint("let the user of the daemon write to it, or correct `data`")
    })
}

/// Creates an empty journal if there is no file. A crash leaves either no journal or a complete one, so an empty file
/// is never the remainder of a start.
pub(super) fn create_if_missing(path: &Path) -> Result<(), LiveError> {
    let failed = |error: AnyError| LiveError::new(format!("cannot create {}", path.display())).caused_by(error);
    if path.try_exists().map_err(|error| failed(error.into()))? {
        return Ok(());
    }
    let unfinished = path.with_extension(format!("{}.new", std::process::id()));
    let create = || -> Result<(), AnyError> {
        let _ = fs::remove_file(&unfinished);
        let database = builder().create(&unfinished)?;
        begin(&database)?;
        drop(database);
        // Unlike a rename, a link never replaces the journal of another daemon that starts at the same time.
        match fs::hard_link(&unfinished, path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            // Not every file system has links.
            Err(_) => fs::rename(&unfinished, path)?,
            Ok(()) => {}
        }
        if let Some(directory) = path.parent() {
            fs::File::open(directory)?.sync_all()?;
        }
        Ok(())
    };
    let created = create();
    let _ = fs::remove_file(&unfinished);
    created.map_err(failed)
}

/// Stores the layout in a new file.
pub(super) fn begin(database: &Database) -> Result<(), AnyError> {
    let transaction = database.begin_write()?;
    transaction.open_table(SETTINGS)?.insert("layout", LAYOUT)?;
    transaction.commit()?;
    Ok(())
}
