//! The memory that a colony needs, compared with that of the machine.

use mario_live::LiveError;

/// The approximate memory of one node, in bytes: a daemon, and the copies of one application.
const NODE_BYTES: u64 = 24 << 20;

/// Checks that the machine has enough memory for this many nodes, because a machine that runs out of memory may kill
/// unrelated processes.
pub(crate) fn check_available_memory(nodes: u64) -> Result<(), LiveError> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map(|kib| kib << 10);
    has_room(nodes, available)
}

/// Checks that this many nodes fit into the available memory, in bytes, if that is known.
fn has_room(nodes: u64, available: Option<u64>) -> Result<(), LiveError> {
    let (needed, mb) = (nodes * NODE_BYTES, |bytes: u64| bytes / 1_000_000);
    match available {
        Some(available) if available < needed => {
            let cause = format!("it takes about {} MB, and {} MB are free", mb(needed), mb(available));
            Err(LiveError::new(format!("there is no room for {nodes} nodes"))
                .caused_by(cause)
                .hint("take fewer with `--nodes`"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_reported_with_the_amount_needed() {
        assert!(has_room(85, Some(85 * NODE_BYTES)).is_ok());
        assert!(has_room(85, None).is_ok(), "without the amount, it is tried");
        let fault = has_room(85, Some(1_000_000_000)).expect_err("too little");
        assert!(fault.to_string().contains("there is no room for 85 nodes"), "{fault}");
        assert!(fault.line().contains("it takes about 2139 MB, and 1000 MB are free"), "{}", fault.line());
        assert_eq!(fault.help(), Some("take fewer with `--nodes`"));
    }
}
