//! The encoding of a ledger, which replaces the journal records that it summarises.

use std::sync::Arc;

use mario_colony::{
    Custody, DeployKey, Descriptor, Draining, Grant, JournalId, Ledger, Outdated, Owned, PeerRecord, StoredBoot,
    StoredConcern, StoredDeploy, StoredDraining, StoredFormer, StoredLedger, StoredPeer, StoredPrevious,
    StoredShrinking, StoredTaken, TransferId, WorkloadId,
};
use mario_domain::{ApplicationId, Hardware, InstanceId, NodeId};

use crate::bounds::LEDGER_MAX;
use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_varint};
use crate::records::{RECORD_FORMAT, format_for};
use crate::schema::{
    Bits128, Flag, List, Nested, Optional, OrDefault, Page, Presence, Required, Schema, Unknown, Unsigned, message,
    read_fields, row, slot, write_fields,
};

/// Appends a ledger to `out`; on an error, `out` is unchanged.
pub fn encode_ledger(ledger: &Ledger, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    let stored = ledger.keep();
    put_varint(out, format_for(stored.owned.iter().chain(stored.custody.iter().map(|custody| &custody.owned))));
    let written = stored.write(out);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Decodes the ledger that takes all of `bytes`.
pub fn decode_ledger(bytes: &[u8]) -> Result<Ledger, DecodeError> {
    let mut fields = Fields::new(bytes);
    let format = fields.varint()?;
    if format == 0 || format > RECORD_FORMAT {
        return Err(Problem::UnknownFormat { format, format_max: RECORD_FORMAT }.into());
    }
    StoredLedger::read(Fields::new(fields.rest()), Unknown::Refuse).map(Ledger::from)
}

message! { StoredLedger {
    1 sequence: u64 = Required(Unsigned),
    2 boot: Option<StoredBoot> = Optional(Nested),
    3 owned: Vec<Owned> = List(Nested, LEDGER_MAX),
    4 custody: Vec<Custody> = List(Nested, LEDGER_MAX),
    5 grants: Vec<Grant> = List(Nested, LEDGER_MAX),
    6 taken: Vec<StoredTaken> = List(Nested, LEDGER_MAX),
    7 draining: Vec<StoredDraining> = List(Nested, LEDGER_MAX),
    8 shrinking: Vec<StoredShrinking> = List(Nested, LEDGER_MAX),
    9 deploys: Vec<StoredDeploy> = List(Nested, LEDGER_MAX),
    10 peers: Vec<StoredPeer> = List(Nested, LEDGER_MAX),
    11 concerning: Vec<StoredConcern> = List(Nested, LEDGER_MAX),
    12 lost: Vec<JournalId> = List(Bits128, LEDGER_MAX),
    13 previous: Vec<StoredPrevious> = List(Nested, LEDGER_MAX),
    14 former: Vec<StoredFormer> = List(Nested, LEDGER_MAX),
    15 outdated: Option<Outdated> = Optional(Nested),
    16 is_draining: bool = OrDefault(Flag),
} }

message! { StoredFormer { 1 node: NodeId = Required(Nested), 2 journal: JournalId = Required(Bits128) } }

message! { StoredBoot {
    1 node: NodeId = Required(Nested),
    2 journal: JournalId = Required(Bits128),
    3 boot: u32 = Required(Unsigned),
} }

message! { StoredTaken { 1 transfer: TransferId = Required(Nested), 2 from: NodeId = Required(Nested) } }

message! { StoredDraining { 1 workload: WorkloadId = Required(Nested), 2 draining: Draining = Required(Nested) } }

message! { Draining {
    1 instance: InstanceId = Required(Nested),
    2 application: ApplicationId = Required(Nested),
    3 needed: Hardware = Required(Unsigned),
} }

message! { StoredShrinking { 1 workload: WorkloadId = Required(Nested), 2 surplus: Hardware = Required(Unsigned) } }

message! { StoredDeploy { 1 key: DeployKey = Required(Bits128), 2 instance: InstanceId = Required(Nested) } }

message! { StoredPeer { 1 node: NodeId = Required(Nested), 2 peer: PeerRecord = Required(Nested) } }

message! { PeerRecord {
    1 journal: JournalId = Required(Bits128),
    2 sequence: u64 = Required(Unsigned),
    3 concerning: u64 = Required(Unsigned),
} }

message! { StoredConcern { 1 node: NodeId = Required(Nested), 2 sequence: u64 = Required(Unsigned) } }

message! { StoredPrevious {
    1 instance: InstanceId = Required(Nested),
    2 descriptor: Arc<Descriptor> = Required(Nested),
} }
