//! The worlds whose traces are changed, with different strategies, features, failures and trace levels.

use std::sync::Arc;

use mario_audit::reader::TraceReader;
use mario_audit::{Audit, Options};
use mario_domain::{Capacity, Duration, Fact, FactValue, Flavour, FlavourId, Hardware, Id, Quantity, Time};
use mario_scenario::{
    ApplicationIndex, Arbitration, CallOrder, Deploy, DisturbanceEvent, Fidelity, Management, Memory, Metric,
    Observation, Routing, Scenario, Search,
};
use mario_simulator::{Detail, Regret, RunOptions, Simulation, TraceRecorder};

use crate::calls::stage;
use crate::random_worlds::drawn::draw;
use crate::random_worlds::remembering::remembering;
use crate::world::{STILL, ScenarioExt, described, policy_text, scenario};

/// A world and its true trace.
pub struct World {
    pub name: String,
    pub detail: &'static str,
    pub trace: Vec<u8>,
}

/// Migrates and replicates towards requests, undeploys without requests, and sometimes proposes impossible operations.
const FOLLOWS: &str = "\
operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n\
operation(migrate, I, M) :- requests(I, M, R, L), M \\== self, R > 3, L > 3, \\+ inhibited(migrate, I, M).\n\
operation(replicate, I, M) :- requests(I, M, R, _), M \\== self, R > 3, \\+ inhibited(replicate, I, M).\n\
operation(replicate, I, M) :- requests(I, M, _, _), fact(M, region, eu), \\+ inhibited(replicate, I, M).\n\
operation(migrate, I, nowhere) :- requests(I, self, R, _), R > 8.\n\
operation(hover, I, self) :- requests(I, self, R, _), R > 7.\n";

/// Replicates on its own node if the rate over one last hop exceeds the application's maximum rate, migrates towards
/// requests whose latency exceeds a quarter of the maximum, and replicates towards neighbours that forward more than
/// two requests.
const MEASURES: &str = "\
operation(replicate, I, self) :- serviceInstance(I, A, _), service(A, _, Most, _), requests(I, _, R, _), R > Most, \\+ inhibited(replicate, I, self).\n\
operation(migrate, I, M) :- serviceInstance(I, A, _), service(A, _, _, Late), requests(I, M, _, L), M \\== self, L > Late / 4, \\+ inhibited(migrate, I, M).\n\
operation(replicate, I, M) :- requests(I, M, R, _), M \\== self, R > 2, \\+ inhibited(replicate, I, M).\n";

/// Migrates to a random neighbour, or does nothing.
const DRAWS: &str = "\
operation(migrate, I, M) :- fact(I, random, N), node(_, _, Ms), length(Ms, L), L > 0, K is N mod (L + 2), nth0(K, Ms, M).\n";

/// Migrates and replicates towards sustained requests, migrates to the neighbour that it replicated to last, and
/// undeploys after three evaluations without requests.
const LOOKS_BACK: &str = "\
:- remembers(requests, 2). :- remembers(operations, 3).\n\
operation(undeploy, I, self) :- \\+ requests(I, _, _, _), \\+ earlier(_, I, _, _, _).\n\
operation(migrate, I, M) :- requests(I, M, R, L), M \\== self, R > 3, L > 3, earlier(1, I, M, P, _), P > 3, age(I, A), A > 1.\n\
operation(replicate, I, M) :- requests(I, M, R, _), M \\== self, R > 3, earlier(2, I, M, _, _), \\+ done(_, I, replicate, _).\n\
operation(migrate, I, M) :- done(1, I, replicate, M), M \\== self.\n";

