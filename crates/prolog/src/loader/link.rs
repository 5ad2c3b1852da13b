//! Compiles the clauses that the loader has read, and links them into a program.

use super::{Definitions, Loader, SourceClause, indicator};
use crate::compiler::{self, CompileError, Neck, Scope, Unfoldable};
use crate::database::is_rule;
use crate::engine::is_deterministic;
use crate::instruction::{Instruction, Label, PredicateId};
use crate::program::RowCall;
use crate::program::index::{self, Key};
use crate::program::{Clauses, Definition, Origin, Program};
use crate::store::Store;
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::Symbols;
use crate::term::{Functor, Term};
use std::ops::Range;
use std::sync::Arc;

impl Loader {
    /// The cost of linking the current program, as a number of compiled clauses; 0 if it is linked already.
    pub(super) fn clauses_to_link(&self) -> usize {
        // The number of dynamic clauses that count as one compiled clause. They cost less, because they are not
        // compiled.
        const DYNAMIC_PER_CLAUSE: usize = 64;
        if self.linked.is_some() {
            return 0;
        }
        let dynamic: usize = self.dynamic.values().map(|predicate| predicate.live_count()).sum();
        let compiled: usize = self.definitions.values().map(|definitions| definitions.clauses.len()).sum();
        compiled + dynamic / DYNAMIC_PER_CLAUSE
    }

    /// Returns the linked program; links it if something has changed since the last call.
    pub(super) fn link(&mut self) -> Arc<Program> {
        if let Some(program) = &self.linked {
            return Arc::clone(program);
        }
        self.make_numbered_twins();
        let mut program = self.base.clone();
        let mut code = std::mem::take(&mut program.code);
        let defined: Vec<Functor> =
            self.order.iter().copied().filter(|functor| !self.definitions[functor].clauses.is_empty()).collect();
        for &functor in &defined {
            program.add_predicate(functor, Definition::Undefined, self.origin);
        }
        for &functor in &self.dynamic_order {
            let id = program.add_predicate(functor, Definition::Dynamic, self.origin);
            program.dynamic.insert(id, Arc::clone(&self.dynamic[&functor]));
        }
        for functor in &self.order {
            // A predicate that is only declared `multifile` or `discontiguous` becomes dynamic: calls fail, and clauses
            // may be asserted.
            let is_empty = self.definitions[functor].clauses.is_empty() && !self.dynamic.contains_key(functor);
            if is_empty && self.definitions[functor].discontiguous && !program.is_defined(*functor) {
                program.add_predicate(*functor, Definition::Dynamic, self.origin);
            }
        }
        let unfoldable = self.unfoldable(&defined);
        for &functor in &defined {
            self.link_predicate(&mut program, &mut code, functor, &unfoldable);
        }
        program.code = code;
        program.take_shortcuts();
        let program = Arc::new(program);
        self.linked = Some(Arc::clone(&program));
        program
    }

    /// Creates the numbered versions of predicates: each clause gets its position as an additional argument of the
    /// head.
    ///
    /// Bodies are unchanged, so the answers and their order are unchanged. For a dynamic predicate, the clauses at the
    /// time of linking are used.
    fn make_numbered_twins(&mut self) {
        for (functor, twin) in self.numbered.clone() {
            let clauses: Vec<(Arc<StoredTerm>, usize, Range<usize>)> = match self.dynamic.get(&functor) {
                Some(dynamic) => dynamic.live().map(|term| (Arc::clone(term), 0, 0..0)).collect(),
                None => self.definitions.get(&functor).map_or_else(Vec::new, |definitions| {
                    let clauses = definitions.clauses.iter();
                    clauses.map(|clause| (Arc::clone(&clause.term), clause.source, clause.span.clone())).collect()
                }),
            };
            let mut numbered = Vec::with_capacity(clauses.len());
            for (position, (term, source, span)) in clauses.into_iter().enumerate() {
                if let Some(term) = self.numbered_clause(&term, position, twin) {
                    numbered.push(SourceClause { term: Arc::new(term), source, span });
                }
            }
            if !self.definitions.contains_key(&twin) {
                self.order.push(twin);
            }
            self.definitions.insert(twin, Definitions { clauses: numbered, ..Definitions::default() });
        }
    }

    fn numbered_clause(&mut self, clause: &StoredTerm, position: usize, twin: Functor) -> Option<StoredTerm> {
        self.store.reset();
        let term = self.store.paste(clause);
        let neck = Neck::of(&self.store, term);
        let head = self.store.argument(term.address(), 1);
        let body = self.store.argument(term.address(), 2);
        let mut arguments = compiler::head_arguments(&self.store, head);
        arguments.push(self.store.integer(position as i64));
        let head = self.store.structure(twin.name(), &arguments);
        let clause = self.store.structure(neck.functor().name(), &[head, body]);
        self.store.copy_out(clause, Attributes::Drop)
    }

    /// The predicates whose calls can be replaced by the body of their only clause. Empty while the library itself is
    /// compiled.
    fn unfoldable(&mut self, defined: &[Functor]) -> Unfoldable {
        let mut unfoldable = Unfoldable::default();
        if self.origin != Origin::User {
            return unfoldable;
        }
        for functor in defined {
            if let [clause] = &self.definitions[functor].clauses[..] {
                self.store.reset();
                let term = self.store.paste(&clause.term);
                if !is_rule(&clause.term) && compiler::is_unfoldable(&self.store, &clause.term, term) {
                    unfoldable.insert(*functor, Arc::clone(&clause.term));
                }
            }
        }
        unfoldable
    }

