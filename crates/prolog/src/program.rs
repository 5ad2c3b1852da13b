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

/// Control constructs that the machine itself executes when they are called as predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// `call/1..8`.
    Call,
    /// `'$body'(Goal, CutBarrier)`.
    Body,
    Catch,
    Throw,
    Halt,
    /// `prolog_current_choice(Height)`: returns the same height before and after a goal that leaves no choice point.
    CurrentChoice,
}

/// The predicates that interpret control constructs; `None` if the program does not have them.
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

/// Where a goal on a host relation finds the required value of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Constant(Term),
    X(u8),
    Y(u16),
}

/// The register or slot in which a goal on a host relation stores the value of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    X(u8),
    Y(u16),
}

/// A goal on a host relation that is compiled inline.
#[derive(Clone, Default, Debug)]
pub(crate) struct RowCall {
    /// The index of the relation in the program.
    pub(crate) relation: u16,
    /// The columns with a required value. `wanted` says where to find the values, in the same order.
    pub(crate) known: Vec<u8>,
    pub(crate) wanted: Vec<Wanted>,
    /// The columns whose values are assigned to new variables, and the places of these variables.
    pub(crate) new: Vec<(u8, Place)>,
}

/// A direct jump for calls whose clause is easy to determine.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Shortcut {
    #[default]
    None,
    /// There is only one clause.
    Always(Label),
    /// The only clause that may match a list cell in this argument, and the only one for `[]`. Label 0 means that there
    /// is not exactly one, so that the general path must be taken.
    ByList { argument: u8, list: Label, nil: Label },
}

/// A builtin as called by `Builtin` instructions.
#[derive(Clone, Copy)]
pub(crate) struct BuiltinEntry {
    pub(crate) code: Code,
    pub(crate) functor: Functor,
}

/// The definition of a predicate.
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
    /// Rows supplied with each query, by index in the program's list of relations.
    Relation(u16),
    Host(HostCode),
}

/// The clauses of a compiled predicate, and the indexes that select those that may match.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Clauses {
    /// All clauses, as a range of [`Program::clause_lists`].
    pub(crate) all: Range<u32>,
    pub(crate) indexes: Vec<ArgumentIndex>,
}

/// The origin of a predicate, which determines whether a program may redefine it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Part of the language, or provided by the host: cannot be redefined.
    System,
    /// Comes with the engine, or is a default relation of the host; a program may redefine it.
    Library,
    User,
}

/// One predicate.
#[derive(Clone)]
pub(crate) struct Predicate {
    pub(crate) functor: Functor,
    pub(crate) definition: Definition,
    pub(crate) origin: Origin,
    /// Clauses as terms (`Head :- Body`, or rules with `=>`), for `clause/2` and for analysis by the host; empty except
    /// for the compiled predicates of the program's text.
    pub(crate) sources: Vec<Arc<StoredTerm>>,
}

/// A program that is ready to run.
#[derive(Clone)]
pub struct Program {
    pub(crate) symbols: Arc<Symbols>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) predicates: Vec<Predicate>,
    /// The predicate that a name and arity refer to in the program's text and in calls made at run time.
    pub(crate) lookup: FxHashMap<Functor, PredicateId>,
    /// Entry points of clauses; predicates and indexes refer to ranges of this.
    pub(crate) clause_lists: Vec<Label>,
    /// Numbers and strings that do not fit in an instruction.
    pub(crate) literals: Vec<StoredTerm>,
    pub(crate) dynamic: FxHashMap<PredicateId, Arc<DynamicPredicate>>,
    /// Indexed by predicate.
    pub(crate) shortcuts: Vec<Shortcut>,
    pub(crate) builtins: Vec<BuiltinEntry>,
    pub(crate) control: ControlPredicates,
    pub(crate) relations: Vec<Functor>,
    pub(crate) row_calls: Vec<RowCall>,
    pub(crate) operators: Operators,
    pub(crate) flags: Flags,
}

impl Program {
    /// Whether a predicate with this name and arity is defined or declared, and not just called.
    pub fn defines(&self, name: &str, arity: usize) -> bool {
        let functor = self.symbols.find(name).map(|name| Functor::new(name, arity));
        functor
            .and_then(|functor| self.find(functor))
            .is_some_and(|id| !matches!(self.predicates[id as usize].definition, Definition::Undefined))
    }

    /// The names and arities of the defined predicates, without those whose names start with `$`. A pair occurs twice
    /// if the program redefines a library predicate.
    pub fn callable(&self) -> impl Iterator<Item = (&str, usize)> {
        self.predicates.iter().filter(|predicate| self.is_defined(predicate.functor)).filter_map(|predicate| {
            let name = self.symbols.name(predicate.functor.name());
            (!name.starts_with('$')).then_some((name, predicate.functor.arity()))
        })
    }

    /// The predicate that a call of `functor` refers to; `None` if the program neither defines nor calls it.
    #[inline]
    pub(crate) fn find(&self, functor: Functor) -> Option<PredicateId> {
        self.lookup.get(&functor).copied()
    }

    /// Whether `functor` is defined or declared, and not just called.
    pub(crate) fn is_defined(&self, functor: Functor) -> bool {
        self.find(functor).is_some_and(|id| !matches!(self.predicates[id as usize].definition, Definition::Undefined))
    }

    /// Defines `functor` in the program and returns its id. Code compiled earlier still calls the previous definition,
    /// if there was one; a predicate that was undefined so far is now defined for that code, too.
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
    /// Computes the shortcuts, after all predicates have been added.
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