/// Adapts its flavour to demand, sometimes to an unknown flavour, and migrates and replicates.
const ADAPTS: &str = "\
rate(I, T) :- findall(R, requests(I, _, R, _), Rs), sum_list(Rs, T).\n\
operation(adapt, I, F) :- serviceInstance(I, A, _), running(I, G), flavour(A, G, _, M, Late, _), rate(I, T), T > M, requests(I, _, _, L), L =< Late, flavour(A, F, _, W, _, Q), W > M, Q < 1, \\+ inhibited(adapt, I, F).\n\
operation(adapt, I, huge) :- running(I, full), rate(I, T), T > 4, \\+ inhibited(adapt, I, huge).\n\
operation(adapt, I, full) :- running(I, lite), \\+ requests(I, _, _, _).\n\
operation(migrate, I, M) :- requests(I, M, _, L), M \\== self, L > 2, \\+ inhibited(migrate, I, M).\n\
operation(replicate, I, M) :- requests(I, M, R, _), R > 3, \\+ inhibited(replicate, I, M).\n";

/// Accepts no replicas of the second application.
const ACCEPTANCE: &str = "reject(request(replicate, _, app2, _, _), 'no copies').\n";

/// A cloud, two linked nodes below it and two access points below each, with moving users. Of three applications, two
/// are deployed at the start, and the first of them again at 700.
fn base(policy: &str) -> Scenario {
    let mut builder = mario_scenario::TopologyBuilder::default();
    let capacities = [Capacity::Unbounded, Capacity::units(3), Capacity::units(2)];
    let capacities = capacities.into_iter().chain([Capacity::units(1); 4]);
    for (number, capacity) in capacities.enumerate() {
        let mut node = described(number, capacity);
        node.tier = [0, 1, 1, 2, 2, 2, 2][number];
        node.is_access_point = number > 2;
        if number == 3 {
            let (key, value) = (Id::name("region").expect("a name"), FactValue::name("eu").expect("a name"));
            node.facts.push(Fact { subject: node.id.id().clone(), key, value });
        }
        builder.node(node).expect("a new node");
    }
    for (one, other, latency) in
        [(0, 1, 3.0), (0, 2, 3.0), (1, 3, 1.5), (1, 4, 1.5), (2, 5, 1.5), (2, 6, 1.5), (1, 2, 2.0)]
    {
        let node = mario_scenario::NodeIndex;
        builder.link(node(one), node(other), Duration::of(latency), None).expect("a link");
    }
    let other = if policy == FOLLOWS { MEASURES } else { policy };
    let mut world = scenario(builder.build().expect("an infrastructure"))
        .with_application(1, 0, policy)
        .with_application(2, 0, other)
        .with_application(1, 0, policy);
    // The last application has no users and is not deployed.
    world.deploys.pop();
    for (user, steps) in [[3, 3, 5, 6], [4, 5, 5, 3], [6, 4, 3, 3], [5, 6, 6, 4], [3, 4, 6, 5]].into_iter().enumerate()
    {
        let steps = steps.map(Some);
        let steps = if user == 4 { [steps[0], None, steps[2], None] } else { steps };
        world = world.with_user(user as u32 % 2, &steps);
    }
    world.step = Duration::of(600.0);
    world.duration = Duration::of(2_400.0);
    world.policies.iter_mut().for_each(|policy| policy.memory = 2);
    let late = Deploy { time: Time::at(700.0), application: world.deploys[0].application, ..world.deploys[0].clone() };
    world.deploys.push(late);
    world
}

/// The base world with links that go down and up, nodes that crash, leave or join late, redeploys of applications
/// without instances, and acceptance policies.
fn troubled(policy: &str) -> Scenario {
    let node = mario_scenario::NodeIndex;
    let mut world = base(policy)
        .with_disturbance(350.0, DisturbanceEvent::LinkDown(node(1), node(2)))
        .with_disturbance(730.0, DisturbanceEvent::Crash(node(5)))
        .with_disturbance(950.0, DisturbanceEvent::LinkUp(node(1), node(2)))
        .with_disturbance(1_010.0, DisturbanceEvent::Notice(node(3)))
        .with_disturbance(1_130.0, DisturbanceEvent::Join(node(6)))
        .with_disturbance(1_250.0, DisturbanceEvent::Leave(node(3)))
        .with_disturbance(1_370.0, DisturbanceEvent::Join(node(5)))
        .with_disturbance(1_450.0, DisturbanceEvent::LinkDown(node(0), node(2)))
        .with_disturbance(1_850.0, DisturbanceEvent::Join(node(3)))
        .with_disturbance(1_910.0, DisturbanceEvent::LinkUp(node(0), node(2)));
    world.redeploy_delay = Some(Duration::of(150.0));
    world.acceptances.push(policy_text(ACCEPTANCE, 0));
    for node in [1, 4] {
        world.acceptance_of[node] = Some(0);
    }
    world
}

