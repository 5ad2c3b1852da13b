//! `char_type/2` and `code_type/2`, the character types that they test, and case conversion.

use super::text::{Accept, Kind, Misfit, read_text, unify_candidate};
use super::{Builtin, State, Step, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::reader::characters::{is_name_part, is_name_start, is_symbol, is_variable_start};
use crate::store::View;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[nondet("char_type", 2, char_type), nondet("code_type", 2, code_type)];

/// The character in upper case; unchanged if its upper case is not a single character.
pub(crate) fn upper(character: char) -> char {
    let mut mapped = character.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => single,
        _ => character,
    }
}

/// The character in lower case. `İ` is the only one whose lower case is longer than one character; it becomes `i`, as
/// in C.
pub(crate) fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

/// The digit zero of each decimal number system in Unicode 14, in ascending order; the digits one to nine follow each
/// zero.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
    0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0,
    0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60,
    0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// The value of a decimal digit of any script; `None` for any other character.
fn decimal_value(character: char) -> Option<u32> {
    let code = u32::from(character);
    let next = ZEROS.partition_point(|&zero| zero <= code);
    let value = code - ZEROS.get(next.checked_sub(1)?)?;
    (value < 10).then_some(value)
}

fn is_alpha(character: char) -> bool {
    character.is_alphabetic()
}

fn is_alnum(character: char) -> bool {
    character.is_alphabetic() || decimal_value(character).is_some()
}

fn is_symbol_identifier(character: char) -> bool {
    is_alnum(character) || character == '_'
}

fn is_symbol_identifier_start(character: char) -> bool {
    is_alpha(character) || character == '_'
}

fn is_decimal(character: char) -> bool {
    decimal_value(character).is_some()
}

fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

fn is_ascii_digit(character: char) -> bool {
    character.is_ascii_digit()
}

fn is_ascii(character: char) -> bool {
    character.is_ascii()
}

fn is_print(character: char) -> bool {
    !is_control(character)
}

fn is_graph(character: char) -> bool {
    is_print(character) && !is_space(character)
}

fn is_punct(character: char) -> bool {
    is_graph(character) && !is_alnum(character)
}

/// White space as in C: without U+0085 and the non-breaking spaces.
fn is_space(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

fn is_end_of_line(character: char) -> bool {
    matches!(character, '\n'..='\r')
}

fn is_newline(character: char) -> bool {
    character == '\n'
}

fn is_period(character: char) -> bool {
    matches!(character, '.' | '?' | '!')
}

fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"' | '`')
}

/// The argument that a type has for a character, such as the weight of a digit.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Value {
    None,
    Weight(u32),
    Character(char),
}

#[derive(Clone, Copy)]
enum Test {
    /// A type without argument.
    Plain(fn(char) -> bool),
    /// A decimal digit of any script and its weight.
    Decimal,
    /// An ASCII digit of a radix and its weight.
    Digit(u32),
    /// The first function returns the counterpart of a character; `None` if the character is not of the type. The
    /// second returns the character of a counterpart, and its result is checked with the first.
    Paired(fn(char) -> Option<char>, fn(char) -> char),
    /// Like `Paired`, but every character has a counterpart, and the result of the second function is not checked.
    Mapped(fn(char) -> char, fn(char) -> char),
}

impl Test {
    /// The argument of the type for this character; `None` if the character is not of the type.
    fn value(self, character: char) -> Option<Value> {
        match self {
            Test::Plain(test) => test(character).then_some(Value::None),
            Test::Decimal => decimal_value(character).map(Value::Weight),
            Test::Digit(radix) => character.to_digit(radix).map(Value::Weight),
            Test::Paired(value, _) => value(character).map(Value::Character),
            Test::Mapped(value, _) => Some(Value::Character(value(character))),
        }
    }
}

fn upper_of_lower(character: char) -> Option<char> {
    character.is_lowercase().then(|| upper(character))
}

fn lower_of_upper(character: char) -> Option<char> {
    character.is_uppercase().then(|| lower(character))
}

const PARENTHESES: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

fn closing(character: char) -> Option<char> {
    PARENTHESES.iter().find(|&&(open, _)| open == character).map(|&(_, close)| close)
}

fn opening(character: char) -> char {
    PARENTHESES.iter().find(|&&(_, close)| close == character).map_or(character, |&(open, _)| open)
}

