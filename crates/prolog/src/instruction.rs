//! What compiled clauses are made of.
//!
//! The machine is a Warren-style one. Its registers: `X0..X255` hold arguments and temporaries,
//! `Y0..` are the slots of the current environment, `S` is the cell that the next `Unify…`
//! instruction reads or, in write mode, fills. Names follow the classic ones: `Get…` takes a head
//! argument apart, `Unify…` does one part of a compound, `Put…` prepares an argument of a call.
//!
//! Differences from the classic design, each for simplicity at no measured cost:
//! - nested compounds are unified depth first (`UnifyStructure … Pop`), so they need no registers;
//! - environment slots never hold a variable of their own: fresh variables are always cells;
//! - clause selection is data (`program::ArgumentIndex`), not instructions;
//! - tests jump to a label when they do not hold; label 0 is an instruction that fails.

use crate::term::{Functor, Term};
use serde::{Deserialize, Serialize};

/// Number of a predicate in its program.
pub(crate) type PredicateId = u32;
/// Position of an instruction in its program.
pub(crate) type Label = u32;

/// Where a test goes when it does not hold: the instruction there fails.
pub(crate) const FAIL: Label = 0;
/// Where the goal of a query returns to.
pub(crate) const STOP: Label = 1;
/// Where goals woken by a binding return to.
pub(crate) const RESUME: Label = 2;
/// Where the goal of `catch/3` returns to.
pub(crate) const CATCH_EXIT: Label = 3;

/// The register for unread values; never allocated.
pub(crate) const SCRATCH: u8 = 255;

/// Tests of the type of one term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum TypeTest {
    Var,
    Nonvar,
    Atom,
    Integer,
    Float,
    Number,
    Atomic,
    Compound,
    Callable,
    IsList,
    String,
}

/// Comparisons, of numbers or in the standard order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    #[inline(always)]
    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Arithmetic functions with an instruction of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
    Remainder,
    Minimum,
    Maximum,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
}

/// What an inline aggregation makes of the values it sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Aggregation {
    /// A list of copies, in order: `findall/3` and `bag(X)`.
    Bag,
    /// A sorted list without duplicates.
    Set,
    Count,
    Sum,
    Maximum,
    Minimum,
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Instruction {
    // ---- head arguments
    GetVariableY {
        y: u16,
        x: u8,
    },
    GetValueX {
        x: u8,
        with: u8,
    },
    GetValueY {
        y: u16,
        x: u8,
    },
    GetConstant {
        x: u8,
        value: Term,
    },
    GetList {
        x: u8,
    },
    GetStructure {
        x: u8,
        functor: Functor,
    },
    GetLiteral {
        x: u8,
        literal: u32,
    },

    // ---- parts of compounds
    UnifyVariableX {
        x: u8,
    },
    UnifyVariableY {
        y: u16,
    },
    UnifyValueX {
        x: u8,
    },
    UnifyValueY {
        y: u16,
    },
    UnifyConstant {
        value: Term,
    },
    UnifyLiteral {
        literal: u32,
    },
    UnifyVoid {
        count: u32,
    },
    /// A list that is not the last part: `Pop` returns to the next part.
    UnifyList,
    UnifyStructure {
        functor: Functor,
    },
    /// A list that is the last part.
    UnifyLastList,
    UnifyLastStructure {
        functor: Functor,
    },
    Pop,

    // ---- lists whose parts are registers: the most common sequences in one step
    /// `GetList`, `UnifyVariableX`, `UnifyVariableX`; a part that is not needed goes to [`SCRATCH`].
    GetListOfVariables {
        x: u8,
        head: u8,
        tail: u8,
    },
    /// `GetList`, `UnifyValueX`, `UnifyVariableX`.
    GetListOfValue {
        x: u8,
        head: u8,
        tail: u8,
    },
    /// `PutList`, `UnifyValueX`, `UnifyValueX`.
    PutListOfValues {
        x: u8,
        head: u8,
        tail: u8,
    },
    /// `PutStructure` of two arguments, `UnifyValueX`, `UnifyValueX`.
    PutPairOfValues {
        x: u8,
        first: u8,
        second: u8,
        functor: Functor,
    },

    // ---- arguments of calls
    Move {
        to: u8,
        from: u8,
    },
    PutVariableX {
        x: u8,
    },
    PutVariableY {
        y: u16,
        x: u8,
    },
    /// A fresh variable in a slot, before a branch that may or may not mention it.
    InitializeY {
        y: u16,
    },
    PutValueY {
        y: u16,
        x: u8,
    },
    PutConstant {
        x: u8,
        value: Term,
    },
    PutList {
        x: u8,
    },
    PutStructure {
        x: u8,
        functor: Functor,
    },
    PutLiteral {
        x: u8,
        literal: u32,
    },

    // ---- control
    /// Charges what the clause does until its next call, beyond what the inference pays for.
    Charge {
        cells: u32,
    },
    Allocate {
        slots: u16,
    },
    Deallocate,
    Call {
        predicate: PredicateId,
    },
    Execute {
        predicate: PredicateId,
    },
    /// Goes through the rows of a host relation in place: see [`RowCall`](crate::program::RowCall).
    CallRows {
        call: u32,
        live: u8,
    },
    /// Tests that a host relation has no such row.
    TestNoRows {
        call: u32,
        otherwise: Label,
    },
    Proceed,
    /// Cut to where the predicate was called; only before the first call of a clause.
    NeckCut {
        live: u8,
    },
    /// Remembers where the predicate was called; only before the first call of a clause.
    SaveNeck {
        y: u16,
    },
    /// Remembers the choice points there are now.
    SaveCut {
        y: u16,
    },
    /// Drops choice points made since, and `below` older ones.
    CutTo {
        y: u16,
        below: u8,
        live: u8,
    },
    /// Makes the newest choice point there was at `SaveCut` fail without trying its alternative (`*->`).
    SoftCut {
        y: u16,
        live: u8,
    },
    /// First alternative of a disjunction; the next one is at the label.
    TryElse {
        otherwise: Label,
    },
    RetryElse {
        otherwise: Label,
    },
    TrustElse,
    Jump {
        to: Label,
    },
    Fail,
    Stop,
    Resume,

    // ---- inline goals
    /// A deterministic builtin; its arguments start at `X[base]`.
    Builtin {
        builtin: u16,
        base: u8,
        live: u8,
    },
    Test {
        test: TypeTest,
        x: u8,
        otherwise: Label,
    },
    CompareTerms {
        comparison: Comparison,
        a: u8,
        b: u8,
        otherwise: Label,
    },
    CompareNumbers {
        comparison: Comparison,
        a: u8,
        b: u8,
        otherwise: Label,
    },
    CompareWithSmall {
        comparison: Comparison,
        a: u8,
        value: i32,
        otherwise: Label,
    },
    Compute {
        operation: Arithmetic,
        to: u8,
        a: u8,
        b: u8,
    },
    ComputeWithSmall {
        operation: Arithmetic,
        to: u8,
        a: u8,
        value: i32,
    },
    /// Evaluates the term in `from`.
    Evaluate {
        to: u8,
        from: u8,
    },

    // ---- aggregation
    CollectStart {
        aggregation: Aggregation,
    },
    /// Adds a value, then fails into the next answer of the goal.
    CollectAdd {
        x: u8,
        live: u8,
    },
    CollectEnd {
        x: u8,
    },

    // ---- catch/3
    /// Leaves the scope of the `catch/3` whose choice point height is in slot 0.
    CatchExit,
}