/// The troubled world with applications that have flavours.
fn flavoured() -> Scenario {
    let mut world = troubled(ADAPTS);
    for plan in &mut world.applications {
        let own = &plan.application;
        let flavour = |name: &str, hardware, rate, late, quality| Flavour {
            id: FlavourId::name(name).expect("a name"),
            hardware,
            max_rate: rate,
            max_latency: late,
            quality: Quantity::fraction(quality).expect("finite"),
        };
        let flavours = vec![
            flavour("full", own.hardware, own.max_rate, own.max_latency, 1.0),
            flavour("lite", Hardware::units(2), Quantity::whole(30), Quantity::whole(2), 0.5),
            flavour("least", Hardware::units(1), Quantity::whole(6), Quantity::whole(9), 0.25),
        ];
        plan.application.flavours = flavours;
    }
    world
}

/// Migrates or replicates when its eviction is announced, and replicates towards requests otherwise.
const MINDS: &str = "\
operation(migrate, I, M) :- leave(I, 1), requests(I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
operation(replicate, I, M) :- leave(I, 2), node(_, _, [M | _]), \\+ inhibited(replicate, I, M).\n\
operation(replicate, I, M) :- \\+ leave(I, _), requests(I, M, R, _), M \\== self, R > 3, \\+ inhibited(replicate, I, M).\n";

/// Evicts all instances when the node is full and no eviction is announced, and shrinks instances from `full` to
/// `least` when fewer than two units are free. Rejects replicas while an instance has more than one evaluation left
/// until its eviction.
const OWNER: &str = "\
evict(I, full(H)) :- node(N, 0), serviceInstance(I, A, N), service(A, H, _, _), \\+ leave(_, _).\n\
shrink(I, least, tight) :- node(N, F), F < 2, serviceInstance(I, A, N), running(I, full), flavour(A, least, _, _, _, _).\n\
reject(request(replicate, _, _, _, N), waits(E)) :- node(N, _), leave(_, E), E > 1.\n";

/// The flavoured world with owners who evict and shrink, and agents that react.
fn owned() -> Scenario {
    let mut world = flavoured();
    for (place, policy) in world.policies.iter_mut().enumerate() {
        if place != 1 {
            policy.files[0].1 = MINDS.to_owned();
        }
    }
    world.acceptances.push(policy_text(OWNER, 0));
    for node in [1, 2, 3, 5] {
        world.acceptance_of[node] = Some(1);
    }
    world.notice = 2;
    world
}

/// The troubled world with two applications that call others. The last called application has no users.
fn calling() -> Scenario {
    let mut world = troubled(FOLLOWS);
    let last = ApplicationIndex(2);
    world.deploys.push(Deploy { application: last, policy: world.applications[2].policy, ..world.deploys[0].clone() });
    world.deploys.sort_by_key(|deploy| deploy.time);
    world.applications[0].stages =
        vec![stage(CallOrder::Sequence, &[(1, 2)]), stage(CallOrder::Parallel, &[(2, 2), (1, 1)])];
    world.applications[1].stages = vec![stage(CallOrder::Sequence, &[(2, 1)])];
    world
}

