//! Random bits from the system.

use rustls::crypto::ring;

/// 64 random bits.
pub(crate) fn number() -> u64 {
    let mut bytes = [0; 8];
    // Without system randomness, neither TLS nor anything else here can be secure.
    ring::default_provider().secure_random.fill(&mut bytes).expect("the system has randomness");
    u64::from_be_bytes(bytes)
}

/// 128 random bits: a unique identifier.
pub fn random_id() -> u128 {
    u128::from(number()) << 64 | u128::from(number())
}
