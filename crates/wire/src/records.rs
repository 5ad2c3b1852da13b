//! The encoding of journal records.
//!
//! Each record starts with its format number. Unlike in messages, unknown fields are rejected, because a journal must
//! not be used unless it is understood completely.

use mario_colony::{
    AgentSnapshot, Custody, DeployKey, Descriptor, Epoch, Evidence, Grant, JournalId, JournalRecord, Outdated,
    OwnCause, Owned, Token, TransferId, WorkloadId,
};
use mario_domain::{ApplicationId, FlavourIndex, InstanceId, NodeId, Wakefulness};
use std::sync::Arc;

use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_nested, put_varint};
use crate::schema::{
    Bits128, Codec, Flag, Nested, Optional, OrDefault, Page, Presence, Required, Row, Schema, Unknown, Unsigned,
    alternatives, message, read_fields, row, slot, write_fields,
};

/// The newest format of records and ledgers. Increment it when one of them gets a field or an alternative. Format 2 adds
/// anchors; format 1 is written unless a record or a ledger has one, so that the previous version can still read it.
pub const RECORD_FORMAT: u64 = 2;

/// The format of records and ledgers without anchors.
const FORMAT_WITHOUT_ANCHORS: u64 = 1;

/// The lowest format that has everything in a record or a ledger with these instances.
pub(crate) fn format_for<'a>(mut owned: impl Iterator<Item = &'a Owned>) -> u64 {
    if owned.any(|owned| owned.is_anchor) { RECORD_FORMAT } else { FORMAT_WITHOUT_ANCHORS }
}

