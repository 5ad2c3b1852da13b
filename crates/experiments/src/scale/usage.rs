//! CPU time and memory of this process.

/// The CPU time of all threads so far, in nanoseconds; `None` if the system does not report it.
#[cfg(unix)]
pub(super) fn cpu_ns() -> Option<u64> {
    use nix::sys::time::TimeValLike;
    let usage = own()?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    u64::try_from(microseconds).ok().map(|microseconds| microseconds * 1_000)
}

/// The peak memory, in bytes; `None` if the system does not report it.
#[cfg(unix)]
pub(super) fn peak_bytes() -> Option<u64> {
    /// The unit in which `getrusage` reports the peak, in bytes.
    const UNIT: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    // The peak in `/proc` is that of this executable alone. The peak of `getrusage` may be that of the process before
    // it loaded this executable, when it still had the memory of its parent.
    high_water_mark().or_else(|| u64::try_from(own()?.max_rss()).ok().map(|peak| peak * UNIT))
}

#[cfg(unix)]
fn own() -> Option<nix::sys::resource::Usage> {
    nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()
}

#[cfg(unix)]
fn high_water_mark() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(not(unix))]
pub(super) fn cpu_ns() -> Option<u64> {
    None
}

#[cfg(not(unix))]
pub(super) fn peak_bytes() -> Option<u64> {
    None
}
