//! The header of a joined trace.

use std::collections::{BTreeSet, VecDeque};

use mario_domain::{ApplicationId, Capacity, Duration, NodeId};

use super::clients::{RunContext, header_users};
use super::survey::{Survey, SurveyedNode};
use crate::header::{Header, HeaderApplication, HeaderLive, HeaderNode, HeaderPolicy, Version};
use crate::record::Detail;
use crate::reference::{NodeRef, PolicyRef};

pub(super) fn header<'a>(survey: &'a Survey<'_>, run: Option<&'a RunContext>) -> Header<'a> {
    let places = |has: &dyn Fn(&SurveyedNode) -> bool| {
        let nodes = survey.nodes.iter().zip(0..).filter(|(node, _)| has(node));
        nodes.map(|(_, place)| NodeRef(place)).collect()
    };
    let duration = survey.last.0.saturating_sub(survey.first.0).max(1) as f64;
    let tiers = tiers(survey);
    let known = |node: &NodeId| run.and_then(|run| run.nodes.get(node));
    let kind = |id: &ApplicationId| run.and_then(|run| run.kinds.get(id)).map_or("all", String::as_str);
    Header {
        version: if survey.has_anchors { Version::Eighth } else { Version::Fourth },
        scenario: run.map_or(&survey.colony, |run| &run.scenario),
        seed: run.map_or(0, |run| run.seed),
        duration: Duration::of(duration),
        step: Duration::of(run.map_or(survey.evaluation_ms as f64, |run| run.clients.step_ms())),
        evaluation_period: Duration::of(survey.evaluation_ms as f64),
        decision_budget: Some(survey.decision_budget),
        detail: Detail::Full,
        observation: "arrivals",
        routing: "nearest",
        arbitration: "managers",
        memory: "sliding",
        forgets_every: None,
        notice: None,
        applications: (survey.applications.iter().zip(0..))
            .map(|(application, place)| HeaderApplication {
                application: &application.application,
                kind: kind(&application.application.id),
                policy: PolicyRef(place),
                is_anchor: false,
            })
            .collect(),
        calls: Vec::new(),
        traffic: None,
        tiers: run.map_or(&[][..], |run| run.tiers.as_slice()),
        measures: run.is_some(),
        models: None,
        live: Some(HeaderLive {
            began_ms: survey.first.0,
            silent: places(&|node| node.is_silent),
            acceptances: places(&|node| node.has_acceptance),
            facts_changed: places(&|node| node.have_facts_changed),
            application_facts: application_facts(survey),
        }),
        nodes: (survey.nodes.iter().zip(tiers))
            .map(|(node, tier)| HeaderNode {
                id: &node.id,
                capacity: node.capacity,
                tier: known(&node.id).map_or(tier, |known| known.tier),
                neighbours: node.neighbours.iter().map(|neighbour| NodeRef(*neighbour)).collect(),
                position: known(&node.id).and_then(|known| known.position),
                is_access_point: known(&node.id).is_some_and(|known| known.is_access_point),
                acceptance: None,
            })
            .collect(),
        facts: (survey.applications.iter().flat_map(|application| &application.facts))
            .chain(survey.nodes.iter().flat_map(|node| &node.facts))
            .collect(),
        policies: (survey.applications.iter())
            .map(|application| HeaderPolicy {
                name: &application.policy,
                memory: application.memory,
                files: &application.files,
            })
            .collect(),
        acceptances: Vec::new(),
        users: run.map_or_else(Vec::new, |run| header_users(survey, &run.clients)),
    }
}

/// The number of facts in each description, if an application has several; otherwise empty.
fn application_facts(survey: &Survey<'_>) -> Vec<usize> {
    let described = &survey.applications;
    let ids: BTreeSet<_> = described.iter().map(|described| &described.application.id).collect();
    let has_several = ids.len() < described.len();
    described.iter().filter(|_| has_several).map(|described| described.facts.len()).collect()
}

/// The distance of each node, in hops, from the top of its connected component: the node with the most hardware and, of
/// several, the most neighbours. Live nodes have no tiers, but the report needs them to draw the nodes.
fn tiers(survey: &Survey<'_>) -> Vec<u16> {
    let nodes = &survey.nodes;
    let mut tiers = vec![None; nodes.len()];
    let mut tops: Vec<usize> = (0..nodes.len()).collect();
    let hardware = |node: &SurveyedNode| match node.capacity {
        // The hardware of a node without a part is not known.
        _ if node.is_silent => 0,
        Capacity::Bounded(hardware) => hardware.as_units(),
        Capacity::Unbounded => u64::MAX,
    };
    tops.sort_by_key(|place| std::cmp::Reverse((hardware(&nodes[*place]), nodes[*place].neighbours.len())));
    for top in tops {
        if tiers[top].is_some() {
            continue;
        }
        tiers[top] = Some(0);
        let mut queue = VecDeque::from([top]);
        while let Some(place) = queue.pop_front() {
            let next = tiers[place].unwrap_or(0_u16).saturating_add(1);
            for neighbour in &nodes[place].neighbours {
                let neighbour = *neighbour as usize;
                if tiers[neighbour].is_none() {
                    tiers[neighbour] = Some(next);
                    queue.push_back(neighbour);
                }
            }
        }
    }
    tiers.into_iter().map(Option::unwrap_or_default).collect()
}
