//! Predicates that inspect predicates and change dynamic ones: `assertz/1`, `retract/1`, `clause/2` and others.

use super::control::indicator;
use super::{Builtin, Code, FIRST, State, Step, det, nondet};
use crate::compiler::{MAX_CALL_ARITY, Neck, body_of};
use crate::core::Core;
use crate::database::{DynamicPredicate, End, Generation, Position, SearchFrom, is_rule};
use crate::fault::{Fault, Raised, Solved};
use crate::instruction::PredicateId;
use crate::meter::Resource;
use crate::program::index::Key;
use crate::program::{Definition, Origin};
use crate::store::{ListEnd, View};
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::atoms;
use crate::term::{Functor, MAX_ARITY, Term};
use std::sync::Arc;

pub(crate) const TABLE: &[Builtin] = &[
    det("assertz", Code::D1(assertz)),
    det("assert", Code::D1(assertz)),
    det("asserta", Code::D1(asserta)),
    det("retractall", Code::D1(retractall)),
    det("abolish", Code::D1(abolish)),
    det("dynamic", Code::D1(dynamic)),
    det("$predicates", Code::D1(predicates)),
    det("$predicate_property", Code::D2(predicate_property)),
    nondet("retract", 1, retract),
    nondet("clause", 2, clause),
];

/// Cost of comparing a clause with a head, in addition to the cells of the clause.
const CLAUSE_CELLS: u64 = 4;
/// Cost of declaring a predicate dynamic by a goal.
const DECLARATION_CELLS: u64 = 16;
/// Cost of each predicate that is enumerated or checked for visibility.
const PREDICATE_CELLS: u64 = 2;

/// The parts of a clause.
struct Parts {
    head: Term,
    neck: Neck,
    body: Term,
    functor: Functor,
}

fn clause_parts(core: &Core, clause: Term) -> Solved<Parts> {
    let clause = core.store.without_module(clause);
    let (head, neck, body) = match core.store.view(clause) {
        View::Compound(functor, arguments) if functor == Neck::Clause.functor() => {
            (core.store.argument(arguments, 0), Neck::Clause, core.store.argument(arguments, 1))
        }
        View::Compound(functor, arguments) if functor == Neck::Rule.functor() => {
            (core.store.argument(arguments, 0), Neck::Rule, core.store.argument(arguments, 1))
        }
        _ => (clause, Neck::Clause, Term::atom(atoms::TRUE)),
    };
    let head = core.store.without_module(head);
    let functor = head_functor(core, head)?;
    Ok(Parts { head, neck, body, functor })
}

fn head_functor(core: &Core, head: Term) -> Solved<Functor> {
    match core.store.view(head) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Atom(name) => Ok(Functor::new(name, 0)),
        View::Compound(functor, _) => Ok(functor),
        View::List(_) => Ok(Functor::new(atoms::DOT, 2)),
        _ => Err(Fault::Type("callable", head).into()),
    }
}

/// The dynamic predicate of this name and arity; created if it does not exist. A library predicate is overridden; any
/// other static predicate is a permission error for `action`.
fn dynamic_predicate(core: &mut Core, functor: Functor, action: &'static str) -> Solved<PredicateId> {
    let program = Arc::clone(&core.program);
    let Some(id) = core.find_predicate(functor) else { return Ok(core.database.create(functor)) };
    match program.predicates.get(id as usize).map(|predicate| (&predicate.definition, predicate.origin)) {
        None | Some((Definition::Dynamic | Definition::Undefined, _)) => {
            core.database.declare(&program, id);
            Ok(id)
        }
        Some((_, Origin::Library)) => Ok(core.database.create_over(functor)),
        Some(_) => {
            let culprit = indicator(core, functor);
            Err(Fault::Permission(action, "static_procedure", culprit).into())
        }
    }
}

fn assertz(core: &mut Core, clause: Term) -> Solved {
    add(core, clause, End::Last)
}

fn asserta(core: &mut Core, clause: Term) -> Solved {
    add(core, clause, End::First)
}

