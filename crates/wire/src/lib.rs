//! The encoding of messages between nodes, of journal records and of ledgers: schema, framing, versions.
//!
//! Start at [`encode_frame`] and [`Framer`] for a link, and at [`encode_record`] and [`decode_record`] for a journal.
//!
//! ```
//! use mario_colony::{JournalId, Message, TransferId};
//! use mario_wire::{Body, Envelope, Framer, decode, encode_frame};
//!
//! let (own, other) = (JournalId(1), JournalId(2));
//! let transfer = TransferId { journal: own, boot: 0, counter: 7 };
//! let envelope = Envelope::new(own, Some(other), Body::Colony(Message::Abort { transfer }));
//!
//! let mut stream = Vec::new();
//! encode_frame(&envelope, &mut stream).expect("it is small");
//!
//! let mut framer = Framer::default();
//! framer.extend(&stream);
//! let frame = framer.next_frame().expect("it is small").expect("it is whole");
//! assert_eq!(decode(frame), Ok(envelope));
//! ```
//!
//! The encoding is that of Protocol Buffers. Nearly every type has a table with the number, name, presence and codec of
//! each field. Macros derive its encoder, its decoder and its part of `docs/wire.md` from the table.
//!
//! **Invariant:** no I/O, no clock, no panic. Any bytes decode to a value, or to a [`DecodeError`] with the path of the
//! field and a reason.
//!
//! **Invariant:** no value beyond its bound in [`bounds`] is read or written. The decoder checks the bound before it
//! allocates memory.
//!
//! **Invariant:** equal values have equal bytes, and decoding returns the encoded value, except that a reason beyond
//! its bound is truncated.
//!
//! **Invariant:** unknown fields are skipped in a message, and rejected in a journal record or a ledger. Unknown
//! alternatives are rejected everywhere.
//!
//! Not here: the meaning of messages (`mario_colony`), and sending them (`mario_live`).
//!
//! This crate is internal to mario: its interface changes without notice.

pub mod bounds;

mod error;
mod versions;

mod raw;
mod schema;

mod envelope;
mod ledger;
mod nouns;
mod records;

mod framer;

mod page;

pub use envelope::{Body, Envelope, Goodbye, GoodbyeReason, Ping, Pong, decode, encode};
pub use error::{DecodeError, EncodeError, Problem};
pub use framer::{FrameTooLong, Framer, encode_frame};
pub use ledger::{decode_ledger, encode_ledger};
// Public only for the test that writes `docs/wire.md`.
#[doc(hidden)]
pub use page::{bounds_table, schema_tables};
pub use records::{RECORD_FORMAT, decode_record, encode_record};
pub use versions::{NoCommonVersion, Versions};
