//! Recomputes the answers of node managers' acceptance policies: verdicts, and actions of owners.

use mario_domain::{
    AgentId, Capacity, FlavourId, Hardware, Instance, InstanceId, Node, NodeId, OperationName, Request,
    Rule as DomainRule, Target, Verdict, Wakefulness,
};
use mario_policy::{Acceptance, Eviction, Initiative, ManagerView, Shrink};
use mario_prolog::{Allowance, Engine, Machine};

use crate::facts::ExtraFacts;
use crate::policies;
use crate::reader::{Arbitration, Detail, Header, OwnerAct, OwnerActKind, Rule, TracedNode};
use crate::world::World;

/// The compiled acceptance policies.
pub(crate) struct Acceptances {
    machine: Machine,
    /// A view with the facts that every manager knows, and a placeholder for the node. Copied for each answer.
    view: ManagerView,
    facts: ExtraFacts,
    texts: Vec<Option<Acceptance>>,
}

/// A request as seen by a manager.
pub(crate) struct AcceptanceQuery<'a> {
    pub(crate) concerned: Concerned,
    pub(crate) operation: OperationName,
    pub(crate) instance: Option<&'a InstanceId>,
    pub(crate) target: Option<u32>,
    pub(crate) application: u32,
    /// The hardware that a deploy, a migrate or a replicate takes at its target; for an adapt, a sleep or a wake, the
    /// additional hardware on the instance's node; for an undeploy, the hardware that the instance holds.
    pub(crate) needed: Hardware,
    pub(crate) time: QueryTime,
}

/// When a manager is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryTime {
    /// In a recorded cycle.
    Cycle,
    /// In the cycle of the initial deployment, which is not recorded.
    Beginning,
}

/// The answer of an acceptance policy.
pub(crate) enum Answer {
    /// The request is accepted.
    Accepts,
    /// The request is rejected, for this reason.
    Refuses(Rule),
    /// The node has no acceptance policy, its policy is not asked because too little hardware is free, or its answer
    /// cannot be recomputed.
    Silent,
}

/// The node whose manager is asked, and the node of the requesting agent, if an agent requests.
#[derive(Clone, Copy)]
pub(crate) struct Concerned {
    /// The node whose manager is asked.
    pub(crate) node: u32,
    /// The node of the requesting agent; `None` for a deployment by an operator or at the start of the run.
    pub(crate) own: Option<u32>,
}

impl Acceptances {
    /// Compiles the acceptance policies of a header. `fault` is called with the name and the error of each invalid
    /// policy.
    pub(crate) fn new(
        header: &Header,
        engine: &Engine,
        allowance: &Allowance,
        fault: &mut dyn FnMut(String, String),
    ) -> Acceptances {
        let texts = header
            .acceptances
            .iter()
            .map(|policy| match policies::of_managers(engine, policy, allowance) {
                Ok(acceptance) => Some(acceptance),
                Err(message) => {
                    fault(format!("acceptance policy {}", policy.name), message);
                    None
                }
            })
            .collect();
        let nobody = Node::new(NodeId::number(0), Capacity::Unbounded, Vec::new()).expect("no neighbours");
        let mut view = ManagerView::new(engine.symbols(), &nobody, Capacity::Unbounded);
        for application in &header.applications {
            view.push_application(&application.descriptor());
        }
        let facts = ExtraFacts::new(header);
        for fact in facts.general() {
            view.push_fact(fact);
        }
        let mut machine = Machine::new(engine);
        machine.set_allowance(Some(allowance.clone()));
        Acceptances { machine, view, facts, texts }
    }

    /// Recomputes the answer of the asked manager's acceptance policy.
    pub(crate) fn judge(&mut self, header: &Header, world: &World, query: &AcceptanceQuery<'_>) -> Answer {
        self.answer(header, world, query).unwrap_or(Answer::Silent)
    }

    fn answer(&mut self, header: &Header, world: &World, query: &AcceptanceQuery<'_>) -> Option<Answer> {
        let place = query.concerned.node;
        let acceptance = self.texts[header.nodes[place as usize].acceptance? as usize].as_ref()?;
        let id = |node: u32| header.nodes[node as usize].id.clone();
        let application = &header.applications[query.application as usize];
        let request = request(query, application.id.clone(), &id)?;
        // With arbitration by managers, the instances of the initial deployment are reservations until all of them have
        // been judged.
        let is_promised = query.time == QueryTime::Beginning && header.arbitration == Arbitration::Managers;
        let view = view(&self.view, &self.facts, (header, world), place, is_promised)?;
        match acceptance.judge(&mut self.machine, &view, &request, query.needed) {
            Verdict::Accepted => Some(Answer::Accepts),
            Verdict::Inhibited(inhibition) => match inhibition.rule {
                DomainRule::Acceptance { reason } => Some(Answer::Refuses(Rule::Acceptance { reason })),
                DomainRule::AcceptanceFailed { cause } => Some(Answer::Refuses(Rule::AcceptanceFailed { cause })),
                // Too little hardware is free: the capacity rule is checked elsewhere.
                _ => None,
            },
        }
    }

    /// The indices of the nodes whose acceptance policies have clauses for evictions or shrinks.
    pub(crate) fn owners(&self, header: &Header) -> Vec<u32> {
        let has_initiative = |node: &TracedNode| {
            let text = node.acceptance.and_then(|place| self.texts[place as usize].as_ref());
            text.is_some_and(Acceptance::has_initiative)
        };
        (0..).zip(&header.nodes).filter(|(_, node)| has_initiative(node)).map(|(place, _)| place).collect()
    }