    fn link_predicate(
        &mut self,
        program: &mut Program,
        code: &mut Vec<Instruction>,
        functor: Functor,
        unfoldable: &Unfoldable,
    ) {
        let Some(definitions) = self.definitions.remove(&functor) else { return };
        let mut entries: Vec<(Label, Vec<Key>)> = Vec::new();
        let mut sources = Vec::new();
        let mut failed: Vec<(usize, Range<usize>, CompileError)> = Vec::new();
        for clause in &definitions.clauses {
            if self.store.meter.exhausted().is_some() {
                self.check_charges(clause.source, &clause.span);
                break;
            }
            self.store.reset();
            let term = self.store.paste(&clause.term);
            let mut head = self.store.argument(term.address(), 1);
            let mut body = self.store.argument(term.address(), 2);
            let keys = compiler::head_keys(&self.store, head);
            let neck = Neck::of(&self.store, term);
            if neck.is_rule() {
                (head, body) = compiler::clause_of_rule(&mut self.store, neck, head, body);
            }
            let redefined = |other: Functor| other == functor || self.definitions.contains_key(&other);
            let body = compiler::unfold(&mut self.store, unfoldable, &redefined, body);
            let start = code.len() as Label;
            let compiled = compiler::compile_clause(&self.store, &mut Linking { program }, head, body, code);
            match compiled {
                Ok(()) => {
                    entries.push((start, keys));
                    sources.push(Arc::clone(&clause.term));
                    self.charge_code(code.len() - start as usize);
                }
                Err(error) => {
                    self.charge_code(code.len() - start as usize);
                    code.truncate(start as usize);
                    failed.push((clause.source, clause.span.clone(), error));
                }
            }
        }
        if sources.first().is_some_and(|clause| is_rule(clause)) {
            self.store.reset();
            let (head, body) = compiler::no_rule_clause(&mut self.store, functor);
            let start = code.len() as Label;
            if compiler::compile_clause(&self.store, &mut Linking { program }, head, body, code).is_ok() {
                entries.push((start, compiler::head_keys(&self.store, head)));
            }
        }
        for (source, span, error) in failed {
            self.report_uncompiled(source, span, functor, error);
        }
        let start = program.clause_lists.len() as u32;
        program.clause_lists.extend(entries.iter().map(|(label, _)| *label));
        let all = start..program.clause_lists.len() as u32;
        let indexes = index::build(&entries, &mut program.clause_lists);
        if let Some(id) = program.find(functor) {
            let predicate = &mut program.predicates[id as usize];
            predicate.definition = Definition::Clauses(Clauses { all, indexes });
            predicate.sources = sources;
        }
        self.definitions.insert(functor, definitions);
    }

    fn report_uncompiled(&mut self, source: usize, span: Range<usize>, functor: Functor, error: CompileError) {
        // A program may be linked several times, but each problem is reported once.
        if self.problems.has_error_at(&self.sources[source], &span) {
            return;
        }
        let indicator = indicator(&self.atoms, functor);
        let (message, hint) = match error {
            CompileError::NotCallable(_) => (
                format!("the body of this clause of {indicator} has a number or string as a goal"),
                "goals are atoms or compound terms",
            ),
            CompileError::TooLarge => (
                format!("this clause of {indicator} has too many arguments or variables"),
                "split it into several predicates",
            ),
        };
        self.error(source, span, message, Some(hint));
    }
}

/// The program being linked, as the compiler sees it.
struct Linking<'a> {
    program: &'a mut Program,
}

impl Scope for Linking<'_> {
    fn builtin(&self, functor: Functor) -> Option<u16> {
        let id = self.program.find(functor)?;
        match self.program.predicates[id as usize].definition {
            Definition::Builtin { code, number } if is_deterministic(code) => Some(number),
            _ => None,
        }
    }

    fn predicate(&mut self, functor: Functor) -> PredicateId {
        match self.program.find(functor) {
            Some(id) => id,
            None => self.program.add_predicate(functor, Definition::Undefined, Origin::User),
        }
    }

    fn relation(&self, functor: Functor) -> Option<u16> {
        let id = self.program.find(functor)?;
        match self.program.predicates[id as usize].definition {
            Definition::Relation(position) => Some(position),
            _ => None,
        }
    }

    fn row_call(&mut self, call: RowCall) -> u32 {
        self.program.row_calls.push(call);
        self.program.row_calls.len() as u32 - 1
    }

    fn is_redefined(&self, functor: Functor) -> bool {
        self.program.find(functor).is_some_and(|id| self.program.predicates[id as usize].origin == Origin::User)
    }

    fn symbols(&self) -> &Symbols {
        &self.program.symbols
    }

    fn literal(&mut self, store: &Store, term: Term) -> u32 {
        let mut scratch = Store::default();
        scratch.meter.start(&crate::meter::Budget::UNLIMITED);
        let copy = store.copy_box(term, &mut scratch);
        if let Some(stored) = scratch.copy_out(copy, Attributes::Drop) {
            self.program.literals.push(stored);
        }
        self.program.literals.len() as u32 - 1
    }
}
