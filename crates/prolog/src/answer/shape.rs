//! Finds equal values, and cycles in values. Makes cyclic values finite so that they can be written.

use super::names::Names;
use crate::store::Store;
use crate::term::{Tag, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Cost of looking up and recording a compound, in cells walked.
const LOOKUP_CELLS: u64 = 8;
/// Words of memory per element of a hash table while it grows, when the old and the larger new table coexist.
const TABLE_WORDS: usize = 6;
/// Words of memory per entry of the path while its vector grows, when the old and the larger new vector coexist.
const PATH_WORDS: usize = 9;

/// What one walk over all values of an answer finds out before the first of them is written: suspended variables, where
/// cycles are cut, and an upper bound on the size.
pub(crate) struct Shape {
    /// Variables with suspended goals, in order of appearance.
    pub(crate) waiting: Vec<Term>,
    /// The compounds at which cycles are cut: those that a depth-first walk reaches again while they are on its path.
    heads: FxHashSet<Term>,
    /// An upper bound on the number of cells of all compounds, each counted once.
    cells: usize,
}

/// State of a compound in the depth-first walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    Done,
}

impl Shape {
    pub(crate) fn of(store: &mut Store, values: impl Iterator<Item = Term>) -> Shape {
        let mut shape = Shape { waiting: Vec::new(), heads: FxHashSet::default(), cells: 0 };
        let mut seen: FxHashMap<Term, Progress> = FxHashMap::default();
        for value in values {
            shape.walk(store, value, &mut seen);
        }
        shape
    }

    fn walk(&mut self, store: &mut Store, value: Term, seen: &mut FxHashMap<Term, Progress>) {
        // The compounds on the way down, each with the range of its arguments still to visit.
        let mut path: Vec<(Term, usize, usize)> = Vec::new();
        let mut next = Some(value);
        loop {
            if let Some(term) = next.take() {
                let term = store.deref(term);
                match term.tag() {
                    Tag::Att if seen.insert(term, Progress::Done).is_none() => self.waiting.push(term),
                    Tag::Lis | Tag::Str => match seen.get(&term) {
                        Some(Progress::Done) => {}
                        Some(Progress::Open) => {
                            self.heads.insert(term);
                        }
                        None => {
                            let words = TABLE_WORDS * seen.capacity() + PATH_WORDS * path.capacity();
                            if words > store.room() {
                                store.out_of_room();
                            }
                            let (start, end) = store.argument_range(term);
                            // The walk may stop early here: the budget is exhausted, so the answer will not be shown.
                            if !store.meter.walk(LOOKUP_CELLS + (end - start) as u64) {
                                return;
                            }
                            seen.insert(term, Progress::Open);
                            self.cells += 1 + end - start;
                            path.push((term, start, end));
                        }
                    },
                    _ => {}
                }
            }
            let Some((term, start, end)) = path.last_mut() else { return };
            if start == end {
                seen.insert(*term, Progress::Done);
                path.pop();
            } else {
                next = Some(store.cells[*start]);
                *start += 1;
            }
        }
    }

    /// The words needed for copies of all values, including the table of copies.
    pub(crate) fn words(&self) -> usize {
        (1 + TABLE_WORDS) * self.cells
    }

    /// Returns the state for making values finite.
    pub(crate) fn cut(&self) -> Cut<'_> {
        Cut { heads: &self.heads, markers: FxHashMap::default(), copies: FxHashMap::default() }
    }
}

/// Makes values finite: a compound that contains itself is replaced by a named variable.
pub(crate) struct Cut<'s> {
    heads: &'s FxHashSet<Term>,
    markers: FxHashMap<Term, Term>,
    /// The copy of each compound, so that shared subterms stay shared.
    copies: FxHashMap<Term, Term>,
}

