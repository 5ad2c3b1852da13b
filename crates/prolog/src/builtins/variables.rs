//! Predicates on the variables of a term: listing, numbering, and finding the free variables of a goal.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::{ListEnd, Store, View};
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Tag, Term};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

pub(crate) const TABLE: &[Builtin] = &[
    det("term_variables", Code::D2(term_variables)),
    det("term_variables", Code::D3(term_variables_tail)),
    det("nonground", Code::D2(nonground)),
    det("numbervars", Code::D1(numbervars)),
    det("numbervars", Code::D3(numbervars_from)),
    det("$free_variables", Code::D2(free_variables)),
];

/// Cost of recording a compound as visited, in cells walked.
const REMEMBERED_CELLS: u64 = 8;

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

/// `'$free_variables'(Template^Goal, Variables)`: unifies `Variables` with a term `v(...)` of the free variables of the
/// goal (ISO 7.1.1.4): those that neither occur in the template nor are local to a part of the goal.
fn free_variables(core: &mut Core, goal: Term, variables: Term) -> Solved {
    let name = core.atoms.intern("v");
    let setof = core.atoms.intern("setof");
    let bagof = core.atoms.intern("bagof");
    let patience = core.store.patience();
    let mut search =
        FreeVariables { setof, bagof, found: Vec::new(), local: Vec::new(), patience, seen: FxHashSet::default() };
    let searched = search.run(&mut core.store, goal);
    for &variable in search.found.iter().chain(&search.local) {
        core.store.unmark(variable);
    }
    searched?;
    core.store.reserve(search.found.len() + 1)?;
    let found = core.store.structure(name, &search.found);
    core.unify(variables, found)
}

/// A search for free variables. Variables already found, and the local variables of the enclosing scopes, are marked in
/// the store.
struct FreeVariables {
    setof: Atom,
    bagof: Atom,
    found: Vec<Term>,
    local: Vec<Term>,
    /// The steps left before the search starts to record visited compounds, which it needs for goals that are cyclic or
    /// share many subterms.
    patience: usize,
    /// Visited compounds, each with the number of local variables at that time.
    seen: FxHashSet<(Term, usize)>,
}

/// A pending step of the search.
enum Task {
    Visit(Term),
    /// Leave a scope that was entered with this number of local variables: later ones are no longer local.
    Leave(usize),
}

impl FreeVariables {
    fn run(&mut self, store: &mut Store, goal: Term) -> Solved<()> {
        let mut tasks = vec![Task::Visit(goal)];
        while let Some(task) = tasks.pop() {
            store.charge(2)?;
            match task {
                Task::Leave(depth) => {
                    for variable in self.local.drain(depth..) {
                        store.unmark(variable);
                    }
                }
                Task::Visit(term) => {
                    store.reserve(2 * tasks.len() + self.words())?;
                    let term = store.deref(term);
                    if term.is_variable() {
                        store.mark(term);
                        self.found.push(term);
                    }
                    self.enter(store, term, &mut tasks)?;
                }
            }
        }
        Ok(())
    }

    /// The words of memory that the search uses in addition to its tasks.
    fn words(&self) -> usize {
        2 * (self.found.len() + self.local.len()) + 4 * self.seen.capacity()
    }

    fn enter(&mut self, store: &mut Store, term: Term, tasks: &mut Vec<Task>) -> Solved<()> {
        let (start, end) = store.argument_range(term);
        if start == end {
            return Ok(());
        }
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 {
            store.charge(REMEMBERED_CELLS)?;
            if !self.seen.insert((term, self.local.len())) {
                return Ok(());
            }
        }
        let functor =
            if term.has_tag(Tag::Str) { store.functor_at(term.address()) } else { Functor::new(atoms::DOT, 2) };
        let is_collection = functor.name() == self.setof || functor.name() == self.bagof;
        match functor.arity() {
            1 if functor.name() == atoms::NOT => {}
            2 if functor.name() == atoms::CARET => {
                self.hide(store, start, tasks)?;
                tasks.push(Task::Visit(store.cells[start + 1]));
            }
            3 if is_collection => {
                tasks.push(Task::Visit(store.cells[start + 2]));
                self.hide(store, start, tasks)?;
                tasks.push(Task::Visit(store.cells[start + 1]));
            }
            _ => tasks.extend(store.cells[start..end].iter().rev().map(|&argument| Task::Visit(argument))),
        }
        Ok(())
    }

    /// Opens a scope in which the variables of the term at address `cell` are local, unless they were found before.
    fn hide(&mut self, store: &mut Store, cell: usize, tasks: &mut Vec<Task>) -> Solved<()> {
        tasks.push(Task::Leave(self.local.len()));
        let local = &mut self.local;
        let _ = store.visit_subterms(store.cells[cell], |store, subterm| {
            if subterm.is_variable() {
                store.mark(subterm);
                local.push(subterm);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
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

    #[test]
    fn finds_free_variables() {
        let cases = [
            ("^(X,p(X,Y))", "v(Y)"),
            ("^(X,^(Y,p(X,Y,Z)))", "v(Z)"),
            ("^(f(X,Y),p(X,Y))", "v"),
            ("^(X,','(p(X,Y),^(Y,q(Y,Z))))", "v(Y,Z)"),
            ("^(X,','(^(Y,q(Y,Z)),p(X,Y)))", "v(Z,Y)"),
            ("^(X,','(p(X),\\+(q(Y))))", "v"),
            ("^(L,setof(A,p(A,B,L),S))", "v(B,S)"),
            ("^(X,bagof(A,^(B,p(A,B,X)),A))", "v(A)"),
            ("^(X,p([Y|T],X))", "v(Y,T)"),
        ];
        for (goal, expected) in cases {
            let found = Fixture::new().solve(TABLE, &format!("$free_variables({goal},V)"));
            assert_eq!(found, format!("$free_variables({},{expected})", goal.replace('\'', "")), "{goal}");
        }
    }
}
