//! Plausible simplifications of the protocol. Each violates an invariant within at most 12 steps.

use super::member::{Action, Cheat, Member, Members};
use super::{Bounds, World, explore};
use crate::message::Message;

/// A simplification of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shortcut {
    /// The target checks the id of a transfer, but not its token.
    TokenIgnored,
    /// The source resumes from custody after a timeout.
    ResumeByTimeout,
    /// The target sends `Taken` before its record is on disk.
    TakenBeforeJournal,
    /// The source hands an instance over before its custody is on disk.
    TransferBeforeJournal,
    /// The target forgets a transfer before the source allows it.
    ForgetUnasked,
    /// The source allows the target to forget a transfer before its own record `Gone` is on disk.
    ForgetBeforeGone,
    /// Reservations are not counted.
    UncountedReservations,
    /// The source brings its copy back under the same id when the target is declared lost.
    SameIdAfterLoss,
    /// A node that lost its disk keeps its identity.
    WipedKeepsIdentity,
}

impl Shortcut {
    /// Returns a message as a node with the shortcut interprets it. May also change the state of the node.
    pub(super) fn distort(self, member: &mut Member, message: Message) -> Message {
        match (self, message) {
            (Shortcut::TokenIgnored, Message::Transfer { transfer, token, snapshot, is_anchor, concerning }) => {
                let place = member.state.incoming.get(&transfer);
                let token = place.and_then(|place| place.token).unwrap_or(token);
                Message::Transfer { transfer, token, snapshot, is_anchor, concerning }
            }
            (Shortcut::UncountedReservations, message @ Message::Prepare(_)) => {
                member.state.manager.release_all();
                message
            }
            (_, message) => message,
        }
    }
}

impl Members {
    /// Whether [`Action::DeclareLost`] is explored; `SameIdAfterLoss` replaces it by forged messages.
    pub(super) fn declares_loss(&self) -> bool {
        self.bounds.shortcut != Some(Shortcut::SameIdAfterLoss)
    }

    /// Adds the actions that the shortcut makes possible for a node.
    pub(super) fn add_shortcuts(&self, world: &World, node: usize, actions: &mut Vec<Action>) {
        let Some(shortcut) = self.bounds.shortcut else { return };
        let ledger = &self.table[world.members[node] as usize].state.ledger;
        let forge = |from: usize, message: Message| Action::Cheat(Cheat::Forged(from, message));
        let target = |id: &mario_domain::NodeId| {
            (0..world.members.len()).find(|other| super::member::node_id(*other) == *id).expect("a node")
        };
        match shortcut {
            Shortcut::ResumeByTimeout => actions.extend(
                ledger
                    .custody
                    .values()
                    .map(|custody| forge(target(&custody.target), Message::NotTaken { transfer: custody.transfer })),
            ),
            Shortcut::SameIdAfterLoss => {
                let lost = ledger.custody.values().filter(|custody| world.is_lost[target(&custody.target)]);
                actions.extend(
                    lost.map(|custody| {
                        forge(target(&custody.target), Message::NotTaken { transfer: custody.transfer })
                    }),
                );
            }
            Shortcut::ForgetUnasked => actions.extend(
                ledger
                    .taken
                    .iter()
                    .map(|(transfer, from)| forge(target(from), Message::Forget { transfer: *transfer })),
            ),
            Shortcut::TakenBeforeJournal | Shortcut::TransferBeforeJournal | Shortcut::ForgetBeforeGone => {
                let is_hasty = |message: &&u32| {
                    let envelope = &self.messages[**message as usize];
                    let is_it = match shortcut {
                        Shortcut::TakenBeforeJournal => matches!(envelope.message, Message::Transfer { .. }),
                        Shortcut::TransferBeforeJournal => matches!(envelope.message, Message::Ready { .. }),
                        _ => matches!(envelope.message, Message::Taken { .. }),
                    };
                    envelope.to == node && is_it
                };
                let hasty = world.network.iter().filter(is_hasty);
                actions.extend(hasty.map(|message| Action::Cheat(Cheat::SendFirst(*message))));
            }
            Shortcut::TokenIgnored | Shortcut::UncountedReservations | Shortcut::WipedKeepsIdentity => {}
        }
    }
}

fn fails(shortcut: Shortcut, bounds: Bounds, expected: &str) {
    let found = explore(Bounds { shortcut: Some(shortcut), ..bounds });
    let (violation, story) = found.violation.unwrap_or_else(|| panic!("{shortcut:?} broke nothing"));
    println!("{shortcut:?}: {violation} after {} steps:\n  {}", story.len(), story.join("\n  "));
    assert!(violation.contains(expected), "{shortcut:?}: {violation}\n{}", story.join("\n"));
    assert!(story.len() <= 12, "{shortcut:?}: the shortest way has {} steps", story.len());
}

#[test]
fn a_token_that_is_ignored_lets_an_instance_be_owned_twice() {
    fails(Shortcut::TokenIgnored, Bounds::SMALL, "owners");
}

#[test]
fn resuming_by_timeout_lets_an_instance_be_owned_twice() {
    fails(Shortcut::ResumeByTimeout, Bounds::SMALL, "owners");
}

#[test]
fn taken_before_it_is_on_disk_loses_an_instance() {
    fails(Shortcut::TakenBeforeJournal, Bounds::SMALL, "lost");
}

#[test]
fn transfer_before_custody_is_on_disk_lets_an_instance_be_owned_twice() {
    fails(Shortcut::TransferBeforeJournal, Bounds::SMALL, "owners");
}

#[test]
fn forgetting_unasked_lets_an_instance_be_owned_twice() {
    fails(Shortcut::ForgetUnasked, Bounds::SMALL, "owner");
}

#[test]
fn forget_before_gone_is_on_disk_lets_an_instance_be_owned_twice() {
    fails(Shortcut::ForgetBeforeGone, Bounds::SMALL, "owner");
}

#[test]
fn reservations_that_are_not_counted_overfill_a_node() {
    fails(Shortcut::UncountedReservations, Bounds { owners: &[0, 1], ..Bounds::SMALL }, "room");
}

#[test]
fn the_same_id_after_a_loss_lets_an_instance_be_owned_twice() {
    let bounds = Bounds { capacities: &[2, 2, 2], crashes: 0, losses: 1, ..Bounds::SMALL };
    fails(Shortcut::SameIdAfterLoss, bounds, "owne");
}

#[test]
fn a_wiped_node_with_its_old_identity_violates_an_invariant() {
    let bounds = Bounds { capacities: &[2, 2, 2], crashes: 0, wipes: 1, ..Bounds::SMALL };
    fails(Shortcut::WipedKeepsIdentity, bounds, "");
}
