//! Ways to break the harness on purpose, so that the checks are known to be able to fail.

/// What the harness does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// Messages leave before the records ahead of them are on disk.
    SendsBeforeSync,
    /// A transfer is judged by its id: the token is replaced by the one that the target expects.
    IgnoresTokens,
    /// The source is told that nothing was taken because no answer came in time.
    GivesUpCustody,
    /// The target is told to forget a transfer whose source has not asked for that.
    ForgetsUnasked,
    /// A node that lost its disk keeps the identity of its journal.
    KeepsIdentity,
    /// A node is told that it was swept, and was not.
    SweepsNothing,
    /// A node is told that copies have stopped while they run.
    SaysStoppedTooEarly,
}
