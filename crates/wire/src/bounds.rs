//! Bounds on everything that travels, so that no neighbour can make a node hold more than was agreed.
//!
//! A larger value is rejected on both sides: it is neither sent nor read.

/// The bytes of one frame, without its length.
pub const FRAME_BYTES_MAX: usize = 1 << 20;

/// The bytes of a name: of nodes, instances, applications, owners, and of the subjects of facts.
pub const NAME_BYTES_MAX: usize = 256;

/// The bytes of a reason for people. A longer one is cut when it is written.
pub const REASON_BYTES_MAX: usize = 4 << 10;

/// The bytes of one file of a policy.
pub const POLICY_FILE_BYTES_MAX: usize = 256 << 10;

/// The files of a policy.
pub const POLICY_FILES_MAX: usize = 64;

/// The bytes of a document that the owner of an application signed.
pub const DOCUMENT_BYTES_MAX: usize = 512 << 10;

/// The facts about a node, or about an application.
pub const FACTS_MAX: usize = 1_024;

/// The inhibited operations that an agent remembers.
pub const MEMORY_MAX: usize = 4_096;

/// The evaluations of which an agent remembers the client requests.
pub const EARLIER_MAX: usize = 64;

/// The facts about client requests of one such evaluation.
pub const REQUESTS_MAX: usize = 4_096;

/// The flavours of an application.
pub const FLAVOURS_MAX: usize = 16;

/// The open transfers that a hello names.
pub const OPEN_TRANSFERS_MAX: usize = 16_384;

/// The entries of each list of a ledger.
pub const LEDGER_MAX: usize = 1 << 20;

/// The routes in one update.
pub const ROUTES_MAX: usize = 1_024;
