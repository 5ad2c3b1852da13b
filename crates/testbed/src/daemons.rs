//! The processes of a colony: one daemon per node, and the processes that the daemons start.
//!
//! Workloads outlive their daemons by design. So this process becomes the subreaper of all its descendants: a process
//! that outlives its daemon becomes a child of this process, and [`Daemons::end`] ends it.

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mario_live::LiveError;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::directory::Directory;

/// How long a daemon may take to start.
const START: Duration = Duration::from_mins(1);
/// How long a daemon may take to end after SIGTERM; it first finishes open requests.
const STOP: Duration = Duration::from_secs(15);
/// How long the descendants may take to end after SIGKILL.
const SWEEP: Duration = Duration::from_secs(10);

/// The addresses on which a daemon listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListenAddresses {
    pub(crate) links: SocketAddr,
    pub(crate) ingress: SocketAddr,
    pub(crate) operators: SocketAddr,
}

/// All daemons of a colony.
pub(crate) struct Daemons {
    binary: PathBuf,
    directory: Directory,
    nodes: Vec<Daemon>,
}

struct Daemon {
    id: String,
    process: Option<Child>,
    /// The standard input of the daemon. When this process ends, even by `kill -9`, it is closed, and the daemon ends with
    /// its workloads.
    lifeline: Option<ChildStdin>,
}

