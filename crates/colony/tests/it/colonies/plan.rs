//! Everything drawn from a seed: a colony, its network conditions, and a schedule of faults and operators' commands.

use std::sync::Arc;

use mario_colony::{Copies, Descriptor, Message, PolicyText};
use mario_domain::{Application, ApplicationId, Hardware, Quantity};
use mario_testing::Random;

/// When new faults and agents' proposals end. After that, the colony must become quiescent.
pub const HORIZON_MS: u64 = 8_000;

/// One colony to be run. All times are in milliseconds.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub nodes: Vec<NodePlan>,
    pub links: Vec<[usize; 2]>,
    pub applications: Vec<Arc<Descriptor>>,
    pub conditions: Conditions,
    pub events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub struct NodePlan {
    pub capacity: u64,
    pub acceptance: Option<&'static str>,
}

/// How the network, the disks and the workloads behave. Messages that are sent after the horizon are neither lost nor
/// duplicated, and their random delay is at most 20 ms; no start fails after the horizon.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub loss_percent: u64,
    pub duplication_percent: u64,
    /// A kind of message of which most are lost, if there is one.
    pub unlucky: Option<Kind>,
    pub delay_max: u64,
    pub sync_max: u64,
    pub start_max: u64,
    pub stop_max: u64,
    pub sweep_max: u64,
    pub failed_starts_percent: u64,
    pub period: u64,
    /// Whether nodes evaluate by their own timers; else the world triggers evaluations.
    pub is_self_timed: bool,
}

/// The kinds of messages that [`Conditions::unlucky`] can select.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Ready,
    Inhibit,
    Abort,
    Transfer,
    Taken,
    NotTaken,
    Forget,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub at: u64,
    pub what: What,
}

/// A fault, a change of availability, or a command of an operator. `pick` selects one of the instances that the node
/// holds at that time.
#[derive(Clone, Debug)]
pub enum What {
    Deploy {
        node: usize,
        application: usize,
        key: u128,
    },
    Undeploy {
        node: usize,
        pick: usize,
    },
    Pin {
        node: usize,
        pick: usize,
    },
    Unpin {
        node: usize,
        pick: usize,
    },
    Anchor {
        node: usize,
        pick: usize,
        is_anchor: bool,
    },
    /// An operator declares to `node` that the journal of `peer` is lost, although `peer` may be alive.
    DeclareLost {
        node: usize,
        peer: usize,
    },
    Leave {
        node: usize,
    },
    Return {
        node: usize,
    },
    Crash {
        node: usize,
        down_for: u64,
    },
    /// The daemon crashes soon after its next record of a transfer.
    Ambush {
        node: usize,
        down_for: u64,
    },
    LoseDisk {
        node: usize,
        down_for: u64,
    },
    Cut {
        link: usize,
        down_for: u64,
    },
    JumpClock {
        node: usize,
        by: i64,
    },
}

/// A policy with random proposals, in these percentages of evaluations: undeploy, migrate, replicate on the own node
/// and replicate onto a neighbour.
fn restless(undeploy: u64, migrate: u64, here: u64, elsewhere: u64) -> String {
    let (migrate, here) = (undeploy + migrate, undeploy + migrate + here);
    let elsewhere = here + elsewhere;
    format!(
        "operation(undeploy, I, self) :- drawn(I, K), K < {undeploy}.\n\
         operation(migrate, I, M) :- drawn(I, K), K >= {undeploy}, K < {migrate}, somewhere(I, M).\n\
         operation(replicate, I, self) :- drawn(I, K), K >= {migrate}, K < {here}.\n\
         operation(replicate, I, M) :- drawn(I, K), K >= {here}, K < {elsewhere}, somewhere(I, M).\n{DRAWN}"
    )
}

