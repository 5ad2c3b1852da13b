//! A colony in simulated time: the daemons and links, one event queue, one random generator, and the checker.

mod effects;
mod faults;
mod links;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use mario_colony::{
    Command, Config, Input, JournalId, Message, Node, NodeLimits, Observation, Start, Timing, TransferId, Unconfirmed,
    WorkloadId,
};
use mario_domain::{Capacity, Duration, InstanceId, NodeId};
use mario_policy::Acceptance;
use mario_prolog::{Budget, Engine};
use mario_testing::Random;

use super::checker::Checker;
use super::daemon::Daemon;
use super::plan::{ACCEPTANCES, HORIZON_MS, Plan};
use super::sabotage::Sabotage;
use links::Link;

/// How long after the horizon the colony may take to become quiescent.
const QUIET_WITHIN_MS: u64 = 60_000;

/// The data that all colonies share.
pub struct Ground {
    engine: Engine,
    /// The compiled acceptance policies, by their texts.
    acceptances: BTreeMap<&'static str, Arc<Acceptance>>,
}

impl Ground {
    pub fn new() -> Ground {
        let engine = Engine::new();
        let acceptances = ACCEPTANCES.map(|text| {
            let acceptance = Acceptance::load(&engine, "acceptance.pl", text, None, Budget::default());
            (text, Arc::new(acceptance.expect("an acceptance policy")))
        });
        Ground { engine, acceptances: acceptances.into() }
    }
}

/// One running colony.
pub struct World<'a> {
    plan: &'a Plan,
    ground: &'a Ground,
    sabotage: Option<Sabotage>,
    now: u64,
    queue: BTreeMap<(u64, u64), Scheduled>,
    scheduled: u64,
    random: Random,
    daemons: Vec<Daemon>,
    links: Vec<Link>,
    generations: u64,
    journals: u128,
    /// The number of scheduled repairs: restarts, links to be healed, and journals to be declared lost.
    repairs: u64,
    is_calm: bool,
    pub checker: Checker,
    pub log: String,
}

/// A scheduled event.
enum Scheduled {
    Planned(usize),
    Observe(usize),
    Wake(usize),
    Synced(usize),
    Deliver(Box<Letter>),
    Started { node: usize, workload: WorkloadId, generation: u64 },
    Died { node: usize, life: u32, workload: WorkloadId, generation: Option<u64> },
    Swept { node: usize, life: u32, dead: Vec<(WorkloadId, u64)> },
    Crash { node: usize, life: u32, down_for: u64 },
    Restart(usize),
    Heal(usize),
    Declare { node: usize, journal: JournalId },
    Calm,
}

/// A message in transit.
struct Letter {
    from: usize,
    to: usize,
    sender: JournalId,
    receiver: Option<JournalId>,
    /// For a hello: the link, and the session that it opens.
    session: Option<(usize, u64)>,
    message: Message,
}

