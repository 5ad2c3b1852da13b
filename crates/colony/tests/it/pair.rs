//! Two nodes connected by instant, ordered messages: the smallest colony, for focused tests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

use mario_colony::{
    Command, Config, Copies, DeployKey, Descriptor, Effect, Input, JournalId, JournalRecord, Ledger, Message, Node,
    NodeLimits, Observation, PolicyText, Start, Timing, TraceEvent, Unconfirmed, WorkloadId,
};
use mario_domain::{
    Application, ApplicationId, Capacity, Duration, Hardware, InstanceId, NodeId, Quantity, Rule, Time, Verdict,
};
use mario_policy::Acceptance;
use mario_prolog::{Budget, Engine};

/// The index of one of the two nodes: 0 or 1.
pub type SideIndex = usize;

/// Two linked nodes.
pub struct Pair {
    pub sides: [Side; 2],
    pub now: f64,
    letters: VecDeque<Letter>,
    /// Selects messages that are withheld instead of sent.
    pub withholds: fn(&Message) -> bool,
    pub withheld: Vec<Letter>,
    deploys: u128,
    seed: u64,
}

/// One node with its journal and its workloads.
pub struct Side {
    pub id: NodeId,
    pub config: Arc<Config>,
    pub node: Node,
    /// A second ledger, which applies the same records and must equal the node's.
    pub shadow: Ledger,
    pub records: Vec<JournalRecord>,
    pub reports: Vec<TraceEvent>,
    pub sent: Vec<Message>,
    /// All copies, including those that are starting or stopping.
    pub running: BTreeMap<WorkloadId, InstanceId>,
    /// Whether copies start and stop at once; else they wait for [`Pair::start_copies`] and [`Pair::stop_copies`].
    pub is_prompt: bool,
    pub starting: Vec<WorkloadId>,
    pub stopping: Vec<WorkloadId>,
}

/// A message in transit.
#[derive(Clone, Debug)]
pub struct Letter {
    pub to: SideIndex,
    pub sender: JournalId,
    pub receiver: Option<JournalId>,
    pub message: Message,
}

/// A command to an agent with the policy of [`descriptor`], which reads it as a fact.
#[derive(Clone, Copy)]
pub enum Ask {
    Migrate = 1,
    Replicate = 2,
    ReplicateHere = 3,
    Undeploy = 4,
    MigrateFarAway = 5,
}

const OBEDIENT: &str = "
operation(migrate, I, M) :- fact(I, random, 1), node(_, _, [M|_]).
operation(replicate, I, M) :- fact(I, random, 2), node(_, _, [M|_]).
operation(replicate, I, self) :- fact(I, random, 3).
operation(undeploy, I, self) :- fact(I, random, 4).
operation(migrate, I, far_away) :- fact(I, random, 5).
";

/// The engine of all tests: a node and its acceptance policy have to share one.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}

/// An application that needs 2 units of hardware. Its agents obey [`Ask`], and remember inhibitions for 3 evaluations.
pub fn descriptor() -> Descriptor {
    let application = Application {
        id: ApplicationId::name("video").expect("a name"),
        owner: None,
        hardware: Hardware::units(2),
        max_rate: Quantity::whole(10),
        max_latency: Quantity::whole(10),
        flavours: Vec::new(),
        sleep: None,
    };
    Descriptor {
        version: 1,
        application,
        policy: policy(OBEDIENT),
        facts: Vec::new(),
        replications_max: None,
        copies: Copies::MayOverlap,
        document: Arc::default(),
    }
}

pub fn policy(text: &str) -> PolicyText {
    PolicyText { name: "policy".to_owned(), files: vec![("policy.pl".to_owned(), text.to_owned())], memory: 3 }
}

pub fn exclusive() -> Descriptor {
    Descriptor { copies: Copies::Exclusive, ..descriptor() }
}

impl Pair {
    /// Two nodes of 10 units each, whose agents evaluate on command.
    pub fn new() -> Pair {
        Pair::with(|_, _| {})
    }

