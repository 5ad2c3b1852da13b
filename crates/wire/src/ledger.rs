//! The encoding of a ledger, which replaces the journal records that it summarises.

use std::sync::Arc;

use mario_colony::{
    Custody, DeployKey, Descriptor, Draining, Grant, JournalId, KeptBoot, KeptConcern, KeptDeploy, KeptDraining,
    KeptLedger, KeptPeer, KeptPrevious, KeptShrinking, KeptTaken, Ledger, Owned, PeerRecord, TransferId, WorkloadId,
};
use mario_domain::{ApplicationId, Hardware, InstanceId, NodeId};

use crate::bounds::LEDGER_MAX;
use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_varint};
use crate::records::RECORD_FORMAT;
use crate::schema::{
    Bits128, List, Nested, Optional, Page, Presence, Required, Schema, Unknown, Unsigned, message, read_fields, row,
    slot, write_fields,
};

/// Appends a ledger to `out`; on an error, `out` is unchanged.
pub fn encode_ledger(ledger: &Ledger, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    put_varint(out, RECORD_FORMAT);
    let written = ledger.keep().write(out);
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
    KeptLedger::read(Fields::new(fields.rest()), Unknown::Refuse).map(Ledger::from)
}

message! { KeptLedger {
    1 sequence: u64 = Required(Unsigned),
    2 boot: Option<KeptBoot> = Optional(Nested),
    3 owned: Vec<Owned> = List(Nested, LEDGER_MAX),
    4 custody: Vec<Custody> = List(Nested, LEDGER_MAX),
    5 grants: Vec<Grant> = List(Nested, LEDGER_MAX),
    6 taken: Vec<KeptTaken> = List(Nested, LEDGER_MAX),
    7 draining: Vec<KeptDraining> = List(Nested, LEDGER_MAX),
    8 shrinking: Vec<KeptShrinking> = List(Nested, LEDGER_MAX),
    9 deploys: Vec<KeptDeploy> = List(Nested, LEDGER_MAX),
    10 peers: Vec<KeptPeer> = List(Nested, LEDGER_MAX),
    11 concerning: Vec<KeptConcern> = List(Nested, LEDGER_MAX),
    12 lost: Vec<JournalId> = List(Bits128, LEDGER_MAX),
    13 previous: Vec<KeptPrevious> = List(Nested, LEDGER_MAX),
} }

message! { KeptBoot {
    1 node: NodeId = Required(Nested),
    2 journal: JournalId = Required(Bits128),
    3 boot: u32 = Required(Unsigned),
} }

message! { KeptTaken { 1 transfer: TransferId = Required(Nested), 2 from: NodeId = Required(Nested) } }

message! { KeptDraining { 1 workload: WorkloadId = Required(Nested), 2 draining: Draining = Required(Nested) } }

message! { Draining {
    1 instance: InstanceId = Required(Nested),
    2 application: ApplicationId = Required(Nested),
    3 needed: Hardware = Required(Unsigned),
} }

message! { KeptShrinking { 1 workload: WorkloadId = Required(Nested), 2 surplus: Hardware = Required(Unsigned) } }

message! { KeptDeploy { 1 key: DeployKey = Required(Bits128), 2 instance: InstanceId = Required(Nested) } }

message! { KeptPeer { 1 node: NodeId = Required(Nested), 2 peer: PeerRecord = Required(Nested) } }

message! { PeerRecord {
    1 journal: JournalId = Required(Bits128),
    2 sequence: u64 = Required(Unsigned),
    3 concerning: u64 = Required(Unsigned),
} }

message! { KeptConcern { 1 node: NodeId = Required(Nested), 2 sequence: u64 = Required(Unsigned) } }

message! { KeptPrevious {
    1 instance: InstanceId = Required(Nested),
    2 descriptor: Arc<Descriptor> = Required(Nested),
} }
