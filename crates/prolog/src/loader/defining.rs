//! Which clauses a text may add to which predicates.

use super::{Loader, Topic, indicator};
use crate::compiler::Neck;
use crate::database::is_rule;
use crate::program::{Definition, Origin};
use crate::term::Functor;
use std::ops::Range;

impl Loader {
    /// Whether a clause of this kind may be added: a predicate has either clauses or rules. Reports an error if not.
    pub(super) fn may_mix(&mut self, source: usize, functor: Functor, neck: Neck, span: &Range<usize>) -> bool {
        let before = match self.dynamic.get(&functor) {
            Some(dynamic) => dynamic.has_rules(),
            None => match self.definitions.get(&functor) {
                Some(found) if found.source == source || found.discontiguous => {
                    found.clauses.first().map(|clause| is_rule(&clause.term))
                }
                _ => None,
            },
        };
        let is_alike = before.is_none_or(|rules| rules == neck.is_rule());
        if !is_alike {
            let message = format!("{} has both clauses with `:-` and rules with `=>`", indicator(&self.atoms, functor));
            let hint = "write all of them with `:-`, or all of them with `=>`";
            self.error(source, span.clone(), message, Some(hint));
        }
        is_alike
    }

    /// Warns if a new clause of a predicate does not follow its previous one, or is in another source. In the latter
    /// case, drops the clauses of the earlier source. A predicate declared `discontiguous` or `multifile` is exempt.
    pub(super) fn warn_order(&mut self, source: usize, functor: Functor, span: &Range<usize>) {
        let Some(definitions) = self.definitions.get_mut(&functor) else { return };
        if definitions.clauses.is_empty() {
            definitions.source = source;
            return;
        }
        let indicator = indicator(&self.atoms, functor);
        if definitions.source != source && self.origin == Origin::Library {
            let before = self.sources[definitions.source].name.clone();
            self.error(source, span.clone(), format!("{indicator} is defined in {before} already"), None);
        } else if definitions.source != source
            && !definitions.discontiguous
            && (self.modules.contains(&source) || self.modules.contains(&definitions.source))
        {
            // A file with a module header expects that its other predicates are its own.
            let before = self.sources[definitions.source].name.clone();
            let message = format!("{indicator} is defined in {before}, too, and modules are not namespaces here");
            let hint = "give one of the two predicates another name, with the name of its module for example";
            self.error(source, span.clone(), message, Some(hint));
        } else if definitions.source != source && !definitions.discontiguous {
            let before = self.sources[definitions.source].name.clone();
            definitions.clauses.clear();
            definitions.source = source;
            self.places.remove(&functor);
            let message = format!("this replaces {indicator}, defined in {before}");
            let hint = "give one of them another name, or declare it `multifile`";
            self.warn(Topic::Order, source, span.clone(), message, Some(hint.to_owned()));
        } else if self.last_predicate != Some(functor) && !definitions.discontiguous {
            let message = format!("clauses of {indicator} are not together");
            let hint = format!("move them together, or add `:- discontiguous {indicator}.`");
            self.warn(Topic::Order, source, span.clone(), message, Some(hint));
        }
    }

    /// Whether the text may define clauses for this predicate; reports an error if not.
    pub(super) fn may_define(&mut self, source: usize, functor: Functor, span: &Range<usize>) -> bool {
        let Some(id) = self.base.find(functor) else { return true };
        let predicate = &self.base.predicates[id as usize];
        // A predicate of the library has one definition, so that no helper of one file can replace that of another. A
        // builtin may be called before the library defines it.
        let is_free = match self.origin {
            Origin::Library => matches!(predicate.definition, Definition::Undefined),
            _ => predicate.origin != Origin::System,
        };
        if is_free {
            return true;
        }
        let indicator = indicator(&self.atoms, functor);
        let (message, hint) = match predicate.definition {
            Definition::Relation(_) => {
                (format!("facts of {indicator} come from the host"), "remove the clause: the host supplies these facts")
            }
            _ => (format!("{indicator} is part of the language and cannot be redefined"), "choose another name"),
        };
        self.error(source, span.clone(), message, Some(hint));
        false
    }
}
