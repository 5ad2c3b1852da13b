//! The schemas of the values in messages and records: ids, hardware, applications, policies, snapshots, inhibitions.

use std::sync::Arc;

use mario_colony::rules::{History, RememberedOperation};
use mario_colony::{
    AgentSnapshot, Copies, DeployKey, Descriptor, Epoch, JournalId, PolicyText, RequestFact, Token, TransferId,
    WorkloadId,
};
use mario_domain::{
    AgentOperation, Application, ApplicationId, Capacity, Fact, FactValue, Flavour, FlavourId, FlavourIndex, Hardware,
    HardwareKind, Id, Inhibition, InstanceId, NodeId, OwnerId, Quantity, Rule, Sleep, Target, Wakefulness,
};

use crate::bounds::{
    DOCUMENT_BYTES_MAX, EARLIER_MAX, FACTS_MAX, FLAVOURS_MAX, MEMORY_MAX, NAME_BYTES_MAX, POLICY_FILE_BYTES_MAX,
    POLICY_FILES_MAX, REASON_BYTES_MAX, REQUESTS_MAX,
};
use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_nested};
use crate::schema::{
    Bits128, Codec, Double, Excerpt, Flag, List, Nested, Octets, Optional, OrDefault, Page, Presence, Required, Row,
    Schema, Signed, Text, Unknown, Unsigned, Word, alternatives, message, read_fields, read_text, row, slot,
    write_fields, write_text,
};

/// Implements codecs for types that are encoded as a value of another type.
macro_rules! wrapped {
    ($($type:ty: $codec:ident, $inner:ty, |$value:ident| $unwrap:expr, $wrap:expr;)*) => { $(
        impl Codec<$type> for $codec {
            fn write(&self, number: u32, $value: &$type, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                Codec::<$inner>::write(self, number, &$unwrap, out)
            }

            fn read(&self, content: Content<'_>, unknown: Unknown) -> Result<$type, DecodeError> {
                Codec::<$inner>::read(self, content, unknown).map($wrap)
            }

            fn describe(&self, page: &mut Page) -> String {
                Codec::<$inner>::describe(self, page)
            }
        }
    )* };
}

wrapped! {
    JournalId: Bits128, u128, |value| value.0, JournalId;
    Token: Bits128, u128, |value| value.0, Token;
    DeployKey: Bits128, u128, |value| value.0, DeployKey;
    Epoch: Unsigned, u32, |value| value.0, Epoch;
    Wakefulness: Flag, bool, |value| value.is_asleep(), |is_asleep: bool| if is_asleep { Wakefulness::Asleep } else { Wakefulness::Awake };
    // An out-of-range number becomes the maximum, which is not the index of any flavour.
    FlavourIndex: Unsigned, u32, |value| u32::from(value.0), |read: u32| FlavourIndex(u16::try_from(read).unwrap_or(u16::MAX));
}

/// Hardware is encoded as a number of units, or as `Amounts` if it also has other kinds, such as GPUs.
impl Codec<Hardware> for Unsigned {
    fn write(&self, number: u32, value: &Hardware, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !value.has_further() {
            return Codec::<u64>::write(self, number, &value.as_units(), out);
        }
        put_nested(out, number, |out| {
            value.amounts().try_for_each(|(kind, amount)| Codec::<u64>::write(self, kind as u32 + 1, &amount, out))
        })
    }

    fn read(&self, content: Content<'_>, unknown: Unknown) -> Result<Hardware, DecodeError> {
        let Content::Bytes(bytes) = content else {
            return Codec::<u64>::read(self, content, unknown).map(Hardware::units);
        };
        let Amounts { units, bandwidth_mbps, gpu, memory_mb, storage_gb } = Amounts::read(Fields::new(bytes), unknown)?;
        let further = [bandwidth_mbps, gpu, memory_mb, storage_gb].map(u64::from);
        let mut amounts = HardwareKind::ALL.into_iter().zip(std::iter::once(units).chain(further));
        let sum = amounts.try_fold(Hardware::NONE, |hardware, (kind, amount)| hardware.with(kind, amount));
        sum.ok_or_else(|| Problem::NumberTooLarge { max: u64::from(u32::MAX) }.into())
    }

    fn describe(&self, page: &mut Page) -> String {
        format!("unsigned, or `{}`", Amounts::describe(page))
    }
}

