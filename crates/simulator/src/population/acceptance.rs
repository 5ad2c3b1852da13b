//! Evaluates the acceptance policies of nodes, and counts failures.

use std::sync::Arc;

use mario_colony::rules::consent;
use mario_domain::{Hardware, Instance, Node, Request, Rule};
use mario_policy::{AcceptanceFailure, ManagerView};
use mario_prolog::{Engine, Machine, Symbols};
use mario_scenario::NodeIndex;

use crate::population::state::Population;

/// The Prolog machine and the counters for evaluating acceptance policies.
pub struct AcceptanceContext {
    machine: Machine,
    symbols: Arc<Symbols>,
    tally: AcceptanceCounts,
}

/// How often acceptance policies were evaluated, and how often they failed.
#[derive(Debug, Default)]
pub struct AcceptanceCounts {
    /// The number of evaluations.
    pub asked: u64,
    /// The number of failures. After a failure, the manager inhibits the request, or the owner takes no new action.
    pub failed: u64,
    /// The first failure: the node, the query, and the cause.
    pub first: Option<(NodeIndex, AcceptanceQuery, AcceptanceFailure)>,
}

/// A query to the acceptance policy of a node.
#[derive(Clone, PartialEq, Debug)]
pub enum AcceptanceQuery {
    /// Whether the node accepts a request.
    Request(Request),
    /// What the owner does with the instances on the node.
    Initiative,
}

impl AcceptanceContext {
    /// Creates a context for the acceptance policies of this engine.
    pub fn new(engine: &Engine) -> AcceptanceContext {
        AcceptanceContext {
            machine: Machine::new(engine),
            symbols: Arc::clone(engine.symbols()),
            tally: AcceptanceCounts::default(),
        }
    }

    pub(crate) fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// Counts an evaluation, and returns the machine for it.
    pub(crate) fn asked(&mut self) -> &mut Machine {
        self.tally.asked += 1;
        &mut self.machine
    }

    pub(crate) fn count_failure(&mut self, node: NodeIndex, query: AcceptanceQuery, failure: AcceptanceFailure) {
        self.tally.failed += 1;
        self.tally.first.get_or_insert((node, query, failure));
    }

    /// Returns the counts since the last call.
    pub fn take_counts(&mut self) -> AcceptanceCounts {
        std::mem::take(&mut self.tally)
    }
}

impl Population {
    /// Asks the acceptance policy of a node whether the node accepts a request. A node without such a policy accepts.
    /// The error is the rule that inhibits the request.
    pub(crate) fn ask(
        &self,
        node: NodeIndex,
        request: &Request,
        needed: Hardware,
        context: &mut AcceptanceContext,
    ) -> Result<(), Rule> {
        let Some(acceptance) = self.node(node).acceptance() else { return Ok(()) };
        let view = self.manager_view(node, &context.symbols);
        consent(acceptance, context.asked(), view, request, needed).map_err(|refusal| {
            if let Some(failure) = refusal.failure {
                context.count_failure(node, AcceptanceQuery::Request(request.clone()), *failure);
            }
            refusal.rule
        })
    }

    /// The facts that the acceptance policy of a node sees: the node, the applications, the extra facts about both, the
    /// instances on the node with their flavour, wakefulness and notice of eviction, including those that leave in this
    /// cycle, and the reservations of this cycle. Fails if the node cannot be described.
    pub(crate) fn manager_view(
        &self,
        node: NodeIndex,
        symbols: &Arc<Symbols>,
    ) -> Result<ManagerView, AcceptanceFailure> {
        let here = self.node(node);
        let manager = here.manager();
        let neighbours = here.neighbours().iter().map(|neighbour| self.node(*neighbour).id().clone()).collect();
        let described = Node::new(here.id().clone(), manager.capacity(), neighbours);
        let described = described.map_err(|error| AcceptanceFailure::new(format!("it was not asked: {error}")))?;
        let mut view = ManagerView::new(symbols, &described, manager.unreserved());
        for application in &self.applications {
            view.push_application(application);
        }
        let about_node = self.node_facts.get(node.position()).into_iter().flatten();
        for fact in self.application_facts.iter().chain(about_node) {
            view.push_fact(fact);
        }
        let instance = |agent, application: &mario_domain::Application| Instance {
            id: self.instance(agent),
            application: application.id.clone(),
            node: here.id().clone(),
        };
        for agent in here.agents() {
            let application = self.application(self.agent(*agent).application);
            view.push_instance(&instance(*agent, application));
            if let Some(flavour) = application.flavour(self.agent(*agent).flavour()) {
                view.push_running(&self.instance(*agent), &flavour.id);
            }
            if self.agent(*agent).is_asleep() {
                view.push_asleep(&self.instance(*agent));
            }
            if let Some(notice) = self.agent(*agent).notice() {
                view.push_leave(&self.instance(*agent), notice.left);
            }
        }
        for promise in manager.reservations().iter().map(|reservation| reservation.key) {
            let application = self.application(promise.application);
            let flavour = application.flavour(promise.body.flavour).map(|flavour| &flavour.id);
            match promise.agent {
                // The instance stays on this node with more hardware, and is already in the view.
                Some(agent) if self.node(self.agent(agent).node).id() == here.id() => {}
                Some(agent) => {
                    view.push_instance(&instance(agent, application));
                    if let Some(flavour) = flavour {
                        view.push_running(&self.instance(agent), flavour);
                    }
                    if promise.body.wakefulness.is_asleep() {
                        view.push_asleep(&self.instance(agent));
                    }
                }
                None => view.push_promised(&application.id, flavour, promise.body.wakefulness),
            }
        }
        Ok(view)
    }
}