fn add(core: &mut Core, clause: Term, end: End) -> Solved {
    let Parts { head, neck, body, functor } = clause_parts(core, clause)?;
    // A predicate with more arguments cannot be called.
    if functor.arity() > MAX_CALL_ARITY {
        return Err(Fault::Representation("max_procedure_arity").into());
    }
    let body = body_of(&mut core.store, body).ok_or(Fault::Type("callable", body))?;
    core.check_budget()?;
    let predicate = dynamic_predicate(core, functor, "modify")?;
    let before = core.database.get(&core.program, predicate).and_then(DynamicPredicate::has_rules);
    if before.is_some_and(|rules| rules != neck.is_rule()) {
        let culprit = indicator(core, functor);
        return Err(Fault::Permission("assert", "procedure", culprit).into());
    }
    let clause = core.store.structure(neck.functor().name(), &[head, body]);
    let stored = core.store.copy_out(clause, Attributes::Drop).ok_or(Raised::Exhausted(Resource::HeapBytes))?;
    let key = first_key(core, head);
    let program = Arc::clone(&core.program);
    core.database.add(&program, predicate, end, stored, key);
    core.charge_database();
    if core.database.bytes() / 8 > core.store.meter.cell_limit {
        return Err(Raised::Exhausted(Resource::HeapBytes));
    }
    Ok(true)
}

fn first_key(core: &Core, head: Term) -> Key {
    match core.store.compound(head) {
        Some((_, arguments)) => Key::of(&core.store, core.store.argument(arguments, 0)),
        None => Key::Any,
    }
}

/// The first clause of a dynamic predicate, from `state` on, that may match `head`; `None` if there is none. The last
/// item is the state for the next such clause; `None` after the last one.
fn next_clause(
    core: &mut Core,
    predicate: PredicateId,
    head: Term,
    state: State,
) -> Option<(Position, Arc<StoredTerm>, Option<State>)> {
    let (from, generation): (SearchFrom, Generation) = match state {
        FIRST => (SearchFrom::Start, core.database.generation()),
        (position, generation) => (SearchFrom::Position(position as Position), generation),
    };
    let arguments = match core.store.compound(head) {
        Some((functor, arguments)) => &core.store.cells[arguments..arguments + functor.arity()],
        None => &[],
    };
    let found = core.database.find(&core.program, predicate, &core.store, arguments, from, generation);
    core.charge_database();
    let found = found?;
    Some((found.position, found.term, found.following.map(|next| (next as u64, generation))))
}

/// Unifies head and body with those of a clause. Returns false if they do not unify or the budget is exhausted; such an
/// attempt leaves no binding and wakes no goal.
fn unify_clause(core: &mut Core, clause: &StoredTerm, head: Term, body: Term) -> bool {
    core.store.attempt(|store| {
        let Ok(clause) = store.paste_within_budget(clause) else { return false };
        let (other_head, other_body) = (store.argument(clause.address(), 1), store.argument(clause.address(), 2));
        store.unify(head, other_head) && store.unify(body, other_body)
    })
}

fn retract(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let Parts { head, neck, body, functor } = clause_parts(core, arguments[0])?;
    let Some(predicate) = core.find_predicate(functor) else { return Ok(Step::Fail) };
    let program = Arc::clone(&core.program);
    if let Some(found) = program.predicates.get(predicate as usize)
        && !matches!(found.definition, Definition::Dynamic | Definition::Undefined)
    {
        let culprit = indicator(core, functor);
        return Err(Fault::Permission("modify", "static_procedure", culprit).into());
    }
    let mut state = state;
    while let Some((position, term, more)) = next_clause(core, predicate, head, state) {
        core.store.charge(CLAUSE_CELLS)?;
        // `retract/1` never removes single-sided rules (`Head => Body`).
        if !neck.is_rule() && !is_rule(&term) && unify_clause(core, &term, head, body) {
            // The clause may have been removed already, because this call enumerates the clauses that existed when it
            // began (ISO 7.5.4).
            core.database.remove(&program, predicate, position);
            if core.database.wants_sweep {
                core.store.meter.interrupt();
            }
            return Ok(more.map_or(Step::Last, Step::More));
        }
        core.check_budget()?;
        match more {
            Some(next) => state = next,
            None => return Ok(Step::Fail),
        }
    }
    Ok(Step::Fail)
}

fn retractall(core: &mut Core, head: Term) -> Solved {
    let head = core.store.without_module(head);
    let functor = head_functor(core, head)?;
    let predicate = dynamic_predicate(core, functor, "modify")?;
    let program = Arc::clone(&core.program);
    let mut state = FIRST;
    while let Some((position, term, more)) = next_clause(core, predicate, head, state) {
        core.store.charge(CLAUSE_CELLS)?;
        let cells = core.store.cells.len();
        let matches = core.store.tentatively(|store| {
            let Ok(clause) = store.paste_within_budget(&term) else { return false };
            let other = store.argument(clause.address(), 1);
            store.unify(head, other)
        });
        core.store.cells.truncate(cells);
        if matches {
            core.database.remove(&program, predicate, position);
        }
        core.check_budget()?;
        match more {
            Some(next) => state = next,
            None => break,
        }
    }
    if core.database.wants_sweep {
        core.store.meter.interrupt();
    }
    Ok(true)
}

