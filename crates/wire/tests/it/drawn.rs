//! Messages and records generated from a seed.

use std::sync::Arc;

use mario_colony::routing::{Names, RouteAnnouncement, RouteLabel, RoutingMessage, SequenceRequest, Update};
use mario_colony::rules::{History, RememberedOperation};
use mario_colony::{
    AgentSnapshot, Copies, Custody, DeployKey, Descriptor, Epoch, Evidence, Grant, HeldInstance, Hello, JournalId,
    JournalRecord, Message, Outdated, OwnCause, Owned, PeerRecord, PolicyText, Prepare, RequestFact, Token, TransferId,
    TransferKind, WorkloadId,
};
use mario_domain::{
    AgentOperation, Application, ApplicationId, Capacity, Fact, FactValue, FlavourIndex, Hardware, Id, Inhibition,
    InstanceId, NodeId, OwnerId, Quantity, Rule, Target, Wakefulness,
};
use mario_testing::Random;
use mario_wire::{Body, Envelope, Goodbye, GoodbyeReason, Ping, Pong};

/// Generates values from a seed.
pub struct Draw {
    random: Random,
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw { random: Random::new(seed) }
    }

    pub fn number(&mut self) -> u64 {
        self.random.number()
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// A number of random length in bits, often 0 or `u64::MAX`.
    fn unsigned(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            _ => self.number() >> self.below(64),
        }
    }

    fn short(&mut self) -> u32 {
        (self.unsigned() >> self.below(33)) as u32
    }

    fn bits(&mut self) -> u128 {
        u128::from(self.unsigned()) << 64 | u128::from(self.number())
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn maybe<T>(&mut self, draw: impl FnOnce(&mut Draw) -> T) -> Option<T> {
        self.flag().then(|| draw(self))
    }

    fn list<T>(&mut self, max: u64, mut draw: impl FnMut(&mut Draw) -> T) -> Vec<T> {
        (0..self.below(max + 1)).map(|_| draw(self)).collect()
    }

    fn text(&mut self, max: u64) -> String {
        let characters = ['a', 'Z', '0', ' ', '\n', 'é', '→', '😀', '\0', '\''];
        (0..self.below(max + 1)).map(|_| characters[self.below(10) as usize]).collect()
    }

    fn id(&mut self) -> Id {
        let number = self.unsigned() as i64;
        if self.flag() { Id::number(number) } else { Id::name(&format!("n{}", self.text(30))).expect("a name") }
    }

    fn node(&mut self) -> NodeId {
        NodeId::try_from(self.id()).expect("not `self`")
    }

    fn instance(&mut self) -> InstanceId {
        self.id().into()
    }

    fn application(&mut self) -> ApplicationId {
        self.id().into()
    }

    fn double(&mut self) -> f64 {
        let value = f64::from_bits(self.number());
        if value.is_finite() { value } else { -0.0 }
    }

    fn quantity(&mut self) -> Quantity {
        let fraction = self.double().abs();
        if self.flag() { Quantity::whole(self.short()) } else { Quantity::fraction(fraction).expect("finite") }
    }

    fn fact(&mut self) -> Fact {
        let value = if self.flag() { FactValue::Id(self.id()) } else { FactValue::Number(self.double()) };
        Fact { subject: self.id(), key: self.id(), value }
    }

    fn operation(&mut self) -> AgentOperation {
        // Undeploy, migrate or replicate.
        AgentOperation::ALL[self.below(3) as usize]
    }

    fn descriptor(&mut self) -> Arc<Descriptor> {
        Arc::new(Descriptor {
            version: self.unsigned(),
            application: Application {
                id: self.application(),
                owner: self.maybe(|draw| OwnerId::from(draw.id())),
                hardware: Hardware::units(self.unsigned()),
                max_rate: self.quantity(),
                max_latency: self.quantity(),
                flavours: Vec::new(),
                sleep: None,
            },
            policy: PolicyText {
                name: self.text(20),
                files: self.list(3, |draw| (draw.text(20), draw.text(400))),
                memory: self.short(),
            },
            facts: self.list(3, Draw::fact),
            replications_max: self.maybe(Draw::short),
            copies: if self.flag() { Copies::MayOverlap } else { Copies::Exclusive },
            document: self.list(40, |draw| draw.number() as u8).into(),
        })
    }

    fn snapshot(&mut self) -> Arc<AgentSnapshot> {
        let (evaluations, memory) = (self.short(), self.list(5, Draw::remembered));
        Arc::new(AgentSnapshot { evaluations, memory, history: History::default() })
    }

    fn target(&mut self) -> Target {
        if self.flag() { Target::Own } else { Target::Node(self.node()) }
    }

    fn remembered(&mut self) -> RememberedOperation<Target> {
        RememberedOperation { evaluation: self.short(), operation: self.operation(), target: self.target() }
    }

    /// A snapshot with a history.
    pub fn past(&mut self) -> Arc<AgentSnapshot> {
        let fact = |draw: &mut Draw| {
            let (neighbour, rate) = (draw.target(), f64::from(draw.short()));
            RequestFact { neighbour, rate, latency: rate / 7.0 }
        };
        let history = History {
            requests: self.list(4, |draw| draw.list(3, fact)).into(),
            done: self.list(5, Draw::remembered),
            arrived: self.short(),
        };
        Arc::new(AgentSnapshot { history, ..AgentSnapshot::clone(&self.snapshot()) })
    }

    fn transfer(&mut self) -> TransferId {
        TransferId { journal: JournalId(self.bits()), boot: self.short(), counter: self.short() }
    }

    fn workload(&mut self) -> WorkloadId {
        WorkloadId { boot: self.short(), counter: self.short() }
    }

    fn rule(&mut self) -> Rule {
        let capacity = if self.flag() { Capacity::Unbounded } else { Capacity::units(self.unsigned()) };
        match self.below(15) {
            0 => Rule::Capacity { needed: Hardware::units(self.unsigned()), free: capacity },
            1 => Rule::Neighbourhood { target: self.node() },
            2 => Rule::Leaving,
            3 => Rule::Down,
            4 => Rule::Acceptance { reason: self.text(60) },
            5 => Rule::AcceptanceFailed { cause: self.text(60) },
            6 => Rule::Pinned,
            7 => Rule::Budget,
            8 => Rule::OpenGrant,
            9 => Rule::Busy,
            10 => Rule::Recovering,
            11 => Rule::Unanswered,
            12 => Rule::NotStarted { cause: self.text(60) },
            13 => Rule::Oversized { bytes: self.unsigned(), bytes_max: self.unsigned() },
            _ => Rule::Descriptor { cause: self.text(60) },
        }
    }

    pub fn hello(&mut self) -> Hello {
        Hello {
            journal: JournalId(self.bits()),
            sequence: self.unsigned(),
            concerning: self.unsigned(),
            open: self.list(4, Draw::transfer),
            facts: self.list(4, Draw::fact),
            knows: None,
            held: Vec::new(),
        }
    }

    /// A hello of a node that knows the receiver.
    fn hello_again(&mut self) -> Hello {
        let known =
            PeerRecord { journal: JournalId(self.bits()), sequence: self.unsigned(), concerning: self.unsigned() };
        let held = self.list(4, |draw| HeldInstance { instance: draw.instance(), epoch: Epoch(draw.short()) });
        Hello { knows: Some(known), held, ..self.hello() }
    }

    fn prepare(&mut self) -> Prepare {
        Prepare {
            transfer: self.transfer(),
            kind: if self.flag() { TransferKind::Migrate } else { TransferKind::Replicate },
            instance: self.instance(),
            asked_by: self.instance(),
            epoch: Epoch(self.short()),
            descriptor: self.descriptor(),
            flavour: FlavourIndex::DEFAULT,
            wakefulness: Wakefulness::Awake,
            replications_left: self.maybe(Draw::short),
            snapshot_bytes: self.unsigned(),
        }
    }

    /// The number of kinds of [`Message`].
    pub const MESSAGES: u64 = 9;

    pub fn message(&mut self, kind: u64) -> Message {
        let transfer = self.transfer();
        match kind {
            0 => Message::Hello(self.hello()),
            1 => Message::Prepare(Arc::new(self.prepare())),
            2 => Message::Ready { transfer, token: Token(self.bits()) },
            3 => Message::Inhibit { transfer, inhibition: Inhibition { node: self.node(), rule: self.rule() } },
            4 => Message::Abort { transfer },
            5 => Message::Transfer {
                transfer,
                token: Token(self.bits()),
                snapshot: self.snapshot(),
                is_anchor: false,
                concerning: self.unsigned(),
            },
            6 => Message::Taken { transfer, concerning: self.unsigned() },
            7 => Message::NotTaken { transfer },
            _ => Message::Forget { transfer },
        }
    }

    fn route(&mut self) -> RouteAnnouncement {
        let label = self.maybe(|draw| RouteLabel { sequence: draw.unsigned(), metric: draw.short() });
        let names = self.maybe(|draw| {
            Arc::new(Names {
                version: draw.unsigned(),
                hosts: draw.list(3, |draw| draw.text(20)),
                prefixes: draw.list(3, |draw| draw.text(20)),
                certificate: draw.text(60).into_bytes().into(),
            })
        });
        RouteAnnouncement { application: self.application(), label, names }
    }

    /// The number of kinds of bodies: each message of each protocol, a ping and a pong, and what was added since.
    pub const BODIES: u64 = Draw::MESSAGES + 8;

    pub fn body(&mut self, kind: u64) -> Body {
        match kind.checked_sub(Draw::MESSAGES) {
            None => Body::Colony(self.message(kind)),
            Some(0) => Body::Routing(RoutingMessage::Update(Update {
                number: self.unsigned(),
                is_table: self.flag(),
                routes: self.list(6, Draw::route),
            })),
            Some(1) => Body::Routing(RoutingMessage::Request(SequenceRequest {
                application: self.application(),
                sequence: self.unsigned(),
                hops_left: self.number() as u8,
            })),
            Some(2) => Body::Routing(RoutingMessage::Repeat),
            Some(3) => Body::Ping(Ping { sent: self.unsigned() }),
            Some(4) => {
                let (ping_sent, received, sent) = (self.unsigned(), self.unsigned(), self.unsigned());
                Body::Pong(Pong { ping_sent, received, sent })
            }
            Some(5) => {
                let reasons = [GoodbyeReason::NotListed, GoodbyeReason::TwoNodes, GoodbyeReason::Wait];
                Body::Goodbye(Goodbye { reason: reasons[self.below(3) as usize] })
            }
            Some(6) => {
                let inhibition = Inhibition { node: self.node(), rule: Rule::Unconfirmed };
                Body::Colony(Message::Inhibit { transfer: self.transfer(), inhibition })
            }
            Some(_) => Body::Colony(Message::Hello(self.hello_again())),
        }
    }

    pub fn envelope(&mut self) -> Envelope {
        let kind = self.below(Draw::BODIES);
        let receiver = self.maybe(|draw| JournalId(draw.bits()));
        Envelope::new(JournalId(self.bits()), receiver, self.body(kind))
    }

    fn owned(&mut self) -> Owned {
        Owned {
            instance: self.instance(),
            epoch: Epoch(self.short()),
            workload: self.workload(),
            descriptor: self.descriptor(),
            flavour: FlavourIndex::DEFAULT,
            wakefulness: Wakefulness::Awake,
            snapshot: self.snapshot(),
            replications_left: self.maybe(Draw::short),
            is_pinned: self.flag(),
            is_anchor: false,
        }
    }

    fn cause(&mut self) -> OwnCause {
        let transfer = self.transfer();
        match self.below(5) {
            0 => OwnCause::Deployed { key: DeployKey(self.bits()) },
            1 => OwnCause::Taken { transfer, from: self.node(), concerning: self.unsigned() },
            2 => OwnCause::Replicated { parent: self.instance(), replications_left: self.maybe(Draw::short) },
            3 => OwnCause::NotTaken { transfer },
            _ => OwnCause::Adopted { transfer },
        }
    }

    /// The number of kinds of records that [`Draw::record`] generates.
    pub const RECORDS: u64 = 20;

    pub fn record(&mut self, kind: u64) -> JournalRecord {
        let (transfer, instance) = (self.transfer(), self.instance());
        match kind {
            0 => JournalRecord::Boot { node: self.node(), journal: JournalId(self.bits()), boot: self.short() },
            1 => JournalRecord::Own { owned: self.owned(), cause: self.cause() },
            2 => JournalRecord::Custody(Custody {
                owned: self.owned(),
                transfer,
                token: Token(self.bits()),
                target: self.node(),
                receiver: JournalId(self.bits()),
                is_running: self.flag(),
                is_ended: self.flag(),
            }),
            3 => JournalRecord::CustodyEnded { instance },
            4 => JournalRecord::Grant(Grant {
                transfer,
                token: Token(self.bits()),
                target: self.node(),
                receiver: JournalId(self.bits()),
                instance,
                application: self.application(),
                parent: self.instance(),
                replications_left: self.maybe(|draw| [draw.short(), draw.short()]),
            }),
            5 => JournalRecord::Gone { transfer, concerning: self.unsigned() },
            6 => JournalRecord::NotTaken { transfer },
            7 => JournalRecord::Undeployed { instance },
            8 => JournalRecord::Stopped { workload: self.workload() },
            9 => JournalRecord::Forgotten { transfer },
            10 => JournalRecord::Pinned { instance, is_pinned: self.flag() },
            11 => JournalRecord::Lost { journal: JournalId(self.bits()) },
            12 => JournalRecord::Peer { node: self.node(), journal: JournalId(self.bits()), sequence: self.unsigned() },
            13 => JournalRecord::Adapted { instance, flavour: FlavourIndex(self.short() as u16) },
            14 => JournalRecord::Shrunk { workload: self.workload() },
            16.. => {
                let (known, own) = (self.unsigned(), self.unsigned());
                let evidence = match kind {
                    16 => Evidence::Rejected,
                    17 => Evidence::Records { known, own },
                    18 => Evidence::Exchange { known, own },
                    _ => Evidence::Epoch { instance, known: Epoch(self.short()), own: Epoch(self.short()) },
                };
                JournalRecord::Outdated(Outdated { by: self.node(), evidence })
            }
            _ => {
                let flavour = FlavourIndex(self.short() as u16);
                JournalRecord::Updated { instance, descriptor: self.descriptor(), flavour }
            }
        }
    }
}
