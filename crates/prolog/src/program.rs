//! A compiled program: immutable, shared by any number of machines.

use crate::builtins::Code;
use crate::database::DynamicPredicate;
use crate::flags::Flags;
use crate::host::HostCode;
use crate::instruction::{Instruction, Label, PredicateId};
use crate::operators::Operators;
use crate::stored::StoredTerm;
use crate::symbols::Symbols;
use crate::term::{Functor, Term};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

pub(crate) mod index;

use index::ArgumentIndex;

/// Control constructs that the machine itself performs when they are called as predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// `call/1..8`.
    Call,
    /// `'$body'(Goal, CutBarrier)`.
    Body,
    Catch,
    Throw,
    Halt,
    /// `prolog_current_choice(Height)`: equal before and after a goal that left no choice point.
    CurrentChoice,
}

/// The library predicates that interpret control constructs.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ControlPredicates {
    pub(crate) body: Option<PredicateId>,
    pub(crate) and: Option<PredicateId>,
    pub(crate) or: Option<PredicateId>,
    pub(crate) r#if: Option<PredicateId>,
    pub(crate) then: Option<PredicateId>,
    pub(crate) soft_if: Option<PredicateId>,
    pub(crate) soft_then: Option<PredicateId>,
    pub(crate) not: Option<PredicateId>,
}

/// Where a goal on a host relation finds the value that a column must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Constant(Term),
    X(u8),
    Y(u16),
}

/// Where a goal on a host relation wants the value of a column: no cell is needed for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    X(u8),
    Y(u16),
}

/// A goal on a host relation, compiled in place.
#[derive(Clone, Default, Debug)]
pub(crate) struct RowCall {
    /// Position among the program's relations.
    pub(crate) relation: u16,
    /// Columns whose value is known, and the values.
    pub(crate) known: Vec<u8>,
    pub(crate) wanted: Vec<Wanted>,
    /// Columns that give a value to a variable.
    pub(crate) new: Vec<(u8, Place)>,
}

/// Where a call goes at once when that is easy to tell.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Shortcut {
    #[default]
    None,
    /// There is one clause.
    Always(Label),
    /// By whether an argument is a list or `[]`; label 0 means: look closer.
    ByList { argument: u8, list: Label, nil: Label },
}

/// A builtin as `Builtin` instructions know it.
#[derive(Clone, Copy)]
pub(crate) struct BuiltinEntry {
    pub(crate) code: Code,
    pub(crate) functor: Functor,
}

/// What a predicate does when called.
#[derive(Clone)]
pub(crate) enum Definition {
    Undefined,
    Clauses(Clauses),
    Builtin {
        code: Code,
        number: u16,
    },
    Dynamic,
    Control(Control),
    /// Rows given with each query, by position in the program's list of relations.
    Relation(u16),
    Host(HostCode),
}

/// The clauses of a compiled predicate, and how to find the ones that may match.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Clauses {
    /// All of them, as a range of [`Program::clause_lists`].
    pub(crate) all: Range<u32>,
    pub(crate) indexes: Vec<ArgumentIndex>,
}

/// Who defined a predicate, and so who may change it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Part of the language: cannot be redefined.
    System,
    /// Comes with the engine; a program may define its own instead.
    Library,
    User,
}

/// One predicate.
#[derive(Clone)]
pub(crate) struct Predicate {
    pub(crate) functor: Functor,
    pub(crate) definition: Definition,
    pub(crate) origin: Origin,
    /// Clauses as terms `Head :- Body`, for `clause/2` and explanations; only for user predicates.
    pub(crate) sources: Vec<Arc<StoredTerm>>,
}

/// A program ready to run.
#[derive(Clone)]
pub struct Program {
    pub(crate) symbols: Arc<Symbols>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) predicates: Vec<Predicate>,
    /// What a name means in the program's own text and in calls made at run time.
    pub(crate) lookup: FxHashMap<Functor, PredicateId>,
    /// Entry points of clauses; predicates and indexes refer to ranges of this.
    pub(crate) clause_lists: Vec<Label>,
    /// Numbers and strings that do not fit in an instruction.
    pub(crate) literals: Vec<StoredTerm>,
    pub(crate) dynamic: FxHashMap<PredicateId, Arc<DynamicPredicate>>,
    /// By predicate.
    pub(crate) shortcuts: Vec<Shortcut>,
    pub(crate) builtins: Vec<BuiltinEntry>,
    pub(crate) control: ControlPredicates,
    pub(crate) relations: Vec<Functor>,
    pub(crate) row_calls: Vec<RowCall>,
    pub(crate) operators: Operators,
    pub(crate) flags: Flags,
}

impl Program {
    /// Whether there is a predicate with this name and number of arguments.
    pub fn defines(&self, name: &str, arity: usize) -> bool {
        let functor = self.symbols.find(name).map(|name| Functor::new(name, arity));
        functor
            .and_then(|functor| self.find(functor))
            .is_some_and(|id| !matches!(self.predicates[id as usize].definition, Definition::Undefined))
    }

    /// The names and numbers of arguments of all predicates that a text can call, in the order of their definition.
    pub fn callable(&self) -> impl Iterator<Item = (&str, usize)> {
        self.predicates.iter().filter(|predicate| self.is_defined(predicate.functor)).filter_map(|predicate| {
            let name = self.symbols.name(predicate.functor.name());
            (!name.starts_with('$')).then_some((name, predicate.functor.arity()))
        })
    }

    /// The predicate that a call of `functor` reaches.
    #[inline]
    pub(crate) fn find(&self, functor: Functor) -> Option<PredicateId> {
        self.lookup.get(&functor).copied()
    }

    /// Whether `functor` is defined or declared, and not only called.
    pub(crate) fn is_defined(&self, functor: Functor) -> bool {
        self.find(functor).is_some_and(|id| !matches!(self.predicates[id as usize].definition, Definition::Undefined))
    }

    /// Gives `functor` a new meaning in the program; older code keeps the old one.
    pub(crate) fn add_predicate(&mut self, functor: Functor, definition: Definition, origin: Origin) -> PredicateId {
        let predicate = Predicate { functor, definition, origin, sources: Vec::new() };
        if let Some(id) = self.find(functor)
            && !self.is_defined(functor)
        {
            self.predicates[id as usize] = predicate;
            return id;
        }
        let id = self.predicates.len() as PredicateId;
        self.predicates.push(predicate);
        self.lookup.insert(functor, id);
        id
    }
}

impl Program {
    /// Computes the shortcuts, once all predicates are in place.
    pub(crate) fn take_shortcuts(&mut self) {
        self.shortcuts = self.predicates.iter().map(|predicate| self.shortcut(predicate)).collect();
    }

    fn shortcut(&self, predicate: &Predicate) -> Shortcut {
        let Definition::Clauses(clauses) = &predicate.definition else { return Shortcut::None };
        let only = |range: Range<u32>| if range.len() == 1 { self.clause_lists[range.start as usize] } else { 0 };
        match clauses.indexes.first() {
            None if clauses.all.len() == 1 => Shortcut::Always(only(clauses.all.clone())),
            None => Shortcut::None,
            Some(index) => Shortcut::ByList {
                argument: index.argument,
                list: only(index.for_list()),
                nil: only(index.for_word(Term::NIL.0)),
            },
        }
    }
}
