//! The current state of live nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use mario_diagnostics::Diagnostic;
use mario_domain::{Application, Capacity, Fact};
use mario_experiments::snapshot::{ColonySnapshot, SnapshotApplication, SnapshotNode};
use mario_live::LiveError;
use mario_live::api::{Applications, Hosted, Instance, Instances, Link, Links, Status};
use mario_live::identity::Identity;
use mario_live::operators::{Client, Method};
use tokio::time::timeout;

use crate::console::many;
use crate::live::{failure, runtime};
use crate::snapshots::{Snapshot, from_colony};
use crate::{Console, Failure};

/// The timeout for all answers of one node.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The answers of one node.
struct NodeAnswers {
    status: Status,
    instances: Vec<Instance>,
    links: Vec<Link>,
    applications: Vec<SnapshotApplication>,
    facts: Vec<Fact>,
}

/// Takes a snapshot of these nodes. Nodes that do not answer are listed in the snapshot as missing; it is an error if
/// no node answers.
pub(super) fn ask(addresses: &[String], operator: &Path, console: &Console) -> Result<Snapshot, Failure> {
    let identity = Identity::load_bundle(operator).map_err(|fault| failure(&fault))?;
    let runtime = runtime(1)?;
    let mut nodes = Vec::new();
    let mut silent = Vec::new();
    for address in addresses {
        let late = || LiveError::new(format!("the node at {address} does not answer"));
        let asked = runtime.block_on(async { timeout(TIMEOUT, ask_one(&identity, address)).await });
        match asked.unwrap_or_else(|_| Err(late())) {
            Ok(told) => nodes.push(told),
            Err(fault) => silent.push((address, fault)),
        }
    }
    if nodes.is_empty() {
        let diagnostics = silent.iter().flat_map(|(_, fault)| failure(fault).diagnostics().to_vec());
        return Err(Failure::Input(diagnostics.collect()));
    }
    let mut colony = gather(&nodes);
    for (address, fault) in silent {
        colony.left_out.push(format!("the node at {address}: {}", fault.line()));
    }
    let what = format!("{} of a live colony, in their current state", many(nodes.len(), "node"));
    let snapshot = from_colony(&colony, &what).map_err(|error| {
        let diagnostic = Diagnostic::error("what the nodes have makes no scenario").caused_by(&error);
        Failure::input(diagnostic.hint("deploy something, or name more nodes with --node"))
    })?;
    console.detail(&what);
    Ok(snapshot)
}

async fn ask_one(identity: &Identity, address: &str) -> Result<NodeAnswers, LiveError> {
    let client = Client::new(identity, address)?;
    let ask = async |path: &str| client.ask(Method::GET, path, &[], Vec::new()).await;
    let unknown = |cause: String| {
        LiveError::new(format!("the node at {address} reports what this version does not know")).caused_by(cause)
    };
    let hosted: Applications = ask("/v1/applications").await?.known()?;
    let applications = hosted.applications.into_iter().map(application).collect::<Result<_, _>>().map_err(unknown)?;
    let Instances { instances } = ask("/v1/instances").await?.known()?;
    let Links { links } = ask("/v1/links").await?.known()?;
    let facts = hosted.facts.into_iter().map(Fact::from).collect();
    Ok(NodeAnswers { status: ask("/v1/status").await?.known()?, instances, links, applications, facts })
}

/// An application that a node hosts. Fails if it needs a kind of hardware that this version does not know.
fn application(Hosted { application, facts, policy }: Hosted) -> Result<SnapshotApplication, String> {
    let Application { id, hardware, max_rate, max_latency, flavours, sleep, .. } = application.try_into()?;
    Ok(SnapshotApplication {
        id,
        kind: String::new(),
        hardware,
        max_rate,
        max_latency,
        flavours,
        sleep,
        facts: facts.into_iter().map(Fact::from).collect(),
        policy: policy.into(),
    })
}

/// Combines the answers of the nodes.
fn gather(told: &[NodeAnswers]) -> ColonySnapshot {
    let mut colony = ColonySnapshot { name: "colony-now".to_owned(), ..ColonySnapshot::default() };
    let mut places = BTreeMap::new();
    for node in told {
        let Status { node: id, capacity, evaluation_ms, .. } = &node.status;
        places.insert(id.to_string(), colony.nodes.len());
        let capacity = capacity.clone().and_then(|capacity| capacity.try_into().ok()).unwrap_or(Capacity::Unbounded);
        let facts = node.facts.clone();
        colony.nodes.push(SnapshotNode { id: id.clone(), capacity, tier: 0, facts });
        colony.evaluation_period = colony.evaluation_period.max(evaluation_ms.unwrap_or(1_000) as f64);
    }
    let mut beyond = BTreeSet::new();
    let mut transferring = 0;
    for (place, node) in told.iter().enumerate() {
        take_links(&mut colony, &places, &mut beyond, place, &node.links);
        take_applications(&mut colony, &node.applications);
        for instance in &node.instances {
            transferring += usize::from(instance.owned().is_none_or(|owned| owned.is_transferring));
            take_instance(&mut colony, &places, place, instance);
        }
    }
    colony.left_out = vec![
        "users: the client requests that agents observed last come from the node before the last hop, and no user moves"
            .to_owned(),
        "the memory of agents, and client requests in transit".to_owned(),
        "acceptance policies of nodes, pins, anchors, and replication budgets".to_owned(),
    ];
    if transferring > 0 {
        colony
            .left_out
            .push(format!("{transferring} transfers in progress: these instances are still on their source nodes"));
    }
    if !beyond.is_empty() {
        let names: Vec<String> = beyond.into_iter().collect();
        colony.left_out.push(format!("nodes that were not queried: {}", names.join(", ")));
    }
    colony
}

fn take_links(
    colony: &mut ColonySnapshot,
    places: &BTreeMap<String, usize>,
    beyond: &mut BTreeSet<String>,
    place: usize,
    links: &[Link],
) {
    for link in links {
        let neighbour = link.neighbour.to_string();
        let Some(other) = places.get(&neighbour) else {
            beyond.insert(neighbour);
            continue;
        };
        let latency = link.round_trip_ms.map(|round_trip| round_trip / 2.0);
        let known = colony.links.entry((place.min(*other), place.max(*other))).or_default();
        *known = known.or(latency);
    }
}

fn take_applications(colony: &mut ColonySnapshot, hosted: &[SnapshotApplication]) {
    for application in hosted {
        if !colony.applications.iter().any(|known| known.id == application.id) {
            colony.applications.push(application.clone());
        }
    }
}

/// Adds an instance, if its node owns it, with the client requests that its agent observed last. Requests through nodes
/// that were not queried count as requests from the instance's own node.
fn take_instance(colony: &mut ColonySnapshot, places: &BTreeMap<String, usize>, place: usize, instance: &Instance) {
    let Some(owned) = instance.owned() else { return };
    let Some(application) = colony.applications.iter().position(|known| known.id == owned.application) else { return };
    colony.instances.push((application, place));
    for request in owned.facts.requests.iter().flatten() {
        let from = places.get(&request.neighbour).copied().unwrap_or(place);
        let rate = request.rate;
        match colony.demand.iter_mut().find(|(of, at, _)| (*of, *at) == (application, from)) {
            Some((_, _, sum)) => *sum += rate,
            None if rate > 0.0 => colony.demand.push((application, from, rate)),
            None => {}
        }
    }
}