    /// Like [`Pair::new`], with changes to the configuration.
    pub fn with(configure: impl Fn(SideIndex, &mut Config)) -> Pair {
        let sides = [0, 1].map(|index| {
            let mut config = Config {
                node: NodeId::name(&format!("n{index}")).expect("a name"),
                capacity: Capacity::units(10),
                facts: Vec::new(),
                acceptance: None,
                catalogue: Vec::new(),
                budget: Budget::default(),
                timing: Timing { evaluation_period: None, ..Timing::default() },
                limits: NodeLimits::default(),
                unconfirmed: Unconfirmed::default(),
            };
            configure(index, &mut config);
            let journal = JournalId(index as u128 + 1);
            Side::start(Arc::new(config), Ledger::default(), journal, 7)
        });
        let mut pair = Pair {
            sides: sides.map(|(side, _)| side),
            now: 0.0,
            letters: VecDeque::new(),
            withholds: |_| false,
            withheld: Vec::new(),
            deploys: 0,
            seed: 7,
        };
        for side in [0, 1] {
            pair.input(side, Input::Swept);
        }
        pair.link();
        pair
    }

    /// Compiles an acceptance policy.
    pub fn acceptance(text: &str) -> Arc<Acceptance> {
        let acceptance = Acceptance::load(engine(), "acceptance.pl", text, None, Budget::default());
        Arc::new(acceptance.expect("an acceptance policy"))
    }

    /// Ends the session between the nodes, opens a new one and delivers all messages.
    pub fn link(&mut self) {
        for side in [0, 1] {
            self.put(side, Input::Neighbours(Vec::new()));
        }
        for side in [0, 1] {
            let neighbour = self.sides[1 - side].id.clone();
            self.put(side, Input::Neighbours(vec![neighbour]));
        }
        self.deliver();
    }

    /// Passes an input to a node, and delivers all resulting messages.
    pub fn input(&mut self, side: SideIndex, input: Input) {
        self.put(side, input);
        self.deliver();
    }

    /// Passes an input to a node; resulting messages stay in transit.
    pub fn put(&mut self, side: SideIndex, input: Input) {
        let mut effects = Vec::new();
        let now = Time::at(self.now);
        self.sides[side].node.handle(now, input, &mut effects);
        self.perform(side, effects);
    }

    pub fn deliver(&mut self) {
        while self.deliver_one() {}
    }

    /// Delivers the next message. Returns whether there was one.
    pub fn deliver_one(&mut self) -> bool {
        let Some(letter) = self.letters.pop_front() else { return false };
        self.hand(letter);
        true
    }

    /// Drops all messages in transit.
    pub fn drop_letters(&mut self) {
        self.letters.clear();
    }

    /// Delivers one message. Tests may deliver a message twice.
    pub fn hand(&mut self, letter: Letter) {
        let Letter { to, sender, receiver, message } = letter;
        let from = self.sides[1 - to].id.clone();
        self.put(to, Input::Received { from, sender, receiver, message });
    }

    /// Delivers the withheld messages, and stops withholding messages.
    pub fn release(&mut self) {
        self.withholds = |_| false;
        self.letters.extend(std::mem::take(&mut self.withheld));
        self.deliver();
    }

    fn perform(&mut self, side: SideIndex, effects: Vec<Effect>) {
        let mut answers = Vec::new();
        for effect in effects {
            let this = &mut self.sides[side];
            match effect {
                Effect::Send { receiver, message, .. } => {
                    this.sent.push(message.clone());
                    let letter = Letter { to: 1 - side, sender: this.node.journal(), receiver, message };
                    if (self.withholds)(&letter.message) {
                        self.withheld.push(letter);
                    } else {
                        self.letters.push_back(letter);
                    }
                }
                effect => answers.extend(this.perform(effect)),
            }
        }
        assert_eq!(self.sides[side].shadow, *self.sides[side].node.ledger(), "only records change the ledger");
        for answer in answers {
            self.put(side, answer);
        }
    }

    /// Kills a node, restarts it from its journal, and opens a new session. Its workloads keep running; copies that the
    /// journal does not name are swept at once.
    pub fn crash(&mut self, side: SideIndex) {
        self.crash_unswept(side);
        self.input(side, Input::Swept);
        self.link();
    }

