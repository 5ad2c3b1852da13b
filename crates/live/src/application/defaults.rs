//! The values of keys that an application's file omits.

pub(super) fn first_version() -> u64 {
    1
}

pub(super) fn is_anchor_by_default() -> bool {
    true
}

// Omitted from a document when true, so that nodes of the previous version accept it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_true(value: &bool) -> bool {
    *value
}

pub(super) fn default_start_ms() -> u64 {
    20_000
}

pub(super) fn default_drain_ms() -> u64 {
    30_000
}
