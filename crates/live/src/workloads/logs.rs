//! The output of workloads, kept in files of bounded size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How much of a workload's output is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogBounds {
    /// The maximum size of one file, in bytes.
    pub file_bytes_max: u64,
    /// How many full files are kept beside the current one.
    pub files_kept: u32,
}

impl Default for LogBounds {
    fn default() -> LogBounds {
        LogBounds { file_bytes_max: 4 << 20, files_kept: 2 }
    }
}

const NEWEST: &str = "output.log";

/// A rotating log. `output.log` is the newest file, `output.log.1` the one before it.
#[derive(Debug)]
pub struct RotatingLog {
    directory: PathBuf,
    bounds: LogBounds,
    file: File,
    bytes: u64,
}

impl RotatingLog {
    /// Opens a log to append to it.
    pub fn open(directory: &Path, bounds: LogBounds) -> io::Result<RotatingLog> {
        let file = open_log(&directory.join(NEWEST))?;
        let bytes = file.metadata()?.len();
        Ok(RotatingLog { directory: directory.to_owned(), bounds, file, bytes })
    }

    /// Appends bytes. Files are rotated at their maximum size, not at line ends, so that an endless line is bounded
    /// too.
    pub fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.bounds.file_bytes_max.max(1).saturating_sub(self.bytes);
            if room == 0 {
                self.rotate()?;
                continue;
            }
            let part = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (now, later) = bytes.split_at(part);
            self.file.write_all(now)?;
            self.bytes += part as u64;
            bytes = later;
        }
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let name = self.directory.join(NEWEST);
        let old = |age: u32| PathBuf::from(format!("{}.{age}", name.display()));
        for age in (1..self.bounds.files_kept).rev() {
            if old(age).exists() {
                fs::rename(old(age), old(age + 1))?;
            }
        }
        if self.bounds.files_kept > 0 {
            fs::rename(&name, old(1))?;
        } else {
            fs::remove_file(&name)?;
        }
        self.file = open_log(&name)?;
        self.bytes = 0;
        Ok(())
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Returns the last bytes of a log, at most `bytes_max`, across rotated files, from the start of a line if possible.
pub fn tail(directory: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let newest = directory.join(NEWEST);
    let mut parts = Vec::new();
    let mut wanted = bytes_max;
    for age in 0..=u32::from(u8::MAX) {
        let path = if age == 0 { newest.clone() } else { PathBuf::from(format!("{}.{age}", newest.display())) };
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let taken = length.min(wanted);
        file.seek(SeekFrom::Start(length - taken))?;
        let mut part = Vec::new();
        file.take(taken).read_to_end(&mut part)?;
        parts.push(part);
        wanted -= taken;
        if wanted == 0 {
            break;
        }
    }
    let is_cut = wanted == 0;
    parts.reverse();
    let mut bytes = parts.concat();
    if is_cut && let Some(end) = bytes.iter().position(|&byte| byte == b'\n').filter(|end| end + 1 < bytes.len()) {
        bytes.drain(..=end);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use mario_testing::Scratch;

    use super::*;

    #[test]
    fn a_flood_keeps_the_newest_bytes_within_the_bounds() {
        let directory = Scratch::new("flood");
        let bounds = LogBounds { file_bytes_max: 1000, files_kept: 2 };
        let mut log = RotatingLog::open(&directory, bounds).unwrap();
        let text = (0..5000).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
        for part in text.as_bytes().chunks(777) {
            log.append(part).unwrap();
        }
        let on_disk: u64 = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!((2000..=3000).contains(&on_disk), "{on_disk}");
        let text_kept = String::from_utf8(tail(&directory, 1500).unwrap()).unwrap();
        assert!(text_kept.starts_with("line ") && text_kept.ends_with("line 4999\n"));
        assert!(text_kept.len() > 1480 && text.ends_with(&text_kept));
        // A reopened log continues.
        let mut log = RotatingLog::open(&directory, bounds).unwrap();
        log.append(b"end\n").unwrap();
        assert!(tail(&directory, 100).unwrap().ends_with(b"line 4999\nend\n"));
    }

    #[test]
    fn zero_bounds_keep_nothing_and_terminate() {
        let directory = Scratch::new("nothing");
        let mut log = RotatingLog::open(&directory, LogBounds { file_bytes_max: 0, files_kept: 0 }).unwrap();
        log.append(b"abc").unwrap();
        assert_eq!(tail(&directory, 100).unwrap(), b"c");
    }
}