const DRAWN: &str = "
drawn(I, K) :- fact(I, random, R), K is R mod 100.
somewhere(I, M) :-
    fact(I, random, R), node(_, _, Ms), length(Ms, L), L > 0, N is (R // 100) mod L, nth0(N, Ms, M).
";

/// A policy that, in 70 % of evaluations, proposes an operation that it does not remember as inhibited: a migration to
/// a neighbour, or else a replication on its own node. In 10 %, it replicates onto a random neighbour.
const REMEMBERING: &str = "
operation(migrate, I, M) :-
    drawn(I, K), K < 70, node(_, _, Ms), member(M, Ms), \\+ inhibited(migrate, I, M).
operation(replicate, I, self) :- drawn(I, K), K < 70, \\+ inhibited(replicate, I, self).
operation(replicate, I, M) :- drawn(I, K), K >= 90, somewhere(I, M).
";

/// A policy that proposes impossible migrations (20 %), raises an error (10 %) or migrates (60 %).
const CONFUSED: &str = "
operation(migrate, I, nowhere) :- drawn(I, K), K < 10.
operation(migrate, I, self) :- drawn(I, K), K < 20.
operation(migrate, _, _) :- drawn(I, K), K < 30, atom_length(I, oops).
operation(migrate, I, M) :- drawn(I, K), K < 90, somewhere(I, M).
";

const ONE_EACH: &str = "reject(request(_, _, App, _, To), one_each) :- node(To, _), serviceInstance(_, App, To).";
const NO_REPLICAS: &str = "reject(request(replicate, _, _, From, To), ours) :- node(To, _), From \\== To.";
const FAILING: &str = "reject(request(replicate, _, App, _, _), R) :- R is App + 1.";

/// The acceptance policies that nodes may have.
pub const ACCEPTANCES: [&str; 3] = [ONE_EACH, NO_REPLICAS, FAILING];

impl Plan {
    pub fn draw(seed: u64) -> Plan {
        let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let count = random.between(3, 8) as usize;
        let nodes = (0..count).map(|_| NodePlan::draw(&mut random)).collect();
        let links = draw_links(count, &mut random);
        let applications: Vec<Arc<Descriptor>> =
            (0..random.between(1, 3)).map(|number| draw_application(number, &mut random)).collect();
        let conditions = Conditions::draw(&mut random);
        let events = draw_events(count, links.len(), applications.len(), &mut random);
        Plan { seed, nodes, links, applications, conditions, events }
    }
}

impl NodePlan {
    fn draw(random: &mut Random) -> NodePlan {
        let acceptance = match random.below(10) {
            0 | 1 => Some(ONE_EACH),
            2 => Some(NO_REPLICAS),
            3 => Some(FAILING),
            _ => None,
        };
        NodePlan { capacity: random.between(1, 10), acceptance }
    }
}

impl Conditions {
    fn draw(random: &mut Random) -> Conditions {
        let is_fair = random.percent(20);
        Conditions {
            loss_percent: if is_fair { 0 } else { random.below(30) },
            duplication_percent: if is_fair { 0 } else { random.below(30) },
            unlucky: if is_fair { None } else { Kind::draw(random) },
            delay_max: [1, 20, 100, 600][random.below(4)],
            sync_max: [0, 5, 50, 400][random.below(4)],
            start_max: [5, 100, 500][random.below(3)],
            stop_max: [5, 100, 800][random.below(3)],
            sweep_max: [5, 200, 900][random.below(3)],
            failed_starts_percent: [0, 0, 10, 40][random.below(4)],
            period: random.between(150, 500),
            is_self_timed: random.percent(50),
        }
    }
}

impl Kind {
    fn draw(random: &mut Random) -> Option<Kind> {
        use Kind::{Abort, Forget, Inhibit, NotTaken, Ready, Taken, Transfer};
        let kinds = [Ready, Inhibit, Abort, Transfer, Taken, Taken, Taken, NotTaken, Forget];
        kinds.get(random.below(2 * kinds.len())).copied()
    }

    pub fn is_of(self, message: &Message) -> bool {
        let kind = match message {
            Message::Hello(_) | Message::Prepare(_) => return false,
            Message::Ready { .. } => Kind::Ready,
            Message::Inhibit { .. } => Kind::Inhibit,
            Message::Abort { .. } => Kind::Abort,
            Message::Transfer { .. } => Kind::Transfer,
            Message::Taken { .. } => Kind::Taken,
            Message::NotTaken { .. } => Kind::NotTaken,
            Message::Forget { .. } => Kind::Forget,
        };
        kind == self
    }
}

/// A random tree with up to `count` - 1 additional links.
fn draw_links(count: usize, random: &mut Random) -> Vec<[usize; 2]> {
    let mut links: Vec<[usize; 2]> = (1..count).map(|node| [random.below(node), node]).collect();
    for _ in 0..random.below(count as u64) {
        let [one, other] = [random.below(count), random.below(count)];
        let link = [one.min(other), one.max(other)];
        if one != other && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

fn draw_application(number: u64, random: &mut Random) -> Arc<Descriptor> {
    let text = match random.below(6) {
        0 => format!("{REMEMBERING}{DRAWN}"),
        1 => format!("{CONFUSED}{DRAWN}"),
        2 => restless(3, 90, 0, 0),
        3 => restless(5, 30, 10, 40),
        _ => restless(random.below(10), random.between(20, 60), random.below(10), random.below(20)),
    };
    let application = Application {
        id: ApplicationId::name(&format!("a{number}")).expect("a name"),
        owner: None,
        hardware: Hardware::units(random.between(1, 3)),
        max_rate: Quantity::whole(10),
        max_latency: Quantity::whole(10),
        flavours: Vec::new(),
        sleep: None,
    };
    Arc::new(Descriptor {
        version: 1,
        application,
        policy: PolicyText {
            name: "drawn".to_owned(),
            files: vec![("drawn.pl".to_owned(), text)],
            memory: random.below(4) as u32,
        },
        facts: Vec::new(),
        replications_max: random.percent(60).then(|| random.below(6) as u32),
        copies: if random.percent(35) { Copies::Exclusive } else { Copies::MayOverlap },
        document: Arc::default(),
    })
}

fn draw_events(nodes: usize, links: usize, applications: usize, random: &mut Random) -> Vec<Event> {
    let mut events = Vec::new();
    for _ in 0..random.between(3, 10) {
        let [node, application] = [random.below(nodes), random.below(applications)];
        let what = What::Deploy { node, application, key: u128::from(random.below(12_u64)) };
        events.push(Event { at: random.below(HORIZON_MS / 2), what });
    }
    for _ in 0..random.between(0, 36) {
        let (at, node) = (random.below(HORIZON_MS), random.below(nodes));
        let (pick, down_for) = (random.below(8), random.between(1, 1_500));
        let what = match random.below(20) {
            0..3 => What::Crash { node, down_for },
            3..7 => What::Ambush { node, down_for },
            7..10 => What::Cut { link: random.below(links), down_for },
            10..12 => What::LoseDisk { node, down_for },
            12 => What::JumpClock { node, by: random.below(8_000_u64) as i64 - 4_000 },
            13 | 14 => What::Undeploy { node, pick },
            15 | 16 if pick % 2 == 1 => What::Anchor { node, pick: pick / 2, is_anchor: random.percent(50) },
            15 => What::Pin { node, pick },
            16 => What::Unpin { node, pick },
            17 => What::DeclareLost { node, peer: random.below(nodes) },
            18 => What::Leave { node },
            _ => What::Return { node },
        };
        events.push(Event { at, what });
    }
    events.sort_by_key(|event| event.at);
    events
}
