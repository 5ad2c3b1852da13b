//! Prolog flags that change how text is read or goals are run.

/// The meaning of text in one kind of quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QuotedText {
    Codes,
    Chars,
    Atom,
    String,
}

/// The effect of calling an undefined predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unknown {
    Error,
    Fail,
    /// Has the same effect as `Error`.
    Warning,
}

/// The effect of a call of `=/2` at run time if it would create a cyclic term. Compiled clauses ignore this flag: the
/// unifications of their heads, and `=/2` in their bodies, have no occurs check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OccursCheck {
    /// It creates the cyclic term.
    False,
    /// It fails.
    True,
    /// It raises an error.
    Error,
}

/// The changeable flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flags {
    pub(crate) double_quotes: QuotedText,
    pub(crate) back_quotes: QuotedText,
    pub(crate) unknown: Unknown,
    pub(crate) occurs_check: OccursCheck,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            double_quotes: QuotedText::String,
            back_quotes: QuotedText::Codes,
            unknown: Unknown::Error,
            occurs_check: OccursCheck::False,
        }
    }
}
