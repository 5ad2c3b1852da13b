//! `op/3` and `current_op/3`.

use super::{Builtin, Code, State, Step, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::operators::{Operator, OperatorType, Position};
use crate::store::View;
use crate::symbols::{Atom, atoms};
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[det("op", Code::D3(op)), nondet("current_op", 3, current_op)];

fn op(core: &mut Core, priority: Term, kind: Term, names: Term) -> Solved {
    let operator = Operator { priority: priority_of(core, priority)?, kind: kind_of(core, kind)? };
    let names = names_of(core, names)?;
    for &name in &names {
        check_permission(core, name, operator)?;
    }
    for name in names {
        core.operators.define(name, operator);
    }
    Ok(true)
}

fn priority_of(core: &Core, term: Term) -> Solved<u16> {
    match core.store.view(term) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Small(priority @ 0..=1200) => Ok(priority as u16),
        View::Small(_) | View::Big => Err(Fault::Domain("operator_priority", term).into()),
        _ => Err(Fault::Type("integer", term).into()),
    }
}

fn kind_of(core: &Core, term: Term) -> Solved<OperatorType> {
    match core.store.view(term) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Atom(atom) => OperatorType::from_name(core.atoms.name(atom))
            .ok_or_else(|| Fault::Domain("operator_specifier", term).into()),
        _ => Err(Fault::Type("atom", term).into()),
    }
}

/// The names in an argument that is one atom or a list of atoms. `[]` is an atom here, not the empty list.
fn names_of(core: &mut Core, names: Term) -> Solved<Vec<Atom>> {
    match core.store.view(names) {
        View::Atom(atom) => return Ok(vec![atom]),
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        _ => {}
    }
    let items = core.proper_list(names)?;
    items
        .into_iter()
        .map(|item| match core.store.view(item) {
            View::Atom(atom) => Ok(atom),
            View::Variable(_) => Err(Fault::Instantiation.into()),
            _ => Err(Fault::Type("atom", item).into()),
        })
        .collect()
}

/// Raises the permission errors of ISO 8.14.3.3: for `,`, `[]` and `{}`; for `|`, unless it is an infix operator above
/// 1000 or is removed (priority 0); and for a name that would be both an infix and a postfix operator.
fn check_permission(core: &Core, name: Atom, operator: Operator) -> Solved<()> {
    let culprit = Term::atom(name);
    let position = operator.kind.position();
    match name {
        atoms::COMMA => return Err(Fault::Permission("modify", "operator", culprit).into()),
        atoms::NIL | atoms::CURLY => return Err(Fault::Permission("create", "operator", culprit).into()),
        atoms::BAR if position != Position::Infix || matches!(operator.priority, 1..=1000) => {
            return Err(Fault::Permission("create", "operator", culprit).into());
        }
        _ => {}
    }
    let rival = match position {
        Position::Infix => Position::Postfix,
        Position::Postfix => Position::Infix,
        Position::Prefix => return Ok(()),
    };
    if operator.priority > 0 && core.operators.get(name, rival).is_some() {
        return Err(Fault::Permission("create", "operator", culprit).into());
    }
    Ok(())
}

/// Answers are ordered by name. For one name, the prefix operator comes first, then infix, then postfix.
fn current_op(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[priority, kind, name] = arguments else { return Ok(Step::Fail) };
    check_pattern(core, priority, kind, name)?;
    let candidates: Vec<(Atom, Operator)> = match core.store.view(name) {
        View::Atom(atom) => [Position::Prefix, Position::Infix, Position::Postfix]
            .into_iter()
            .filter_map(|position| core.operators.get(atom, position).map(|operator| (atom, operator)))
            .collect(),
        _ => all_sorted(core)?,
    };
    let mut index = state.0 as usize;
    while let Some(&(atom, operator)) = candidates.get(index) {
        index += 1;
        let kind_name = Term::atom(core.atoms.intern(operator.kind.name()));
        let found = core.store.attempt(|store| {
            store.unify(priority, Term::small(i64::from(operator.priority)))
                && store.unify(kind, kind_name)
                && store.unify(name, Term::atom(atom))
        });
        if found {
            let last = index == candidates.len();
            return Ok(if last { Step::Last } else { Step::More((index as u64, 0)) });
        }
    }
    Ok(Step::Fail)
}