impl Cut<'_> {
    /// Returns a value in finite form. In it, variables replace the cyclic parts; also returns each variable with the
    /// part that it replaces, in order of appearance.
    pub(crate) fn finite(&mut self, store: &mut Store, value: Term) -> (Term, Vec<(Term, Term)>) {
        let mut names = Names::new(&[], 0);
        let is_head = self.heads.contains(&value);
        let (copy, cycles) = self.value(store, value, "", &mut names);
        let markers: FxHashMap<Box<str>, Term> =
            names.finish().into_iter().map(|(marker, name)| (name, marker)).collect();
        let mut parts = Vec::with_capacity(cycles.len() + 1);
        let mut template = copy;
        if is_head {
            template = markers[""];
            parts.push((template, copy));
        }
        parts.extend(cycles.into_iter().map(|(name, part)| (markers[name.as_str()], part)));
        (template, parts)
    }

    /// Returns the value of the variable `name` in finite form. Also returns the cyclic parts that earlier calls did
    /// not return, each with its name.
    pub(crate) fn value(
        &mut self,
        store: &mut Store,
        value: Term,
        name: &str,
        names: &mut Names,
    ) -> (Term, Vec<(String, Term)>) {
        if self.heads.is_empty() || !matches!(value.tag(), Tag::Lis | Tag::Str) {
            return (value, Vec::new());
        }
        if self.heads.contains(&value) && !self.markers.contains_key(&value) {
            let marker = store.variable();
            names.give(marker, name);
            self.markers.insert(value, marker);
        }
        let mut found = Vec::new();
        let copy = self.expanded(store, value, names, &mut found);
        let mut cycles = Vec::new();
        let mut next = 0;
        while next < found.len() {
            let (name, head): (String, Term) = found[next].clone();
            let expanded = self.expanded(store, head, names, &mut found);
            cycles.push((name, expanded));
            next += 1;
        }
        (copy, cycles)
    }

    /// Copies a compound, and replaces each cyclic compound inside it (a head) by its marker variable. A head without a
    /// marker gets one and is added to `found`.
    fn expanded(&mut self, store: &mut Store, root: Term, names: &mut Names, found: &mut Vec<(String, Term)>) -> Term {
        let copy = shallow_copy(store, root);
        let mut pending = vec![copy];
        while let Some(compound) = pending.pop() {
            let (start, end) = store.argument_range(compound);
            for cell in start..end {
                let argument = store.deref(store.cells[cell]);
                if !matches!(argument.tag(), Tag::Lis | Tag::Str) {
                    store.cells[cell] = argument;
                } else if self.heads.contains(&argument) {
                    store.cells[cell] = self.marker(store, argument, names, found);
                } else if let Some(&copied) = self.copies.get(&argument) {
                    store.cells[cell] = copied;
                } else {
                    let copied = shallow_copy(store, argument);
                    self.copies.insert(argument, copied);
                    store.cells[cell] = copied;
                    pending.push(copied);
                }
            }
        }
        copy
    }

    fn marker(&mut self, store: &mut Store, head: Term, names: &mut Names, found: &mut Vec<(String, Term)>) -> Term {
        *self.markers.entry(head).or_insert_with(|| {
            let marker = store.variable();
            let name = names.cycle_name();
            names.give(marker, &name);
            found.push((name, head));
            marker
        })
    }
}

/// A compound with the same arguments.
fn shallow_copy(store: &mut Store, compound: Term) -> Term {
    let address = compound.address();
    let (_, end) = store.argument_range(compound);
    let copy = store.cells.len();
    for cell in address..end {
        // An argument that is an unbound variable is its own cell: the copy refers to that cell.
        let word = store.cells[cell];
        store.cells.push(word);
    }
    if compound.has_tag(Tag::Lis) { Term::list(copy) } else { Term::structure(copy) }
}

/// Groups variables with the same value. Returns the names and the value of each group, in the order of the groups'
/// first variables.
pub(crate) fn groups(store: &mut Store, variables: &[(Box<str>, Term)]) -> Vec<(Vec<String>, Term)> {
    let mut groups: Vec<(Vec<String>, Term)> = Vec::new();
    // Candidate groups by hash: equal values have equal hashes.
    let mut alike: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (name, term) in variables {
        let term = store.deref(*term);
        let candidates = alike.entry(outline(store, term)).or_default();
        let found = candidates.iter().copied().find(|&group| is_identical(store, groups[group].1, term));
        if let Some(group) = found {
            groups[group].0.push(name.to_string());
            groups[group].1 = term;
        } else {
            candidates.push(groups.len());
            groups.push((vec![name.to_string()], term));
        }
    }
    groups
}

/// A hash that is equal for identical terms.
fn outline(store: &Store, term: Term) -> u64 {
    match term.tag() {
        Tag::Str | Tag::Box => store.cells[term.address()].0,
        Tag::Lis => Tag::Lis as u64,
        _ => term.0,
    }
}

/// Whether two terms are identical; cyclic terms are allowed. False if the budget is exhausted.
fn is_identical(store: &mut Store, a: Term, b: Term) -> bool {
    let mut assumed: FxHashSet<(Term, Term)> = FxHashSet::default();
    let mut pending = vec![(a, b)];
    while let Some((a, b)) = pending.pop() {
        let (a, b) = (store.deref(a), store.deref(b));
        if a == b {
            continue;
        }
        if a.tag() != b.tag() || outline(store, a) != outline(store, b) || !store.meter.walk(1) {
            return false;
        }
        match a.tag() {
            Tag::Box if store.equal_boxes(a.address(), b.address()) => {}
            Tag::Lis | Tag::Str => {
                if assumed.insert((a, b)) {
                    let (start, end) = store.argument_range(a);
                    let other = store.argument_range(b).0;
                    pending
                        .extend((start..end).rev().map(|cell| (store.cells[cell], store.cells[other + cell - start])));
                }
            }
            _ => return false,
        }
    }
    true
}
