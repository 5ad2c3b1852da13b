//! Bounded model checking: runs a policy in all small worlds and detects undesirable behaviour.
//!
//! A world is a tree of nodes with clients that never move and instances of one application. By default, all trees of
//! up to five nodes are explored, with every placement of one or two instances and up to three clients, for a
//! load-sensitive and a latency-sensitive application, on nodes with four units of hardware and with one. If the policy
//! uses memory, kinds of hardware, flavours, eviction notices, sleep or extra facts, worlds with these are explored,
//! too. Nothing is random. Each tree is explored in up to two numberings of its nodes, because names break ties. Worlds
//! are ordered by their numbers of nodes, instances and clients, so the first counterexample found is a smallest one.
//!
//! **Invariant:** the findings and counterexamples of a policy are the same on every machine.

mod decider;
mod known;
mod names;
mod run;
mod shape;
mod story;
mod variations;
mod world;

#[cfg(test)]
mod against_population;

use std::collections::BTreeSet;

use mario_domain::{AgentOperation, Verdict};
use mario_policy::{Ending, Finding, FindingKind, Interests, Policy, ProposalFault};
use mario_prolog::{Engine, Place};

use decider::{CachedDecider, Proposed};
use names::Names;
use run::{Run, Step};
use shape::{Shape, placements};
use variations::Variations;
use world::{CAPACITIES, Gpus, LIMITS, Spread, World, application};

/// The maximum number of inferences of all decisions together. It is checked between worlds; beyond it, the exploration
/// ends early.
const INFERENCES_MAX: u64 = 2_000_000_000;

/// The number of cycles that a world runs to distinguish bounded from unbounded growth.
const CYCLES_TO_CONFIRM: u32 = 20;

/// The bounds of the exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The maximum number of nodes of a tree.
    pub nodes: usize,
    /// The maximum number of instances at the start.
    pub instances: usize,
    /// The maximum number of clients.
    pub clients: usize,
    /// The number of cycles that each world runs. A world with clients ends as soon as it has no instance left. A world
    /// that has more instances after these cycles than at the start and than its clients need runs up to 20 cycles,
    /// unless unbounded replication has already been reported.
    pub cycles: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { nodes: 5, instances: 2, clients: 3, cycles: 6 }
    }
}

/// Statistics about the exploration of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exploration {
    /// The number of worlds run.
    pub worlds: usize,
    /// The number of different situations in which the policy was evaluated.
    pub decisions: usize,
    /// The largest number of inferences that a decision took.
    pub inferences_max: u64,
    /// The lines of the clauses of `operation/3` that never produced an agent's first solution.
    pub silent_clauses: Vec<usize>,
    /// Whether any agent had a solution of `operation/3`, valid or not, in any world.
    pub acted: bool,
    /// Why the exploration ended before all worlds were run, if it did.
    pub ended_early: Option<String>,
}

/// Explores a policy and adds to `findings`. Undesirable behaviour such as ping-pong is reported once per kind,
/// exceptions once per message, invalid proposals once per kind and clause. A finding is not added if there is already
/// one of the same kind at the start of the same clause. A decision that exhausts its budget ends the exploration.
/// `progress` is called with the number of worlds run so far.
pub(crate) fn explore(
    engine: &Engine,
    policy: &Policy,
    interests: &Interests,
    bounds: &Bounds,
    findings: &mut Vec<Finding>,
    progress: &mut dyn FnMut(usize),
) -> Exploration {
    let mut explorer = Explorer {
        policy,
        decider: CachedDecider::new(engine, policy),
        bounds,
        reported: BTreeSet::new(),
        findings,
        worlds: 0,
        ended_early: None,
    };
    explorer.explore(&Variations::of(interests), progress);
    let Explorer { decider, worlds, ended_early, .. } = explorer;
    let silent = |(index, place): (usize, &Place)| (!decider.clauses_used[index]).then(|| place.position().0);
    Exploration {
        worlds,
        decisions: decider.decisions(),
        inferences_max: decider.inferences_max,
        silent_clauses: policy.clauses().iter().enumerate().filter_map(silent).collect(),
        acted: decider.clauses_used.contains(&true),
        ended_early,
    }
}

