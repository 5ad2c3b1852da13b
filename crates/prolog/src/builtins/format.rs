//! `format/1,2,3`: text with directives, including column stops.
//!
//! Start at [`Run::all`]. The output of a call is collected first and written in one piece, because a column stop may
//! still move text before it.

mod layout;
mod numbers;

use super::text::{Accept, Kind, Misfit, charge, charge_digits, error_ball, read_text, reserve, text_of};
use super::{Builtin, Code, det};
use crate::arithmetic::evaluate;
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::Resource;
use crate::number::Number;
use crate::store::{ListEnd, View};
use crate::term::Term;
use crate::writer::WriteOptions;
use layout::Layout;
use num_bigint::BigInt;

pub(crate) const TABLE: &[Builtin] =
    &[det("format", Code::D1(format_1)), det("format", Code::D2(format_2)), det("format", Code::D3(format_3))];

fn format_1(core: &mut Core, format: Term) -> Solved {
    format_to(core, Destination::Output, format, Term::NIL, 1)
}

fn format_2(core: &mut Core, format: Term, arguments: Term) -> Solved {
    format_to(core, Destination::Output, format, arguments, 2)
}

fn format_3(core: &mut Core, destination: Term, format: Term, arguments: Term) -> Solved {
    let destination = Destination::read(core, destination)?;
    format_to(core, destination, format, arguments, 3)
}

/// Where the output goes.
#[derive(Clone, Copy)]
enum Destination {
    Output,
    Error,
    /// The term is unified with a term made from the text.
    Term(Kind, Term),
    /// The first term is unified with a list made from the text, whose tail is the second term.
    List(Kind, Term, Term),
}

impl Destination {
    fn read(core: &Core, term: Term) -> Solved<Destination> {
        match core.store.view(term) {
            View::Variable(_) => Err(Fault::Instantiation.into()),
            View::Atom(atom) => match core.atoms.name(atom) {
                "user_output" | "current_output" => Ok(Destination::Output),
                "user_error" => Ok(Destination::Error),
                "user_input" => Err(Fault::Permission("output", "stream", term).into()),
                _ => Err(Fault::Existence("stream", term).into()),
            },
            View::Compound(functor, arguments) => {
                let first = core.store.argument(arguments, 0);
                match (core.atoms.name(functor.name()), functor.arity()) {
                    ("atom", 1) => Ok(Destination::Term(Kind::Atom, first)),
                    ("string", 1) => Ok(Destination::Term(Kind::String, first)),
                    ("codes", 1) => Ok(Destination::Term(Kind::Codes, first)),
                    ("chars", 1) => Ok(Destination::Term(Kind::Characters, first)),
                    ("codes", 2) => Ok(Destination::List(Kind::Codes, first, core.store.argument(arguments, 1))),
                    ("chars", 2) => Ok(Destination::List(Kind::Characters, first, core.store.argument(arguments, 1))),
                    _ => Err(Fault::Type("output", term).into()),
                }
            }
            _ => Err(Fault::Type("output", term).into()),
        }
    }
}

fn format_to(core: &mut Core, destination: Destination, format: Term, arguments: Term, arity: usize) -> Solved {
    let format = text_of(core, format, Accept::Text, "text")?;
    let mut items = Vec::new();
    if core.store.list_items(arguments, &mut items) != ListEnd::Nil {
        items = vec![arguments];
    }
    let column = match destination {
        Destination::Output => core.output.column(),
        _ => 0,
    };
    let mut run = Run { layout: Layout::new(column), arguments: items.into_iter(), arity };
    let outcome = run.all(core, &format);
    let text = run.layout.finish();
    match destination {
        // The text before a faulty directive is still written.
        Destination::Output => {
            may_write(core, &text)?;
            core.output.write(&text);
            outcome.map(|()| true)
        }
        Destination::Error => {
            may_write(core, &text)?;
            core.output.write_error(&text);
            outcome.map(|()| true)
        }
        Destination::Term(kind, term) => {
            outcome?;
            kind.unify(core, term, &text)
        }
        Destination::List(kind, list, tail) => {
            outcome?;
            let made = kind.make_list(core, &text, tail)?;
            core.unify(list, made)
        }
    }
}

/// Returns an error unless the output budget has room for `text`.
fn may_write(core: &mut Core, text: &str) -> Solved<()> {
    if text.len() > core.store.meter.output_limit.saturating_sub(core.output.written()) {
        core.store.meter.exhaust(Resource::OutputBytes);
        return Err(Raised::Exhausted(Resource::OutputBytes));
    }
    Ok(())
}

