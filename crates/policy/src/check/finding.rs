//! The findings of a check.

use std::fmt;

use mario_prolog::Place;

/// Something in a policy that is wrong, or may go wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// The source location that the finding refers to.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// How to fix it, if known.
    pub hint: Option<String>,
    /// A counterexample, line by line: the steps of a world in which the problem occurs. Empty for findings of static
    /// analysis.
    pub story: Vec<String>,
}

impl Finding {
    pub(crate) fn new(kind: FindingKind, place: Place, message: impl Into<String>) -> Finding {
        Finding { kind, place, message: message.into(), hint: None, story: Vec::new() }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Finding {
        self.hint = Some(hint.into());
        self
    }
}

/// The kinds of findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// A call of an undefined predicate.
    UnknownPredicate,
    /// A fact is read, or `operation`, `request`, `evict` or `shrink` is written, with the wrong arity.
    WrongArity,
    /// An argument of a fact, of `accept/1` or of `reject/2` can never match, or a variable is used both as a name and
    /// as a number.
    WrongKind,
    /// The name of an operation is unknown.
    UnknownOperation,
    /// A variable occurs only once although its name does not start with `_`.
    SingletonVariable,
    /// The clauses of one predicate are not consecutive, or replace those of another file.
    ScatteredClauses,
    /// A directive does not succeed, or the loader warns about something else that no other kind covers.
    FailedDirective,
    /// The text has no clause of `operation/3`, names no policy function, and is not an acceptance policy either.
    NoOperation,
    /// A goal reads facts that nothing supplies.
    UnsuppliedFact,
    /// A goal reads an extra fact with a key that no fact of the scenario has. Found only for a given scenario.
    UnknownKey,
    /// A clause stores state that some goal reads, but state does not survive an evaluation.
    LostState,
    /// A clause of `operation/3` has a goal that always fails.
    NeverFires,
    /// A clause of `operation/3` never produces the first solution: whenever it applies, an earlier clause has a
    /// solution or cuts the others off.
    NeverWins,
    /// A term of arithmetic is compared with a number by `=` or `==`, which do not calculate.
    UncomputedTerm,
    /// A goal is negated before its variable has a value, which a later goal gives it.
    EarlyNegation,
    /// The target of an operation is an unbound variable.
    UnboundTarget,
    /// No manager could accept the target of an operation.
    InvalidTarget,
    /// The policy raises an exception or calls `halt`.
    Exception,
    /// The policy exhausts its budget.
    ExhaustedBudget,
    /// An instance returns to a node that it left, although its clients have not moved.
    PingPong,
    /// Instances come and go, or fall asleep and wake, although their clients have not moved.
    Flapping,
    /// Instances multiply beyond the needs of their clients.
    UnboundedReplication,
    /// The last instance disappears while clients still send requests.
    LostService,
    /// A comment allows an unknown kind of finding, or states no reason.
    UnknownAllowance,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [FindingKind; 24] = [
        FindingKind::UnknownPredicate,
        FindingKind::WrongArity,
        FindingKind::WrongKind,
        FindingKind::UnknownOperation,
        FindingKind::SingletonVariable,
        FindingKind::ScatteredClauses,
        FindingKind::FailedDirective,
        FindingKind::NoOperation,
        FindingKind::UnsuppliedFact,
        FindingKind::UnknownKey,
        FindingKind::LostState,
        FindingKind::NeverFires,
        FindingKind::NeverWins,
        FindingKind::UncomputedTerm,
        FindingKind::EarlyNegation,
        FindingKind::UnboundTarget,
        FindingKind::InvalidTarget,
        FindingKind::Exception,
        FindingKind::ExhaustedBudget,
        FindingKind::PingPong,
        FindingKind::Flapping,
        FindingKind::UnboundedReplication,
        FindingKind::LostService,
        FindingKind::UnknownAllowance,
    ];

    /// The name of the kind, as printed and as used in comments that allow it.
    pub const fn code(self) -> &'static str {
        match self {
            FindingKind::UnknownPredicate => "unknown-predicate",
            FindingKind::WrongArity => "wrong-arity",
            FindingKind::WrongKind => "wrong-kind",
            FindingKind::UnknownOperation => "unknown-operation",
            FindingKind::SingletonVariable => "singleton-variable",
            FindingKind::ScatteredClauses => "scattered-clauses",
            FindingKind::FailedDirective => "failed-directive",
            FindingKind::NoOperation => "no-operation",
            FindingKind::UnsuppliedFact => "unsupplied-fact",
            FindingKind::UnknownKey => "unknown-key",
            FindingKind::LostState => "lost-state",
            FindingKind::NeverFires => "never-fires",
            FindingKind::NeverWins => "never-wins",
            FindingKind::UncomputedTerm => "uncomputed-term",
            FindingKind::EarlyNegation => "early-negation",
            FindingKind::UnboundTarget => "unbound-target",
            FindingKind::InvalidTarget => "invalid-target",
            FindingKind::Exception => "exception",
            FindingKind::ExhaustedBudget => "exhausted-budget",
            FindingKind::PingPong => "ping-pong",
            FindingKind::Flapping => "flapping",
            FindingKind::UnboundedReplication => "unbounded-replication",
            FindingKind::LostService => "lost-service",
            FindingKind::UnknownAllowance => "unknown-allowance",
        }
    }

    /// The kind with this name; `None` if there is no such kind.
    pub fn find(code: &str) -> Option<FindingKind> {
        FindingKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}
