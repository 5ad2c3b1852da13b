//! The operations that lead from the current placement to given allocations.

use std::collections::VecDeque;

use mario_domain::AgentOperation;
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario};

use super::{Allocation, Room};
use crate::placement::Placement;
use crate::population::{AgentIndex, Deployment, Plan, Population, Proposal, Target};

/// The migration of an instance.
struct Move {
    application: ApplicationIndex,
    agent: AgentIndex,
    from: NodeIndex,
    to: NodeIndex,
}

/// The operations that turn the current placement into these allocations. Instances that are already in place stay.
/// Others migrate to nodes where an instance is missing. If more exist than needed, the surplus is undeployed; if
/// fewer, the missing ones are deployed.
///
/// Undeploys of surplus instances come first, then migrations, then deploys. A migration comes after those that make
/// room for it. If migrations wait for each other in a cycle, one of them is replaced by an undeploy among the
/// migrations and a deploy at the end. So every operation has room when its turn comes, provided that the allocations
/// fit.
pub(crate) fn changes(
    scenario: &Scenario,
    wanted: &[Allocation],
    placement: &Placement,
    population: &Population,
    rooms: &[Room],
) -> Plan {
    let mut plan = Plan::default();
    let mut moves = VecDeque::new();
    let mut free = free(scenario, placement, population, rooms);
    let hardware = |application: ApplicationIndex| population.application(application).hardware.as_units();
    for (application, wanted) in (0..).map(ApplicationIndex).zip(wanted) {
        let mut missing = wanted.clone();
        let mut surplus = VecDeque::new();
        for agent in placement.agents(application).iter() {
            let node = population.agent(agent).node();
            if missing.on(node.0) > 0 { missing.remove(node.0) } else { surplus.push_back((agent, node)) }
        }
        for (node, count) in missing.nodes().iter().copied() {
            for _ in 0..count {
                let to = NodeIndex(node);
                match surplus.pop_front() {
                    Some((agent, from)) => moves.push_back(Move { application, agent, from, to }),
                    None => plan.deployments.push(deployment(scenario, application, to)),
                }
            }
        }
        for (agent, from) in surplus {
            plan.orders.push((agent, Proposal { operation: AgentOperation::Undeploy, target: Target::Own }));
            free[from.position()] = free[from.position()].map(|free| free + hardware(application));
        }
    }
    let mut waited = 0;
    while let Some(next) = moves.pop_front() {
        let needed = hardware(next.application);
        if free[next.to.position()].is_none_or(|free| free >= needed) {
            free[next.to.position()] = free[next.to.position()].map(|free| free - needed);
            plan.orders
                .push((next.agent, Proposal { operation: AgentOperation::Migrate, target: Target::Node(next.to) }));
        } else if waited < moves.len() {
            waited += 1;
            moves.push_back(next);
            continue;
        } else {
            plan.orders.push((next.agent, Proposal { operation: AgentOperation::Undeploy, target: Target::Own }));
            plan.deployments.push(deployment(scenario, next.application, next.to));
        }
        free[next.from.position()] = free[next.from.position()].map(|free| free + needed);
        waited = 0;
    }
    plan
}

fn deployment(scenario: &Scenario, application: ApplicationIndex, node: NodeIndex) -> Deployment {
    Deployment { application, node, policy: scenario.applications[application.position()].policy }
}

/// The free hardware of each node; `None` for an unbounded one, zero if the instances on it need more than its entry in
/// `rooms`, as on a node that is leaving.
fn free(scenario: &Scenario, placement: &Placement, population: &Population, rooms: &[Room]) -> Vec<Room> {
    let mut free = rooms.to_vec();
    for application in (0..scenario.applications.len()).map(ApplicationIndex::at) {
        let needed = population.application(application).hardware.as_units();
        for agent in placement.agents(application).iter() {
            let node = population.agent(agent).node();
            free[node.position()] = free[node.position()].map(|free| free.saturating_sub(needed));
        }
    }
    free
}
