//! The processes between the daemon and a program: the shim and the exec stage.
//!
//! The daemon runs its own binary as the shim. The shim starts a session, waits for the plan, runs the binary again as
//! the exec stage, logs the program's output, and records how it ended. The exec stage joins the control groups, limits
//! itself and becomes the program by `exec`. Because each process sets this up for itself, no hook is needed between
//! fork and exec.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};
use serde::{Deserialize, Serialize};

use super::logs::{LogBounds, RotatingLog};
use super::record::{ExitRecord, Workspace};

/// What a shim runs. It is passed through a pipe and never written to disk, because it contains secrets.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) workspace: PathBuf,
    /// The binary and its arguments for the exec stage.
    pub(super) launcher: Vec<PathBuf>,
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) bounds: LogBounds,
    pub(super) confinement: Confinement,
}

/// The restrictions that the exec stage puts on itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Confinement {
    /// The control groups to join.
    pub(super) groups: Vec<PathBuf>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) open_files_max: Option<u64>,
    /// The soft limit of open files, if `open_files_max` does not set one: the daemon has raised its own.
    #[serde(default)]
    pub(super) open_files_soft: Option<u64>,
}

const PLAN_BYTES_MAX: u64 = 16 << 20;
/// How long the shim waits for each pipe to close after the program has ended, to log the last output.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The exit code of an exec stage that cannot restrict itself or cannot execute its program. Shells use it for a
/// command that is not found.
const NOT_EXECUTED: u8 = 127;

/// Runs as the shim or as the exec stage. Returns the exit code: 2 for invalid arguments, 0 from the shim, and 127 from
/// an exec stage that cannot become the program. Called by the binary of a [`Launcher`](super::Launcher).
pub fn main(arguments: &[OsString]) -> u8 {
    match arguments.split_first() {
        Some((stage, [])) if stage == "shim" => shim(),
        Some((stage, [workspace, confinement, command @ ..])) if stage == "exec" => {
            exec(PathBuf::from(workspace), confinement, command)
        }
        _ => 2,
    }
}

fn shim() -> u8 {
    // Fails only for the leader of a process group, which a process started by the daemon is not.
    let _ = setsid();
    let mut text = Vec::new();
    let plan = match io::stdin().lock().take(PLAN_BYTES_MAX).read_to_end(&mut text) {
        Ok(_) => serde_json::from_slice::<Plan>(&text).ok(),
        Err(_) => None,
    };
    // The plan is missing, truncated or too long. Usually the daemon died, or could not write the start record.
    let Some(plan) = plan else { return 0 };
    let workspace = Workspace::at(plan.workspace.clone());
    let exit = match run(&plan) {
        Ok(status) => ExitRecord { code: status.code(), signal: status.signal(), not_executed: None },
        Err(error) => ExitRecord { code: None, signal: None, not_executed: Some(error.to_string()) },
    };
    // If the exec stage has recorded why it could not become the program, its record is kept.
    if exit.code != Some(i32::from(NOT_EXECUTED)) || !workspace.has_exit() {
        // On a full disk the exit status is lost; the end of the program is detected anyway.
        let _ = workspace.write_exit(&exit);
    }
    0
}

fn run(plan: &Plan) -> io::Result<ExitStatus> {
    let workspace = Workspace::at(plan.workspace.clone());
    let (binary, stage) = plan.launcher.split_first().ok_or_else(|| io::Error::other("no launcher"))?;
    let mut child = Command::new(binary)
        .args(stage)
        .arg("exec")
        .arg(&plan.workspace)
        .arg(serde_json::to_string(&plan.confinement)?)
        .args(&plan.command)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(workspace.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let log = Arc::new(Mutex::new(RotatingLog::open(&workspace.logs(), plan.bounds)?));
    let (done, readers) = mpsc::channel();
    keep(child.stdout.take(), &log, &done);
    keep(child.stderr.take(), &log, &done);
    drop(done);
    let status = child.wait()?;
    // Both readers end when the pipes are closed. Children of the program may keep the pipes open for ever, so there is
    // a timeout.
    for _ in 0..2 {
        if readers.recv_timeout(LAST_WORDS).is_err() {
            break;
        }
    }
    Ok(status)
}

/// Logs one stream until it ends, on its own thread. A line of up to 16 KiB is not mixed with lines of the other
/// stream. Output that cannot be written is dropped, so that a full disk does not stop a workload.
fn keep(stream: Option<impl Read + Send + 'static>, log: &Arc<Mutex<RotatingLog>>, done: &Sender<()>) {
    let (Some(mut stream), log, done) = (stream, Arc::clone(log), done.clone()) else { return };
    let read = move || {
        let mut buffer = vec![0; 16 << 10];
        let mut filled = 0;
        while let Ok(count @ 1..) = stream.read(&mut buffer[filled..]) {
            filled += count;
            let whole = match buffer[..filled].iter().rposition(|&byte| byte == b'\n') {
                Some(end) => end + 1,
                None if filled == buffer.len() => filled,
                None => continue,
            };
            let _ = log.lock().unwrap_or_else(PoisonError::into_inner).append(&buffer[..whole]);
            buffer.copy_within(whole..filled, 0);
            filled -= whole;
        }
        let _ = log.lock().unwrap_or_else(PoisonError::into_inner).append(&buffer[..filled]);
        let _ = done.send(());
    };
    // If no thread can be started, the stream is closed, and writes of the program fail.
    let _ = thread::Builder::new().spawn(read);
}

fn exec(workspace: PathBuf, confinement: &OsString, command: &[OsString]) -> u8 {
    let cause = match confine(confinement) {
        Ok(()) => match command.split_first() {
            Some((program, arguments)) => Command::new(program).args(arguments).exec(),
            None => io::Error::other("no program"),
        },
        Err(error) => error,
    };
    let program = command.first().map(|program| program.display().to_string()).unwrap_or_default();
    let not_executed = Some(format!("`{program}`: {cause}"));
    let _ = Workspace::at(workspace).write_exit(&ExitRecord { code: None, signal: None, not_executed });
    NOT_EXECUTED
}

fn confine(text: &OsString) -> io::Result<()> {
    // `mario` disables transparent huge pages for itself, and children inherit that. This restores the default for the
    // program.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(false);
    let text = text.to_str().ok_or_else(|| io::Error::other("not a confinement"))?;
    let confinement: Confinement = serde_json::from_str(text)?;
    for group in &confinement.groups {
        fs::write(group, std::process::id().to_string())?;
    }
    let limits = [
        (Resource::Core, Some(0)),
        (Resource::As, confinement.memory_bytes),
        (Resource::Nofile, confinement.open_files_max),
    ];
    for (resource, value) in limits {
        if value.is_some() {
            setrlimit(resource, Rlimit { current: value, maximum: value })?;
        }
    }
    if confinement.open_files_max.is_none() && confinement.open_files_soft.is_some() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: confinement.open_files_soft, maximum })?;
    }
    Ok(())
}
