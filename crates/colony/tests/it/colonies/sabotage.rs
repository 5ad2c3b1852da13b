//! Sabotages of the harness, which prove that the checks can fail.

use mario_colony::Message;

/// A violation of the protocol by the harness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// A transfer leaves before its custody is on disk.
    SendsTransferBeforeSync,
    /// The target sends `Taken` before its record is on disk.
    SendsTakenBeforeSync,
    /// The source sends `Forget` before its record `Gone` is on disk.
    SendsForgetBeforeSync,
    /// Transfers are matched by id only: the token is replaced by the one that the target expects.
    IgnoresTokens,
    /// The source is told after a timeout that nothing was taken.
    GivesUpCustody,
    /// The target is told to forget a transfer although its source did not ask for it.
    ForgetsUnasked,
    /// An instance in custody for a journal that was declared lost is owned again under its old id.
    RevivesLost,
    /// A node promises more hardware than it has.
    Overbooks,
    /// A node that lost its disk keeps the identity of its journal.
    KeepsIdentity,
    /// A node is told that the sweep is done although it was not.
    SweepsNothing,
    /// A node is told that copies have stopped while they run.
    SaysStoppedTooEarly,
}

impl Sabotage {
    /// Whether a message leaves before the records ahead of it are on disk.
    pub fn sends_early(self, message: &Message) -> bool {
        matches!(
            (self, message),
            (Sabotage::SendsTransferBeforeSync, Message::Transfer { .. })
                | (Sabotage::SendsTakenBeforeSync, Message::Taken { .. })
                | (Sabotage::SendsForgetBeforeSync, Message::Forget { .. })
        )
    }
}
