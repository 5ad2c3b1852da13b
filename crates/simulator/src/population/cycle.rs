//! Rule r1: one management cycle.

use mario_colony::rules::{self, Concern};
use mario_domain::{AgentId, AgentOperation, Hardware, Inhibition, NodeId, Request, Rule, Verdict};
use mario_scenario::{ApplicationIndex, Arbitration, NodeIndex};

use crate::population::colony::Colony;
use crate::population::index::AgentIndex;
use crate::population::judge::Judge;
use crate::population::label::{Action, Label};
use crate::population::rooms::NOTHING;
use crate::population::simulated_node::Promise;
use crate::population::waiting::Waiting;
use crate::population::wish::{Deployed, Deployment, Judged, Plan, Ruling, Target, Wish};

impl Colony {
    /// Rule r1: what operators and agents ask for is judged, and all that is accepted is enacted. `label` becomes the label of the
    /// step.
    ///
    /// The operators' deployments are judged first, in the order given, then the agents that have evaluated since the last
    /// cycle, in the order of their evaluations.
    pub fn r1(&mut self, deployments: &[Deployment], judge: &mut Judge, label: &mut Label) {
        label.clear();
        match self.arbitration {
            Arbitration::Managers => self.cycle_by_managers(deployments, judge, label),
            Arbitration::Sequential => self.cycle_in_sequence(deployments, judge, label),
            Arbitration::Central => {
                self.cycle_by_plan(&Plan { orders: Vec::new(), deployments: deployments.to_vec() }, label);
            }
        }
        self.waiting.clear();
        label.take_resting(&mut self.resting);
        self.rouse_who_asked();
    }

    /// Rule r1 where a plan takes the place of what agents propose. Each order is judged by the hardware that is free at that
    /// moment and enacted before the next, so that a plan can use the room it makes. A migration may lead anywhere and keeps
    /// the instance's id. What agents proposed themselves is not judged: they did nothing.
    pub fn r1_by_plan(&mut self, plan: &Plan, label: &mut Label) {
        label.clear();
        self.cycle_by_plan(plan, label);
        self.waiting.clear();
        self.rouse_who_asked();
    }

    fn cycle_by_plan(&mut self, plan: &Plan, label: &mut Label) {
        for (index, wish) in &plan.orders {
            let agent = &mut self.agents[index.position()];
            if !agent.is_alive() {
                continue;
            }
            // It has had its turn.
            agent.waits_at = u32::MAX;
            let ruling = self.judge_by_room(*index, wish);
            self.note(*index, wish.clone(), ruling, label);
            self.enact_last(label);
        }
        for deployment in &plan.deployments {
            let ruling = self.judge_room(deployment.node, self.needed(deployment.application));
            self.deploy_now(*deployment, ruling, label);
        }
        for position in 0..self.waiting.len() {
            let index = self.waiting[position].agent();
            let agent = self.agent(index);
            if agent.waits_at as usize == position && agent.is_alive() {
                label.push_nop(index);
            }
        }
    }

    fn cycle_by_managers(&mut self, deployments: &[Deployment], judge: &mut Judge, label: &mut Label) {
        for deployment in deployments {
            let ruling = self.judge_deployment(deployment, judge);
            if ruling.is_accepted() {
                self.promise(deployment.node, deployment.application, None);
            }
            label.push_deployed(Deployed { deployment: *deployment, ruling, created: None });
        }
        for position in 0..self.waiting.len() {
            if let Waiting::Place(full) = self.waiting[position]
                && self.rooms.is_full(full.to())
            {
                label.push_full(full);
                continue;
            }
            let Some((index, wish)) = self.called(position, label) else { continue };
            let ruling = self.judge(index, &wish, judge);
            let from = self.agent(index).node;
            if ruling.is_accepted()
                && wish.operation != AgentOperation::Undeploy
                && let Some(to) = wish.target.resolve(from)
            {
                let migrating = (wish.operation == AgentOperation::Migrate).then_some(index);
                self.promise(to, self.agent(index).application, migrating);
            }
            self.note(index, wish, ruling, label);
        }
        label.act(self.remembers_nothing, |action| self.enact(action));
    }

    fn promise(&mut self, node: NodeIndex, application: ApplicationIndex, agent: Option<AgentIndex>) {
        let needed = self.needed(application);
        self.change_node(node, |node| node.manager_mut().reserve(Promise { application, agent }, needed));
    }

