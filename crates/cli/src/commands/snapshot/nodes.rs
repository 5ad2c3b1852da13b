//! The current state of live nodes.

use std::path::Path;

use mario_domain::{Application, Capacity};
use mario_experiments::snapshot::{ColonySnapshot, NodeInstance, NodeState, SnapshotApplication, SnapshotNode};
use mario_frontend::Diagnostic;
use mario_frontend::snapshots::{Snapshot, from_colony};
use mario_live::api::{Link, OwnedInstance, Status};
use mario_live::identity::Identity;
use mario_live::survey::{HostedApplication, NodeAnswers, Survey, survey};

use crate::console::many;
use crate::live::{failure, runtime};
use crate::{Console, Failure};

/// The time between two evaluations of an agent on nodes that do not report it.
const EVALUATION_MS: u64 = 1_000;

/// Takes a snapshot of these nodes. Nodes that do not answer are listed in the snapshot as missing; it is an error if
/// no node answers.
pub(super) fn ask(addresses: &[String], operator: &Path, console: &Console) -> Result<Snapshot, Failure> {
    let identity = Identity::load_bundle(operator).map_err(|fault| failure(&fault))?;
    let Survey { nodes, silent } = runtime(1)?.block_on(survey(&identity, addresses));
    if nodes.is_empty() {
        let diagnostics = silent.iter().flat_map(|(_, fault)| failure(fault).diagnostics().to_vec());
        return Err(Failure::Input(diagnostics.collect()));
    }
    let what = format!("{} of a live colony, in their current state", many(nodes.len(), "node"));
    let known: Vec<NodeState> = nodes.into_iter().map(state).collect();
    let mut colony = ColonySnapshot::of_nodes(&known);
    for (address, fault) in silent {
        colony.left_out.push(format!("the node at {address}: {}", fault.line()));
    }
    let snapshot = from_colony(&colony, &what).map_err(|error| {
        let diagnostic = Diagnostic::error("what the nodes have makes no scenario").caused_by(&error);
        Failure::input(diagnostic.hint("deploy something, or name more nodes with --node"))
    })?;
    console.detail(&what);
    Ok(snapshot)
}

/// The answers of a node as the state of a colony has them.
fn state(answers: NodeAnswers) -> NodeState {
    let NodeAnswers { status, instances, links, applications, facts } = answers;
    let Status { node: id, capacity, evaluation_ms, .. } = status;
    let capacity = capacity.and_then(|capacity| capacity.try_into().ok()).unwrap_or(Capacity::Unbounded);
    let latency = |link: &Link| link.round_trip_ms.map(|round_trip| round_trip / 2.0);
    let is_transferring = |owned: Option<&OwnedInstance>| owned.is_none_or(|owned| owned.is_transferring);
    NodeState {
        node: SnapshotNode { id, capacity, tier: 0, facts },
        evaluation_period: evaluation_ms.unwrap_or(EVALUATION_MS) as f64,
        links: links.iter().map(|link| (link.neighbour.clone(), latency(link))).collect(),
        applications: applications.into_iter().map(application).collect(),
        transferring: instances.iter().filter(|instance| is_transferring(instance.owned())).count(),
        instances: instances.iter().filter_map(|instance| Some(observed(instance.owned()?))).collect(),
    }
}

fn application(HostedApplication { application, facts, policy }: HostedApplication) -> SnapshotApplication {
    let Application { id, hardware, max_rate, max_latency, flavours, sleep, .. } = application;
    SnapshotApplication { id, kind: String::new(), hardware, max_rate, max_latency, flavours, sleep, facts, policy }
}

fn observed(owned: &OwnedInstance) -> NodeInstance {
    let requests = owned.facts.requests.iter().flatten();
    NodeInstance {
        application: owned.application.clone(),
        requests: requests.map(|request| (request.neighbour.clone(), request.rate)).collect(),
    }
}
