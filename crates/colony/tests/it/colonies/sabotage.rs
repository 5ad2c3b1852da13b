//! Deliberate violations of the protocol. Tests with them prove that the checker detects violations.

use mario_colony::Message;

/// A violation of the protocol that the harness commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// The source sends `Transfer` before its record `Custody` or `Grant` is on disk.
    SendsTransferBeforeSync,
    /// The target sends `Taken` before its record `Own` is on disk.
    SendsTakenBeforeSync,
    /// The source sends `Forget` before its record `Gone` is on disk.
    SendsForgetBeforeSync,
    /// Transfers are matched by id only: the token is replaced by the one that the target expects.
    IgnoresTokens,
    /// 50 ms after sending `Transfer`, the source receives a forged `NotTaken`.
    GivesUpCustody,
    /// 50 ms after sending `Taken`, the target receives a forged `Forget`.
    ForgetsUnasked,
    /// An instance in custody for a journal that was declared lost is owned again under its old id.
    RevivesLost,
    /// Nodes are configured with one unit of hardware more than they have.
    Overbooks,
    /// A node that lost its disk keeps the id of its journal.
    KeepsIdentity,
    /// A sweep is reported as done although nothing was swept.
    SweepsNothing,
    /// Copies are reported as stopped while they still run.
    SaysStoppedTooEarly,
}

impl Sabotage {
    /// Whether this sabotage sends a message before the records ahead of it are on disk.
    pub fn sends_early(self, message: &Message) -> bool {
        matches!(
            (self, message),
            (Sabotage::SendsTransferBeforeSync, Message::Transfer { .. })
                | (Sabotage::SendsTakenBeforeSync, Message::Taken { .. })
                | (Sabotage::SendsForgetBeforeSync, Message::Forget { .. })
        )
    }
}