    /// The prototype's way: from the last to the first, by free hardware, each enacted before the next is judged. `self` is
    /// remembered under the node's name. The prototype has no acceptance policies; where nodes have them, they are asked, and
    /// see what was enacted before.
    fn cycle_in_sequence(&mut self, deployments: &[Deployment], judge: &mut Judge, label: &mut Label) {
        for deployment in deployments {
            let ruling = self.judge_deployment(deployment, judge);
            self.deploy_now(*deployment, ruling, label);
        }
        for position in (0..self.waiting.len()).rev() {
            let Some((index, mut wish)) = self.called(position, label) else { continue };
            let own = self.agent(index).node;
            let mut ruling = self.judge_by_room(index, &wish);
            if ruling.is_accepted() {
                let to = wish.target.resolve(own).filter(|to| *to != own);
                let mut concerned = [Some(own), to].into_iter().flatten();
                let consented =
                    concerned.try_for_each(|node| self.consent(node, index, &wish, judge).map_err(|rule| (node, rule)));
                if let Err((node, rule)) = consented {
                    let node = self.node(node).id().clone();
                    ruling = Ruling::Inhibited(Box::new(Inhibition { node, rule }));
                }
            }
            if wish.target == Target::Own && wish.operation != AgentOperation::Undeploy {
                wish.target = Target::Node(own);
            }
            self.note(index, wish, ruling, label);
            self.enact_last(label);
        }
    }

    /// What free hardware alone says to a wish, wherever it leads.
    fn judge_by_room(&self, index: AgentIndex, wish: &Wish) -> Ruling {
        let agent = self.agent(index);
        match wish.target.resolve(agent.node) {
            _ if wish.operation == AgentOperation::Undeploy => Ruling::Accepted,
            Some(to) => self.judge_room(to, self.needed(agent.application)),
            None => self.out_of_reach(agent.node, &wish.target),
        }
    }

    /// What the manager of a node says to something that needs this much, by its state and its hardware alone.
    fn judge_room(&self, node: NodeIndex, needed: Hardware) -> Ruling {
        self.judge_at(node, Concern { arrives: Some(needed), ..Concern::default() }, || Ok(()))
    }

    /// What the manager of a node says to a request.
    fn judge_at(&self, node: NodeIndex, concern: Concern<'_>, consent: impl FnOnce() -> Result<(), Rule>) -> Ruling {
        if concern.arrives.is_some_and(|needed| self.rooms.refuse(node, needed)) && concern.out_of_reach.is_none() {
            return Ruling::NoRoom { node, free: NOTHING };
        }
        match rules::judge(self.node(node).manager(), concern, consent) {
            Ok(()) => Ruling::Accepted,
            Err(Rule::Capacity { free, .. }) => Ruling::NoRoom { node, free },
            Err(rule) => Ruling::Inhibited(Box::new(Inhibition { node: self.node(node).id().clone(), rule })),
        }
    }

    /// Enacts an operator's deployment that was judged, before the next is.
    fn deploy_now(&mut self, deployment: Deployment, ruling: Ruling, label: &mut Label) {
        label.push_deployed(Deployed { deployment, ruling, created: None });
        self.enact_last(label);
    }

    /// The agent at a position of those who wait, and what it asks for. Agents that ask for nothing are dealt with here.
    fn called(&self, position: usize, label: &mut Label) -> Option<(AgentIndex, Wish)> {
        let waiting = self.waiting[position];
        if let Waiting::Nop(index) = waiting {
            label.push_nop(index);
            return None;
        }
        let wish = self.agent(waiting.agent()).proposal();
        wish.map(|wish| (waiting.agent(), wish))
    }

    /// What the managers concerned say to an agent's wish: first that of the agent's own node, then that of the target. Neither
    /// knows what the other would say, as on nodes that exchange messages.
    fn judge(&mut self, index: AgentIndex, wish: &Wish, judge: &mut Judge) -> Ruling {
        let agent = self.agent(index);
        let (own, needed) = (agent.node, self.needed(agent.application));
        let is_undeploy = wish.operation == AgentOperation::Undeploy;
        let to = wish.target.resolve(own).filter(|to| is_undeploy || self.is_in_reach(index, wish.operation, *to));
        let Some(to) = to else { return self.out_of_reach(own, &wish.target) };
        let comes_here = !is_undeploy && to == own;
        let concern = Concern { arrives: comes_here.then_some(needed), ..Concern::default() };
        let ruling = self.judge_at(own, concern, || self.consent(own, index, wish, judge));
        if to == own || !ruling.is_accepted() {
            return ruling;
        }
        let concern = Concern { arrives: Some(needed), ..Concern::default() };
        self.judge_at(to, concern, || self.consent(to, index, wish, judge))
    }

    /// What the acceptance policy of a node says to an agent's wish, if it has one.
    fn consent(&self, node: NodeIndex, index: AgentIndex, wish: &Wish, judge: &mut Judge) -> Result<(), Rule> {
        if self.lets_go(node) {
            return Ok(());
        }
        let needed = self.needed(self.agent(index).application);
        self.ask(node, &self.request(index, wish), needed, judge)
    }

    /// Whether the manager of an agent's own node lets it aim at a node. That is so until the agent wishes something else,
    /// or links change.
    pub(crate) fn is_in_reach(&mut self, index: AgentIndex, operation: AgentOperation, to: NodeIndex) -> bool {
        let agent = &mut self.agents[index.position()];
        if agent.reached == Some(self.links_version) {
            return true;
        }
        let may_be_own = operation == AgentOperation::Replicate;
        let is_in_reach = self.nodes[agent.node.position()].reaches(agent.node, to, may_be_own);
        if is_in_reach {
            agent.reaches(self.links_version);
        }
        is_in_reach
    }

