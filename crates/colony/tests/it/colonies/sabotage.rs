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
    /// 50 ms after it handed an instance over, the source receives a forged answer that it was not taken.
    GivesUpCustody,
    /// The target receives a forged `Forget` for a transfer that its source did not allow it to forget.
    ForgetsUnasked,
    /// An instance in custody for a journal that was declared lost is owned again under its old id.
    RevivesLost,
    /// A node promises more hardware than it has.
    Overbooks,
    /// A node that lost its disk keeps the identity of its journal.
    KeepsIdentity,
    /// A sweep is reported as done although nothing was swept.
    SweepsNothing,
    /// Copies are reported as stopped while they still run.
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