/// Cost of a directive, in addition to its output.
const DIRECTIVE_CELLS: u64 = 12;
/// Cost of each digit of a float.
const DIGIT_CELLS: u64 = 8;
/// The number of digits charged for every float, in addition to its precision and the digits before the point.
const FLOAT_DIGITS: u64 = 16;

/// The state of one call: the text so far, and the unused arguments.
struct Run {
    layout: Layout,
    arguments: std::vec::IntoIter<Term>,
    arity: usize,
}

impl Run {
    fn all(&mut self, core: &mut Core, format: &str) -> Solved<()> {
        let mut rest = format;
        while let Some(start) = rest.find('~') {
            core.store.charge(DIRECTIVE_CELLS)?;
            self.layout.push(&rest[..start]);
            let mut characters = rest[start + 1..].chars();
            let argument = self.numeric_argument(core, &mut characters)?;
            // At the end of the text, the directive is the character with code 0, which is an error.
            let letter = characters.next().unwrap_or('\0');
            rest = characters.as_str();
            self.directive(core, letter, argument)?;
            reserve(core, self.layout.len())?;
        }
        self.layout.push(rest);
        if self.arguments.next().is_some() {
            return Err(self.format_error(core, "too many arguments"));
        }
        charge(core, self.layout.len())
    }

    /// The part between `~` and the letter: a number, `*` for the next argument, or a backquote and a character, whose
    /// code is returned. `None` if there is nothing.
    fn numeric_argument(&mut self, core: &mut Core, characters: &mut std::str::Chars) -> Solved<Option<usize>> {
        let mut ahead = characters.clone();
        match ahead.next() {
            Some('*') => {
                *characters = ahead;
                let argument = self.next(core)?;
                match core.store.view(argument) {
                    View::Small(value) if value >= 0 => Ok(Some(value as usize)),
                    _ => Err(self.format_error(core, "no or negative integer for `*' argument")),
                }
            }
            Some('`') => {
                let quoted = ahead.next();
                *characters = ahead;
                Ok(quoted.map(|character| u32::from(character) as usize))
            }
            _ => {
                let mut value = None;
                while let Some(digit) = characters.clone().next().and_then(|character| character.to_digit(10)) {
                    characters.next();
                    value = Some(value.unwrap_or(0_usize).saturating_mul(10).saturating_add(digit as usize));
                }
                Ok(value)
            }
        }
    }

    fn next(&mut self, core: &mut Core) -> Solved<Term> {
        match self.arguments.next() {
            Some(argument) => Ok(argument),
            None => Err(self.format_error(core, "not enough arguments")),
        }
    }

    fn directive(&mut self, core: &mut Core, letter: char, argument: Option<usize>) -> Solved<()> {
        match letter {
            'w' => self.term(core, &WriteOptions::write())?,
            'q' => self.term(core, &WriteOptions::writeq())?,
            'p' => self.term(core, &WriteOptions::print())?,
            'k' => self.term(core, &WriteOptions::canonical())?,
            'a' => self.text(core, letter, Accept::Atomic)?,
            's' => self.text(core, letter, Accept::Text)?,
            'd' => self.integer(core, letter, argument.unwrap_or(0), 0, "")?,
            'D' => self.integer(core, letter, argument.unwrap_or(0), 3, ",")?,
            'I' => self.integer(core, letter, 0, argument.unwrap_or(3), "_")?,
            'e' | 'f' | 'g' => self.float(core, letter, argument.unwrap_or(6))?,
            'r' | 'R' => self.radix(core, letter, argument.unwrap_or(8))?,
            'c' => self.character(core, argument.unwrap_or(1))?,
            'n' => self.repeat(core, '\n', argument.unwrap_or(1))?,
            '~' => self.layout.push("~"),
            'i' => {
                self.next(core)?;
            }
            't' => self.layout.fill(fill_character(argument)?),
            '|' => self.stop(core, argument.unwrap_or(self.layout.column()))?,
            '+' => self.stop(core, self.layout.last_stop().saturating_add(argument.unwrap_or(8)))?,
            _ => {
                let letter = Term::atom(core.atoms.character(letter));
                return Err(Fault::Existence("format_character", letter).into());
            }
        }
        Ok(())
    }

    fn term(&mut self, core: &mut Core, options: &WriteOptions) -> Solved<()> {
        let term = self.next(core)?;
        let text = core.text_of(term, options)?;
        self.layout.push(&text);
        Ok(())
    }

    fn text(&mut self, core: &mut Core, letter: char, accept: Accept) -> Solved<()> {
        let argument = self.next(core)?;
        match read_text(core, argument, accept) {
            Ok(text) => {
                self.layout.push(&text);
                Ok(())
            }
            Err(Misfit::Raised(raised)) => Err(raised),
            Err(_) => Err(self.argument_error(core, letter, argument)),
        }
    }

