//! Runs random worlds part by part. After each part, checks the state; the auditor checks the trace as it is written.
//!
//! For `no_random_world_breaks_a_rule`, `MARIO_WORLDS=10000` draws that many, and `MARIO_WORLD=1234` replays one.

mod applied;
pub mod calling;
pub mod drawn;
mod everything;
pub mod flavours;
pub mod kinds;
mod one_each;
pub mod owners;
pub mod remembering;
pub mod sleep;
mod texts;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use mario_audit::reader::TraceReader;
use mario_audit::{Audit, AuditReport, Options};
use mario_colony::Availability;
use mario_domain::{Capacity, Hardware, Time};
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions, RunStatistics, Simulation, SimulationError, TraceRecorder};

use crate::world::{Story, audited, outputs};

/// The number of worlds in a normal test run.
const WORLDS: u64 = 400;

/// The number of parts of a run, after each of which it is checked.
const PARTS: u32 = 16;

/// Prints the number of a world as a replay command, if its test panics. The command replays the world in
/// `no_random_world_breaks_a_rule` only.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let world = self.0;
            eprintln!("replay: MARIO_WORLD={world} cargo test -p mario-simulator --test it random_worlds");
        }
    }
}

/// A trace that is read while it is written. `bytes` has the unread part, `all` the whole trace.
#[derive(Clone, Default)]
struct Growing {
    bytes: Rc<RefCell<VecDeque<u8>>>,
    all: Rc<RefCell<Vec<u8>>>,
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.all.borrow_mut().extend_from_slice(bytes);
        self.bytes.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.borrow_mut().read(buffer)
    }
}

/// An audit that follows a run.
struct Observer {
    reader: TraceReader<BufReader<Growing>>,
    audit: Audit,
}

impl Observer {
    fn new(growing: &Growing) -> Observer {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        let reader = TraceReader::new(BufReader::new(growing.clone())).expect("a header");
        let engine = ENGINE.get_or_init(Engine::new);
        let audit = Audit::with_engine(Arc::clone(reader.header()), Options { limit: 5, ..Options::default() }, engine);
        Observer { reader, audit }
    }

    fn catch_up(&mut self) {
        while let Some(record) = self.reader.next_record().expect("a record") {
            self.audit.observe(self.reader.line(), &record);
        }
    }
}

/// Checks the invariants of the current state of the population.
fn look_over(simulation: &Simulation<'_>, scenario: &Scenario) {
    let population = simulation.population();
    let mut used: BTreeMap<NodeIndex, Hardware> = BTreeMap::new();
    let mut running: BTreeMap<ApplicationIndex, usize> = BTreeMap::new();
    let mut ids = std::collections::BTreeSet::new();
    for index in simulation.agents() {
        let agent = population.agent(index);
        let needed = scenario.applications[agent.application().position()]
            .application
            .held_in(agent.flavour(), agent.body().wakefulness);
        let sum = used.entry(agent.node()).or_default();
        *sum = sum.checked_add(needed).expect("counted");
        *running.entry(agent.application()).or_default() += 1;
        let instance = population.instance(index);
        assert!(ids.insert(instance.clone()), "two instances are called {instance}");
        let present = population.node(agent.node()).agents().iter().filter(|present| **present == index);
        assert_eq!(present.count(), 1, "instance {instance} is on one node, once");
    }
    for (node, described) in scenario.topology.nodes() {
        let manager = population.node(node).manager();
        let taken = used.get(&node).copied().unwrap_or_default();
        let free = described.capacity.take(taken);
        assert_eq!(free, Some(manager.free()), "node {} has what its instances leave", described.id);
        assert!(
            manager.availability() != Availability::Down || population.node(node).agents().is_empty(),
            "{} is down",
            described.id
        );
    }
    for application in (0..scenario.applications.len()).map(ApplicationIndex::at) {
        let count = running.get(&application).copied().unwrap_or(0);
        assert_eq!(simulation.instance_count(application), count, "what can be reached is what is there");
    }
}

/// Runs a world part by part, and checks its state after each part. Returns its trace, the auditor's report, the events
/// and the statistics.
fn run(scenario: &Scenario, options: RunOptions) -> (Vec<u8>, AuditReport, Story, RunStatistics) {
    let growing = Growing::default();
    let mut recorders = (TraceRecorder::new(growing.clone(), scenario, Detail::Full), Story::default());
    let mut observer = Observer::new(&growing);
    let mut simulation = Simulation::new(scenario, options).expect("it can be run");
    for part in 1..=PARTS {
        let until = Time::ZERO + scenario.duration * f64::from(part) / f64::from(PARTS);
        simulation.run_until(until, &mut recorders);
        observer.catch_up();
        look_over(&simulation, scenario);
    }
    recorders.0.finish(scenario.end()).expect("memory takes everything");
    observer.catch_up();
    let trace = growing.all.borrow().clone();
    (trace, observer.audit.finish(), recorders.1, simulation.statistics())
}