/// Hardware of several kinds, as fields.
struct Amounts {
    units: u64,
    bandwidth_mbps: u32,
    gpu: u32,
    memory_mb: u32,
    storage_gb: u32,
}

message! { Amounts {
    1 units: u64 = OrDefault(Unsigned),
    2 bandwidth_mbps: u32 = OrDefault(Unsigned),
    3 gpu: u32 = OrDefault(Unsigned),
    4 memory_mb: u32 = OrDefault(Unsigned),
    5 storage_gb: u32 = OrDefault(Unsigned),
} }

impl Schema for Id {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Id::Number(number) => Signed.write(1, number, out),
            Id::Name(name) => write_text(2, name.as_str(), NAME_BYTES_MAX, out),
        }
    }

    fn read(mut fields: Fields<'_>, unknown: Unknown) -> Result<Id, DecodeError> {
        let mut id = None;
        while let Some((number, content)) = fields.next()? {
            let read = match number {
                1 => Id::Number(Signed.read(content, unknown)?),
                2 => {
                    let name = read_text(content, NAME_BYTES_MAX)?;
                    Id::name(name).map_err(|_| Problem::NotAnId)?
                }
                number => return Err(Problem::UnknownAlternative { number }.into()),
            };
            if id.replace(read).is_some() {
                return Err(Problem::Twice.into());
            }
        }
        id.ok_or_else(|| Problem::Missing.into())
    }

    fn describe(page: &mut Page) -> &'static str {
        page.add("Id", true, |page| {
            vec![
                row::<i64>(1, "number", &Required(Signed), page),
                row::<String>(2, "name", &Required(Text(NAME_BYTES_MAX)), page),
            ]
        });
        "Id"
    }
}

/// Implements the schema of types that are encoded as an `Id`. The decoder rejects ids that are invalid for the type.
macro_rules! ids {
    ($($type:ty)*) => { $(
        impl Schema for $type {
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                self.id().write(out)
            }

            fn read(fields: Fields<'_>, unknown: Unknown) -> Result<$type, DecodeError> {
                <$type>::try_from(Id::read(fields, unknown)?).map_err(|_| Problem::NotAnId.into())
            }

            fn describe(page: &mut Page) -> &'static str {
                Id::describe(page)
            }
        }
    )* };
}

ids! { NodeId InstanceId ApplicationId OwnerId FlavourId }

impl Schema for Target {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Target::Own => Ok(()),
            Target::Node(node) => Nested.write(1, node, out),
            Target::Flavour(flavour) => Nested.write(2, flavour, out),
        }
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Target, DecodeError> {
        let Place { node, flavour } = Place::read(fields, unknown)?;
        match (node, flavour) {
            (None, None) => Ok(Target::Own),
            (Some(node), None) => Ok(Target::Node(node)),
            (None, Some(flavour)) => Ok(Target::Flavour(flavour)),
            (Some(_), Some(_)) => Err(Problem::Twice.into()),
        }
    }

    fn describe(page: &mut Page) -> &'static str {
        page.add("Target", false, |page| {
            vec![
                row::<Option<NodeId>>(1, "node", &Optional(Nested), page),
                row::<Option<FlavourId>>(2, "flavour", &Optional(Nested), page),
            ]
        });
        "Target"
    }
}

/// A target as fields. If both are `None`, the target is the agent's own node.
struct Place {
    node: Option<NodeId>,
    flavour: Option<FlavourId>,
}

message! { Place { 1 node: Option<NodeId> = Optional(Nested), 2 flavour: Option<FlavourId> = Optional(Nested) } }

impl Schema for Capacity {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Capacity::Unbounded => Ok(()),
            Capacity::Bounded(units) => Unsigned.write(1, units, out),
        }
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Capacity, DecodeError> {
        let Room { units } = Room::read(fields, unknown)?;
        Ok(units.map_or(Capacity::Unbounded, Capacity::Bounded))
    }

    fn describe(page: &mut Page) -> &'static str {
        page.add("Capacity", false, |page| vec![row::<Option<Hardware>>(1, "units", &Optional(Unsigned), page)]);
        "Capacity"
    }
}

/// A capacity as fields: `None` for an unbounded one.
struct Room {
    units: Option<Hardware>,
}

message! { Room { 1 units: Option<Hardware> = Optional(Unsigned) } }

