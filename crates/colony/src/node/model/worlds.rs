//! The possible steps of a world, and the tests that explore all worlds within bounds.

use mario_domain::AgentOperation;

use super::member::{Action, Members, Outcome, journal};
use super::{Bounds, World, holds, insert, set};
use crate::ids::TransferId;
use crate::journal::{Custody, Grant};

impl Members {
    /// The worlds that are one step away and within the bounds, each with the node and the action of the step.
    pub(super) fn successors(&mut self, world: &World) -> Vec<(usize, Action, World)> {
        let mut successors = Vec::new();
        for node in 0..world.members.len() {
            if world.is_lost[node] {
                continue;
            }
            for action in self.actions(world, node) {
                let position = world.members[node];
                let Some(outcome) = self.step(node, position, world.lives[node], &action) else { continue };
                if let Some(next) = self.apply(world, node, &action, &outcome) {
                    successors.push((node, action, next));
                }
            }
        }
        successors
    }

    /// The actions that are possible for a node.
    fn actions(&self, world: &World, node: usize) -> Vec<Action> {
        let member = &self.table[world.members[node] as usize];
        let (state, bounds) = (&member.state, &self.bounds);
        let mut actions = Vec::new();
        let others = || (0..world.members.len()).filter(|other| *other != node);
        if world.transfers < bounds.transfers {
            for (instance, _) in state.agents.iter().filter(|(_, agent)| agent.frozen_by.is_none()) {
                for other in others() {
                    actions.push(Action::Propose(instance.clone(), AgentOperation::Migrate, other));
                    if bounds.replicates {
                        actions.push(Action::Propose(instance.clone(), AgentOperation::Replicate, other));
                    }
                }
            }
        }
        if bounds.undeploys {
            let here = state.ledger.owned.keys().chain(state.ledger.custody.keys());
            actions.extend(here.map(|instance| Action::Undeploy(instance.clone())));
        }
        actions.extend(state.outgoing.keys().map(|transfer| Action::GiveUp(*transfer)));
        actions.extend(state.retries.keys().map(|transfer| Action::SendAgain(*transfer)));
        actions.extend(state.incoming.keys().map(|transfer| Action::DropReservation(*transfer)));
        actions.extend(member.stopping.iter().map(|workload| Action::Stopped(*workload)));
        let is_to = |message: &&u32| self.messages[**message as usize].to == node;
        actions.extend(world.network.iter().filter(is_to).map(|message| Action::Deliver(*message)));
        for other in others() {
            for life in 0..=world.lives[other] {
                let lost = journal(other, life);
                let is_dead = world.is_lost[other] || life < world.lives[other];
                let waits = state.ledger.custody.values().any(|custody: &Custody| custody.receiver == lost)
                    || state.ledger.grants.values().any(|grant: &Grant| grant.receiver == lost)
                    || state.ledger.unforgotten().any(|transfer| transfer.journal == lost);
                if is_dead && waits && self.declares_loss() {
                    actions.push(Action::DeclareLost(lost));
                }
            }
        }
        if world.crashes < bounds.crashes {
            actions.push(Action::Crash);
        }
        if world.lives.iter().sum::<u8>() < bounds.wipes {
            actions.push(Action::Wipe);
        }
        if world.is_lost.iter().filter(|is_lost| **is_lost).count() < usize::from(bounds.losses) {
            actions.push(Action::Lose);
        }
        self.add_shortcuts(world, node, &mut actions);
        actions
    }

    /// The world after a step; `None` if it is out of bounds.
    fn apply(&mut self, world: &World, node: usize, action: &Action, outcome: &Outcome) -> Option<World> {
        let mut next = world.clone();
        next.members[node] = outcome.member;
        set(&mut next.network, &outcome.sent);
        match action {
            Action::Propose(..) => next.transfers += 1,
            Action::Crash | Action::Cheat(_) => next.crashes += u8::from(action.is_fault()),
            Action::Wipe => next.lives[node] += 1,
            Action::Lose => next.is_lost[node] = true,
            _ => {}
        }
        next.promises += outcome.promises;
        if next.promises > self.bounds.promises {
            return None;
        }
        outcome.ended.iter().for_each(|instance| insert(&mut next.ended, *instance));
        outcome.excused.iter().for_each(|instance| insert(&mut next.excused, *instance));
        for (instance, epoch) in &outcome.taken {
            let instance = usize::from(*instance);
            next.epochs.resize(next.epochs.len().max(instance + 1), crate::ids::Epoch::default());
            // An epoch that does not grow is marked by an unreachable value, which the check detects.
            let grows = *epoch > next.epochs[instance];
            next.epochs[instance] = if grows { *epoch } else { crate::ids::Epoch(u32::MAX) };
        }
        // Hellos are exchanged only after a lost disk: after a crash, the journals are already known, and a hello would
        // only drop reservations that other actions can drop at any time.
        if *action == Action::Wipe {
            self.introduce(&mut next, node);
        }
        Some(next)
    }