impl Daemons {
    /// Prepares the daemons of these nodes without starting them, and makes this process the subreaper of its
    /// descendants.
    pub(crate) fn new(
        binary: PathBuf,
        directory: Directory,
        ids: impl Iterator<Item = String>,
    ) -> Result<Daemons, LiveError> {
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|error| LiveError::new("cannot look after the processes of the colony").caused_by(error))?;
        Ok(Daemons { binary, directory, nodes: ids.map(|id| Daemon { id, process: None, lifeline: None }).collect() })
    }

    /// Starts a daemon and waits until it listens.
    pub(crate) async fn start(&mut self, node: usize) -> Result<ListenAddresses, LiveError> {
        let stdout = self.spawn(node)?;
        self.listens(node, stdout).await
    }

    /// Starts all daemons concurrently. `started` is called for each once it listens, in the order of the nodes.
    pub(crate) async fn start_all(&mut self, mut started: impl FnMut(usize, ListenAddresses)) -> Result<(), LiveError> {
        let mut outputs = Vec::new();
        for node in 0..self.nodes.len() {
            outputs.push(self.spawn(node)?);
        }
        for (node, stdout) in outputs.into_iter().enumerate() {
            let listens = self.listens(node, stdout).await?;
            started(node, listens);
        }
        Ok(())
    }

    fn spawn(&mut self, node: usize) -> Result<BufReader<tokio::process::ChildStdout>, LiveError> {
        let id = self.nodes[node].id.clone();
        let unable =
            |error: std::io::Error| LiveError::new(format!("cannot start the daemon of node {id}")).caused_by(error);
        let log = OpenOptions::new().create(true).append(true).open(self.directory.log(&id)).map_err(unable)?;
        let mut command = Command::new(&self.binary);
        command
            .args(["node", "--config", "node.toml", "--until-stdin-closes"])
            .current_dir(self.directory.node(&id))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            // The daemon gets its own process group, so that Ctrl-C at the terminal reaches only this process, which
            // then stops the daemons in order.
            .process_group(0);
        let mut process = command.spawn().map_err(unable)?;
        let stdout = process.stdout.take().map(BufReader::new);
        self.nodes[node].lifeline = process.stdin.take();
        self.nodes[node].process = Some(process);
        stdout.ok_or_else(|| LiveError::new(format!("cannot read what the daemon of node {id} says")))
    }

    async fn listens(
        &mut self,
        node: usize,
        mut stdout: BufReader<tokio::process::ChildStdout>,
    ) -> Result<ListenAddresses, LiveError> {
        let id = self.nodes[node].id.clone();
        let mut line = String::new();
        let read = timeout(START, stdout.read_line(&mut line)).await;
        if let Some(listens) = parse(&line) {
            return Ok(listens);
        }
        let cause = match read {
            Err(_) => format!("it did not listen within {} s", START.as_secs()),
            Ok(_) => last_lines(&self.directory.log(&id)),
        };
        Err(LiveError::new(format!("the daemon of node {id} did not start"))
            .caused_by(cause)
            .hint(format!("its log is {}", self.directory.log(&id).display())))
    }

    /// Whether a daemon runs.
    pub(crate) fn runs(&mut self, node: usize) -> bool {
        self.nodes[node].process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// Kills a daemon with SIGKILL. The processes that it started keep running.
    pub(crate) async fn kill(&mut self, node: usize) {
        if let Some(mut process) = self.nodes[node].process.take() {
            let _ = process.kill().await;
        }
    }

    /// The proportional set size of all descendants of this process, i.e. daemons and workloads, in bytes.
    pub(crate) fn memory_bytes() -> u64 {
        let of = |pid: i32| {
            let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
            let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
            Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
        };
        // A process that has ended in the meantime counts as 0.
        descendants(std::process::id().cast_signed()).into_iter().filter_map(of).sum()
    }

    /// Ends every daemon with SIGTERM, or SIGKILL after a timeout. Then kills all other descendants of this process,
    /// such as workloads.
    pub(crate) async fn end(&mut self) {
        for daemon in &self.nodes {
            if let Some(pid) = daemon.process.as_ref().and_then(Child::id) {
                let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
            }
        }
        let deadline = Instant::now() + STOP;
        for daemon in &mut self.nodes {
            if let Some(mut process) = daemon.process.take() {
                let left = deadline.saturating_duration_since(Instant::now());
                if timeout(left, process.wait()).await.is_err() {
                    let _ = process.kill().await;
                }
            }
        }
        let deadline = Instant::now() + SWEEP;
        while sweep() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        let deadline = Instant::now() + SWEEP;
        while sweep() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Kills all descendants of this process and reaps its children. Returns whether there were any descendants.
fn sweep() -> bool {
    let own = std::process::id().cast_signed();
    let found = descendants(own);
    for pid in &found {
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    for pid in &found {
        let _ = waitpid(Pid::from_raw(*pid), Some(WaitPidFlag::WNOHANG));
    }
    !found.is_empty()
}

/// The descendants of a process.
fn descendants(root: i32) -> Vec<i32> {
    let parent = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain any character.
        let after = &stat[stat.rfind(')')? + 1..];
        Some((pid, after.split_whitespace().nth(1)?.parse::<i32>().ok()?))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parents: Vec<(i32, i32)> = pids.filter_map(parent).collect();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let above = found[next];
        found.extend(parents.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Parses the addresses in `node ID: links A, clients B, operators C`; `None` if one is missing or invalid.
fn parse(line: &str) -> Option<ListenAddresses> {
    let mut found = [None; 3];
    for (slot, word) in found.iter_mut().zip(["links ", "clients ", "operators "]) {
        let rest = &line[line.find(word)? + word.len()..];
        *slot = rest.split([',', '\n']).next()?.trim().parse().ok();
    }
    Some(ListenAddresses { links: found[0]?, ingress: found[1]?, operators: found[2]? })
}

/// The last lines of a log, for an error message.
fn last_lines(path: &std::path::Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(4).collect();
    if lines.is_empty() {
        return "it ended without a word".to_owned();
    }
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_addresses_in_the_line_of_a_daemon() {
        let line = "node n0: links 127.0.0.1:1, clients 127.0.0.1:2, operators 127.0.0.1:3\n";
        let listens = parse(line).expect("read");
        assert_eq!((listens.links.port(), listens.ingress.port(), listens.operators.port()), (1, 2, 3));
        assert_eq!(parse("error: cannot listen\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn descendants_are_found_through_their_parents() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().expect("sh");
        let deadline = Instant::now() + Duration::from_secs(30);
        let own = child.id().cast_signed();
        while descendants(own).is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let below = descendants(own);
        assert_eq!(below.len(), 1, "the sleep");
        for pid in below {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