    /// Like [`Pair::crash`], without the report that the sweep is done, and without a new session.
    pub fn crash_unswept(&mut self, side: SideIndex) {
        self.seed += 1;
        let old = &self.sides[side];
        let (config, ledger) = (Arc::clone(&old.config), old.shadow.clone());
        let (mut new, effects) = Side::start(config, ledger, JournalId(99), self.seed);
        let old = &mut self.sides[side];
        new.records.splice(0..0, std::mem::take(&mut old.records));
        new.reports = std::mem::take(&mut old.reports);
        new.sent = std::mem::take(&mut old.sent);
        (new.is_prompt, new.running) = (old.is_prompt, std::mem::take(&mut old.running));
        self.sides[side] = new;
        self.perform(side, effects);
    }

    /// Kills a node, and restarts it from an older copy of its journal, without a session. Its workloads keep running.
    pub fn restore(&mut self, side: SideIndex, backup: Ledger) {
        self.sides[side].shadow = backup;
        self.crash_unswept(side);
        self.input(side, Input::Swept);
    }

    /// Wipes a node, its workloads included, and restarts it with a new journal.
    pub fn lose_disk(&mut self, side: SideIndex, journal: JournalId) {
        self.sides[side].shadow = Ledger::default();
        let config = Arc::clone(&self.sides[side].config);
        let (new, effects) = Side::start(config, Ledger::default(), journal, self.seed);
        self.sides[side] = new;
        self.perform(side, effects);
        self.input(side, Input::Swept);
        self.link();
    }

    /// Advances the time; the due timers of both sides fire in order, and resulting messages are delivered.
    pub fn advance(&mut self, units: f64) {
        let end = self.now + units;
        loop {
            let next = |side: SideIndex| self.sides[side].node.next_timeout().map(|at| (at.units(), side));
            let due = [0, 1].into_iter().filter_map(next).filter(|(at, _)| *at <= end);
            let Some((at, side)) = due.min_by(|one, other| one.0.total_cmp(&other.0)) else { break };
            self.now = self.now.max(at);
            self.input(side, Input::Timeout);
        }
        self.now = end;
    }

    /// Advances the time; only due timers of one side fire, and resulting messages stay in transit.
    pub fn advance_side(&mut self, side: SideIndex, units: f64) {
        let end = self.now + units;
        let next = |pair: &Pair| pair.sides[side].node.next_timeout().filter(|at| at.units() <= end);
        while let Some(at) = next(self) {
            self.now = self.now.max(at.units());
            self.put(side, Input::Timeout);
        }
        self.now = end;
    }

    /// An operator deploys an instance that is no anchor. Returns its id.
    pub fn deploy(&mut self, side: SideIndex, descriptor: &Descriptor) -> InstanceId {
        self.deploy_as(side, descriptor, false)
    }

    /// An operator deploys an anchor. Returns its id.
    pub fn deploy_anchor(&mut self, side: SideIndex, descriptor: &Descriptor) -> InstanceId {
        self.deploy_as(side, descriptor, true)
    }

    fn deploy_as(&mut self, side: SideIndex, descriptor: &Descriptor, is_anchor: bool) -> InstanceId {
        self.deploys += 1;
        let key = DeployKey(self.deploys);
        let descriptor = Arc::new(descriptor.clone());
        self.input(side, Input::Operator(Command::Deploy { key, descriptor, is_anchor }));
        match self.sides[side].reports.last() {
            Some(TraceEvent::Judged { created: Some(instance), .. }) => instance.clone(),
            other => panic!("it was not deployed: {other:?}"),
        }
    }

    /// Gives an agent a command, lets it evaluate and its manager judge; resulting messages stay in transit.
    pub fn propose(&mut self, side: SideIndex, instance: &InstanceId, ask: Ask) {
        let observation = Observation { instance: instance.clone(), requests: Vec::new(), random: Some(ask as u32) };
        self.put(side, Input::Observed(observation));
        self.put(side, Input::Evaluate(instance.clone()));
        self.put(side, Input::Judge(instance.clone()));
    }

    /// Like [`Pair::propose`], and delivers all resulting messages.
    pub fn ask(&mut self, side: SideIndex, instance: &InstanceId, ask: Ask) {
        self.propose(side, instance, ask);
        self.deliver();
    }

    pub fn command(&mut self, side: SideIndex, command: Command) {
        self.input(side, Input::Operator(command));
    }

