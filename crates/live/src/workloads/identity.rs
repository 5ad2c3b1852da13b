//! Finds the processes of workloads, and identifies them by pidfds, because process ids are recycled.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptors::is_exhausted;

/// A process identified unambiguously: a pidfd, and the data read about the process while it was alive.
#[derive(Debug)]
pub struct Process {
    fd: OwnedFd,
    stat: Stat,
}

/// The relevant fields of `/proc/PID/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stat {
    pub(super) pid: i32,
    pub(super) session: i32,
    /// Start time in ticks after the boot of the system.
    pub(super) started: u64,
    pub(super) cpu_ticks: u64,
    pub(super) memory_pages: u64,
    is_zombie: bool,
}

impl Process {
    /// Opens the process with this id, if it started at this time and still runs.
    pub fn open(pid: i32, started: u64) -> Option<Process> {
        Process::open_if(pid, |stat| Ok(stat.started == started)).ok().flatten()
    }

    /// The error is a lack of resources: whether there is such a process is unknown.
    fn open_if(pid: i32, is_wanted: impl FnOnce(&Stat) -> io::Result<bool>) -> io::Result<Option<Process>> {
        let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
        let opened = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from);
        let Some(fd) = unless_exhausted(opened)? else { return Ok(None) };
        let Some(stat) = Stat::load(pid.as_raw_nonzero().get())? else { return Ok(None) };
        let process = Process { fd, stat };
        // If the process is still alive after reading, the data belongs to it: its id cannot have been recycled in
        // between.
        Ok((is_wanted(&stat)? && process.is_alive()).then_some(process))
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.stat.pid
    }

    /// When it started, in ticks after the boot of the system.
    pub fn started(&self) -> u64 {
        self.stat.started
    }

    pub(super) fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Whether it has not exited. A zombie counts as exited.
    pub fn is_alive(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
    }

    /// Sends a signal. Has no effect if the process has exited.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(self.fd.as_fd(), signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits until it has exited.
    pub async fn exited(&self) -> io::Result<()> {
        #[expect(
            deprecated,
            reason = "its number must stay the same, which that of an `OwnedFd` does; the other way is unsafe"
        )]
        let fd = AsyncFd::with_interest(self.fd.try_clone()?, Interest::READABLE)?;
        let _ready = fd.readable().await?;
        Ok(())
    }
}

impl Stat {
    pub(super) fn read(pid: i32) -> Option<Stat> {
        Stat::load(pid).ok().flatten()
    }

    fn load(pid: i32) -> io::Result<Option<Stat>> {
        let text = unless_exhausted(fs::read_to_string(format!("/proc/{pid}/stat")))?;
        Ok(text.and_then(|text| Stat::parse(&text)))
    }

    /// Parses a line of `/proc/PID/stat`. The second field is the name of the program and may contain any character,
    /// including spaces and parentheses.
    fn parse(text: &str) -> Option<Stat> {
        let pid = text.split_once(' ')?.0.parse().ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // Field 3 of the manual page has index 0 here.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            pid,
            session: fields.get(3)?.parse().ok()?,
            started: number(22)?,
            cpu_ticks: number(14)?.saturating_add(number(15)?),
            memory_pages: number(24)?,
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
        })
    }
}

/// Returns all living processes of the session, if one is given, and all living processes with the mark in their
/// environment, whatever their session.
///
/// The mark is the value of [`MARK`]. It is found only in processes that this user may inspect. The error is a lack of
/// resources: an empty list means that there is no such process.
pub(super) fn marked(mark: &str, session: Option<i32>) -> io::Result<Vec<Process>> {
    let is_member = |stat: &Stat| -> io::Result<bool> {
        Ok(!stat.is_zombie && (session == Some(stat.session) || mark_of(stat.pid)?.as_deref() == Some(mark)))
    };
    let mut found = Vec::new();
    for pid in all_pids()? {
        if let Some(stat) = Stat::load(pid)?
            && is_member(&stat)?
        {
            found.extend(Process::open_if(pid, is_member)?);
        }
    }
    Ok(found)
}

/// Returns the distinct marks with this prefix, of all processes that this user may inspect.
pub(super) fn marks_with_prefix(prefix: &str) -> io::Result<Vec<String>> {
    let mut marks = Vec::new();
    for pid in all_pids()? {
        marks.extend(mark_of(pid)?.filter(|mark| mark.starts_with(prefix)));
    }
    marks.sort();
    marks.dedup();
    Ok(marks)
}

