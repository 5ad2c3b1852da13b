//! Prolog flags that change how text is read or goals are run.

/// What text between certain quotes means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QuotedText {
    Codes,
    Chars,
    Atom,
    String,
}

/// What a call of an undefined predicate does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unknown {
    Error,
    Fail,
    Warning,
}

/// What unification does where it would make a cyclic term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OccursCheck {
    /// It makes one.
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
