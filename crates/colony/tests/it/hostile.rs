//! A peer that sends random messages at any time. It cannot make a node lose a pinned instance or overcommit its
//! hardware.

use std::sync::Arc;

use mario_colony::{
    AgentSnapshot, Command, Copies, Descriptor, Epoch, Hello, Input, JournalId, Message, Prepare, Token, TransferId,
    TransferKind,
};
use mario_domain::{FlavourIndex, Inhibition, InstanceId, Rule, Wakefulness};
use mario_testing::Random;

use crate::pair::{Ask, Letter, Pair, descriptor};

const SEQUENCES: u64 = 300;
const STEPS: u64 = 150;

/// The hardware of the node and of one copy, in units.
const CAPACITY: u64 = 10;
const NEEDED: u64 = 2;

/// Draws messages with ids from small sets, so that messages often refer to earlier ones.
struct Peer {
    random: Random,
    instances: Vec<InstanceId>,
    sequence: u64,
}

impl Peer {
    fn transfer(&mut self) -> TransferId {
        let journal = JournalId(u128::from(self.random.between(1, 3)));
        TransferId { journal, boot: self.random.below(2) as u32, counter: self.random.below(4) as u32 }
    }

    /// A transfer and a token: those of one of the last three `Ready` messages of the node, or made-up ones.
    fn promise(&mut self, sent: &[Message]) -> (TransferId, Token) {
        let promised: Vec<(TransferId, Token)> = sent.iter().filter_map(promise_of).collect();
        if promised.is_empty() || self.random.percent(20) {
            return (self.transfer(), Token(u128::from(self.random.below(4_u64))));
        }
        let newest = promised.len().saturating_sub(3);
        promised[newest + self.random.below(promised.len() - newest)]
    }

    fn prepare(&mut self) -> Prepare {
        let index = self.random.below(self.instances.len());
        let copies = if self.random.percent(50) { Copies::Exclusive } else { Copies::MayOverlap };
        Prepare {
            transfer: self.transfer(),
            kind: if self.random.percent(50) { TransferKind::Migrate } else { TransferKind::Replicate },
            instance: self.instances[index].clone(),
            asked_by: self.instances[index].clone(),
            epoch: Epoch([0, 1, 2, u32::MAX][self.random.below(4)]),
            descriptor: Arc::new(Descriptor { copies, ..descriptor() }),
            flavour: FlavourIndex([0, 0, 0, 1, u16::MAX][self.random.below(5)]),
            wakefulness: [Wakefulness::Awake, Wakefulness::Asleep][self.random.below(2)],
            replications_left: Some(self.random.below(3) as u32),
            snapshot_bytes: self.random.below(1 << 17),
        }
    }

    fn message(&mut self, sent: &[Message]) -> Message {
        let transfer = self.transfer();
        match self.random.below(12) {
            0 => {
                let journal = JournalId(u128::from(self.random.between(2, 3)));
                self.sequence += 1;
                let sequence = if self.random.percent(10) { 0 } else { self.sequence };
                let open = vec![transfer];
                Message::Hello(Hello {
                    journal,
                    sequence,
                    concerning: u64::MAX,
                    open,
                    facts: Vec::new(),
                    knows: None,
                    held: Vec::new(),
                })
            }
            1..5 => Message::Prepare(Arc::new(self.prepare())),
            5..8 => {
                let (transfer, token) = self.promise(sent);
                Message::Transfer {
                    transfer,
                    token,
                    snapshot: Arc::new(AgentSnapshot::default()),
                    is_anchor: transfer.counter % 2 == 0,
                    concerning: 0,
                }
            }
            8 => Message::Ready { transfer, token: Token(u128::from(self.random.below(4_u64))) },
            9 => {
                let node = mario_domain::NodeId::name("n1").expect("a name");
                Message::Inhibit { transfer, inhibition: Inhibition { node, rule: Rule::Busy } }
            }
            10 => Message::Abort { transfer },
            _ => [
                Message::Taken { transfer, concerning: 0 },
                Message::NotTaken { transfer },
                Message::Forget { transfer },
            ][self.random.below(3)]
            .clone(),
        }
    }
}

fn promise_of(message: &Message) -> Option<(TransferId, Token)> {
    match message {
        Message::Ready { transfer, token } => Some((*transfer, *token)),
        _ => None,
    }
}

/// Performs one random event at the node, and drops the messages that it sends. `free` is its unpinned instance.
fn step(pair: &mut Pair, peer: &mut Peer, free: &InstanceId) {
    match peer.random.below(20) {
        0 => pair.advance_side(0, 20_000.0),
        1 | 2 => pair.start_copies(0),
        3 | 4 => pair.stop_copies(0),
        5 if peer.random.percent(30) => pair.crash_unswept(0),
        5 | 6 => pair.put(0, Input::Swept),
        7 => pair.propose(0, free, Ask::Migrate),
        8 => pair.propose(0, free, Ask::Replicate),
        9 => {
            let peer = pair.sides[1].id.clone();
            pair.put(0, Input::Neighbours(vec![peer]));
        }
        _ => {
            let message = peer.message(&pair.sides[0].sent);
            let own = |transfer: TransferId| Some(transfer.journal).filter(|journal| *journal != JournalId(1));
            let sender = match &message {
                Message::Hello(hello) => Some(hello.journal),
                message => message.transfer().and_then(own),
            };
            let sender = sender.unwrap_or(JournalId(u128::from(peer.random.between(2, 3))));
            let receiver = Some(JournalId(u128::from(1 + peer.random.below(10_u64) / 9)));
            pair.hand(Letter { to: 0, sender, receiver, message });
        }
    }
    pair.drop_letters();
}

#[test]
fn no_message_of_a_peer_moves_a_pinned_instance_or_miscounts_hardware() {
    let mut taken = 0;
    for seed in 0..SEQUENCES {
        let mut pair = Pair::new();
        let pinned = pair.deploy(0, &descriptor());
        let free = pair.deploy(0, &descriptor());
        pair.command(0, Command::Pin(pinned.clone()));
        pair.sides[0].is_prompt = false;
        let strange = ["x", "y", "z"].map(|name| InstanceId::name(name).expect("a name"));
        let instances = strange.into_iter().chain([pinned.clone(), free.clone()]).collect();
        let mut peer = Peer { random: Random::new(seed), instances, sequence: 1_000 };
        for _ in 0..STEPS {
            step(&mut pair, &mut peer, &free);
            let side = &pair.sides[0];
            let reserved: u64 = side.node.manager().reservations().iter().map(|one| one.needed.as_units()).sum();
            assert!(side.shadow.used().as_units() + reserved <= CAPACITY, "sequence {seed}");
            assert!(side.running.len() as u64 * NEEDED <= CAPACITY, "sequence {seed}");
            assert!(side.owns(&pinned), "sequence {seed}");
        }
        taken += pair.sides[0].node.instances().filter(|instance| **instance != pinned && **instance != free).count();
        pair.put(0, Input::Swept);
        for _ in 0..4 {
            pair.advance_side(0, 100_000.0);
            pair.start_copies(0);
            pair.stop_copies(0);
        }
        let owned = pair.sides[0].node.instances().count() as u64;
        let kept = pair.sides[0].shadow.used().as_units() - owned * NEEDED;
        assert_eq!(pair.sides[0].free() + owned * NEEDED + kept, CAPACITY, "places end by themselves");
    }
    assert!(taken > 50, "only {taken} instances came");
}
