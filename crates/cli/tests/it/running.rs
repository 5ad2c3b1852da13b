//! A process of mario that tests send signals to.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::mario;

/// A child process that is killed when this value is dropped.
pub struct Running(pub Child);

impl Running {
    pub fn start(arguments: &[&str]) -> Running {
        let mut command = mario();
        let command = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
        Running(command.spawn().expect("it runs"))
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).expect("it is there");
    }

    /// Waits until a condition is true. Panics after a minute, or if the process ends first.
    pub fn until(&mut self, holds: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_mins(1);
        while !holds() {
            assert!(Instant::now() < patience, "it does not get going");
            assert!(self.0.try_wait().expect("it is ours").is_none(), "it ended: {}", self.end().1);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the process ends. Returns its exit code (`None` if a signal ended it) and its standard error.
    pub fn end(&mut self) -> (Option<i32>, String) {
        let mut message = String::new();
        self.0.stderr.as_mut().expect("piped").read_to_string(&mut message).expect("text");
        (self.0.wait().expect("it ends").code(), message)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