    fn judge_deployment(&self, deployment: &Deployment, judge: &mut Judge) -> Ruling {
        let needed = self.needed(deployment.application);
        let node = deployment.node;
        self.judge_at(node, Concern { arrives: Some(needed), ..Concern::default() }, || {
            if self.lets_go(node) {
                return Ok(());
            }
            let application = self.application(deployment.application).id.clone();
            self.ask(node, &Request::deploy(application, self.node(node).id().clone()), needed, judge)
        })
    }

    /// The wish of an agent in the words of the domain.
    pub fn request(&self, index: AgentIndex, wish: &Wish) -> Request {
        let agent = self.agent(index);
        let target = match &wish.target {
            Target::Own => mario_domain::Target::Own,
            Target::Node(node) => mario_domain::Target::Node(self.node(*node).id().clone()),
            Target::Unknown(id) => mario_domain::Target::Node(NodeId::clone(id)),
        };
        let operation = wish.operation.towards(target);
        let node = self.node(agent.node).id().clone();
        let application = self.application(agent.application).id.clone();
        let instance = self.instance(index);
        let by = AgentId::from(instance.id().clone());
        Request::by_agent(by, instance, node, application, operation).expect("agents ask for no deploy")
    }

    fn target_id(&self, own: NodeIndex, target: &Target) -> NodeId {
        match target {
            Target::Unknown(id) => NodeId::clone(id),
            Target::Own => self.node(own).id().clone(),
            Target::Node(node) => self.node(*node).id().clone(),
        }
    }

    fn out_of_reach(&self, own: NodeIndex, target: &Target) -> Ruling {
        let rule = Rule::Neighbourhood { target: self.target_id(own, target) };
        Ruling::Inhibited(Box::new(Inhibition { node: self.node(own).id().clone(), rule }))
    }

    /// A ruling on an instance of an application in the words of the domain.
    pub fn verdict(&self, ruling: &Ruling, application: ApplicationIndex) -> Verdict {
        match ruling {
            Ruling::Accepted => Verdict::Accepted,
            Ruling::NoRoom { node, free } => {
                let node = self.node(*node).id().clone();
                Verdict::Inhibited(Inhibition::capacity(node, self.needed(application), *free))
            }
            Ruling::Inhibited(inhibition) => Verdict::Inhibited(Inhibition::clone(inhibition)),
        }
    }

    fn note(&mut self, index: AgentIndex, wish: Wish, ruling: Ruling, label: &mut Label) {
        let from = self.agent(index).node;
        label.push_judged(Judged { agent: index, wish, from, ruling, created: None });
    }

    fn enact_last(&mut self, label: &mut Label) {
        if let Some(action) = label.last_action() {
            self.enact(action);
        }
    }

    /// Makes an accepted outcome true. An inhibited one changes nothing but the memory of the agent that asked.
    fn enact(&mut self, action: Action<'_>) {
        match action {
            Action::Remember(full) => self.remember(full.agent(), full.wish()),
            Action::Deployed(Deployed { deployment, ruling, created }) => {
                if ruling.is_accepted() {
                    self.change_node(deployment.node, |node| node.manager_mut().release_all());
                    *created = Some(self.create(deployment.application, deployment.policy, deployment.node));
                }
            }
            Action::Judged(judged) => match judged.ruling {
                Ruling::Accepted => judged.created = self.perform(judged.agent, &judged.wish),
                Ruling::NoRoom { .. } | Ruling::Inhibited(_) => self.remember(judged.agent, judged.wish.clone()),
            },
        }
    }

    fn remember(&mut self, agent: AgentIndex, wish: Wish) {
        let agent = &mut self.agents[agent.position()];
        let cycles = self.policies[agent.policy().position()].settings().memory;
        agent.remember(wish.operation, wish.target, self.memory, cycles);
    }

    /// Performs an accepted operation; gives the agent that appears by it.
    fn perform(&mut self, index: AgentIndex, wish: &Wish) -> Option<AgentIndex> {
        let agent = self.agent(index);
        let (application, policy, own): (ApplicationIndex, _, _) = (agent.application, agent.policy(), agent.node);
        let to = wish.target.resolve(own)?;
        self.change_node(to, |node| node.manager_mut().release_all());
        match (wish.operation, self.arbitration) {
            (AgentOperation::Undeploy, _) => {
                self.remove(index);
                None
            }
            (AgentOperation::Migrate, Arbitration::Managers | Arbitration::Central) => {
                self.relocate(index, to);
                None
            }
            (AgentOperation::Migrate, Arbitration::Sequential) => {
                let successor = self.create(application, policy, to);
                self.remove(index);
                Some(successor)
            }
            (AgentOperation::Replicate, _) => Some(self.create(application, policy, to)),
        }
    }
}