    /// Reports starting copies as healthy, unless they were stopped in the meantime; resulting messages stay in
    /// transit.
    pub fn start_copies(&mut self, side: SideIndex) {
        for workload in std::mem::take(&mut self.sides[side].starting) {
            if self.sides[side].running.contains_key(&workload) {
                self.put(side, Input::Healthy(workload));
            }
        }
    }

    /// Ends stopping copies, reports them as stopped, and delivers all resulting messages.
    pub fn stop_copies(&mut self, side: SideIndex) {
        for workload in std::mem::take(&mut self.sides[side].stopping) {
            self.sides[side].running.remove(&workload);
            self.input(side, Input::Stopped(workload));
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.sides.iter().all(|side| side.node.is_quiet())
    }

    /// How many copies of an instance there are.
    pub fn copies(&self, instance: &InstanceId) -> usize {
        self.sides.iter().flat_map(|side| side.running.values()).filter(|running| *running == instance).count()
    }
}

impl Side {
    fn start(config: Arc<Config>, ledger: Ledger, journal: JournalId, seed: u64) -> (Side, Vec<Effect>) {
        let mut effects = Vec::new();
        let start = Start { config: Arc::clone(&config), ledger: ledger.clone(), new_journal: journal, seed };
        let node = Node::start(engine(), start, Time::ZERO, &mut effects).expect("it starts");
        let mut side = Side {
            id: config.node.clone(),
            config,
            node,
            shadow: ledger,
            records: Vec::new(),
            reports: Vec::new(),
            sent: Vec::new(),
            running: BTreeMap::new(),
            is_prompt: true,
            starting: Vec::new(),
            stopping: Vec::new(),
        };
        // The first effect is the boot record. It is applied here, because `Pair::with` drops all effects.
        if let Some(Effect::Journal(record)) = effects.first() {
            side.shadow.apply(record);
            side.records.push(record.clone());
            effects.remove(0);
        }
        (side, effects)
    }

    /// Performs an effect that concerns only this node. Returns the answer to the node, if there is one.
    fn perform(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Journal(record) => {
                self.shadow.apply(&record);
                self.records.push(record);
                None
            }
            Effect::Start { workload, instance, .. } | Effect::Resume { workload, instance, .. } => {
                self.running.insert(workload, instance);
                if !self.is_prompt {
                    self.starting.push(workload);
                }
                self.is_prompt.then_some(Input::Healthy(workload))
            }
            Effect::Stop(workload) | Effect::Drain(workload) => {
                if !self.is_prompt {
                    self.stopping.push(workload);
                    return None;
                }
                self.running.remove(&workload);
                Some(Input::Stopped(workload))
            }
            Effect::Adapt { workload, .. } => Some(Input::Adapted(workload)),
            Effect::Sweep { keep } => {
                self.running.retain(|workload, _| keep.contains(workload));
                None
            }
            Effect::Trace(report) => {
                self.reports.push(report);
                None
            }
            Effect::Send { .. } => None,
        }
    }

    pub fn owns(&self, instance: &InstanceId) -> bool {
        self.node.instances().any(|owned| owned == instance)
    }

    pub fn only_instance(&self) -> InstanceId {
        let instances: Vec<&InstanceId> = self.node.instances().collect();
        assert_eq!(instances.len(), 1, "one instance");
        instances[0].clone()
    }

    /// The hardware that is neither used nor reserved.
    pub fn free(&self) -> u64 {
        match self.node.manager().unreserved() {
            Capacity::Bounded(free) => free.as_units(),
            Capacity::Unbounded => u64::MAX,
        }
    }

    /// The rule that inhibited the last request that this node reported as judged; `None` if it was accepted.
    pub fn last_rule(&self) -> Option<Rule> {
        let last = self.reports.iter().rev().find_map(|report| match report {
            TraceEvent::Judged { verdict, .. } => Some(verdict),
            _ => None,
        });
        match last.expect("a request was judged") {
            Verdict::Accepted => None,
            Verdict::Inhibited(inhibition) => Some(inhibition.rule.clone()),
        }
    }

    /// How many operations the agent of an instance remembers as inhibited.
    pub fn remembers(&self, instance: &InstanceId) -> usize {
        self.node.snapshot(instance).expect("it is here").memory.len()
    }
}

pub fn span(units: f64) -> Duration {
    Duration::of(units)
}
