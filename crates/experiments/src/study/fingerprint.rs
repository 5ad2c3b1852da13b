//! Whether two scenarios are the same, texts of policies and content of files included.

use std::fmt::{self, Write};

use mario_scenario::Scenario;

/// FNV-1a with 64 bits: enough to notice a change, and the same everywhere.
struct Fingerprint(u64);

impl Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// A number that changes with anything that a run depends on.
pub(super) fn fingerprint(scenario: &Scenario) -> String {
    let mut fingerprint = Fingerprint(0xcbf2_9ce4_8422_2325);
    let _ = write!(fingerprint, "{scenario:?}");
    format!("{:016x}", fingerprint.0)
}