/// The random world with this number. If an initial instance is inhibited, e.g. because it does not fit, all of them
/// are deployed shortly after the start instead, because a run cannot start with inhibited instances.
pub fn world(number: u64) -> Scenario {
    let mut scenario = drawn::draw(number);
    if let Err(error) = Simulation::new(&scenario, RunOptions::default()) {
        assert!(matches!(error, SimulationError::NoRoom { .. }), "{error}");
        for deploy in &mut scenario.deploys {
            deploy.time = deploy.time.max(Time::at(1.0));
        }
    }
    scenario
}

fn check(number: u64, seen: &mut BTreeMap<&'static str, u64>) {
    let replay = Replay(number);
    let scenario = world(number);
    let (trace, report, story, statistics) = run(&scenario, RunOptions::default());
    assert!(report.is_clean(), "world {number}:\n{report}");
    let answered = story.served.len() as u64 + story.lost.len() as u64;
    assert!(answered <= statistics.emitted, "a client request is answered or lost once: {statistics:?}");
    for served in &story.served {
        assert!(served.emitted <= served.arrived && served.arrived <= served.started && served.started <= served.ended);
    }
    if number.is_multiple_of(4) {
        let options = RunOptions { threads: 2, reuse: Reuse::Nothing };
        let ([again, ..], _) = outputs(&scenario, options, Detail::Full);
        assert!(again == trace, "world {number} has another trace when everything is asked again");
    }
    if number % 4 == 1 {
        let ([summary, ..], _) = outputs(&scenario, RunOptions::default(), Detail::Summary);
        let counted = audited(&summary);
        assert!(counted.is_clean(), "world {number}: {counted}");
        assert_eq!(counted.counts.operations, report.counts.operations, "world {number}");
        assert_eq!(counted.counts.inhibited, report.counts.inhibited, "world {number}");
        assert_eq!(counted.counts.handovers, report.counts.handovers, "world {number}");
    }
    if number % 4 == 2 {
        let run = |threads, reuse| outputs(&scenario, RunOptions { threads, reuse }, Detail::Operations).0;
        let is_same = run(1, Reuse::Proposals) == run(2, Reuse::Nothing);
        assert!(is_same, "world {number} differs when agents share decisions");
    }
    for (what, count) in report.counts.operations.iter().chain(&report.counts.inhibited) {
        *seen.entry(what).or_default() += count;
    }
    *seen.entry("served").or_default() += report.counts.served;
    *seen.entry("lost").or_default() += report.counts.lost;
    *seen.entry("outside").or_default() += report.counts.outside_neighbourhood;
    *seen.entry("context").or_default() += report.counts.context_changes;
    *seen.entry("acceptances").or_default() += report.counts.acceptances;
    drop(replay);
}

#[test]
fn no_random_world_breaks_a_rule() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let mut seen = BTreeMap::new();
    if let Some(world) = number("MARIO_WORLD") {
        let drawn = drawn::draw(world);
        eprintln!(
            "world {world}: {:?} {:?} {:?} {:?}",
            drawn.observation, drawn.routing, drawn.arbitration, drawn.memory
        );
        check(world, &mut seen);
        eprintln!("{seen:?}");
        return;
    }
    for world in 0..number("MARIO_WORLDS").unwrap_or(WORLDS) {
        check(world, &mut seen);
    }
    // Without these events, the test would prove nothing.
    for what in [
        "deploy",
        "undeploy",
        "migrate",
        "replicate",
        "capacity",
        "neighbourhood",
        "leaving",
        "down",
        "acceptance",
        "acceptance-failed",
        "served",
        "lost",
        "outside",
        "context",
        "acceptances",
    ] {
        assert!(seen.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {seen:?}");
    }
}

#[test]
fn random_worlds_cover_all_kinds() {
    let worlds: Vec<Scenario> = (0..WORLDS).map(drawn::draw).collect();
    let count = |is: &dyn Fn(&Scenario) -> bool| worlds.iter().filter(|world| is(world)).count();
    assert!(count(&|world| world.topology.node_count() == 1) > 5);
    assert!(count(&|world| world.topology.nodes().any(|(_, node)| node.capacity == Capacity::Unbounded)) > 20);
    assert!(count(&|world| world.topology.nodes().any(|(_, node)| node.capacity == Capacity::units(0))) > 20);
    let strategies = |world: &Scenario| {
        format!("{:?} {:?} {:?} {:?}", world.observation, world.routing, world.arbitration, world.memory)
    };
    let combinations: std::collections::BTreeSet<String> = worlds.iter().map(strategies).collect();
    assert_eq!(combinations.len(), 2 * 3 * 2 * 2, "{combinations:#?}");
}
