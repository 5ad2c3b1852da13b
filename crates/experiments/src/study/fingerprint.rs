//! Fingerprints of resolved scenarios. A resolved scenario includes the texts of its policies and the content of its
//! files.

use std::fmt::Write;

use mario_domain::Fnv1a;
use mario_scenario::Scenario;

/// Returns a hash of a resolved scenario, as 16 hexadecimal digits.
pub(super) fn fingerprint(scenario: &Scenario) -> String {
    let mut fingerprint = Fnv1a::default();
    let _ = write!(fingerprint, "{scenario:?}");
    format!("{:016x}", fingerprint.finish())
}
