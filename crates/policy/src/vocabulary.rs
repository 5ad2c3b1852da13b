//! The predicates of the facts that the policy of an agent may read, and the kinds of their arguments.

/// A predicate whose facts come from the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FactPredicate {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, in order.
    pub arguments: &'static [FactArgument],
}

/// An argument of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FactArgument {
    /// Its meaning, for users.
    pub meaning: &'static str,
    /// The kind of its values.
    pub kind: FactKind,
}

/// The kind of values of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactKind {
    /// A name or an integer.
    Id,
    /// A number, `inf` or `infinite`.
    Number,
    /// A list of names and integers.
    Ids,
    /// A name or a number.
    Constant,
}

impl FactPredicate {
    /// The number of arguments.
    pub const fn arity(&self) -> usize {
        self.arguments.len()
    }

    /// Whether a policy may define the predicate, so that its clauses replace the host's facts. True for [`FACTS`] from
    /// position [`FIRST_FACTS`] on, and for `capacity/3` of managers.
    pub(crate) fn may_be_defined(&self) -> bool {
        let is_later = FACTS[FIRST_FACTS..].iter().any(|later| later == self);
        is_later || (self.name == "capacity" && self.arity() == 3)
    }

    /// The fact predicate with this name and arity; `None` if agents see no such facts.
    pub fn find(name: &str, arity: usize) -> Option<&'static FactPredicate> {
        FACTS.iter().find(|predicate| predicate.name == name && predicate.arity() == arity)
    }
}

impl FactKind {
    /// A description for users.
    pub const fn description(self) -> &'static str {
        match self {
            FactKind::Id => "a name or an integer",
            FactKind::Number => "a number or `inf`",
            FactKind::Ids => "a list of names or integers",
            FactKind::Constant => "a name or a number",
        }
    }
}

const fn id(meaning: &'static str) -> FactArgument {
    FactArgument { meaning, kind: FactKind::Id }
}

const fn number(meaning: &'static str) -> FactArgument {
    FactArgument { meaning, kind: FactKind::Number }
}

const INHIBITED: &[FactArgument] = &[id("the operation"), id("the instance"), id("the target")];

/// The predicates of all facts that an agent may see. A predicate's position is the index of its relation in a compiled
/// policy.
pub const FACTS: &[FactPredicate] = &[
    FactPredicate {
        name: "service",
        arguments: &[
            id("the application"),
            number("the hardware that one instance needs"),
            number("the rate that one instance handles"),
            number("the latency that is tolerated"),
        ],
    },
    FactPredicate { name: "node", arguments: &[id("the node"), number("its free hardware")] },
    FactPredicate {
        name: "node",
        arguments: &[
            id("the node"),
            number("its free hardware"),
            FactArgument { meaning: "its neighbours", kind: FactKind::Ids },
        ],
    },
    FactPredicate { name: "serviceInstance", arguments: &[id("the instance"), id("the application"), id("the node")] },
    FactPredicate {
        name: "requests",
        arguments: &[id("the instance"), id("the neighbour"), number("the rate"), number("the latency")],
    },
    FactPredicate { name: "inhibited", arguments: INHIBITED },
    FactPredicate { name: "refused", arguments: INHIBITED },
    FactPredicate {
        name: "fact",
        arguments: &[id("the subject"), id("the key"), FactArgument { meaning: "the value", kind: FactKind::Constant }],
    },
    FactPredicate {
        name: "earlier",
        arguments: &[
            number("how many evaluations ago"),
            id("the instance"),
            id("the neighbour"),
            number("the rate"),
            number("the latency"),
        ],
    },
    FactPredicate {
        name: "done",
        arguments: &[number("how many evaluations ago"), id("the instance"), id("the operation"), id("the target")],
    },
    FactPredicate { name: "age", arguments: &[id("the instance"), number("its evaluations on this node")] },
    FactPredicate {
        name: "needs",
        arguments: &[id("the application"), id("the kind of hardware"), number("what one instance needs of it")],
    },
    FactPredicate {
        name: "free",
        arguments: &[id("the node"), id("the kind of hardware"), number("what is free of it")],
    },
    FactPredicate {
        name: "flavour",
        arguments: &[
            id("the application"),
            id("the flavour"),
            number("the hardware that one instance needs"),
            number("the rate that one instance handles"),
            number("the latency that is tolerated"),
            number("the quality"),
        ],
    },
    FactPredicate { name: "running", arguments: &[id("the instance"), id("the flavour")] },
    FactPredicate { name: "leave", arguments: &[id("the instance"), number("how many evaluations it has left")] },
    FactPredicate { name: "asleep", arguments: &[id("the instance")] },
];

/// The number of predicates at the start of [`FACTS`] that a policy cannot define. It may define the others; its
/// clauses then replace the host's facts.
pub(crate) const FIRST_FACTS: usize = 8;

/// The positions of `earlier/5`, `done/4` and `age/2` in [`FACTS`]: the history.
pub(crate) const HISTORY: std::ops::Range<usize> = FIRST_FACTS..NEEDS;

/// The position of `age/2` in [`FACTS`].
pub(crate) const AGE: usize = 10;

/// The position of `needs/3` in [`FACTS`]; `free/3` follows.
pub(crate) const NEEDS: usize = 11;

/// The position of `flavour/6` in [`FACTS`]; `running/2` follows.
pub(crate) const FLAVOUR: usize = 13;

/// The position of `leave/2` in [`FACTS`].
pub(crate) const LEAVE: usize = 15;

/// The position of `asleep/1` in [`FACTS`].
pub(crate) const ASLEEP: usize = 16;