fn traced(name: &str, scenario: &Scenario, detail: Detail, has_regret: bool) -> World {
    let regret = has_regret.then(|| Regret::new(scenario));
    let mut recorders = (regret, TraceRecorder::new(Vec::new(), scenario, detail));
    Simulation::new(scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
    let trace = recorders.1.finish(scenario.end()).expect("memory takes everything");
    let regret = if has_regret { " and compared" } else { "" };
    let name = format!("{name}, {}{regret}", detail.as_str());
    World { name, detail: detail.as_str(), trace }
}

/// The handmade worlds.
pub fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    let messages = troubled(FOLLOWS);
    for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
        worlds.push(traced("messages", &messages, detail, true));
    }
    let mut flow = troubled(FOLLOWS);
    flow.network.fidelity = Fidelity::Flow;
    flow.routing = Routing::Nearest(Metric::Latency);
    worlds.push(traced("flow", &flow, Detail::Full, false));
    worlds.push(traced("flow", &flow, Detail::Summary, false));
    let mut prototype = base(FOLLOWS);
    prototype.observation = Observation::RouteEntries;
    prototype.routing = Routing::LeastUsed;
    prototype.arbitration = Arbitration::Sequential;
    prototype.memory = Memory::Periodic { every: 3 };
    worlds.push(traced("prototype", &prototype, Detail::Full, false));
    // The later deploy is on a node that is down.
    let node = mario_scenario::NodeIndex;
    let mut deserted = base(FOLLOWS).with_disturbance(650.0, DisturbanceEvent::Crash(node(1)));
    deserted.deploys.iter_mut().filter(|deploy| deploy.time > Time::ZERO).for_each(|deploy| deploy.node = node(1));
    worlds.push(traced("deserted", &deserted, Detail::Summary, false));
    worlds.push(traced("deserted", &deserted, Detail::Operations, false));
    let mut central = troubled(STILL);
    central.arbitration = Arbitration::Central;
    central.management = Management::Central(Search::Greedy);
    worlds.push(traced("central", &central, Detail::Full, true));
    worlds.push(traced("drawn numbers", &base(DRAWS), Detail::Full, false));
    worlds.push(traced("looking back", &troubled(LOOKS_BACK), Detail::Full, false));
    let mut anchored = troubled(FOLLOWS);
    anchored.applications[0].is_anchor = true;
    for detail in [Detail::Full, Detail::Operations] {
        worlds.push(traced("anchors", &anchored, detail, false));
    }
    let flavoured = flavoured();
    for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
        worlds.push(traced("flavours", &flavoured, detail, false));
    }
    let calling = calling();
    for detail in [Detail::Full, Detail::Summary] {
        worlds.push(traced("calls", &calling, detail, false));
    }
    let mut calls_as_rates = calling;
    calls_as_rates.network.fidelity = Fidelity::Flow;
    worlds.push(traced("calls as rates", &calls_as_rates, Detail::Full, false));
    // At lower trace levels, the auditor does not recompute the actions of owners.
    worlds.push(traced("owners", &owned(), Detail::Full, true));
    worlds
}

/// Whether the auditor needs few inferences to recompute all decisions of a world.
fn is_decided_fast(world: &World) -> bool {
    const INFERENCES: u64 = 1_000_000;
    let reader = TraceReader::new(world.trace.as_slice()).expect("a header");
    let options = Options { inferences: INFERENCES, ..Options::default() };
    let report = Audit::new(Arc::clone(reader.header()), options).read(reader, &mut |_| ()).expect("a trace");
    assert!(report.is_clean(), "{}: {report}", world.name);
    report.spent_at.is_none()
}

/// A random world whose policies look back; `None` as in [`drawn_world`].
pub fn remembering_world(number: u64) -> Option<World> {
    shortened(number, remembering(number), Detail::Full)
}

/// A random world; `None` if it cannot be run or takes long to audit.
pub fn drawn_world(number: u64) -> Option<World> {
    let detail = [Detail::Full, Detail::Operations, Detail::Summary][number as usize % 3];
    shortened(number, draw(number), detail)
}

fn shortened(number: u64, mut scenario: Scenario, detail: Detail) -> Option<World> {
    scenario.duration = scenario.duration.min(Duration::of(1_000.0));
    Simulation::new(&scenario, RunOptions::default()).ok()?;
    let world = traced(&format!("world {number}"), &scenario, detail, number.is_multiple_of(2));
    // Skips worlds that take long to audit, because every lie about them needs an audit.
    (world.trace.len() < 60_000 && is_decided_fast(&world)).then_some(world)
}