    /// The next argument as an integer; arithmetic expressions are evaluated.
    fn whole(&mut self, core: &mut Core, letter: char) -> Solved<BigInt> {
        let argument = self.next(core)?;
        match evaluate(core, argument)? {
            Number::Int(value) => Ok(BigInt::from(value)),
            Number::Big(value) => {
                charge_digits(core, value.bits() / 3)?;
                Ok(value)
            }
            Number::Float(_) => Err(self.argument_error(core, letter, argument)),
        }
    }

    fn integer(&mut self, core: &mut Core, letter: char, fraction: usize, group: usize, separator: &str) -> Solved<()> {
        let value = self.whole(core, letter)?;
        reserve(core, self.layout.len().saturating_add(fraction))?;
        self.layout.push(&numbers::grouped(&value, fraction, group, separator));
        Ok(())
    }

    fn float(&mut self, core: &mut Core, letter: char, precision: usize) -> Solved<()> {
        let argument = self.next(core)?;
        let number = evaluate(core, argument)?;
        match &number {
            Number::Big(value) => charge_digits(core, value.bits() / 3)?,
            Number::Int(_) => {}
            // The cost grows with the number of digits, because all digits of a float are computed exactly.
            Number::Float(value) => {
                let exponent = (value.to_bits() >> 52 & 0x7ff).saturating_sub(1023);
                let digits = exponent / 3 + precision.min(numbers::FRACTION_DIGITS_MAX) as u64;
                core.store.charge(DIGIT_CELLS * (FLOAT_DIGITS + digits))?;
            }
        }
        reserve(core, self.layout.len().saturating_add(precision))?;
        let text = match letter {
            'e' => numbers::scientific(&number, precision),
            'f' => numbers::fixed(&number, precision),
            _ => numbers::general(&number, precision),
        };
        self.layout.push(&text);
        Ok(())
    }

    fn radix(&mut self, core: &mut Core, letter: char, radix: usize) -> Solved<()> {
        let value = self.whole(core, letter)?;
        if !(2..=36).contains(&radix) {
            let culprit = core.store.integer(radix as i64);
            return Err(Fault::Domain("radix", culprit).into());
        }
        let digits = value.to_str_radix(radix as u32);
        self.layout.push(&if letter == 'R' { digits.to_uppercase() } else { digits });
        Ok(())
    }

    fn character(&mut self, core: &mut Core, count: usize) -> Solved<()> {
        let argument = self.next(core)?;
        match core.store.view(argument) {
            View::Small(code) if code >= 0 => match u32::try_from(code).ok().and_then(char::from_u32) {
                Some(character) => self.repeat(core, character, count),
                None => Err(Fault::Representation("code_point").into()),
            },
            _ => Err(self.argument_error(core, 'c', argument)),
        }
    }

    fn repeat(&mut self, core: &mut Core, character: char, count: usize) -> Solved<()> {
        reserve(core, self.layout.len().saturating_add(count.saturating_mul(character.len_utf8())))?;
        charge(core, 3 * count)?;
        let text: String = std::iter::repeat_n(character, count).collect();
        self.layout.push(&text);
        Ok(())
    }

    fn stop(&mut self, core: &mut Core, column: usize) -> Solved<()> {
        // A fill character takes up to four bytes.
        reserve(core, self.layout.len().saturating_add(column.saturating_mul(4)))?;
        charge(core, 2 * column.saturating_sub(self.layout.column()))?;
        self.layout.stop_at(column);
        Ok(())
    }

    /// `error(format(Message), _)`.
    fn format_error(&self, core: &mut Core, message: &str) -> Raised {
        let message = Term::atom(core.atoms.intern(message));
        self.error(core, "format", &[message])
    }

    /// `error(format_argument_type(Letter, Argument), _)`.
    fn argument_error(&self, core: &mut Core, letter: char, argument: Term) -> Raised {
        let letter = Term::atom(core.atoms.character(letter));
        self.error(core, "format_argument_type", &[letter, argument])
    }

    fn error(&self, core: &mut Core, name: &str, arguments: &[Term]) -> Raised {
        let name = core.atoms.intern(name);
        let formal = core.store.structure(name, arguments);
        error_ball(core, formal, "format", self.arity)
    }
}

/// The fill character with this code; a space if there is no code.
fn fill_character(argument: Option<usize>) -> Solved<char> {
    match argument {
        None => Ok(' '),
        Some(code) => match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(character) => Ok(character),
            None => Err(Fault::Representation("code_point").into()),
        },
    }
}
