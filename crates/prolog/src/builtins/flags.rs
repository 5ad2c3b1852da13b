//! `set_prolog_flag/2` and `current_prolog_flag/2`.

use super::{Builtin, Code, State, Step, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::flags::{Flags, OccursCheck, QuotedText, Unknown};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::{MAX_ARITY, SMALL_MAX, SMALL_MIN, Term};

pub(crate) const TABLE: &[Builtin] =
    &[det("set_prolog_flag", Code::D2(set_prolog_flag)), nondet("current_prolog_flag", 2, current_prolog_flag)];

/// The value of a read-only flag.
enum Constant {
    Atom(&'static str),
    Integer(i64),
}

const CONSTANTS: &[(&str, Constant)] = &[
    ("bounded", Constant::Atom("false")),
    ("max_integer", Constant::Integer(i64::MAX)),
    ("min_integer", Constant::Integer(i64::MIN)),
    ("max_tagged_integer", Constant::Integer(SMALL_MAX)),
    ("min_tagged_integer", Constant::Integer(SMALL_MIN)),
    ("integer_rounding_function", Constant::Atom("toward_zero")),
    ("max_arity", Constant::Integer(MAX_ARITY as i64)),
    ("char_conversion", Constant::Atom("off")),
    ("debug", Constant::Atom("off")),
];

const CHANGEABLE: &[&str] = &["double_quotes", "back_quotes", "unknown", "occurs_check"];

const QUOTED_TEXTS: &[(QuotedText, &str)] = &[
    (QuotedText::Codes, "codes"),
    (QuotedText::Chars, "chars"),
    (QuotedText::Atom, "atom"),
    (QuotedText::String, "string"),
];
const UNKNOWNS: &[(Unknown, &str)] =
    &[(Unknown::Error, "error"), (Unknown::Fail, "fail"), (Unknown::Warning, "warning")];
const OCCURS_CHECKS: &[(OccursCheck, &str)] =
    &[(OccursCheck::False, "false"), (OccursCheck::True, "true"), (OccursCheck::Error, "error")];

fn by_name<T: Copy>(table: &[(T, &str)], name: &str) -> Option<T> {
    table.iter().find(|row| row.1 == name).map(|row| row.0)
}

fn name_of<T: PartialEq>(table: &[(T, &'static str)], value: &T) -> &'static str {
    table.iter().find(|row| row.0 == *value).map_or("", |row| row.1)
}

/// Sets a flag by name; `None` if the flag cannot be set or the value is not valid for it.
fn set(flags: &mut Flags, flag: &str, value: &str) -> Option<()> {
    match flag {
        "double_quotes" => flags.double_quotes = by_name(QUOTED_TEXTS, value)?,
        "back_quotes" => flags.back_quotes = by_name(QUOTED_TEXTS, value)?,
        "unknown" => flags.unknown = by_name(UNKNOWNS, value)?,
        "occurs_check" => flags.occurs_check = by_name(OCCURS_CHECKS, value)?,
        _ => return None,
    }
    Some(())
}

fn get(flags: Flags, flag: &str) -> &'static str {
    match flag {
        "double_quotes" => name_of(QUOTED_TEXTS, &flags.double_quotes),
        "back_quotes" => name_of(QUOTED_TEXTS, &flags.back_quotes),
        "unknown" => name_of(UNKNOWNS, &flags.unknown),
        _ => name_of(OCCURS_CHECKS, &flags.occurs_check),
    }
}

fn set_prolog_flag(core: &mut Core, flag: Term, value: Term) -> Solved {
    let flag = core.store.deref(flag);
    let value = core.store.deref(value);
    if flag.is_variable() || value.is_variable() {
        return Err(Fault::Instantiation.into());
    }
    let Some(atom) = flag.as_atom() else { return Err(Fault::Type("atom", flag).into()) };
    let name = core.atoms.name(atom).to_owned();
    if CONSTANTS.iter().any(|constant| constant.0 == name) {
        return Err(Fault::Permission("modify", "flag", flag).into());
    }
    if !CHANGEABLE.contains(&name.as_str()) {
        return Err(Fault::Domain("prolog_flag", flag).into());
    }
    let text = value.as_atom().map(|atom| core.atoms.name(atom).to_owned());
    if text.and_then(|text| set(&mut core.flags, &name, &text)).is_none() {
        let culprit = core.store.structure(atoms::PLUS, &[flag, value]);
        return Err(Fault::Domain("flag_value", culprit).into());
    }
    Ok(true)
}

/// Answers in the order of [`CHANGEABLE`], then of [`CONSTANTS`].
fn current_prolog_flag(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[flag, value] = arguments else { return Ok(Step::Fail) };
    if !matches!(core.store.view(flag), View::Variable(_) | View::Atom(_)) {
        return Err(Fault::Type("atom", flag).into());
    }
    let count = CHANGEABLE.len() + CONSTANTS.len();
    for index in state.0 as usize..count {
        let (name, current) = if let Some(name) = CHANGEABLE.get(index) {
            let current = get(core.flags, name);
            (*name, Term::atom(core.atoms.intern(current)))
        } else {
            let (name, constant) = &CONSTANTS[index - CHANGEABLE.len()];
            let current = match constant {
                Constant::Atom(text) => Term::atom(core.atoms.intern(text)),
                Constant::Integer(number) => core.store.integer(*number),
            };
            (*name, current)
        };
        let name = Term::atom(core.atoms.intern(name));
        let known = core.store.deref(flag) == name;
        if core.store.attempt(|store| store.unify(flag, name) && store.unify(value, current)) {
            let last = known || index + 1 == count;
            return Ok(if last { Step::Last } else { Step::More((index as u64 + 1, 0)) });
        }
    }
    Ok(Step::Fail)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn flags_are_read() {
        check_goals(
            TABLE,
            &[
                ("current_prolog_flag(bounded,X)", "current_prolog_flag(bounded,false)"),
                ("current_prolog_flag(max_integer,X)", "current_prolog_flag(max_integer,9223372036854775807)"),
                ("current_prolog_flag(double_quotes,X)", "current_prolog_flag(double_quotes,string)"),
                ("current_prolog_flag(no_flag,X)", "false"),
                ("current_prolog_flag(1,X)", "type_error(atom,1)"),
                ("current_prolog_flag(X,error)", "current_prolog_flag(unknown,error); false"),
            ],
        );
    }

    #[test]
    fn flags_are_set_within_their_values() {
        let mut fixture = Fixture::new();
        fixture.solve(TABLE, "set_prolog_flag(double_quotes,codes)");
        let now = fixture.solve(TABLE, "current_prolog_flag(double_quotes,X)");
        assert_eq!(now, "current_prolog_flag(double_quotes,codes)");
        check_goals(
            TABLE,
            &[
                ("set_prolog_flag(_,a)", "instantiation_error"),
                ("set_prolog_flag(unknown,_)", "instantiation_error"),
                ("set_prolog_flag(1,a)", "type_error(atom,1)"),
                ("set_prolog_flag(no_flag,a)", "domain_error(prolog_flag,no_flag)"),
                ("set_prolog_flag(unknown,1)", "domain_error(flag_value,+(unknown,1))"),
                ("set_prolog_flag(occurs_check,error)", "set_prolog_flag(occurs_check,error)"),
            ],
        );
        assert!(Fixture::new().solve(TABLE, "set_prolog_flag(bounded,true)").starts_with("Permission"));
    }
}
