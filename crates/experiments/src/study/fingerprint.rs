//! Fingerprints of resolved scenarios. A resolved scenario includes the texts of its policies and the content of its
//! files.

use std::fmt::{self, Write};

use mario_scenario::Scenario;

/// A 64-bit FNV-1a hash. It detects accidental changes, and is the same on every platform.
struct Fingerprint(u64);

impl Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// Returns a hash of a resolved scenario, as 16 hexadecimal digits.
pub(super) fn fingerprint(scenario: &Scenario) -> String {
    let mut fingerprint = Fingerprint(0xcbf2_9ce4_8422_2325);
    let _ = write!(fingerprint, "{scenario:?}");
    format!("{:016x}", fingerprint.0)
}