impl Schema for Quantity {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self.as_whole() {
            Some(whole) => Unsigned.write(1, &whole, out),
            None => Double.write(2, &self.value(), out),
        }
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Quantity, DecodeError> {
        match Measure::read(fields, unknown)? {
            Measure::Whole(whole) => Ok(Quantity::whole(whole)),
            Measure::Fraction(fraction) => Quantity::fraction(fraction).map_err(|_| Problem::NotAQuantity.into()),
        }
    }

    fn describe(page: &mut Page) -> &'static str {
        page.add("Quantity", true, |page| {
            vec![row::<u32>(1, "whole", &Required(Unsigned), page), row::<f64>(2, "fraction", &Required(Double), page)]
        });
        "Quantity"
    }
}

/// A quantity as alternatives.
enum Measure {
    Whole(u32),
    Fraction(f64),
}

alternatives! { Measure {
    values { 1 whole: Whole(u32) = Unsigned, 2 fraction: Fraction(f64) = Double }
    fields {}
} }

alternatives! { FactValue {
    values { 1 id: Id(Id) = Nested, 2 number: Number(f64) = Double }
    fields {}
} }

message! { Fact {
    1 subject: Id = Required(Nested),
    2 key: Id = Required(Nested),
    3 value: FactValue = Required(Nested),
} }

message! { Application {
    1 id: ApplicationId = Required(Nested),
    2 owner: Option<OwnerId> = Optional(Nested),
    3 hardware: Hardware = Required(Unsigned),
    4 max_rate: Quantity = Required(Nested),
    5 max_latency: Quantity = Required(Nested),
    6 flavours: Vec<Flavour> = List(Nested, FLAVOURS_MAX),
    7 sleep: Option<Sleep> = Optional(Nested),
} }

message! { Sleep {
    1 keeps: Hardware = Required(Unsigned),
    2 start: Quantity = Required(Nested),
} }

message! { Flavour {
    1 id: FlavourId = Required(Nested),
    2 hardware: Hardware = Required(Unsigned),
    3 max_rate: Quantity = Required(Nested),
    4 max_latency: Quantity = Required(Nested),
    5 quality: Quantity = Required(Nested),
} }

type File = (String, String);

impl Schema for File {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        Text(NAME_BYTES_MAX).write(1, &self.0, out).map_err(|error| error.inside("name"))?;
        Text(POLICY_FILE_BYTES_MAX).write(2, &self.1, out).map_err(|error| error.inside("text"))
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<File, DecodeError> {
        let PolicyFile { name, text } = PolicyFile::read(fields, unknown)?;
        Ok((name, text))
    }

    fn describe(page: &mut Page) -> &'static str {
        PolicyFile::describe(page)
    }
}

/// A file of a policy as fields.
struct PolicyFile {
    name: String,
    text: String,
}

message! { PolicyFile {
    1 name: String = Required(Text(NAME_BYTES_MAX)),
    2 text: String = Required(Text(POLICY_FILE_BYTES_MAX)),
} }

message! { PolicyText {
    1 name: String = Required(Text(NAME_BYTES_MAX)),
    2 files: Vec<File> = List(Nested, POLICY_FILES_MAX),
    3 memory: u32 = Required(Unsigned),
} }

const COPIES: Word<Copies> = Word(&[(0, "may overlap", Copies::MayOverlap), (1, "exclusive", Copies::Exclusive)]);

message! { Descriptor {
    1 application: Application = Required(Nested),
    2 policy: PolicyText = Required(Nested),
    3 facts: Vec<Fact> = List(Nested, FACTS_MAX),
    4 replications_max: Option<u32> = Optional(Unsigned),
    5 copies: Copies = Required(COPIES),
    6 document: Arc<[u8]> = Required(Octets(DOCUMENT_BYTES_MAX)),
    7 version: u64 = Required(Unsigned),
} }

/// Each operation with its code and its word.
const OPERATIONS: [(u64, &str, AgentOperation); AgentOperation::COUNT] = {
    let mut words = [(0, "", AgentOperation::ALL[0]); AgentOperation::COUNT];
    let mut position = 0;
    while position < words.len() {
        let operation = AgentOperation::ALL[position];
        words[position] = (position as u64, operation.as_str(), operation);
        position += 1;
    }
    words
};

const OPERATION: Word<AgentOperation> = Word(&OPERATIONS);

type Memory = RememberedOperation<Target>;