    /// A node with a new journal and its neighbours introduce themselves to each other.
    fn introduce(&mut self, world: &mut World, node: usize) {
        for other in (0..world.members.len()).filter(|other| *other != node) {
            if world.is_lost[other] {
                continue;
            }
            for (to, from) in [(node, other), (other, node)] {
                let sender = &self.table[world.members[from] as usize].state;
                let custody = sender.ledger.custody.values().map(|custody| custody.transfer);
                let open = custody.chain(sender.ledger.grants.keys().copied()).chain(sender.outgoing.keys().copied());
                let open: Vec<TransferId> = open.collect();
                let greet = Action::Greet(from, sender.ids.journal, open);
                if let Some(outcome) = self.step(to, world.members[to], world.lives[to], &greet) {
                    world.members[to] = outcome.member;
                    set(&mut world.network, &outcome.sent);
                }
            }
        }
    }
}

#[test]
fn one_instance_moves_twice_through_a_crash() {
    holds("two moves, one crash", Bounds { undeploys: false, ..Bounds::SMALL }, 20_000);
}

#[test]
fn an_instance_that_is_undeployed_never_comes_back() {
    let bounds = Bounds { capacities: &[1, 1], transfers: 1, crashes: 2, ..Bounds::SMALL };
    holds("one move, two crashes, undeploys", bounds, 5_000);
}

#[test]
fn two_instances_compete_for_room_and_swap_places() {
    let bounds = Bounds { owners: &[0, 1], crashes: 0, undeploys: false, ..Bounds::SMALL };
    holds("contention", bounds, 5_000);
}

#[test]
fn replicas_and_migrations_of_one_instance_preserve_the_invariants() {
    let bounds = Bounds { capacities: &[2, 2], promises: 2, replicates: true, undeploys: false, ..Bounds::SMALL };
    holds("replicate", bounds, 5_000);
}

#[test]
fn a_copy_in_custody_for_a_lost_node_is_adopted_under_a_fresh_id() {
    let bounds =
        Bounds { capacities: &[2, 2, 2], crashes: 0, losses: 1, promises: 2, undeploys: false, ..Bounds::SMALL };
    holds("a lost node", bounds, 5_000);
}

#[test]
fn a_node_that_lost_its_disk_is_a_new_node() {
    let bounds =
        Bounds { capacities: &[2, 2, 2], crashes: 0, wipes: 1, promises: 2, undeploys: false, ..Bounds::SMALL };
    holds("a lost disk", bounds, 5_000);
}

#[test]
fn copies_that_may_not_overlap_never_do() {
    let bounds = Bounds { is_exclusive: true, promises: 2, undeploys: false, ..Bounds::SMALL };
    holds("exclusive", bounds, 5_000);
}

#[test]
fn an_exclusive_instance_in_custody_keeps_its_hardware() {
    let bounds =
        Bounds { is_exclusive: true, owners: &[0, 1], crashes: 0, promises: 2, undeploys: false, ..Bounds::SMALL };
    holds("exclusive contention", bounds, 5_000);
}

/// Larger bounds, run manually: `cargo test --release -p mario-colony larger_bounds -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn larger_bounds_hold_too() {
    holds("two moves, one crash, undeploys", Bounds::SMALL, 1_000_000);
    let replicates =
        Bounds { capacities: &[2, 2, 2], replicates: true, promises: 2, undeploys: false, ..Bounds::SMALL };
    holds("replicate on three nodes", replicates, 100_000);
    holds("contention and a crash", Bounds { owners: &[0, 1], undeploys: false, ..Bounds::SMALL }, 100_000);
    holds("two crashes", Bounds { crashes: 2, undeploys: false, ..Bounds::SMALL }, 100_000);
    let lost = Bounds { capacities: &[2, 2, 2], losses: 1, undeploys: false, ..Bounds::SMALL };
    holds("a lost node and a crash", lost, 100_000);
    holds("exclusive, with undeploys", Bounds { is_exclusive: true, ..Bounds::SMALL }, 100_000);
}
