//! Fault injection, in debug builds only. `MARIO_TEST_CRASH=before:N` or `after:N` kills the daemon before or after its
//! Nth write, which is an append or a compaction. While the file named by `MARIO_TEST_DISK_FULL` exists, writes fail as
//! if the disk were full.

#[cfg(debug_assertions)]
pub(super) struct Plan {
    writes: u64,
    at: Option<(bool, u64)>,
    full: Option<std::path::PathBuf>,
}

#[cfg(debug_assertions)]
impl Plan {
    pub(super) fn from_environment() -> Plan {
        let at = std::env::var("MARIO_TEST_CRASH").ok().and_then(|text| {
            let (when, number) = text.split_once(':')?;
            Some((when == "before", number.parse().ok()?))
        });
        Plan { writes: 0, at, full: std::env::var_os("MARIO_TEST_DISK_FULL").map(Into::into) }
    }

    pub(super) fn has_full_disk(&self) -> bool {
        self.full.as_ref().is_some_and(|path| path.exists())
    }

    pub(super) fn before(&mut self) {
        self.writes += 1;
        self.crash_if(true);
    }

    pub(super) fn after(&self) {
        self.crash_if(false);
    }

    fn crash_if(&self, is_before: bool) {
        if self.at == Some((is_before, self.writes)) {
            // Like `kill -9`: nothing is flushed, closed or reported.
            #[cfg(unix)]
            let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
            std::process::abort();
        }
    }
}

#[cfg(not(debug_assertions))]
pub(super) struct Plan;

#[cfg(not(debug_assertions))]
impl Plan {
    pub(super) fn from_environment() -> Plan {
        Plan
    }

    pub(super) fn has_full_disk(&self) -> bool {
        false
    }

    pub(super) fn before(&mut self) {}

    pub(super) fn after(&self) {}
}
