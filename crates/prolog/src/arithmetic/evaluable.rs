//! The arithmetic functions, by name and arity.

use crate::symbols::atoms;
use crate::term::Functor;

/// An arithmetic function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evaluable {
    Constant(Constant),
    Unary(Unary),
    Binary(Binary),
    /// `powm(Base, Exponent, Modulus)`.
    PowerModulo,
}

/// A function of no arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constant {
    Pi,
    E,
    Infinity,
    Nan,
    Epsilon,
    MaxTaggedInteger,
    MinTaggedInteger,
    MaxInteger,
    MinInteger,
}

/// A function of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Identity,
    Negate,
    Not,
    Abs,
    Sign,
    Successor,
    MostSignificantBit,
    LeastSignificantBit,
    PopulationCount,
    Float,
    Integer,
    Truncate,
    Round,
    Floor,
    Ceiling,
    IntegerPart,
    FractionalPart,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Cot,
    Acot,
    Exp,
    Log,
    Log2,
    Log10,
}

/// A function of two arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntDivide,
    FloorDivide,
    Modulo,
    Remainder,
    Min,
    Max,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    /// `**`: an integer to a negative integer power is a float, except for the bases 1 and -1 (an integer) and 0 (an
    /// error).
    Power,
    /// `^`: integer operands yield an integer or an error.
    IntPower,
    Gcd,
    Lcm,
    GetBit,
    Atan2,
    CopySign,
    NextToward,
    /// `log(Base, X)`.
    LogBase,
}

/// Cost of most functions of floats, in cells walked. The square root and the conversion to a float are free.
pub(super) const FLOAT_CELLS: u64 = 8;
/// Cost of a function that is computed with twice the digits of a float, in cells walked.
pub(super) const PRECISE_CELLS: u64 = 64;

impl Unary {
    /// Cost of this function of a float, in cells walked.
    pub(super) fn cells(self) -> u64 {
        match self {
            Unary::Exp | Unary::Log | Unary::Log2 | Unary::Log10 | Unary::Asinh | Unary::Acosh => PRECISE_CELLS,
            Unary::Float | Unary::Sqrt => 0,
            _ => FLOAT_CELLS,
        }
    }
}

impl Evaluable {
    /// The function with this name and arity; `None` if there is none.
    pub(crate) fn find(functor: Functor) -> Option<Evaluable> {
        match functor.arity() {
            0 => constant(functor).map(Evaluable::Constant),
            1 => unary(functor).map(Evaluable::Unary),
            2 => binary(functor).map(Evaluable::Binary),
            3 if functor.name() == atoms::POWM => Some(Evaluable::PowerModulo),
            _ => None,
        }
    }
}

fn constant(functor: Functor) -> Option<Constant> {
    Some(match functor.name() {
        atoms::PI => Constant::Pi,
        atoms::E => Constant::E,
        atoms::INF | atoms::INFINITE => Constant::Infinity,
        atoms::NAN => Constant::Nan,
        atoms::EPSILON => Constant::Epsilon,
        atoms::MAX_TAGGED_INTEGER => Constant::MaxTaggedInteger,
        atoms::MIN_TAGGED_INTEGER => Constant::MinTaggedInteger,
        atoms::MAX_INTEGER => Constant::MaxInteger,
        atoms::MIN_INTEGER => Constant::MinInteger,
        _ => return None,
    })
}

fn unary(functor: Functor) -> Option<Unary> {
    Some(match functor.name() {
        atoms::PLUS | atoms::EVAL => Unary::Identity,
        atoms::MINUS => Unary::Negate,
        atoms::BACKSLASH => Unary::Not,
        atoms::ABS => Unary::Abs,
        atoms::SIGN => Unary::Sign,
        atoms::SUCC => Unary::Successor,
        atoms::MSB => Unary::MostSignificantBit,
        atoms::LSB => Unary::LeastSignificantBit,
        atoms::POPCOUNT => Unary::PopulationCount,
        atoms::FLOAT => Unary::Float,
        atoms::INTEGER => Unary::Integer,
        atoms::TRUNCATE | atoms::TRUNC => Unary::Truncate,
        atoms::ROUND => Unary::Round,
        atoms::FLOOR => Unary::Floor,
        atoms::CEILING | atoms::CEIL => Unary::Ceiling,
        atoms::FLOAT_INTEGER_PART => Unary::IntegerPart,
        atoms::FLOAT_FRACTIONAL_PART => Unary::FractionalPart,
        atoms::SQRT => Unary::Sqrt,
        atoms::SIN => Unary::Sin,
        atoms::COS => Unary::Cos,
        atoms::TAN => Unary::Tan,
        atoms::ASIN => Unary::Asin,
        atoms::ACOS => Unary::Acos,
        atoms::ATAN => Unary::Atan,
        atoms::SINH => Unary::Sinh,
        atoms::COSH => Unary::Cosh,
        atoms::TANH => Unary::Tanh,
        atoms::ASINH => Unary::Asinh,
        atoms::ACOSH => Unary::Acosh,
        atoms::ATANH => Unary::Atanh,
        atoms::COT => Unary::Cot,
        atoms::ACOT => Unary::Acot,
        atoms::EXP => Unary::Exp,
        atoms::LOG => Unary::Log,
        atoms::LOG2 => Unary::Log2,
        atoms::LOG10 => Unary::Log10,
        _ => return None,
    })
}

fn binary(functor: Functor) -> Option<Binary> {
    Some(match functor.name() {
        atoms::PLUS | atoms::PLUS_NAME => Binary::Add,
        atoms::MINUS => Binary::Subtract,
        atoms::STAR => Binary::Multiply,
        atoms::SLASH => Binary::Divide,
        atoms::DOUBLE_SLASH => Binary::IntDivide,
        atoms::DIV => Binary::FloorDivide,
        atoms::MOD => Binary::Modulo,
        atoms::REM => Binary::Remainder,
        atoms::MIN => Binary::Min,
        atoms::MAX => Binary::Max,
        atoms::SHIFT_LEFT => Binary::ShiftLeft,
        atoms::SHIFT_RIGHT => Binary::ShiftRight,
        atoms::BIT_AND => Binary::And,
        atoms::BIT_OR => Binary::Or,
        atoms::XOR => Binary::Xor,
        atoms::POWER => Binary::Power,
        atoms::CARET => Binary::IntPower,
        atoms::GCD => Binary::Gcd,
        atoms::LCM => Binary::Lcm,
        atoms::GETBIT => Binary::GetBit,
        atoms::ATAN | atoms::ATAN2 => Binary::Atan2,
        atoms::COPYSIGN => Binary::CopySign,
        atoms::NEXTTOWARD => Binary::NextToward,
        atoms::LOG => Binary::LogBase,
        _ => return None,
    })
}
