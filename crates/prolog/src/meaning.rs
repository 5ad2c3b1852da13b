//! Definitions of the predicates of a program, for hosts that analyse a program instead of running it.

use crate::database::is_rule;
use crate::instruction::PredicateId;
use crate::meter::Budget;
use crate::program::{Definition, Origin, Program};
use crate::store::Store;
use crate::stored::StoredTerm;
use crate::symbols::{Atom, Atoms, Scope};
use crate::term::Functor;
use crate::tree::{Tree, TreeKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The definition that a call of a predicate refers to.
#[derive(Clone, PartialEq, Debug)]
pub enum Meaning {
    /// Clauses of the program's text, and those that its directives asserted, in order. Each is `Head :- Body`, with
    /// `true` as the body of a fact. All occurrences of a variable in a clause have the same name. The spans of the
    /// trees are empty, because they do not refer to a text.
    Clauses(Vec<Tree>),
    /// Facts that the host supplies with each query.
    Relation,
    /// A predicate of the language or its library.
    Language,
    /// A predicate of the host.
    Host,
    /// The predicate is undefined or only declared `multifile` or `discontiguous`, or one of its clauses is too deep to
    /// traverse or a rule with `=>`.
    Unknown,
}

impl Program {
    /// The definition that a call of this predicate refers to, in the program's text and in calls made at run time.
    // For `policy`.
    #[doc(hidden)]
    pub fn meaning(&self, name: &str, arity: usize) -> Meaning {
        self.symbols.find(name).map_or(Meaning::Unknown, |name| self.meaning_of(name, arity))
    }

    /// Like [`Program::meaning`], for a helper predicate of the host.
    // For `policy`.
    #[doc(hidden)]
    pub fn helper_meaning(&self, name: &str, arity: usize) -> Meaning {
        self.meaning_of(self.symbols.internal(name), arity)
    }

    /// Whether this helper predicate of the host is defined.
    // For `policy`.
    #[doc(hidden)]
    pub fn defines_helper(&self, name: &str, arity: usize) -> bool {
        self.is_defined(Functor::new(self.symbols.internal(name), arity))
    }

    fn meaning_of(&self, name: Atom, arity: usize) -> Meaning {
        let Some(id) = self.find(Functor::new(name, arity)) else { return Meaning::Unknown };
        let predicate = &self.predicates[id as usize];
        match &predicate.definition {
            Definition::Relation(_) => Meaning::Relation,
            Definition::Host(_) => Meaning::Host,
            Definition::Undefined => Meaning::Unknown,
            _ if predicate.origin != Origin::User => Meaning::Language,
            Definition::Clauses(_) => self.trees(&mut predicate.sources.iter()),
            Definition::Dynamic => {
                self.dynamic.get(&id).map_or(Meaning::Unknown, |dynamic| self.trees(&mut dynamic.live()))
            }
            Definition::Builtin { .. } | Definition::Control(_) => Meaning::Language,
        }
    }

    /// Whether the program redefines a library predicate. Clauses that replace a default relation of the host do not
    /// count.
    pub fn redefines_library(&self) -> bool {
        let of = |origin| {
            let predicates = self.predicates.iter().filter(move |predicate| predicate.origin == origin);
            predicates
                .filter(|predicate| !matches!(predicate.definition, Definition::Undefined | Definition::Relation(_)))
        };
        let library: FxHashSet<Functor> = of(Origin::Library).map(|predicate| predicate.functor).collect();
        of(Origin::User).any(|predicate| library.contains(&predicate.functor))
    }

    /// Whether this name occurs anywhere in a clause that the program defines or its directives asserted, as an atom or
    /// as the name of a compound term. A clause that is too deep to traverse counts as an occurrence.
    pub fn mentions(&self, name: &str) -> bool {
        let own = self.predicates.iter().enumerate().filter(|(_, predicate)| predicate.origin == Origin::User);
        let mut store = Store::default();
        store.meter.start(&Budget::UNLIMITED);
        let atoms = Atoms::new(Arc::clone(&self.symbols), Scope::Local);
        let mut mentions_name = |clause: &Arc<StoredTerm>| {
            store.reset();
            let term = store.paste(clause);
            Tree::of_term(&mut store, &atoms, term).is_none_or(|tree| has_name(&tree, name))
        };
        own.into_iter().any(|(id, predicate)| match self.dynamic.get(&(id as PredicateId)) {
            Some(dynamic) => dynamic.live().any(&mut mentions_name),
            None => predicate.sources.iter().any(&mut mentions_name),
        })
    }

    fn trees(&self, clauses: &mut dyn Iterator<Item = &Arc<StoredTerm>>) -> Meaning {
        let atoms = Atoms::new(Arc::clone(&self.symbols), Scope::Local);
        let mut store = Store::default();
        store.meter.start(&Budget::UNLIMITED);
        let trees = clauses.map(|clause| {
            if is_rule(clause) {
                return None;
            }
            store.reset();
            let term = store.paste(clause);
            Tree::of_term(&mut store, &atoms, term)
        });
        trees.collect::<Option<Vec<Tree>>>().map_or(Meaning::Unknown, Meaning::Clauses)
    }
}

fn has_name(tree: &Tree, name: &str) -> bool {
    match &tree.kind {
        TreeKind::Atom(found) => found == name,
        TreeKind::Compound(found, parts) => found == name || parts.iter().any(|part| has_name(part, name)),
        TreeKind::List(parts) => parts.iter().any(|part| has_name(part, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::tree::TreeKind;

    fn program(text: &str) -> Arc<Program> {
        let mut loader = Engine::new().loader();
        loader.relation("price", 2);
        loader.predicate("shout", 1, |_| Ok(true));
        loader.load("p.pl", text);
        loader.finish().expect("it loads").program
    }

    #[test]
    fn classifies_predicates() {
        let program = program("p(X) :- q(X, _), price(X, _), missing(X). :- dynamic q/2. r :- p(1).");
        assert!(matches!(program.meaning("p", 1), Meaning::Clauses(clauses) if clauses.len() == 1));
        assert_eq!(program.meaning("q", 2), Meaning::Clauses(Vec::new()));
        assert_eq!(program.meaning("price", 2), Meaning::Relation);
        assert_eq!(program.meaning("shout", 1), Meaning::Host);
        for (name, arity) in [("append", 3), (",", 2), ("\\+", 1), ("call", 3), ("is", 2), ("->", 2), ("findall", 3)] {
            assert_eq!(program.meaning(name, arity), Meaning::Language, "{name}/{arity}");
        }
        assert_eq!(program.meaning("missing", 1), Meaning::Unknown);
        assert_eq!(program.meaning("p", 7), Meaning::Unknown);
    }

    #[test]
    fn clauses_include_those_asserted_by_directives() {
        let program = program(":- assertz(p(a)). :- assertz((p(X) :- q(X, Y, X, Y))). q(_, _, _, _). g --> [x], g.");
        let Meaning::Clauses(clauses) = program.meaning("p", 1) else { panic!("it has clauses") };
        let (neck, parts) = clauses[1].callable().expect("a clause");
        assert_eq!((neck, parts.len(), clauses.len()), (":-", 2, 2));
        let (_, arguments) = parts[1].callable().expect("a goal");
        assert_eq!(arguments[0], arguments[2]);
        assert_eq!(arguments[1], arguments[3]);
        assert_ne!(arguments[0], arguments[1]);
        assert_eq!(clauses[0].callable().expect("a clause").1[1].kind, TreeKind::Atom("true".to_owned()));
        assert!(matches!(program.meaning("g", 2), Meaning::Clauses(clauses) if clauses.len() == 1));
    }

    #[test]
    fn clauses_too_deep_to_traverse_are_unknown() {
        let text = format!("p({}a{}).", "f(".repeat(5000), ")".repeat(5000));
        assert_eq!(program(&text).meaning("p", 1), Meaning::Unknown);
    }

    #[test]
    fn detects_redefined_library_predicates() {
        assert!(!program("p(X, Y) :- append(X, Y, _), missing(Y).").redefines_library());
        assert!(program("append(_, _, _).").redefines_library());
        assert!(program(":- dynamic last/2.").redefines_library());
    }

    #[test]
    fn mentions_the_names_in_its_clauses() {
        let text = "p(X) :- q([s|X], r(t)). :- dynamic d/1. d(u). e(X), f(X) => g(h).";
        for name in ["p", "q", "r", "s", "t", "d", "u", "e", "f", "g", "h"] {
            assert!(program(text).mentions(name), "{name}");
        }
        for name in ["append", "X", "v", "dynamic"] {
            assert!(!program(text).mentions(name), "{name}");
        }
    }
}