struct Explorer<'a> {
    policy: &'a Policy,
    decider: CachedDecider<'a>,
    bounds: &'a Bounds,
    /// The findings already reported: the kind, and a key that separates findings of the same kind.
    reported: BTreeSet<(FindingKind, String)>,
    findings: &'a mut Vec<Finding>,
    worlds: usize,
    ended_early: Option<String>,
}

impl Explorer<'_> {
    fn explore(&mut self, variations: &Variations, progress: &mut dyn FnMut(usize)) {
        let names = Names::of(self.bounds.nodes);
        for nodes in 1..=self.bounds.nodes {
            let shapes = Shape::all(nodes);
            for instances in 1..=self.bounds.instances {
                for clients in 0..=self.bounds.clients {
                    for shape in &shapes {
                        for instances in placements(nodes, instances) {
                            for clients in placements(nodes, clients) {
                                let mut world = World {
                                    names: &names,
                                    shape,
                                    clients,
                                    instances: instances.clone(),
                                    limits: LIMITS[0],
                                    gpus: Gpus::NotAsked,
                                    application: application(variations, LIMITS[0], Gpus::NotAsked),
                                    units: 0,
                                    memory: 0,
                                    extra: &variations.extra,
                                    spread: Spread::None,
                                    drawn: variations.drawn,
                                    notice: None,
                                    begins_asleep: false,
                                };
                                for &gpus in variations.gpus {
                                    for &notice in variations.notices {
                                        for &begins_asleep in variations.sleeps {
                                            (world.gpus, world.notice) = (gpus, notice);
                                            world.begins_asleep = begins_asleep;
                                            self.explore_settings(&mut world, variations);
                                        }
                                    }
                                }
                                if self.ended_early.is_some() {
                                    return;
                                }
                            }
                        }
                        progress(self.worlds);
                    }
                }
            }
        }
    }

    /// Runs a world with the same nodes, clients and instances for each application, capacity, memory span and spread
    /// of extra facts. Skips capacities that are too small for the instances at the start.
    fn explore_settings(&mut self, world: &mut World<'_>, variations: &Variations) {
        for limits in LIMITS {
            (world.limits, world.application) = (limits, application(variations, limits, world.gpus));
            for units in CAPACITIES {
                world.units = units;
                if !world.has_room() {
                    continue;
                }
                for &memory in variations.memories {
                    for &spread in variations.spreads {
                        (world.memory, world.spread) = (memory, spread);
                        self.run(world);
                        if self.ended_early.is_some() {
                            return;
                        }
                    }
                }
            }
        }
    }

    fn run(&mut self, world: &World<'_>) {
        self.worlds += 1;
        let mut run = Run::new(world);
        let mut history = vec![run.placement()];
        let mut enacted: Vec<Vec<AgentOperation>> = Vec::new();
        for cycle in 1..=self.bounds.cycles {
            let steps = run.cycle(&mut self.decider);
            for step in &steps {
                self.check_step(world, step);
            }
            enacted.push(steps.iter().filter_map(accepted).map(|(operation, _)| operation).collect());
            let placement = run.placement();
            if let Some(before) = history.iter().rposition(|earlier| *earlier == placement) {
                let since = |operation| enacted[before..].iter().any(|cycle| cycle.contains(&operation));
                if since(AgentOperation::Sleep) && run.woken.is_some_and(|woken| woken as usize > before) {
                    let clause = steps.iter().find_map(accepted).map(|(_, clause)| clause);
                    let message = "an instance falls asleep though requests come, which wake it again";
                    self.report(FindingKind::Flapping, clause, message.to_owned(), world, cycle);
                }
                if since(AgentOperation::Replicate) && since(AgentOperation::Undeploy) {
                    let clause = steps.iter().find_map(accepted).map(|(_, clause)| clause);
                    let message = "instances come and go, and are where they were again, though no client moved";
                    self.report(FindingKind::Flapping, clause, message.to_owned(), world, cycle);
                }
            }
            if placement.is_empty() && !world.clients.is_empty() && run.evicted {
                // Not reported, because the eviction may be the cause: in a world with a single node, an evicted
                // instance cannot migrate.
                return;
            }
            if placement.is_empty() && !world.clients.is_empty() {
                self.report_loss(world, &steps, cycle);
                return;
            }
            history.push(placement);
        }
        self.check_growth(world, &mut run, &history);
        if self.decider.inferences > INFERENCES_MAX {
            self.ended_early = Some(format!("its decisions took more than {INFERENCES_MAX} inferences"));
        }
    }

    /// Reports a step in which the policy failed, the proposal is invalid or has an impossible target, or the instance
    /// returned to a node that it left.
    fn check_step(&mut self, world: &World<'_>, step: &Step) {
        match &*step.proposed {
            Proposed::Nothing => {}
            Proposed::Failed(Ending::Exception(exception)) if self.is_explained(&exception.term) => {}
            Proposed::Failed(ending) => {
                let (kind, message) = match ending {
                    Ending::Exhausted(resource) => {
                        (FindingKind::ExhaustedBudget, format!("the policy runs out of {resource}"))
                    }
                    Ending::Exception(exception) => {
                        (FindingKind::Exception, format!("the policy raises an exception: {}", exception.message))
                    }
                    _ => (FindingKind::Exception, "the policy calls halt".to_owned()),
                };
                self.report(kind, None, message, world, step.cycle);
                if kind == FindingKind::ExhaustedBudget {
                    self.ended_early = Some("the policy ran out of its budget".to_owned());
                }
            }
            Proposed::Invalid { fault, arguments: [operation, _, target], clause } => {
                let kind = match fault {
                    ProposalFault::UnknownOperation => FindingKind::UnknownOperation,
                    ProposalFault::UnboundTarget => FindingKind::UnboundTarget,
                    _ => FindingKind::InvalidTarget,
                };
                let message = match fault {
                    ProposalFault::UnknownOperation => {
                        format!("`{operation}` is not an operation: {}", fault.description())
                    }
                    ProposalFault::UnboundTarget => format!("{operation} has an unbound target"),
                    _ => format!("{operation} has the target `{target}`: {}", fault.description()),
                };
                self.report(kind, Some(*clause), message, world, step.cycle);
            }
            Proposed::Operation { operation, word, clause, .. } => {
                if let Some(Verdict::Inhibited(inhibition)) = &step.verdict
                    && story::has_impossible_target(&inhibition.rule, world)
                {
                    let message = format!("{operation} has the target `{word}`, which no manager can accept");
                    self.report(FindingKind::InvalidTarget, Some(*clause), message, world, step.cycle);
                }
                if step.returned {
                    let message = "an instance migrates back to where it was, though no client moved";
                    self.report(FindingKind::PingPong, Some(*clause), message.to_owned(), world, step.cycle);
                }
            }
        }
    }

    /// Whether an exception is about an undefined predicate, and static analysis has already reported such a call.
    fn is_explained(&self, ball: &str) -> bool {
        let mut kinds = self.findings.iter().map(|finding| finding.kind);
        ball.starts_with("error(existence_error(procedure,")
            && kinds.any(|kind| matches!(kind, FindingKind::UnknownPredicate | FindingKind::WrongArity))
    }

    /// Reports that no instance is left to serve the clients.
    fn report_loss(&mut self, world: &World<'_>, steps: &[Step], cycle: u32) {
        // Blame an agent that undeployed although it saw requests, rather than one that saw none.
        let busy = steps.iter().filter(|step| !step.received.is_empty()).find_map(accepted);
        let clause = busy.or_else(|| steps.iter().find_map(accepted)).map(|(_, clause)| clause);
        let message = "the last instance is undeployed while clients still send requests";
        self.report(FindingKind::LostService, clause, message.to_owned(), world, cycle);
    }

    /// Reports instances that multiply beyond the needs of the clients. Growth counts as unbounded if twice the
    /// hardware leads to more instances, and four times the hardware to even more.
    fn check_growth(&mut self, world: &World<'_>, run: &mut Run<'_>, history: &[Vec<usize>]) {
        let needed = world.instances_needed();
        let grew = |run: &Run<'_>| run.agents.len() > needed.max(world.instances.len());
        if !grew(run) || self.reported.contains(&(FindingKind::UnboundedReplication, String::new())) {
            return;
        }
        let there = self.settle(run, self.bounds.cycles);
        let mut with = |times: u32| {
            let larger = World { units: times * world.units, ..world.clone() };
            self.settle(&mut Run::new(&larger), 0)
        };
        // Growth whose bound is a little above the capacity also yields more instances with twice the hardware, so four
        // times the hardware is tried, too.
        let (twice, four_times) = (with(2), with(4));
        if !grew(run) || twice <= there || four_times <= twice {
            return;
        }
        let last_growth = (1..history.len()).rfind(|cycle| history[*cycle].len() > history[*cycle - 1].len());
        let until = last_growth.unwrap_or(history.len() - 1) as u32;
        let steps = {
            let mut again = Run::new(world);
            (1..until).for_each(|_| drop(again.cycle(&mut self.decider)));
            again.cycle(&mut self.decider)
        };
        let replicates = |step| accepted(step).filter(|(operation, _)| *operation == AgentOperation::Replicate);
        let clause = steps.iter().find_map(replicates).map(|(_, clause)| clause);
        let message = format!(
            "instances multiply until the hardware is full: there are {there} where {needed} would do, with twice the \
             hardware {twice}, with four times {four_times}"
        );
        self.report(FindingKind::UnboundedReplication, clause, message, world, until);
    }

    /// Continues a run after its first `cycles_before` cycles until cycle [`CYCLES_TO_CONFIRM`]. Returns the number of
    /// instances at the end.
    fn settle(&mut self, run: &mut Run<'_>, cycles_before: u32) -> usize {
        for _ in cycles_before..CYCLES_TO_CONFIRM {
            run.cycle(&mut self.decider);
        }
        run.agents.len()
    }

    fn report(&mut self, kind: FindingKind, clause: Option<usize>, message: String, world: &World<'_>, cycle: u32) {
        let is_known = self.findings.iter().any(|finding| {
            finding.kind == kind
                && clause.is_some_and(|clause| self.place(Some(clause)).span.start == finding.place.span.start)
        });
        let key = match kind {
            FindingKind::PingPong
            | FindingKind::Flapping
            | FindingKind::UnboundedReplication
            | FindingKind::LostService => String::new(),
            FindingKind::Exception => message.clone(),
            _ => format!("{clause:?}"),
        };
        if is_known || !self.reported.insert((kind, key)) {
            return;
        }
        let hint = match kind {
            FindingKind::PingPong => {
                "let the trigger of a migration be false where it leads to, or remember what was tried"
            }
            FindingKind::Flapping => "leave a gap between the reasons to replicate and the reasons to undeploy",
            FindingKind::UnboundedReplication => {
                "replicate only while there is more to do than the instances that are there can do"
            }
            FindingKind::LostService => {
                "undeploy only without requests, or keep one instance: an agent does not see whether there are others"
            }
            FindingKind::Exception | FindingKind::ExhaustedBudget => {
                "an agent whose policy does not answer does nothing"
            }
            FindingKind::InvalidTarget if message.starts_with(AgentOperation::Adapt.as_str()) => {
                "the target of an adapt is another flavour of the application"
            }
            FindingKind::InvalidTarget => "a target is a neighbour, or for replicate also `self`",
            _ => "make sure that every solution binds the operation and its target",
        };
        let story = story::describe(world, &mut self.decider, self.policy, cycle);
        self.findings.push(Finding { kind, place: self.place(clause), message, hint: Some(hint.to_owned()), story });
    }

    /// The place of the clause, or of the first clause if none is given.
    fn place(&self, clause: Option<usize>) -> Place {
        self.policy.clauses()[clause.unwrap_or(0).min(self.policy.clauses().len() - 1)].clone()
    }
}

/// The operation enacted in a step, and the clause that proposed it; `None` if nothing was accepted.
fn accepted(step: &Step) -> Option<(AgentOperation, usize)> {
    match (&*step.proposed, &step.verdict) {
        (Proposed::Operation { operation, clause, .. }, Some(Verdict::Accepted)) => Some((*operation, *clause)),
        _ => None,
    }
}