/// Returns whether one of these processes listens on the port; `None` if no listening socket is visible, or the open
/// files of a process cannot be read.
pub(super) fn listens(processes: &[Process], port: u16) -> Option<bool> {
    let mut sockets = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        sockets.extend(listening(&fs::read_to_string(table).unwrap_or_default(), port));
    }
    if sockets.is_empty() {
        return None;
    }
    for process in processes {
        for entry in fs::read_dir(format!("/proc/{}/fd", process.pid())).ok()?.flatten() {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            if target.to_str().is_some_and(|target| sockets.iter().any(|socket| socket == target)) {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// Returns the sockets of a table such as `/proc/net/tcp` that listen on a port, named like the links in
/// `/proc/PID/fd`.
fn listening(table: &str, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let listening = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_wanted = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == "0A";
        is_wanted.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
    });
    listening.collect()
}

/// The environment variable that marks the processes of a workload, set before any of them is executed.
pub const MARK: &str = "MARIO_WORKLOAD";

/// The environment variable with the node and the data directory for which a process of a workload was started. Unlike
/// [`MARK`], it does not change when the node begins a new journal.
pub const PLACE: &str = "MARIO_WORKLOAD_PLACE";

/// Returns all living processes with this [`PLACE`] whose mark fulfils a condition, with their marks.
pub(super) fn placed(place: &str, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(Process, String)>> {
    let mark_if_placed = |stat: &Stat| -> io::Result<Option<String>> {
        if stat.is_zombie || variable_of(stat.pid, PLACE)?.as_deref() != Some(place) {
            return Ok(None);
        }
        Ok(mark_of(stat.pid)?.filter(|mark| is_wanted(mark) && sees_the_same_files(stat.pid)))
    };
    let mut found = Vec::new();
    for pid in all_pids()? {
        if let Some(stat) = Stat::load(pid)?
            && let Some(mark) = mark_if_placed(&stat)?
        {
            let opened = Process::open_if(pid, |stat| Ok(mark_if_placed(stat)?.as_ref() == Some(&mark)))?;
            found.extend(opened.map(|process| (process, mark)));
        }
    }
    Ok(found)
}

/// Whether a process has the same root directory as this one: in another container, the same path is another
/// directory.
fn sees_the_same_files(pid: i32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = |of: &str| fs::metadata(format!("/proc/{of}/root")).ok().map(|root| (root.dev(), root.ino()));
    root(&pid.to_string()).is_some_and(|theirs| root("self") == Some(theirs))
}

fn mark_of(pid: i32) -> io::Result<Option<String>> {
    variable_of(pid, MARK)
}

fn variable_of(pid: i32, name: &str) -> io::Result<Option<String>> {
    let Some(environment) = unless_exhausted(fs::read(format!("/proc/{pid}/environ")))? else { return Ok(None) };
    let prefix = format!("{name}=");
    let value = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(prefix.as_bytes()));
    Ok(value.and_then(|value| String::from_utf8(value.to_vec()).ok()))
}

fn all_pids() -> io::Result<impl Iterator<Item = i32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// `None` for an error that means that a process is gone, or may not be inspected; an error if the system lacks
/// resources, such as file descriptors, to find out.
fn unless_exhausted<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_exhausted(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the id of this boot of the system; empty if it cannot be read. Start times of processes are relative to the
/// boot.
pub(super) fn system_boot() -> String {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_may_have_any_name() {
        let text = "12 (a) b) c) S 1 12 7 0 -1 4194560 1 0 0 0 3 4 0 0 20 0 1 0 99 1000 55 0";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.pid, stat.session, stat.started, stat.cpu_ticks, stat.memory_pages), (12, 7, 99, 7, 55));
        assert_eq!(Stat::parse("12 (no end"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn a_recycled_process_id_is_never_opened_or_signalled() {
        let mut child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let pid = child.id().cast_signed();
        let started = Stat::read(pid).unwrap().started;
        // The right id with a wrong start time is what a recycled id looks like.
        assert!(Process::open(pid, started + 1).is_none());
        assert!(Process::open(pid, started - 1).is_none());
        let process = Process::open(pid, started).unwrap();
        assert!(process.is_alive());
        process.signal(Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(!process.is_alive());
        // The pidfd outlives the process and never refers to another one.
        process.signal(Signal::KILL).unwrap();
        assert!(Process::open(pid, started).is_none());
    }

    #[test]
    fn marked_living_processes_are_found_in_any_session() {
        let mark = format!("test-{}/1.2", std::process::id());
        let mut child = Command::new("/bin/sleep").arg("60").env(MARK, &mark).spawn().unwrap();
        // The environment of a process becomes readable only a moment after it starts.
        let found = (0..500)
            .find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                Some(marked(&mark, None).unwrap()).filter(|found| !found.is_empty())
            })
            .unwrap_or_default();
        assert_eq!(found.iter().map(Process::pid).collect::<Vec<_>>(), [child.id().cast_signed()]);
        assert!(marks_with_prefix("test-").unwrap().contains(&mark));
        child.kill().unwrap();
        // The process becomes a zombie: it has exited, and its parent has not waited for it yet.
        while found[0].is_alive() {
            std::thread::yield_now();
        }
        assert!(marked(&mark, None).unwrap().is_empty());
        child.wait().unwrap();
    }
}