fn clause(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let head = core.store.without_module(arguments[0]);
    let body = core.store.deref(arguments[1]);
    let functor = head_functor(core, head)?;
    if matches!(core.store.view(body), View::Small(_) | View::Big | View::Float(_) | View::Text) {
        return Err(Fault::Type("callable", body).into());
    }
    let Some(predicate) = core.find_predicate(functor) else { return Ok(Step::Fail) };
    let program = Arc::clone(&core.program);
    let sources = match program.predicates.get(predicate as usize) {
        Some(found) => match found.definition {
            Definition::Clauses(_) if found.origin == Origin::User => Some(&found.sources),
            Definition::Dynamic | Definition::Undefined => None,
            _ => {
                let culprit = indicator(core, functor);
                return Err(Fault::Permission("access", "private_procedure", culprit).into());
            }
        },
        None => None,
    };
    let mut state = state;
    loop {
        let (term, more) = match sources {
            Some(sources) => {
                let Some(term) = sources.get(state.0 as usize) else { return Ok(Step::Fail) };
                let next = state.0 + 1;
                (Arc::clone(term), ((next as usize) < sources.len()).then_some((next, Generation::MAX)))
            }
            None => match next_clause(core, predicate, head, state) {
                Some((_, term, more)) => (term, more),
                None => return Ok(Step::Fail),
            },
        };
        core.store.charge(CLAUSE_CELLS)?;
        if unify_clause(core, &term, head, body) {
            return Ok(more.map_or(Step::Last, Step::More));
        }
        core.check_budget()?;
        match more {
            Some(next) => state = next,
            None => return Ok(Step::Fail),
        }
    }
}

/// Reads `Name/Arity`, with the errors that ISO requires.
fn read_indicator(core: &Core, term: Term) -> Solved<Functor> {
    let term = core.store.without_module(term);
    let View::Compound(functor, arguments) = core.store.view(term) else {
        return Err(match core.store.view(term) {
            View::Variable(_) => Fault::Instantiation.into(),
            _ => Fault::Type("predicate_indicator", term).into(),
        });
    };
    if functor != Functor::new(atoms::SLASH, 2) {
        return Err(Fault::Type("predicate_indicator", term).into());
    }
    let (name, arity) = (core.store.argument(arguments, 0), core.store.argument(arguments, 1));
    match (core.store.view(name), core.store.view(arity)) {
        (View::Variable(_), _) | (_, View::Variable(_)) => Err(Fault::Instantiation.into()),
        (View::Atom(_), View::Small(value)) if value < 0 => Err(Fault::Domain("not_less_than_zero", arity).into()),
        (View::Atom(_), View::Small(value)) if value as usize > MAX_ARITY => {
            Err(Fault::Representation("max_arity").into())
        }
        (View::Atom(atom), View::Small(value)) => Ok(Functor::new(atom, value as usize)),
        (View::Atom(_), _) => Err(Fault::Type("integer", arity).into()),
        _ => Err(Fault::Type("atom", name).into()),
    }
}

fn abolish(core: &mut Core, term: Term) -> Solved {
    let functor = read_indicator(core, term)?;
    let Some(predicate) = core.find_predicate(functor) else { return Ok(true) };
    let program = Arc::clone(&core.program);
    if let Some(found) = program.predicates.get(predicate as usize)
        && !matches!(found.definition, Definition::Dynamic | Definition::Undefined)
    {
        let culprit = indicator(core, functor);
        return Err(Fault::Permission("modify", "static_procedure", culprit).into());
    }
    core.database.abolish(&program, predicate);
    core.charge_database();
    if core.database.wants_sweep {
        core.store.meter.interrupt();
    }
    Ok(true)
}

/// `dynamic/1` as a goal.
fn dynamic(core: &mut Core, term: Term) -> Solved {
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        if !core.store.afford(pending.len()) {
            core.check_budget()?;
        }
        let term = core.store.without_module(term);
        let mut items = Vec::new();
        if let View::Compound(functor, arguments) = core.store.view(term)
            && functor == Functor::new(atoms::COMMA, 2)
        {
            pending.push(core.store.argument(arguments, 1));
            pending.push(core.store.argument(arguments, 0));
        } else if core.store.list_items(term, &mut items) == ListEnd::Nil {
            pending.extend(items.into_iter().rev());
        } else {
            core.store.charge(DECLARATION_CELLS)?;
            let functor = read_indicator(core, term)?;
            dynamic_predicate(core, functor, "modify")?;
        }
    }
    Ok(true)
}

