//! Instructions of arithmetic goals.

use super::emit::Emitter;
use super::emit::Operand;
use super::goals::CompileError;
use crate::instruction::{Arithmetic, Comparison, FAIL, Instruction};
use crate::store::View;
use crate::term::Term;

/// The maximum depth of a compiled expression. Deeper subexpressions are built as terms and evaluated at run time.
const MAX_DEPTH: usize = 50;

type Written<T = ()> = Result<T, CompileError>;

impl Emitter<'_> {
    /// Writes `Result is Expression`.
    pub(super) fn is(&mut self, result: Term, expression: Term) -> Written {
        let hint = self.preferred_register(result);
        let register = match self.compute(expression, hint, 0)? {
            Some(register) => register,
            None => {
                let operand = self.operand(expression)?;
                let from = operand.register;
                self.release(operand);
                let to = self.take_register(hint)?;
                self.push(Instruction::Evaluate { to, from });
                to
            }
        };
        self.assign(register, result)
    }

    /// Writes a comparison of the values of two expressions.
    pub(super) fn compare_numbers(&mut self, comparison: Comparison, a: Term, b: Term) -> Written {
        let left = self.value(a, 0)?;
        if let Some(value) = self.small_constant(b) {
            let a = left.register;
            self.push(Instruction::CompareWithSmall { comparison, a, value, otherwise: FAIL });
            self.release(left);
            return Ok(());
        }
        let right = self.value(b, 0)?;
        let (a, b) = (left.register, right.register);
        self.push(Instruction::CompareNumbers { comparison, a, b, otherwise: FAIL });
        self.release(left);
        self.release(right);
        Ok(())
    }

    fn small_constant(&self, term: Term) -> Option<i32> {
        match self.store.view(term) {
            View::Small(value) => i32::try_from(value).ok(),
            _ => None,
        }
    }

    /// Writes instructions that load the value of an expression into a register. If the expression has no instruction
    /// of its own, the register contains the expression itself, and the instruction that reads it evaluates it.
    fn value(&mut self, term: Term, depth: usize) -> Written<Operand> {
        match self.compute(term, None, depth)? {
            Some(register) => Ok(Operand::taken(register)),
            None => self.operand(term),
        }
    }

    /// Writes the instructions that compute an expression, and returns the register of its value. Returns `None`, and
    /// writes nothing, if the expression has no instruction of its own or is too deep.
    fn compute(&mut self, term: Term, hint: Option<u8>, depth: usize) -> Written<Option<u8>> {
        let View::Compound(functor, arguments) = self.store.view(term) else { return Ok(None) };
        let name = self.scope.symbols().name(functor.name()).to_owned();
        if functor.arity() != 2 || depth > MAX_DEPTH {
            return Ok(None);
        }
        let Some(operation) = operation(&name) else { return Ok(None) };
        let (a, b) = (self.store.argument(arguments, 0), self.store.argument(arguments, 1));
        let left = self.value(a, depth + 1)?;
        if let Some(value) = self.small_constant(b) {
            let a = left.register;
            self.release(left);
            let to = self.take_register(hint)?;
            self.push(Instruction::ComputeWithSmall { operation, to, a, value });
            return Ok(Some(to));
        }
        let right = self.value(b, depth + 1)?;
        let (a, b) = (left.register, right.register);
        self.release(left);
        self.release(right);
        let to = self.take_register(hint)?;
        self.push(Instruction::Compute { operation, to, a, b });
        Ok(Some(to))
    }
}

fn operation(name: &str) -> Option<Arithmetic> {
    Some(match name {
        "+" => Arithmetic::Add,
        "-" => Arithmetic::Subtract,
        "*" => Arithmetic::Multiply,
        "/" => Arithmetic::Divide,
        "//" => Arithmetic::IntegerDivide,
        "mod" => Arithmetic::Modulo,
        "rem" => Arithmetic::Remainder,
        "min" => Arithmetic::Minimum,
        "max" => Arithmetic::Maximum,
        "<<" => Arithmetic::ShiftLeft,
        ">>" => Arithmetic::ShiftRight,
        "/\\" => Arithmetic::And,
        "\\/" => Arithmetic::Or,
        "xor" => Arithmetic::Xor,
        _ => return None,
    })
}
