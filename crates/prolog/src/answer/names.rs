//! Names for the variables of an answer.

use crate::meter::Resource;
use crate::store::Store;
use crate::term::{Tag, Term};
use crate::writer::variable_name;
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of memory per variable and its name, in hash tables that may be half empty.
const VARIABLE_WORDS: usize = 24;

/// Collects the variables of an answer and names each.
pub(crate) struct Names<'q> {
    /// Names used in the query: generated names must differ from them.
    taken: FxHashSet<&'q str>,
    given: FxHashMap<Term, Box<str>>,
    /// Variables without a name so far, in order of appearance. `repeated` says whether each appears more than once.
    others: Vec<Term>,
    repeated: FxHashMap<Term, bool>,
    cycles: usize,
    /// The number of subterms that may still be counted. Each takes at least one byte in an answer that is not
    /// abbreviated, so the initial value is a maximum number of bytes.
    room: usize,
}

impl<'q> Names<'q> {
    pub(crate) fn new(variables: &'q [(Box<str>, Term)], bytes_max: usize) -> Names<'q> {
        Names {
            taken: variables.iter().map(|(name, _)| &**name).collect(),
            given: FxHashMap::default(),
            others: Vec::new(),
            repeated: FxHashMap::default(),
            cycles: 0,
            room: bytes_max,
        }
    }

    /// Gives an unbound variable this name.
    pub(crate) fn give(&mut self, variable: Term, name: &str) {
        self.given.insert(variable, name.into());
    }

    /// A new name for a cyclic part: `_S1`, `_S2` and so on, without the names used in the query.
    pub(crate) fn cycle_name(&mut self) -> String {
        loop {
            self.cycles += 1;
            let name = format!("_S{}", self.cycles);
            if !self.taken.contains(name.as_str()) {
                return name;
            }
        }
    }

    /// Notes which variables occur in the complete text of a finite term, and which occur more than once: a shared
    /// subterm is visited as often as it occurs in the text. `Err` is the resource whose limit was exceeded.
    pub(crate) fn count(&mut self, store: &Store, term: Term) -> Result<(), Resource> {
        let mut pending = vec![term];
        while let Some(next) = pending.pop() {
            self.room = self.room.checked_sub(1).ok_or(Resource::OutputBytes)?;
            let next = store.deref(next);
            match next.tag() {
                Tag::Ref | Tag::Att if !self.given.contains_key(&next) => {
                    let is_new = !self.repeated.contains_key(&next);
                    self.repeated.insert(next, !is_new);
                    if is_new {
                        self.others.push(next);
                        if VARIABLE_WORDS * self.others.len() + pending.capacity() > store.room() {
                            return Err(Resource::HeapBytes);
                        }
                    }
                }
                Tag::Lis | Tag::Str => {
                    let (start, end) = store.argument_range(next);
                    pending.extend(store.cells[start..end].iter().rev());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of each variable. A variable without a given name gets `_` if it appears once, otherwise `_A`, `_B` and
    /// so on.
    pub(crate) fn finish(mut self) -> FxHashMap<Term, Box<str>> {
        let taken = &self.taken;
        let mut letters =
            (0..).map(|number| format!("_{}", variable_name(number))).filter(|name| !taken.contains(name.as_str()));
        for variable in &self.others {
            let name = if self.repeated[variable] { letters.next().unwrap_or_default() } else { "_".to_owned() };
            self.given.insert(*variable, name.into());
        }
        self.given
    }
}