/// Whether a predicate is defined, by the program or by the query, and was not abolished.
fn is_visible(core: &Core, id: PredicateId) -> bool {
    if core.database.get(&core.program, id).is_some_and(|predicate| predicate.abolished) {
        return false;
    }
    match core.program.predicates.get(id as usize) {
        None => true,
        Some(predicate) => match &predicate.definition {
            Definition::Undefined => core.database.get(&core.program, id).is_some(),
            _ => true,
        },
    }
}

/// Whether there is no such predicate, or it is dynamic and has no clauses.
fn is_empty_dynamic(core: &Core, functor: Functor) -> bool {
    core.find_predicate(functor).is_none_or(|id| match core.database.get(&core.program, id) {
        Some(predicate) => predicate.live_count() == 0,
        None => {
            let predicate = core.program.predicates.get(id as usize);
            predicate.is_some_and(|predicate| matches!(predicate.definition, Definition::Dynamic))
        }
    })
}

/// `'$predicates'(List)`: the indicators of all user predicates that have a clause. Predicates of the program come
/// first, then those that the query created. Names that start with `$`, and predicates of the host, are omitted.
fn predicates(core: &mut Core, list: Term) -> Solved {
    let program = Arc::clone(&core.program);
    let mut functors: Vec<Functor> = program
        .predicates
        .iter()
        .enumerate()
        .filter(|(id, predicate)| {
            predicate.origin == Origin::User
                && is_visible(core, *id as PredicateId)
                && program.find(predicate.functor) == Some(*id as PredicateId)
        })
        .map(|(_, predicate)| predicate.functor)
        .collect();
    functors.extend(core.database.made_up_predicates().map(|(functor, _)| functor));
    functors.retain(|&functor| !is_empty_dynamic(core, functor));
    functors.retain(|functor| !core.atoms.name(functor.name()).starts_with('$'));
    core.store.charge(PREDICATE_CELLS * program.predicates.len() as u64)?;
    core.store.charge(PREDICATE_CELLS * functors.len() as u64)?;
    core.store.reserve(5 * functors.len())?;
    let items: Vec<Term> = functors.into_iter().map(|functor| indicator(core, functor)).collect();
    let found = core.store.list(&items, Term::NIL);
    core.unify(list, found)
}

/// `'$predicate_property'(Head, Properties)`: the list of a predicate's properties. Fails if the predicate is not
/// defined.
fn predicate_property(core: &mut Core, head: Term, properties: Term) -> Solved {
    let head = core.store.without_module(head);
    let functor = head_functor(core, head)?;
    let Some(id) = core.find_predicate(functor).filter(|&id| is_visible(core, id)) else { return Ok(false) };
    let mut names = vec!["visible", "defined"];
    let (mut clauses, mut has_rules) = (None, false);
    let program = Arc::clone(&core.program);
    match program.predicates.get(id as usize) {
        Some(predicate) if !matches!(predicate.definition, Definition::Dynamic | Definition::Undefined) => {
            names.push("static");
            if predicate.origin == Origin::System {
                names.extend(["built_in", "system"]);
            }
            if predicate.origin == Origin::User && matches!(predicate.definition, Definition::Clauses(_)) {
                clauses = Some(predicate.sources.len());
                has_rules = predicate.sources.first().is_some_and(|clause| is_rule(clause));
            }
            if matches!(predicate.definition, Definition::Relation(_) | Definition::Host(_)) {
                names.push("foreign");
            }
        }
        _ => {
            names.push("dynamic");
            let predicate = core.database.get(&program, id);
            clauses = Some(predicate.map_or(0, DynamicPredicate::live_count));
            has_rules = predicate.is_some_and(|predicate| predicate.is_made_of_rules);
        }
    }
    if has_rules {
        names.push("ssu");
    }
    let mut items: Vec<Term> = names.into_iter().map(|name| Term::atom(core.atoms.intern(name))).collect();
    if let Some(count) = clauses {
        let name = core.atoms.intern("number_of_clauses");
        items.push(core.store.structure(name, &[Term::small(count as i64)]));
    }
    let found = core.store.list(&items, Term::NIL);
    core.unify(properties, found)
}