impl<'a> World<'a> {
    pub fn new(plan: &'a Plan, ground: &'a Ground, sabotage: Option<Sabotage>) -> World<'a> {
        let daemons = plan.nodes.iter().enumerate().map(|(number, node)| {
            let acceptance = node.acceptance.map(|text| Arc::clone(&ground.acceptances[text]));
            let config = Config {
                node: NodeId::name(&format!("n{number}")).expect("a name"),
                capacity: Capacity::units(node.capacity + u64::from(sabotage == Some(Sabotage::Overbooks))),
                facts: Vec::new(),
                acceptance,
                catalogue: Vec::new(),
                budget: Budget::default(),
                timing: timing(plan),
                limits: NodeLimits::default(),
                unconfirmed: Unconfirmed::default(),
            };
            Daemon::new(number, config, node.capacity)
        });
        World {
            plan,
            ground,
            sabotage,
            now: 0,
            queue: BTreeMap::new(),
            scheduled: 0,
            random: Random::new(plan.seed),
            daemons: daemons.collect(),
            links: plan.links.iter().map(|ends| Link::new(*ends)).collect(),
            generations: 0,
            journals: plan.nodes.len() as u128,
            repairs: 0,
            is_calm: false,
            checker: Checker::default(),
            log: String::new(),
        }
    }

    /// Runs until the colony is quiescent, and checks its final state. Stops at the first violation.
    pub fn run(&mut self) {
        for node in 0..self.daemons.len() {
            self.start(node);
            self.schedule(self.first_observation(node), Scheduled::Observe(node));
        }
        self.relink();
        for (index, event) in self.plan.events.iter().enumerate() {
            self.schedule(event.at, Scheduled::Planned(index));
        }
        self.schedule(HORIZON_MS, Scheduled::Calm);
        while self.checker.violation.is_none() && !self.is_over() {
            let Some(((at, _), scheduled)) = self.queue.pop_first() else {
                return self.checker.violate("invariant 6: nothing happens any more, and not all is quiet".to_owned());
            };
            self.now = at;
            if at > HORIZON_MS + QUIET_WITHIN_MS {
                let busy = self.daemons.iter().filter(|daemon| !daemon.node.as_ref().is_some_and(Node::is_quiet));
                let busy: Vec<String> = busy.map(|daemon| daemon.id.to_string()).collect();
                return self.checker.violate(format!("invariant 6: {} are not quiet", busy.join(", ")));
            }
            self.checker.tally.count("steps");
            self.happen(scheduled);
        }
        if self.checker.violation.is_none() {
            self.check_end();
        }
    }

    fn first_observation(&self, node: usize) -> u64 {
        self.plan.conditions.period * (node as u64 + 1) / self.daemons.len() as u64
    }

    fn schedule(&mut self, at: u64, scheduled: Scheduled) {
        self.scheduled += 1;
        self.queue.insert((at.max(self.now), self.scheduled), scheduled);
    }

    fn is_over(&self) -> bool {
        let is_quiet = |daemon: &Daemon| daemon.stream.is_empty() && daemon.node.as_ref().is_some_and(Node::is_quiet);
        self.is_calm && self.repairs == 0 && self.daemons.iter().all(is_quiet)
    }

    /// Checks that in a quiescent colony exactly the owned instances run, and all other hardware is free.
    fn check_end(&mut self) {
        for (number, daemon) in self.daemons.iter().enumerate() {
            let owned: Vec<WorkloadId> = daemon.durable.owned.values().map(|held| held.workload).collect();
            let used: u64 = daemon.durable.owned.values().map(|held| held.hardware).sum();
            let free = daemon.node.as_ref().map(|node| node.manager().unreserved());
            if free != Some(Capacity::units(daemon.capacity - used)) {
                self.checker.violate(format!("n{number} uses {used} of {} and has {free:?}", daemon.capacity));
            }
            let running: Vec<WorkloadId> = daemon.machine.copies().map(|(workload, _)| workload).collect();
            if let Some(workload) = running.iter().find(|workload| !owned.contains(workload)) {
                self.checker.violate(format!("{workload:?} on n{number} is nobody's, and runs"));
            }
            if let Some(workload) = owned.iter().find(|workload| !running.contains(workload)) {
                self.checker.violate(format!("{workload:?} on n{number} is owned, and does not run"));
            }
        }
    }

    fn happen(&mut self, scheduled: Scheduled) {
        match scheduled {
            Scheduled::Planned(index) => self.planned(index),
            Scheduled::Observe(node) => self.observe(node),
            Scheduled::Wake(node) => self.wake(node),
            Scheduled::Synced(node) => {
                self.pump(node);
                self.checker.check(&self.daemons, node);
            }
            Scheduled::Deliver(letter) => self.deliver(*letter),
            Scheduled::Started { node, workload, generation } => self.started(node, workload, generation),
            Scheduled::Died { node, life, workload, generation } => self.died(node, life, workload, generation),
            Scheduled::Swept { node, life, dead } => {
                self.daemons[node].machine.swept(&dead);
                self.answer(node, life, Input::Swept);
            }
            Scheduled::Crash { node, life, down_for } => {
                if self.daemons[node].life == life {
                    self.crash(node, down_for);
                }
            }
            Scheduled::Restart(node) => {
                self.repairs -= 1;
                self.start(node);
                self.relink();
            }
            Scheduled::Heal(link) => {
                self.repairs -= 1;
                self.links[link].is_cut = false;
                self.relink();
            }
            Scheduled::Declare { node, journal } => {
                // The operator repeats the command every 500 ms until its record is on disk.
                if self.daemons[node].durable.lost.contains(&journal) {
                    self.repairs -= 1;
                } else {
                    self.declare_lost(node, journal);
                    self.schedule(self.now + 500, Scheduled::Declare { node, journal });
                }
            }
            Scheduled::Calm => {
                self.is_calm = true;
                for node in 0..self.daemons.len() {
                    self.observe(node);
                }
            }
        }
    }

    /// Starts a daemon from its disk.
    fn start(&mut self, node: usize) {
        let seed = self.random.number();
        let daemon = &mut self.daemons[node];
        let start = Start {
            config: Arc::clone(&daemon.config),
            ledger: daemon.ledger.clone(),
            new_journal: daemon.journal,
            seed,
        };
        let (clock, mut effects) = (daemon.clock(self.now), Vec::new());
        daemon.life += 1;
        daemon.synced_at = self.now;
        match Node::start(&self.ground.engine, start, clock, &mut effects) {
            Ok(started) => {
                daemon.node = Some(started);
                let _ = writeln!(self.log, "{} n{node} starts", self.now);
                self.absorb(node, effects);
            }
            Err(error) => self.checker.violate(format!("n{node} does not start: {error}")),
        }
    }

    /// Passes an input to a node, and appends the effects to its stream. Does nothing while the daemon is down.
    fn input(&mut self, node: usize, input: Input) {
        let daemon = &mut self.daemons[node];
        let (clock, mut effects) = (daemon.clock(self.now), Vec::new());
        let Some(running) = daemon.node.as_mut() else { return };
        running.handle(clock, input, &mut effects);
        self.absorb(node, effects);
    }

    /// Delivers an answer to the process of the daemon that asked; drops it if the daemon has restarted or is down.
    fn answer(&mut self, node: usize, life: u32, input: Input) {
        if self.daemons[node].life == life && self.daemons[node].node.is_some() {
            let _ = writeln!(self.log, "{} n{node} < {input:?}", self.now);
            self.input(node, input);
        }
    }

    /// Passes each agent of a node an observation with a random number. After the horizon, the observation has no
    /// number, so that agents propose nothing. Before the horizon, also triggers evaluation and judging, unless nodes
    /// use their own timers.
    fn observe(&mut self, node: usize) {
        let instances: Vec<InstanceId> = self.daemons[node].node.iter().flat_map(Node::instances).cloned().collect();
        for instance in &instances {
            let random = (!self.is_calm).then(|| self.random.below(1_000_000) as u32);
            let observation = Observation { instance: instance.clone(), requests: Vec::new(), random };
            self.input(node, Input::Observed(observation));
        }
        if self.is_calm {
            return;
        }
        if !self.plan.conditions.is_self_timed {
            for instance in &instances {
                self.input(node, Input::Evaluate(instance.clone()));
            }
            for instance in &instances {
                self.input(node, Input::Judge(instance.clone()));
            }
        }
        self.schedule(self.now + self.plan.conditions.period, Scheduled::Observe(node));
    }

    /// Fires the timer of a node if it is due; else schedules the next wake-up. Does nothing if a later wake-up has
    /// replaced the current one.
    fn wake(&mut self, node: usize) {
        let now = self.now;
        let daemon = &mut self.daemons[node];
        if daemon.wakes_at.is_some_and(|at| at > now) {
            return;
        }
        daemon.wakes_at = None;
        let clock = daemon.clock(now);
        let is_due = daemon.node.as_ref().and_then(Node::next_timeout).is_some_and(|at| at <= clock);
        if is_due {
            self.input(node, Input::Timeout);
        } else {
            self.arm(node);
        }
    }

    /// Schedules a wake-up for the next timeout of a node, unless one is already scheduled that is no later.
    fn arm(&mut self, node: usize) {
        let daemon = &mut self.daemons[node];
        let Some(timeout) = daemon.node.as_ref().and_then(Node::next_timeout) else { return };
        let at = (timeout.units().ceil() as i64 - daemon.clock_offset).max(self.now as i64 + 1) as u64;
        if daemon.wakes_at.is_none_or(|armed| at < armed || armed < self.now) {
            daemon.wakes_at = Some(at);
            self.schedule(at, Scheduled::Wake(node));
        }
    }

    fn declare_lost(&mut self, node: usize, journal: JournalId) {
        let _ = writeln!(self.log, "{} n{node} learns that {journal:?} is lost", self.now);
        self.checker.declared.insert((node, journal));
        if self.sabotage == Some(Sabotage::RevivesLost) {
            return self.revive(node, journal);
        }
        self.input(node, Input::Operator(Command::Lost(journal)));
    }
}

impl World<'_> {
    /// Forges `NotTaken` for all instances that a node has in custody for a journal.
    fn revive(&mut self, node: usize, journal: JournalId) {
        let custody = self.daemons[node].memory.custody.values().filter(|kept| kept.receiver == journal);
        let transfers: Vec<TransferId> = custody.map(|kept| kept.transfer).collect();
        let receiver = Some(self.daemons[node].journal);
        for transfer in transfers {
            let (from, message) = (self.daemons[node].id.clone(), Message::NotTaken { transfer });
            self.input(node, Input::Received { from, sender: journal, receiver, message });
        }
    }
}

fn timing(plan: &Plan) -> Timing {
    let period = Duration::of(plan.conditions.period as f64);
    Timing {
        notice: 3,
        evaluation_period: plan.conditions.is_self_timed.then_some(period),
        prepare_timeout: Duration::of(900.0),
        reservation_timeout: Duration::of(1_800.0),
        resend_after: Duration::of(60.0),
        resend_after_max: Duration::of(1_500.0),
        ..Timing::default()
    }
}