    /// The actions that the owner of a node should take now, apart from due evictions: shrinks, then announcements.
    /// Empty if the node's policy demands none, or if its answer is invalid; `None` if the node has no policy, or if
    /// the answer cannot be recomputed.
    pub(crate) fn wanted(&mut self, header: &Header, world: &World, place: u32) -> Option<Vec<OwnerAct>> {
        let acceptance = self.texts[header.nodes[place as usize].acceptance? as usize].as_ref()?;
        let view = view(&self.view, &self.facts, (header, world), place, false)?;
        let Ok(Initiative { shrinks, evictions }) = acceptance.initiative(&mut self.machine, &view) else {
            return Some(Vec::new());
        };
        let here = |instance: &InstanceId| {
            let agents = world.node(place).agents.iter().map(|agent| world.agent(*agent));
            agents.into_iter().find(|agent| agent.instance == *instance)
        };
        let mut acts = Vec::new();
        for Shrink { instance, flavour, reason } in shrinks {
            let agent = here(&instance)?;
            let flavours = &header.applications[agent.application as usize].flavours;
            let Some(wanted) = flavours.iter().position(|known| known.id == flavour) else { return Some(Vec::new()) };
            if wanted as u32 == agent.flavour {
                continue;
            }
            let needed = header.applications[agent.application as usize].needed_in(agent.flavour);
            if flavours[wanted].hardware.saturating_sub(needed) != Hardware::NONE {
                return Some(Vec::new());
            }
            acts.push(OwnerAct { instance, kind: OwnerActKind::Shrunk(flavour.id().clone()), reason });
        }
        for Eviction { instance, reason } in evictions {
            if here(&instance)?.notice.is_none() {
                acts.push(OwnerAct { instance, kind: OwnerActKind::Announced(header.notice.unwrap_or(0)), reason });
            }
        }
        Some(acts)
    }
}

/// The facts that a node's manager sees; `None` if the trace does not determine them. With `is_promised`, the instances
/// on the node are shown as reservations.
fn view(
    general: &ManagerView,
    facts: &ExtraFacts,
    (header, world): (&Header, &World),
    place: u32,
    is_promised: bool,
) -> Option<ManagerView> {
    let id = |node: u32| header.nodes[node as usize].id.clone();
    let traced = &header.nodes[place as usize];
    let neighbours = traced.neighbours.iter().filter(|neighbour| world.reaches(place, **neighbour));
    let node = Node::new(traced.id.clone(), traced.capacity, neighbours.map(|node| id(*node)).collect()).ok()?;
    let mut view = general.clone();
    view.set_node(&node, world.node(place).unpromised());
    for fact in facts.of_node(place) {
        view.push_fact(fact);
    }
    let application_id = |place: u32| header.applications[place as usize].id.clone();
    for agent in &world.node(place).agents {
        let agent = world.agent(*agent);
        let application = application_id(agent.application);
        let flavour = flavour(header, agent.application, agent.flavour);
        if is_promised {
            view.push_promised(&application, flavour, wakefulness(agent.is_asleep));
        } else {
            view.push_instance(&Instance { id: agent.instance.clone(), application, node: traced.id.clone() });
            if let Some(flavour) = flavour {
                view.push_running(&agent.instance, flavour);
            }
            if agent.is_asleep {
                view.push_asleep(&agent.instance);
            }
            if let Some(notice) = &agent.notice {
                // The number of remaining evaluations is known only if evaluations are recorded.
                let left = Some(notice.left).filter(|_| header.detail == Detail::Full)?;
                view.push_leave(&agent.instance, u32::try_from(left).unwrap_or(u32::MAX));
            }
        }
    }
    for arrival in &world.node(place).arrivals {
        let application = application_id(arrival.application);
        let flavour = flavour(header, arrival.application, arrival.flavour);
        match &arrival.instance {
            Some(id) => {
                view.push_instance(&Instance { id: id.clone(), application, node: traced.id.clone() });
                if let Some(flavour) = flavour {
                    view.push_running(id, flavour);
                }
                if arrival.is_asleep {
                    view.push_asleep(id);
                }
            }
            None => view.push_promised(&application, flavour, wakefulness(arrival.is_asleep)),
        }
    }
    Some(view)
}

fn wakefulness(is_asleep: bool) -> Wakefulness {
    if is_asleep { Wakefulness::Asleep } else { Wakefulness::Awake }
}

/// The id of the flavour with this index; `None` if the application does not have it.
fn flavour(header: &Header, application: u32, flavour: u32) -> Option<&FlavourId> {
    header.applications[application as usize].flavours.get(flavour as usize).map(|flavour| &flavour.id)
}

fn request(
    query: &AcceptanceQuery<'_>,
    application: mario_domain::ApplicationId,
    id: &dyn Fn(u32) -> NodeId,
) -> Option<Request> {
    let (Some(instance), Some(own)) = (query.instance, query.concerned.own) else {
        return Some(Request::deploy(application, id(query.target?)));
    };
    let operation = query.operation.of_agent()?;
    let target = if operation.asks_for_place() {
        Target::Node(id(query.target?))
    } else if operation.asks_for_flavour() {
        // An acceptance policy does not see the flavour.
        Target::Flavour(FlavourId::number(0))
    } else {
        Target::Own
    };
    // An acceptance policy does not see the agent.
    Request::by_agent(AgentId::number(0), instance.clone(), id(own), application, operation.towards(target)).ok()
}