fn all_sorted(core: &mut Core) -> Solved<Vec<(Atom, Operator)>> {
    let mut all: Vec<_> = core.operators.iter().collect();
    all.sort_unstable_by(|a, b| {
        let key = |(atom, operator): &(Atom, Operator)| (core.atoms.name(*atom), operator.kind.position() as u8);
        key(a).cmp(&key(b))
    });
    // The operators are sorted again for each answer, so each answer is charged for it.
    core.store.meter.walk(16 * all.len() as u64);
    core.check_budget()?;
    Ok(all)
}

fn check_pattern(core: &Core, priority: Term, kind: Term, name: Term) -> Solved<()> {
    match core.store.view(priority) {
        View::Variable(_) | View::Small(0..=1200) => {}
        _ => return Err(Fault::Domain("operator_priority", priority).into()),
    }
    match core.store.view(kind) {
        View::Variable(_) => {}
        View::Atom(atom) if OperatorType::from_name(core.atoms.name(atom)).is_some() => {}
        _ => return Err(Fault::Domain("operator_specifier", kind).into()),
    }
    match core.store.view(name) {
        View::Variable(_) | View::Atom(_) => Ok(()),
        _ => Err(Fault::Type("atom", name).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn op_defines_operators_and_rejects_invalid_ones() {
        check_goals(
            TABLE,
            &[
                ("op(700,xfx,===>)", "op(700,xfx,===>)"),
                ("op(_,xfx,foo)", "instantiation_error"),
                ("op(max,xfx,foo)", "type_error(integer,max)"),
                ("op(1201,xfx,foo)", "domain_error(operator_priority,1201)"),
                ("op(-1,xfx,foo)", "domain_error(operator_priority,-1)"),
                ("op(200,_,foo)", "instantiation_error"),
                ("op(200,yfy,foo)", "domain_error(operator_specifier,yfy)"),
                ("op(200,1,foo)", "type_error(atom,1)"),
                ("op(200,xfx,_)", "instantiation_error"),
                ("op(200,xfx,1)", "type_error(list,1)"),
                ("op(200,xfx,[a|_])", "instantiation_error"),
                ("op(200,xfx,[a,_])", "instantiation_error"),
                ("op(200,xfx,[a,1])", "type_error(atom,1)"),
                ("op(1105,xfy,'|')", "op(1105,xfy,|)"),
                ("op(0,xfy,'|')", "op(0,xfy,|)"),
            ],
        );
        for forbidden in ["op(200,xfx,',')", "op(200,xfx,[a,','])", "op(200,xfx,[])", "op(200,fy,{})", "op(200,fy,'|')"]
        {
            let outcome = Fixture::new().solve(TABLE, forbidden);
            assert!(outcome.starts_with("Permission"), "{forbidden} gives {outcome}");
        }
    }

    #[test]
    fn a_name_cannot_be_both_infix_and_postfix() {
        let mut fixture = Fixture::new();
        fixture.solve(TABLE, "op(200,xf,post)");
        assert!(fixture.solve(TABLE, "op(200,xfx,post)").starts_with("Permission"));
        fixture.solve(TABLE, "op(0,xf,post)");
        assert_eq!(fixture.solve(TABLE, "op(200,xfx,post)"), "op(200,xfx,post)");
    }

    #[test]
    fn current_op_answers_in_order() {
        check_goals(
            TABLE,
            &[
                ("current_op(P,T,-)", "current_op(200,fy,-); current_op(500,yfx,-)"),
                ("current_op(P,xfx,is)", "current_op(700,xfx,is)"),
                ("current_op(P,T,no_operator)", "false"),
                (
                    "current_op(200,T,O)",
                    "current_op(200,xfx,**); current_op(200,fy,+); current_op(200,fy,-); current_op(200,fy,\\)",
                ),
                ("current_op(1201,_,_)", "domain_error(operator_priority,1201)"),
                ("current_op(a,_,_)", "domain_error(operator_priority,a)"),
                ("current_op(_,yfy,_)", "domain_error(operator_specifier,yfy)"),
                ("current_op(_,_,1)", "type_error(atom,1)"),
            ],
        );
    }
}
