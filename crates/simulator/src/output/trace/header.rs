//! Builds the header of a trace from a scenario.

use mario_scenario::{
    ApplicationPlan, Arbitration, Fidelity, Memory, NodeDescription, Observation, PolicyText, Routing, Scenario, Stage,
    adapts, has_initiative, remembers, sleeps,
};
use mario_trace::{
    AcceptanceRef, ApplicationRef, Detail, Header, HeaderApplication, HeaderCall, HeaderNode, HeaderPolicy, HeaderUser,
    NodeRef, PolicyRef, Version,
};

/// The header of the trace of a scenario. Its tables have the same order as those of the scenario.
pub(super) fn header(scenario: &Scenario, detail: Detail) -> Header<'_> {
    let topology = &scenario.topology;
    let nodes = topology.nodes().map(|(index, node): (_, &NodeDescription)| HeaderNode {
        id: &node.id,
        capacity: node.capacity,
        tier: node.tier,
        neighbours: topology.links_from(index).map(|(_, link)| NodeRef(link.to.0)).collect(),
        position: node.position.map(|position| [position.latitude, position.longitude]),
        is_access_point: node.is_access_point,
        acceptance: scenario.acceptance_of.get(index.position()).copied().flatten().map(AcceptanceRef),
    });
    let of_applications = scenario.applications.iter().flat_map(|plan| &plan.facts);
    let of_nodes = topology.nodes().flat_map(|(_, node)| &node.facts);
    let users = scenario.attachments.users.iter().zip(&scenario.users);
    let has_owners = has_owners(scenario);
    Header {
        version: version(scenario, has_owners),
        scenario: &scenario.name,
        seed: scenario.seed,
        duration: scenario.duration,
        step: scenario.step,
        evaluation_period: scenario.agents.period,
        decision_budget: scenario.agents.budget,
        detail,
        observation: match scenario.observation {
            Observation::Arrivals => "arrivals",
            Observation::RouteEntries => "route-entries",
        },
        routing: match scenario.routing {
            Routing::Nearest(_) => "nearest",
            Routing::LeastUsed => "least-used",
        },
        arbitration: match scenario.arbitration {
            Arbitration::Managers => "managers",
            Arbitration::Sequential => "sequential",
            Arbitration::Central => "central",
        },
        memory: match scenario.memory {
            Memory::Sliding => "sliding",
            Memory::Periodic { .. } => "periodic",
        },
        forgets_every: match scenario.memory {
            Memory::Sliding => None,
            Memory::Periodic { every } => Some(every),
        },
        notice: has_owners.then_some(scenario.notice),
        applications: (scenario.applications.iter())
            .map(|plan| HeaderApplication {
                application: &plan.application,
                kind: &plan.kind,
                policy: PolicyRef(plan.policy.0),
                is_anchor: plan.is_anchor,
            })
            .collect(),
        calls: calls(scenario),
        traffic: scenario.has_calls().then_some(match scenario.network.fidelity {
            Fidelity::Messages => "messages",
            Fidelity::Flow => "rates",
        }),
        tiers: topology.tier_names(),
        measures: scenario.measures.applications,
        models: scenario.measures.models.as_ref(),
        live: None,
        nodes: nodes.collect(),
        facts: of_applications.chain(of_nodes).collect(),
        policies: scenario.policies.iter().map(policy).collect(),
        acceptances: scenario.acceptances.iter().map(policy).collect(),
        users: users
            .map(|(user, plan)| HeaderUser { id: &user.id, application: ApplicationRef(plan.application.0) })
            .collect(),
    }
}

/// The lowest format version that covers the features of the scenario.
fn version(scenario: &Scenario, has_owners: bool) -> Version {
    let looks_back = scenario.policies.iter().any(|policy| !remembers(policy).is_nothing());
    let has_kinds = scenario.applications.iter().any(|plan| plan.application.hardware.has_further())
        || scenario.topology.nodes().any(|(_, node)| node.capacity.has_further());
    let has_flavours = scenario.has_flavours() || scenario.policies.iter().any(adapts);
    let has_updates = !scenario.updates.is_empty();
    let has_sleep = scenario.has_sleep() || scenario.policies.iter().any(sleeps);
    if scenario.applications.iter().any(|plan| plan.is_anchor) {
        Version::Eighth
    } else if scenario.has_calls() {
        Version::Seventh
    } else if has_sleep {
        Version::Sixth
    } else if has_owners {
        Version::Fifth
    } else if looks_back || has_kinds || has_flavours || has_updates {
        Version::Third
    } else {
        Version::Second
    }
}

/// The calls between applications, in the order of [`Scenario::calls`].
fn calls(scenario: &Scenario) -> Vec<HeaderCall> {
    let of_application = |(caller, plan): (u32, &ApplicationPlan)| {
        let in_stage = move |(stage, of): (u32, &Stage)| {
            let order = of.order.as_str();
            let calls = of.calls.iter().map(move |call| HeaderCall {
                caller: ApplicationRef(caller),
                stage,
                order,
                application: ApplicationRef(call.application.0),
                requests: call.requests,
            });
            calls.collect::<Vec<_>>()
        };
        (0..).zip(&plan.stages).flat_map(in_stage).collect::<Vec<_>>()
    };
    (0..).zip(&scenario.applications).flat_map(of_application).collect()
}

/// Whether the acceptance policy of any node may evict or shrink instances. Always false with a central planner, which
/// asks no manager.
fn has_owners(scenario: &Scenario) -> bool {
    let has_initiative: Vec<bool> = scenario.acceptances.iter().map(has_initiative).collect();
    scenario.arbitration != Arbitration::Central
        && scenario.acceptance_of.iter().flatten().any(|place| has_initiative[*place as usize])
}

fn policy(text: &PolicyText) -> HeaderPolicy<'_> {
    HeaderPolicy { name: &text.name, memory: text.memory, files: &text.files }
}