/// All types, in the order in which they are enumerated.
const TYPES: &[(&str, Test)] = &[
    ("alnum", Test::Plain(is_alnum)),
    ("alpha", Test::Plain(is_alpha)),
    ("csym", Test::Plain(is_symbol_identifier)),
    ("csymf", Test::Plain(is_symbol_identifier_start)),
    ("prolog_var_start", Test::Plain(is_variable_start)),
    ("prolog_atom_start", Test::Plain(is_name_start)),
    ("prolog_identifier_continue", Test::Plain(is_name_part)),
    ("prolog_symbol", Test::Plain(is_symbol)),
    // Listed twice, because SWI-Prolog enumerates it twice.
    ("csymf", Test::Plain(is_symbol_identifier_start)),
    ("decimal", Test::Plain(is_decimal)),
    ("decimal", Test::Decimal),
    ("ascii", Test::Plain(is_ascii)),
    ("white", Test::Plain(is_white)),
    ("cntrl", Test::Plain(is_control)),
    ("digit", Test::Plain(is_ascii_digit)),
    ("print", Test::Plain(is_print)),
    ("graph", Test::Plain(is_graph)),
    ("lower", Test::Plain(char::is_lowercase)),
    ("upper", Test::Plain(char::is_uppercase)),
    ("punct", Test::Plain(is_punct)),
    ("space", Test::Plain(is_space)),
    ("end_of_line", Test::Plain(is_end_of_line)),
    ("newline", Test::Plain(is_newline)),
    ("period", Test::Plain(is_period)),
    ("quote", Test::Plain(is_quote)),
    ("lower", Test::Paired(upper_of_lower, lower)),
    ("upper", Test::Paired(lower_of_upper, upper)),
    // In `to_lower(U)`, `U` is the upper case of the character. In `to_upper(L)`, `L` is its lower case.
    ("to_lower", Test::Mapped(upper, lower)),
    ("to_upper", Test::Mapped(lower, upper)),
    ("paren", Test::Paired(closing, opening)),
    ("digit", Test::Digit(10)),
    ("xdigit", Test::Digit(16)),
];

/// The type of the end of a file, which has no other type.
const END_OF_FILE: &str = "end_of_file";

/// A character, or the end of a file, which has code -1.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Subject {
    Character(char),
    EndOfFile,
}

fn char_type(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    classify(core, arguments, state, Kind::Characters)
}

fn code_type(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    classify(core, arguments, state, Kind::Codes)
}

fn classify(core: &mut Core, arguments: &[Term], state: State, kind: Kind) -> Solved<Step> {
    let &[character, class] = arguments else { return Ok(Step::Fail) };
    match (subject(core, character)?, core.store.deref(class).is_variable()) {
        (None, true) => Err(Fault::Instantiation.into()),
        (Some(subject), true) => enumerate_types(core, subject, class, state, kind),
        (Some(subject), false) => {
            let (test, argument) = known_type(core, class)?;
            let unified = holds(core, subject, test, argument, kind)?;
            Ok(if unified { Step::Last } else { Step::Fail })
        }
        (None, false) => {
            let (test, argument) = known_type(core, class)?;
            enumerate_characters(core, character, test, argument, state, kind)
        }
    }
}

/// The character in an argument: a one-character text, a code, or -1 for the end of a file. `None` if it is unbound.
fn subject(core: &mut Core, term: Term) -> Solved<Option<Subject>> {
    let found = match core.store.view(term) {
        View::Variable(_) => return Ok(None),
        View::Small(-1) => Some(Subject::EndOfFile),
        View::Small(code) => u32::try_from(code).ok().and_then(char::from_u32).map(Subject::Character),
        View::Atom(_) | View::Text | View::List(_) => match read_text(core, term, Accept::Text) {
            Ok(text) => only_character(&text).map(Subject::Character),
            Err(Misfit::Raised(raised)) => return Err(raised),
            Err(_) => None,
        },
        _ => None,
    };
    found.map_or_else(|| Err(Fault::Type("character", term).into()), |found| Ok(Some(found)))
}

/// The character of a one-character text; `None` for any other text.
fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// The test that a type names, and its argument. The test is `None` for [`END_OF_FILE`].
fn known_type(core: &Core, class: Term) -> Solved<(Option<Test>, Option<Term>)> {
    let (name, argument) = match core.store.view(class) {
        View::Atom(atom) => (atom, None),
        View::Compound(functor, arguments) if functor.arity() == 1 => {
            (functor.name(), Some(core.store.argument(arguments, 0)))
        }
        _ => return Err(Fault::Type("char_type", class).into()),
    };
    let name = core.atoms.name(name);
    let fits = |test: Test| matches!(test, Test::Plain(_)) == argument.is_none();
    match TYPES.iter().find(|&&(type_name, test)| type_name == name && fits(test)) {
        Some(&(_, test)) => Ok((Some(test), argument)),
        None if name == END_OF_FILE && argument.is_none() => Ok((None, None)),
        None => Err(Fault::Type("char_type", class).into()),
    }
}

/// Whether `subject` passes `test`. A type with an argument, such as `digit(Weight)`, has a value for the character;
/// `argument` is unified with that value.
fn holds(core: &mut Core, subject: Subject, test: Option<Test>, argument: Option<Term>, kind: Kind) -> Solved {
    let (character, test) = match (subject, test) {
        (Subject::Character(character), Some(test)) => (character, test),
        (subject, test) => return Ok(subject == Subject::EndOfFile && test.is_none()),
    };
    match (test.value(character), argument) {
        (Some(value), Some(argument)) => {
            let pair = value_pair(core, argument, value, kind)?;
            Ok(pair.is_some_and(|(a, b)| core.store.unify(a, b)))
        }
        (value, _) => Ok(value.is_some()),
    }
}