/// Appends a record to `out`; on an error, `out` is unchanged.
pub fn encode_record(record: &JournalRecord, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    let format = match record {
        JournalRecord::Own { owned, .. } => format_for(std::iter::once(owned)),
        JournalRecord::Custody(custody) => format_for(std::iter::once(&custody.owned)),
        JournalRecord::Anchored { .. } => RECORD_FORMAT,
        _ => FORMAT_WITHOUT_ANCHORS,
    };
    put_varint(out, format);
    let written = record.write(out);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Decodes the record that takes all of `bytes`.
pub fn decode_record(bytes: &[u8]) -> Result<JournalRecord, DecodeError> {
    let mut fields = Fields::new(bytes);
    let format = fields.varint()?;
    if format == 0 || format > RECORD_FORMAT {
        return Err(Problem::UnknownFormat { format, format_max: RECORD_FORMAT }.into());
    }
    JournalRecord::read(Fields::new(fields.rest()), Unknown::Refuse)
}

alternatives! { JournalRecord {
    values {
        3 custody: Custody(Custody) = Nested,
        5 grant: Grant(Grant) = Nested,
        19 outdated: Outdated(Outdated) = Nested,
    }
    fields {
        1 boot: Boot {
            1 node: NodeId = Required(Nested),
            2 journal: JournalId = Required(Bits128),
            3 boot: u32 = Required(Unsigned),
        },
        2 own: Own { 1 owned: Owned = Required(Nested), 2 cause: OwnCause = Required(Nested) },
        4 custody_ended: CustodyEnded { 1 instance: InstanceId = Required(Nested) },
        6 gone: Gone { 1 transfer: TransferId = Required(Nested), 2 concerning: u64 = Required(Unsigned) },
        7 not_taken: NotTaken { 1 transfer: TransferId = Required(Nested) },
        8 undeployed: Undeployed { 1 instance: InstanceId = Required(Nested) },
        9 stopped: Stopped { 1 workload: WorkloadId = Required(Nested) },
        10 forgotten: Forgotten { 1 transfer: TransferId = Required(Nested) },
        11 pinned: Pinned { 1 instance: InstanceId = Required(Nested), 2 is_pinned: bool = Required(Flag) },
        20 anchored: Anchored { 1 instance: InstanceId = Required(Nested), 2 is_anchor: bool = Required(Flag) },
        21 drained: Drained { 1 is_draining: bool = Required(Flag) },
        12 lost: Lost { 1 journal: JournalId = Required(Bits128) },
        13 peer: Peer {
            1 node: NodeId = Required(Nested),
            2 journal: JournalId = Required(Bits128),
            3 sequence: u64 = Required(Unsigned),
        },
        14 adapted: Adapted {
            1 instance: InstanceId = Required(Nested),
            2 flavour: FlavourIndex = Required(Unsigned),
        },
        15 shrunk: Shrunk { 1 workload: WorkloadId = Required(Nested) },
        17 slept: Slept { 1 instance: InstanceId = Required(Nested) },
        18 woke: Woke { 1 instance: InstanceId = Required(Nested) },
        16 updated: Updated {
            1 instance: InstanceId = Required(Nested),
            2 descriptor: Arc<Descriptor> = Required(Nested),
            3 flavour: FlavourIndex = Required(Unsigned),
        },
    }
} }

message! { Outdated { 1 by: NodeId = Required(Nested), 2 evidence: Evidence = Required(Nested) } }

alternatives! { Evidence {
    values {}
    fields {
        1 rejected: Rejected {},
        2 records: Records { 1 known: u64 = Required(Unsigned), 2 own: u64 = Required(Unsigned) },
        3 exchange: Exchange { 1 known: u64 = Required(Unsigned), 2 own: u64 = Required(Unsigned) },
        4 epoch: Epoch {
            1 instance: InstanceId = Required(Nested),
            2 known: Epoch = Required(Unsigned),
            3 own: Epoch = Required(Unsigned),
        },
    }
} }

message! { Owned {
    1 instance: InstanceId = Required(Nested),
    2 epoch: Epoch = Required(Unsigned),
    3 workload: WorkloadId = Required(Nested),
    4 descriptor: Arc<Descriptor> = Required(Nested),
    5 snapshot: Arc<AgentSnapshot> = Required(Nested),
    6 replications_left: Option<u32> = Optional(Unsigned),
    7 is_pinned: bool = Required(Flag),
    8 flavour: FlavourIndex = OrDefault(Unsigned),
    9 wakefulness: Wakefulness = OrDefault(Flag),
    10 is_anchor: bool = OrDefault(Flag),
} }

alternatives! { OwnCause {
    values {}
    fields {
        1 deployed: Deployed { 1 key: DeployKey = Required(Bits128) },
        2 taken: Taken {
            1 transfer: TransferId = Required(Nested),
            2 from: NodeId = Required(Nested),
            3 concerning: u64 = Required(Unsigned),
        },
        3 replicated: Replicated {
            1 parent: InstanceId = Required(Nested),
            2 replications_left: Option<u32> = Optional(Unsigned),
        },
        4 not_taken: NotTaken { 1 transfer: TransferId = Required(Nested) },
        5 adopted: Adopted { 1 transfer: TransferId = Required(Nested) },
    }
} }

message! { Custody {
    1 owned: Owned = Required(Nested),
    2 transfer: TransferId = Required(Nested),
    3 token: Token = Required(Bits128),
    4 target: NodeId = Required(Nested),
    5 receiver: JournalId = Required(Bits128),
    6 is_running: bool = Required(Flag),
    7 is_ended: bool = Required(Flag),
} }

message! { Grant {
    1 transfer: TransferId = Required(Nested),
    2 token: Token = Required(Bits128),
    3 target: NodeId = Required(Nested),
    4 receiver: JournalId = Required(Bits128),
    5 instance: InstanceId = Required(Nested),
    6 application: ApplicationId = Required(Nested),
    7 parent: InstanceId = Required(Nested),
    8 replications_left: Option<Split> = Optional(Nested),
} }

/// How many replications the parent has left, and how many its new instance gets.
type Split = [u32; 2];

impl Schema for Split {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        Unsigned.write(1, &self[0], out)?;
        Unsigned.write(2, &self[1], out)
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Split, DecodeError> {
        let Replications { parent, child } = Replications::read(fields, unknown)?;
        Ok([parent, child])
    }

    fn describe(page: &mut Page) -> &'static str {
        Replications::describe(page)
    }
}

/// A [`Split`] as fields.
struct Replications {
    parent: u32,
    child: u32,
}

message! { Replications { 1 parent: u32 = Required(Unsigned), 2 child: u32 = Required(Unsigned) } }
