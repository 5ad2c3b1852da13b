//! The current state of live nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use mario_diagnostics::Diagnostic;
use mario_domain::{Application, Capacity, Fact};
use mario_experiments::snapshot::{ColonySnapshot, SnapshotApplication, SnapshotNode};
use mario_live::LiveError;
use mario_live::identity::{Identity, node_id};
use mario_live::operators::{Client, Method};
use mario_policy::PolicyText;
use serde_json::Value;
use tokio::time::timeout;

use crate::console::many;
use crate::live::{failure, runtime};
use crate::snapshots::{Snapshot, from_colony};
use crate::{Console, Failure};

/// The timeout for all answers of one node.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An application that a node hosts, as returned by `/v1/applications`.
struct Hosted {
    application: Application,
    facts: Vec<Fact>,
    policy: PolicyText,
}

impl Hosted {
    fn read(told: &Value) -> Result<Hosted, serde_json::Error> {
        Ok(Hosted {
            application: serde_json::from_value(told["application"].clone())?,
            facts: serde_json::from_value(told["facts"].clone())?,
            policy: serde_json::from_value(told["policy"].clone())?,
        })
    }
}

/// The answers of one node.
struct NodeAnswers {
    status: Value,
    instances: Value,
    links: Value,
    applications: Vec<Hosted>,
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
    let mut colony = gather(&nodes)?;
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
    let get = async |path: &str| client.ask(Method::GET, path, &[], Vec::new()).await?.json();
    let hosted = get("/v1/applications").await?;
    let unknown =
        |error| LiveError::new(format!("the node at {address} answers what is not understood")).caused_by(error);
    Ok(NodeAnswers {
        status: get("/v1/status").await?,
        instances: get("/v1/instances").await?,
        links: get("/v1/links").await?,
        applications: hosted["applications"]
            .as_array()
            .into_iter()
            .flatten()
            .map(Hosted::read)
            .collect::<Result<_, _>>()
            .map_err(unknown)?,
        facts: serde_json::from_value(hosted["facts"].clone()).map_err(unknown)?,
    })
}

/// Combines the answers of the nodes.
fn gather(told: &[NodeAnswers]) -> Result<ColonySnapshot, Failure> {
    let mut colony = ColonySnapshot { name: "colony-now".to_owned(), ..ColonySnapshot::default() };
    let mut places = BTreeMap::new();
    for node in told {
        let id = text(&node.status["node"]);
        places.insert(id.clone(), colony.nodes.len());
        let capacity: Capacity = serde_json::from_value(node.status["capacity"].clone()).unwrap_or(Capacity::Unbounded);
        let facts = node.facts.clone();
        let id = node_id(&id).map_err(|fault| failure(&fault))?;
        colony.nodes.push(SnapshotNode { id, capacity, tier: 0, facts });
        let period = node.status["evaluation_ms"].as_f64().unwrap_or(1_000.0);
        colony.evaluation_period = colony.evaluation_period.max(period);
    }
    let mut beyond = BTreeSet::new();
    let mut transferring = 0;
    for (place, node) in told.iter().enumerate() {
        take_links(&mut colony, &places, &mut beyond, place, &node.links);
        take_applications(&mut colony, &node.applications);
        for instance in node.instances["instances"].as_array().into_iter().flatten() {
            transferring += usize::from(instance["is_transferring"] == true || instance["state"] == "in-custody");
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
    Ok(colony)
}

fn take_links(
    colony: &mut ColonySnapshot,
    places: &BTreeMap<String, usize>,
    beyond: &mut BTreeSet<String>,
    place: usize,
    links: &Value,
) {
    for link in links["links"].as_array().into_iter().flatten() {
        let neighbour = text(&link["neighbour"]);
        let Some(other) = places.get(&neighbour) else {
            beyond.insert(neighbour);
            continue;
        };
        let latency = link["round_trip_ms"].as_f64().map(|round_trip| round_trip / 2.0);
        let known = colony.links.entry((place.min(*other), place.max(*other))).or_default();
        *known = known.or(latency);
    }
}

fn take_applications(colony: &mut ColonySnapshot, hosted: &[Hosted]) {
    for Hosted { application, facts, policy } in hosted {
        if colony.applications.iter().any(|known| known.id == application.id) {
            continue;
        }
        colony.applications.push(SnapshotApplication {
            id: application.id.clone(),
            kind: String::new(),
            hardware: application.hardware,
            max_rate: application.max_rate,
            max_latency: application.max_latency,
            flavours: application.flavours.clone(),
            sleep: application.sleep,
            facts: facts.clone(),
            policy: policy.clone(),
        });
    }
}

/// Adds an instance, if its node owns it, with the client requests that its agent observed last. Requests through nodes
/// that were not queried count as requests from the instance's own node.
fn take_instance(colony: &mut ColonySnapshot, places: &BTreeMap<String, usize>, place: usize, instance: &Value) {
    let id = text(&instance["application"]);
    let Some(application) = colony.applications.iter().position(|known| known.id.to_string() == id) else { return };
    if instance["state"] != "owned" {
        return;
    }
    colony.instances.push((application, place));
    for request in instance["facts"]["requests"].as_array().into_iter().flatten() {
        let from = places.get(&text(&request["neighbour"])).copied().unwrap_or(place);
        let rate = request["rate"].as_f64().unwrap_or(0.0);
        match colony.demand.iter_mut().find(|(of, at, _)| (*of, *at) == (application, from)) {
            Some((_, _, sum)) => *sum += rate,
            None if rate > 0.0 => colony.demand.push((application, from, rate)),
            None => {}
        }
    }
}

/// Converts a name or a number to text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