impl Schema for Memory {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let RememberedOperation { evaluation, operation, target } = self;
        Unsigned.write(1, evaluation, out)?;
        OPERATION.write(2, operation, out)?;
        Nested.write(3, target, out).map_err(|error| error.inside("target"))
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Memory, DecodeError> {
        let Inhibited { evaluation, operation, target } = Inhibited::read(fields, unknown)?;
        Ok(RememberedOperation { evaluation, operation, target })
    }

    fn describe(page: &mut Page) -> &'static str {
        Inhibited::describe(page)
    }
}

/// An inhibited or accepted operation that an agent remembers, as fields.
struct Inhibited {
    evaluation: u32,
    operation: AgentOperation,
    target: Target,
}

message! { Inhibited {
    1 evaluation: u32 = Required(Unsigned),
    2 operation: AgentOperation = Required(OPERATION),
    3 target: Target = Required(Nested),
} }

message! { AgentSnapshot {
    1 evaluations: u32 = Required(Unsigned),
    2 memory: Vec<Memory> = List(Nested, MEMORY_MAX),
    3 history: Past = OrDefault(Nested),
} }

type Past = History<RequestFact, Target>;

impl Schema for Past {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let History { requests, done, arrived } = self;
        let requests = requests.iter().map(|facts| Earlier { requests: facts.clone() }).collect();
        Remembering { requests, done: done.clone(), arrived: *arrived }.write(out)
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Past, DecodeError> {
        let Remembering { requests, done, arrived } = Remembering::read(fields, unknown)?;
        Ok(History { requests: requests.into_iter().map(|earlier| earlier.requests).collect(), done, arrived })
    }

    fn describe(page: &mut Page) -> &'static str {
        Remembering::describe(page)
    }
}

/// The history of an agent, as fields.
struct Remembering {
    requests: Vec<Earlier>,
    done: Vec<Memory>,
    arrived: u32,
}

message! { Remembering {
    1 requests: Vec<Earlier> = List(Nested, EARLIER_MAX),
    2 done: Vec<Memory> = List(Nested, MEMORY_MAX),
    3 arrived: u32 = OrDefault(Unsigned),
} }

/// The client requests of one evaluation, as fields.
struct Earlier {
    requests: Vec<RequestFact>,
}

message! { Earlier {
    1 requests: Vec<RequestFact> = List(Nested, REQUESTS_MAX),
} }

message! { RequestFact {
    1 neighbour: Target = Required(Nested),
    2 rate: f64 = Required(Double),
    3 latency: f64 = Required(Double),
} }

message! { TransferId {
    1 journal: JournalId = Required(Bits128),
    2 boot: u32 = Required(Unsigned),
    3 counter: u32 = Required(Unsigned),
} }

message! { WorkloadId {
    1 boot: u32 = Required(Unsigned),
    2 counter: u32 = Required(Unsigned),
} }

message! { Inhibition {
    1 node: NodeId = Required(Nested),
    2 rule: Rule = Required(Nested),
} }

const REASON: Excerpt = Excerpt(REASON_BYTES_MAX);

alternatives! { Rule {
    values {}
    fields {
        1 capacity: Capacity { 1 needed: Hardware = Required(Unsigned), 2 free: Capacity = Required(Nested) },
        2 neighbourhood: Neighbourhood { 1 target: NodeId = Required(Nested) },
        3 leaving: Leaving {},
        4 down: Down {},
        5 acceptance: Acceptance { 1 reason: String = Required(REASON) },
        6 acceptance_failed: AcceptanceFailed { 1 cause: String = Required(REASON) },
        7 pinned: Pinned {},
        8 budget: Budget {},
        9 open_grant: OpenGrant {},
        10 busy: Busy {},
        11 recovering: Recovering {},
        12 unanswered: Unanswered {},
        13 not_started: NotStarted { 1 cause: String = Required(REASON) },
        14 oversized: Oversized { 1 bytes: u64 = Required(Unsigned), 2 bytes_max: u64 = Required(Unsigned) },
        15 descriptor: Descriptor { 1 cause: String = Required(REASON) },
        16 flavour: Flavour { 1 flavour: FlavourId = Required(Nested) },
        17 asleep: Asleep {},
        18 awake: Awake {},
        19 sleepless: Sleepless {},
        20 unconfirmed: Unconfirmed {},
        21 anchor: Anchor {},
    }
} }