/// The two terms whose unification makes `argument`, the argument of a type, equal to `value`. `None` if the argument
/// is a different character.
fn value_pair(core: &mut Core, argument: Term, value: Value, kind: Kind) -> Solved<Option<(Term, Term)>> {
    match value {
        Value::None => Ok(Some((argument, argument))),
        Value::Weight(weight) => Ok(Some((argument, Term::small(i64::from(weight))))),
        Value::Character(character) => match subject(core, argument)? {
            Some(known) if known != Subject::Character(character) => Ok(None),
            Some(_) => Ok(Some((argument, argument))),
            None => Ok(Some((argument, character_term(core, character, kind)))),
        },
    }
}

fn character_term(core: &mut Core, character: char, kind: Kind) -> Term {
    match kind {
        Kind::Characters => Term::atom(core.atoms.character(character)),
        _ => Term::small(i64::from(u32::from(character))),
    }
}

/// Enumerates the types of a known character, or the only type of the end of a file. The state is an index into
/// [`TYPES`].
fn enumerate_types(core: &mut Core, subject: Subject, class: Term, state: State, kind: Kind) -> Solved<Step> {
    let Subject::Character(character) = subject else {
        let name = Term::atom(core.atoms.intern(END_OF_FILE));
        core.unify(class, name)?;
        return Ok(Step::Last);
    };
    for (index, &(name, test)) in TYPES.iter().enumerate().skip(state.0 as usize) {
        let Some(value) = test.value(character) else { continue };
        let name = core.atoms.intern(name);
        let made = match value {
            Value::None => Term::atom(name),
            Value::Weight(weight) => core.store.structure(name, &[Term::small(i64::from(weight))]),
            Value::Character(character) => {
                let argument = character_term(core, character, kind);
                core.store.structure(name, &[argument])
            }
        };
        core.unify(class, made)?;
        return Ok(Step::More((index as u64 + 1, 0)));
    }
    Ok(Step::Fail)
}

/// Enumerates the characters of a known type; the state is the next code to try. If the argument of the type determines
/// the character, tries only this one. The end of a file is an answer only as a code.
fn enumerate_characters(
    core: &mut Core,
    character: Term,
    test: Option<Test>,
    argument: Option<Term>,
    state: State,
    kind: Kind,
) -> Solved<Step> {
    let Some(test) = test else {
        let unified = kind == Kind::Codes && core.unify(character, Term::small(-1))?;
        return Ok(if unified { Step::Last } else { Step::Fail });
    };
    if let Some(argument) = argument {
        let found = match candidates(core, test, argument)? {
            Candidates::All => None,
            Candidates::None => return Ok(Step::Fail),
            Candidates::One(found) => Some(found),
        };
        if let Some(found) = found {
            let made = character_term(core, found, kind);
            let unified = core.unify(character, made)?;
            return Ok(if unified { Step::Last } else { Step::Fail });
        }
    }
    for code in state.0 as u32..=u32::from(char::MAX) {
        let Some(candidate) = char::from_u32(code) else { continue };
        if !core.store.meter.walk(1) {
            core.check_budget()?;
        }
        let Some(value) = test.value(candidate) else { continue };
        let made = character_term(core, candidate, kind);
        let fits = match argument {
            Some(argument) => match value_pair(core, argument, value, kind)? {
                Some(pair) => unify_candidate(core, &[pair, (character, made)]),
                None => false,
            },
            None => unify_candidate(core, &[(character, made)]),
        };
        if fits {
            return Ok(Step::More((u64::from(code) + 1, 0)));
        }
    }
    Ok(Step::Fail)
}

/// The characters that may have a type with a given argument.
enum Candidates {
    All,
    One(char),
    None,
}

fn candidates(core: &mut Core, test: Test, argument: Term) -> Solved<Candidates> {
    let view = core.store.view(argument);
    let found = match (test, view) {
        (_, View::Variable(_)) | (Test::Plain(_) | Test::Decimal, _) => return Ok(Candidates::All),
        (Test::Digit(radix), View::Small(value)) => {
            let value = u32::try_from(value).ok().filter(|&value| value < radix);
            value.and_then(|value| char::from_digit(value, radix))
        }
        (Test::Digit(_), _) => None,
        (Test::Paired(value, back), _) => match subject(core, argument)? {
            Some(Subject::Character(known)) => Some(back(known)).filter(|&found| value(found) == Some(known)),
            _ => None,
        },
        (Test::Mapped(_, back), _) => match subject(core, argument)? {
            Some(Subject::Character(known)) => Some(back(known)),
            _ => None,
        },
    };
    Ok(found.map_or(Candidates::None, Candidates::One))
}
