//! How a builtin ends if it neither succeeds nor fails: with an error, an exhausted budget, or `halt/0,1`.

use crate::meter::Resource;
use crate::stored::StoredTerm;
use crate::symbols::Atom;
use crate::term::Term;

/// The formal part of an ISO error; culprits are terms of the running machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Fault {
    Instantiation,
    /// A variable was expected: `uninstantiation_error(Culprit)`.
    Uninstantiation(Term),
    /// `type_error(Type, Culprit)`.
    Type(&'static str, Term),
    /// `domain_error(Domain, Culprit)`.
    Domain(&'static str, Term),
    /// `existence_error(Kind, Culprit)`.
    Existence(&'static str, Term),
    /// `permission_error(Action, Type, Culprit)`.
    Permission(&'static str, &'static str, Term),
    /// `representation_error(Limit)`.
    Representation(&'static str),
    /// `evaluation_error(What)`.
    Evaluation(&'static str),
    /// `resource_error(What)`.
    Resource(&'static str),
    /// `syntax_error(What)`: the message is an atom.
    Syntax(Atom),
    /// `type_error(evaluable, Name/Arity)`.
    Evaluable(Atom, usize),
}

/// How a builtin ends if it neither succeeds nor fails.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Raised {
    /// An ISO error; the machine adds the context of the builtin that raised it.
    Fault(Fault),
    /// An ISO error with its own context predicate, e.g. the evaluable `(/)/2`.
    FaultIn(Fault, Atom, usize),
    /// The term of `throw/1`, or a complete error term for which there is no [`Fault`].
    Ball(Box<StoredTerm>),
    /// The budget is exhausted, or the host stopped the query.
    Exhausted(Resource),
    /// `halt/0,1`.
    Halted(i32),
}

impl From<Fault> for Raised {
    fn from(fault: Fault) -> Raised {
        Raised::Fault(fault)
    }
}

/// The result of a builtin, or of a part of one.
pub(crate) type Solved<T = bool> = Result<T, Raised>;
