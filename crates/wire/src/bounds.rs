//! Bounds on the size of messages and records, so that no neighbour can exhaust the memory of a node.
//!
//! A value beyond its bound is rejected by the encoder and by the decoder. The exceptions are reasons, which the
//! encoder truncates.

/// The maximum size of a frame in bytes, without its length field.
pub const FRAME_BYTES_MAX: usize = 1 << 20;

/// The maximum size of a name in bytes: of ids, of policies and their files, and of the hosts and prefixes of an
/// application.
pub const NAME_BYTES_MAX: usize = 256;

/// The maximum size of a human-readable reason in bytes. Longer reasons are truncated when they are written.
pub const REASON_BYTES_MAX: usize = 4 << 10;

/// The maximum size of one file of a policy, in bytes.
pub const POLICY_FILE_BYTES_MAX: usize = 256 << 10;

/// The maximum number of files of a policy.
pub const POLICY_FILES_MAX: usize = 64;

/// The maximum size of a document that the owner of an application signed, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 512 << 10;

/// The maximum number of facts about a node, or about an application.
pub const FACTS_MAX: usize = 1_024;

/// The maximum number of inhibited operations that an agent remembers, and of accepted operations in its history.
pub const MEMORY_MAX: usize = 4_096;

/// The maximum number of evaluations whose client requests an agent remembers.
pub const EARLIER_MAX: usize = 64;

/// The maximum number of facts about the client requests of one evaluation.
pub const REQUESTS_MAX: usize = 4_096;

/// The maximum number of flavours of an application.
pub const FLAVOURS_MAX: usize = 16;

/// The maximum number of open transfers in a hello.
pub const OPEN_TRANSFERS_MAX: usize = 16_384;

/// The maximum number of entries of each list of a ledger.
pub const LEDGER_MAX: usize = 1 << 20;

/// The maximum number of routes in one update.
pub const ROUTES_MAX: usize = 1_024;
