//! The operator table.

use crate::symbols::{Atom, Symbols};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The position and associativity of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum OperatorType {
    Xfx,
    Xfy,
    Yfx,
    Fy,
    Fx,
    Xf,
    Yf,
}

/// The three classes in which one atom may be an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Position {
    Prefix = 0,
    Infix = 1,
    Postfix = 2,
}

impl OperatorType {
    pub(crate) fn position(self) -> Position {
        match self {
            OperatorType::Xfx | OperatorType::Xfy | OperatorType::Yfx => Position::Infix,
            OperatorType::Fy | OperatorType::Fx => Position::Prefix,
            OperatorType::Xf | OperatorType::Yf => Position::Postfix,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            OperatorType::Xfx => "xfx",
            OperatorType::Xfy => "xfy",
            OperatorType::Yfx => "yfx",
            OperatorType::Fy => "fy",
            OperatorType::Fx => "fx",
            OperatorType::Xf => "xf",
            OperatorType::Yf => "yf",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<OperatorType> {
        use OperatorType::{Fx, Fy, Xf, Xfx, Xfy, Yf, Yfx};
        [Xfx, Xfy, Yfx, Fy, Fx, Xf, Yf].into_iter().find(|kind| kind.name() == name)
    }
}

/// One operator definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operator {
    pub(crate) priority: u16,
    pub(crate) kind: OperatorType,
}

impl Operator {
    /// The highest priority of a left operand.
    pub(crate) fn left_limit(self) -> u16 {
        match self.kind {
            OperatorType::Yfx | OperatorType::Yf => self.priority,
            _ => self.priority - 1,
        }
    }

    /// The highest priority of a right operand.
    pub(crate) fn right_limit(self) -> u16 {
        match self.kind {
            OperatorType::Xfy | OperatorType::Fy => self.priority,
            _ => self.priority - 1,
        }
    }
}

/// The current operators; cheap to clone, copied on write.
#[derive(Clone, PartialEq)]
pub(crate) struct Operators {
    table: Arc<FxHashMap<Atom, [Option<Operator>; 3]>>,
}

impl Operators {
    /// The operators of ISO Prolog, with additions of SWI-Prolog.
    pub(crate) fn standard(symbols: &Symbols) -> Operators {
        use OperatorType::{Fx, Fy, Xfx, Xfy, Yfx};
        const TABLE: &[(u16, OperatorType, &str)] = &[
            (1200, Xfx, ":- --> =>"),
            (1200, Fx, ":- ?-"),
            (1100, Xfy, ";"),
            (1105, Xfy, "|"),
            (1050, Xfy, "-> *->"),
            (1000, Xfy, ","),
            (990, Xfx, ":="),
            (900, Fy, "\\+"),
            (800, Xfx, ":="),
            (700, Xfx, "= \\= == \\== @< @> @=< @>= =.. is =:= =\\= < > =< >= >:< :< as =@= \\=@="),
            (600, Xfy, ":"),
            (500, Yfx, "+ - /\\ \\/"),
            (400, Yfx, "* / // rem mod div << >> rdiv xor"),
            (200, Xfx, "**"),
            (200, Xfy, "^"),
            (200, Fy, "- + \\"),
            (1, Fx, "$"),
            (
                1150,
                Fx,
                "dynamic discontiguous initialization meta_predicate module_transparent multifile public table thread_local thread_initialization volatile",
            ),
        ];
        let mut operators = Operators { table: Arc::default() };
        for &(priority, kind, names) in TABLE {
            for name in names.split(' ') {
                operators.define(symbols.intern(name), Operator { priority, kind });
            }
        }
        operators
    }

    /// The definition of `atom` as a prefix, infix or postfix operator; `None` if it is not one.
    #[inline]
    pub(crate) fn get(&self, atom: Atom, position: Position) -> Option<Operator> {
        self.table.get(&atom)?[position as usize]
    }

    /// Whether `atom` is an operator of any class.
    pub(crate) fn is_operator(&self, atom: Atom) -> bool {
        self.table.get(&atom).is_some_and(|classes| classes.iter().any(Option::is_some))
    }

    /// Defines or redefines an operator; priority 0 removes it.
    pub(crate) fn define(&mut self, atom: Atom, operator: Operator) {
        let classes = Arc::make_mut(&mut self.table).entry(atom).or_default();
        classes[operator.kind.position() as usize] = (operator.priority > 0).then_some(operator);
    }

    /// All definitions, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Atom, Operator)> + '_ {
        self.table.iter().flat_map(|(&atom, classes)| classes.iter().flatten().map(move |&operator| (atom, operator)))
    }
}
