//! Predicates on the variables of a term: listing and numbering them.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Tag, Term};

pub(crate) const TABLE: &[Builtin] = &[
    det("term_variables", Code::D2(term_variables)),
    det("term_variables", Code::D3(term_variables_tail)),
    det("nonground", Code::D2(nonground)),
    det("numbervars", Code::D1(numbervars)),
    det("numbervars", Code::D3(numbervars_from)),
];

/// A list of the variables of `term` that ends in `tail`.
fn variable_list(core: &mut Core, term: Term, tail: Term) -> Solved<Term> {
    let mut variables = Vec::new();
    core.store.term_variables(term, &mut variables)?;
    core.store.reserve(2 * variables.len())?;
    core.store.charge(2 * variables.len() as u64)?;
    Ok(core.store.list(&variables, tail))
}

fn term_variables(core: &mut Core, term: Term, list: Term) -> Solved {
    // ISO 8.5.5.3: anything but a list or a partial list is an error.
    if let ListEnd::Other(_) = core.store.skip_list(list).1 {
        return Err(Fault::Type("list", list).into());
    }
    let variables = variable_list(core, term, Term::NIL)?;
    core.unify(list, variables)
}

fn term_variables_tail(core: &mut Core, term: Term, list: Term, tail: Term) -> Solved {
    let variables = variable_list(core, term, tail)?;
    core.unify(list, variables)
}

fn nonground(core: &mut Core, term: Term, variable: Term) -> Solved {
    match core.store.first_variable(term)? {
        Some(found) => core.unify(variable, found),
        None => Ok(false),
    }
}

fn numbervars(core: &mut Core, term: Term) -> Solved {
    number_variables(core, term, 0)?;
    Ok(true)
}

fn numbervars_from(core: &mut Core, term: Term, start: Term, end: Term) -> Solved {
    let first = match core.store.view(start) {
        View::Small(first) => first,
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        View::Big => return Err(Fault::Representation("int64_t").into()),
        _ => return Err(Fault::Type("integer", start).into()),
    };
    let last = number_variables(core, term, first)?;
    let last = core.store.integer(last);
    core.unify(end, last)
}

/// Binds each variable to `'$VAR'(N)`, N counting from `first`; returns the next N. An attributed variable is an error.
fn number_variables(core: &mut Core, term: Term, first: i64) -> Solved<i64> {
    let mut variables = Vec::new();
    core.store.term_variables(term, &mut variables)?;
    if variables.iter().any(|variable| variable.has_tag(Tag::Att)) {
        return Err(Fault::Type("free_of_attvar", term).into());
    }
    core.store.reserve(4 * variables.len())?;
    core.store.charge(4 * variables.len() as u64)?;
    let mut number = first;
    for variable in variables {
        let value = core.store.integer(number);
        let name = core.store.structure(atoms::VAR, &[value]);
        core.store.bind(variable, name);
        number += 1;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn lists_variables_in_order() {
        check_goals(
            TABLE,
            &[
                ("term_variables(f(X,g(Y),[X,Z]),L)", "term_variables(f(X,g(Y),[X,Z]),[X,Y,Z])"),
                ("term_variables(a,L)", "term_variables(a,[])"),
                ("term_variables(f(X,Y),[A|B])", "term_variables(f(X,Y),[X,Y])"),
                ("term_variables(t,foo)", "type_error(list,foo)"),
                ("term_variables(t,[x,y|z])", "type_error(list,[x,y|z])"),
                ("term_variables(f(X,Y),L,T)", "term_variables(f(X,Y),[X,Y|T],T)"),
                ("nonground(f(a,g(Y),X),V)", "nonground(f(a,g(Y),X),Y)"),
                ("nonground(a,V)", "false"),
            ],
        );
    }

    #[test]
    fn numbers_variables() {
        check_goals(
            TABLE,
            &[
                ("numbervars(f(X,Y,X),5,E)", "numbervars(f($VAR(5),$VAR(6),$VAR(5)),5,7)"),
                ("numbervars(f(X,Y),0,3)", "false"),
                ("numbervars(f(X),S,E)", "instantiation_error"),
                ("numbervars(f(X),a,E)", "type_error(integer,a)"),
                ("numbervars(f(X))", "numbervars(f($VAR(0)))"),
            ],
        );
    }

    #[test]
    fn refuses_to_number_attributed_variables() {
        let mut fixture = Fixture::new();
        let (variable, goals) = (fixture.term("X"), fixture.term("[g]"));
        fixture.core.store.set_suspended(variable, goals);
        assert_eq!(fixture.solve(TABLE, "numbervars(X,0,E)"), "type_error(free_of_attvar,X)");
    }
}
