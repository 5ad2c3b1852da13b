//! Converts cyclic terms to a finite form that can be written.

use crate::answer::shape::Shape;
use crate::fault::Solved;
use crate::store::Store;
use crate::symbols::atoms;
use crate::term::Term;

/// A cyclic term in finite form.
pub(super) struct Finite {
    /// The term, with variables for its cyclic parts.
    pub(super) template: Term,
    /// The values of these variables: a list of `Variable=Part`.
    pub(super) substitutions: Term,
    /// The variables, in order of appearance.
    pub(super) markers: Vec<Term>,
}

impl Finite {
    pub(super) fn of(store: &mut Store, term: Term) -> Solved<Finite> {
        let term = store.deref(term);
        let shape = Shape::of(store, std::iter::once(term));
        store.charge(0)?;
        store.reserve(shape.words())?;
        let (template, parts) = shape.cut().finite(store, term);
        let equations: Vec<Term> =
            parts.iter().map(|&(marker, part)| store.structure(atoms::EQUALS, &[marker, part])).collect();
        let substitutions = store.list(&equations, Term::NIL);
        Ok(Finite { template, substitutions, markers: parts.into_iter().map(|(marker, _)| marker).collect() })
    }
}
