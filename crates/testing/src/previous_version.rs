//! Files that a previous version of mario wrote.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The path of a file of `crates/testing/previous-version`; its `README.md` lists them.
pub fn previous_version(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("previous-version").join(name)
}

/// The text of a compressed file of a previous version.
pub fn previous_text(name: &str) -> String {
    String::from_utf8(decompressed(name)).expect("text")
}

fn decompressed(name: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let compressed = fs::File::open(previous_version(name)).expect("stored");
    GzDecoder::new(compressed).read_to_end(&mut content).expect("compressed");
    content
}

/// Copies the data directory of the previous version's node `a` to `target`, without its trace. Compressed files are
/// decompressed.
pub fn copy_previous_data(target: &Path) {
    fs::create_dir_all(target).expect("a directory");
    fs::write(target.join("journal.redb"), decompressed("data-a/journal.redb.gz")).expect("written");
    for workload in ["0.0", "0.1", "0.2"] {
        let directory = target.join("workloads").join(workload);
        fs::create_dir_all(&directory).expect("a directory");
        let record = previous_version("data-a/workloads").join(workload).join("start.json");
        fs::copy(record, directory.join("start.json")).expect("copied");
    }
}
