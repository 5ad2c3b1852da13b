//! Terms as trees, which a host reads and traverses without a machine.
//!
//! Unlike a [`StoredTerm`](crate::StoredTerm), a tree has names instead of atoms, and spans of its parts in the text.

use crate::engine::Engine;
use crate::loader::{Problem, Severity, Source};
use crate::meter::Budget;
use crate::query::Query;
use crate::reader::{FullStop, ReadTerm, Reader, Syntax};
use crate::store::{ListEnd, Store, View};
use crate::symbols::{Atoms, Scope, atoms};
use crate::term::Term;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The maximum nesting of a tree, so that a traversal of it may recurse.
const DEPTH_MAX: usize = 1000;

/// A term as a tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// The kind of term.
    pub kind: TreeKind,
    /// The byte range of the term if it is compound or a whole clause, otherwise of the compound term that contains it.
    /// A list that is written as quoted text counts as not compound. Empty if the tree was not made from a text.
    pub span: Range<usize>,
}

/// The kind of a [`Tree`].
#[derive(Clone, PartialEq, Debug)]
pub enum TreeKind {
    /// A variable with its name, or `_`.
    Variable(String),
    /// An atom.
    Atom(String),
    /// An integer that fits in 64 bits.
    Integer(i64),
    /// A larger integer, in decimal digits.
    LargeInteger(String),
    /// A float.
    Float(f64),
    /// A string.
    Text(String),
    /// A list that ends in `[]`, or `[]` itself.
    List(Vec<Tree>),
    /// Any other compound term: its name and its arguments. A list with another end has the name `[|]`.
    Compound(String, Vec<Tree>),
}

impl Tree {
    /// Converts a term that was read from a text; `None` if it is too deep to traverse.
    pub(crate) fn of(store: &mut Store, atoms: &Atoms, read: &ReadTerm) -> Option<Tree> {
        TreeBuilder::new(store, atoms, read).tree(read.term, &read.span, 0)
    }

    /// Converts a term, with empty spans, and with variables named `_0`, `_1` and so on. `None` if the term is too deep
    /// to traverse, or if the budget of the store is exhausted.
    pub(crate) fn of_term(store: &mut Store, atoms: &Atoms, term: Term) -> Option<Tree> {
        let mut variables = Vec::new();
        store.term_variables(term, &mut variables).ok()?;
        let texts: Vec<String> = (0..variables.len()).map(|number| format!("_{number}")).collect();
        let names = variables.into_iter().zip(texts.iter().map(String::as_str)).collect();
        TreeBuilder { store, atoms, names, spans: FxHashMap::default() }.tree(term, &(0..0), 0)
    }

    /// The name and the arguments of an atom or a compound term; `None` for a [`TreeKind::List`] and for other terms.
    pub fn callable(&self) -> Option<(&str, &[Tree])> {
        match &self.kind {
            TreeKind::Atom(name) => Some((name, &[])),
            TreeKind::Compound(name, arguments) => Some((name, arguments)),
            _ => None,
        }
    }
}

impl Engine {
    /// Reads all terms of a text. Directives are read as terms, and nothing is run. A term with a syntax error, or too
    /// deep to traverse, is a problem instead.
    pub fn read_trees(&self, name: &str, text: &str) -> (Vec<Tree>, Vec<Problem>) {
        let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
        let mut atoms = Atoms::new(Arc::clone(self.symbols()), Scope::Local);
        let mut store = Store::default();
        store.meter.start(&Budget::UNLIMITED);
        let library = self.library();
        let mut reader = Reader::new(text, FullStop::Required);
        let (mut trees, mut problems) = (Vec::new(), Vec::new());
        loop {
            store.reset();
            let mut syntax = Syntax { atoms: &mut atoms, operators: &library.operators, flags: &library.flags };
            match reader.next(&mut store, &mut syntax) {
                Ok(None) => return (trees, problems),
                Ok(Some(read)) => {
                    if let Some(tree) = Tree::of(&mut store, &atoms, &read) {
                        trees.push(tree);
                    } else {
                        let message = format!("this term is nested more than {DEPTH_MAX} levels deep");
                        problems.push(Problem::new(Severity::Error, &source, read.span, message, None));
                    }
                }
                Err(error) => problems.push(Problem::syntax(&source, error)),
            }
        }
    }
}

impl Query<'_> {
    /// The value of an argument of [`Machine::ask`](crate::Machine::ask); `None` if it is nested too deeply. Its spans
    /// are empty, because it does not come from a text.
    pub fn argument_tree(&mut self, index: usize) -> Option<Tree> {
        let machine = self.parts().machine;
        let term = machine.arguments[index];
        let (names, spans) = (FxHashMap::default(), FxHashMap::default());
        TreeBuilder { store: &mut machine.core.store, atoms: &machine.core.atoms, names, spans }.tree(term, &(0..0), 0)
    }
}

/// The conversion of a term to a tree.
struct TreeBuilder<'a> {
    store: &'a mut Store,
    atoms: &'a Atoms,
    names: FxHashMap<Term, &'a str>,
    spans: FxHashMap<Term, Range<usize>>,
}

impl<'a> TreeBuilder<'a> {
    fn new(store: &'a mut Store, atoms: &'a Atoms, read: &'a ReadTerm) -> TreeBuilder<'a> {
        let names = read.variables.iter().map(|(name, variable)| (store.deref(*variable), &**name)).collect();
        let spans = read.goals.iter().map(|(term, span)| (*term, span.clone())).collect();
        TreeBuilder { store, atoms, names, spans }
    }

    fn tree(&mut self, term: Term, around: &Range<usize>, depth: usize) -> Option<Tree> {
        if depth > DEPTH_MAX {
            return None;
        }
        let term = self.store.deref(term);
        let span = self.spans.get(&term).unwrap_or(around).clone();
        let kind = match self.store.view(term) {
            View::Variable(_) => TreeKind::Variable(self.names.get(&term).copied().unwrap_or("_").to_owned()),
            View::Atom(atoms::NIL) => TreeKind::List(Vec::new()),
            View::Atom(atom) => TreeKind::Atom(self.atoms.name(atom).to_owned()),
            View::Small(value) => TreeKind::Integer(value),
            View::Big => {
                let value = self.store.big(term);
                i64::try_from(&value).map_or_else(|_| TreeKind::LargeInteger(value.to_string()), TreeKind::Integer)
            }
            View::Float(value) => TreeKind::Float(value),
            View::Text => TreeKind::Text(self.store.text(term)),
            View::List(address) => {
                let mut items = Vec::new();
                if self.store.list_items(term, &mut items) == ListEnd::Nil {
                    TreeKind::List(self.trees(items, &span, depth)?)
                } else {
                    let parts = vec![self.store.cells[address], self.store.cells[address + 1]];
                    TreeKind::Compound("[|]".to_owned(), self.trees(parts, &span, depth)?)
                }
            }
            View::Compound(functor, arguments) => {
                let parts = (0..functor.arity()).map(|index| self.store.argument(arguments, index)).collect();
                TreeKind::Compound(self.atoms.name(functor.name()).to_owned(), self.trees(parts, &span, depth)?)
            }
        };
        Some(Tree { kind, span })
    }

    fn trees(&mut self, terms: Vec<Term>, span: &Range<usize>, depth: usize) -> Option<Vec<Tree>> {
        terms.into_iter().map(|term| self.tree(term, span, depth + 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Tree>, Vec<Problem>) {
        Engine::new().read_trees("facts.pl", text)
    }

    #[test]
    fn parts_have_kinds_and_spans() {
        let text = "f(X, 'a b', -1, 2.5, \"s\", [g(X)], 99999999999999999999). :- d.";
        let (trees, problems) = read(text);
        assert!(problems.is_empty());
        let (name, arguments) = trees[0].callable().expect("compound");
        assert_eq!(name, "f");
        let kinds: Vec<&TreeKind> = arguments.iter().map(|argument| &argument.kind).collect();
        assert_eq!(kinds[0], &TreeKind::Variable("X".to_owned()));
        assert_eq!(kinds[1], &TreeKind::Atom("a b".to_owned()));
        assert_eq!(kinds[2], &TreeKind::Integer(-1));
        assert_eq!(kinds[3], &TreeKind::Float(2.5));
        assert_eq!(kinds[4], &TreeKind::Text("s".to_owned()));
        let TreeKind::List(items) = kinds[5] else { panic!("{:?}", kinds[5]) };
        assert_eq!(&text[items[0].span.clone()], "g(X)");
        assert_eq!(kinds[6], &TreeKind::LargeInteger("9".repeat(20)));
        assert_eq!(trees[1].callable().expect("a directive").0, ":-");
    }

    #[test]
    fn answers_can_be_read_as_trees() {
        let engine = Engine::new();
        let mut machine = crate::Machine::new(&engine);
        let mut loader = engine.loader();
        loader.load("p.pl", "p(f(a, [1, _], \"s\")).");
        let program = loader.finish().expect("it is right").program;
        let name = engine.symbols().intern("p");
        let mut query = machine.ask(&program, name, &[crate::Argument::Unknown], &(), &Budget::default());
        assert_eq!(query.next_answer(), crate::Outcome::Answer);
        let tree = query.argument_tree(0).expect("it is not deep");
        let (name, arguments) = tree.callable().expect("compound");
        assert_eq!((name, arguments.len()), ("f", 3));
        let TreeKind::List(items) = &arguments[1].kind else { panic!("{:?}", arguments[1]) };
        assert_eq!(items[1].kind, TreeKind::Variable("_".to_owned()));
    }

    #[test]
    fn continues_after_a_syntax_error() {
        let (trees, problems) = read("a. b( . c.");
        assert_eq!(trees.len(), 2);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].source_name(), "facts.pl");
    }

    #[test]
    fn kept_trees_use_the_operators_at_the_time_of_reading() {
        let mut loader = Engine::new().loader();
        loader.keep_trees().load("family.pl", ":- op(700, xfx, likes).\nann likes bob.");
        let loaded = loader.finish().expect("it loads");
        let last = loaded.trees.last().expect("two terms");
        assert_eq!(last.tree.callable().expect("compound").0, "likes");
        assert_eq!(last.place.position(), (2, 1));
        assert!(loaded.program.callable().any(|known| known == ("likes", 2)));
    }

    #[test]
    fn refuses_a_term_too_deep_to_traverse() {
        let (trees, problems) = read(&format!("{}a{}. b.", "f(".repeat(5000), ")".repeat(5000)));
        assert_eq!((trees.len(), problems.len()), (1, 1));
        let long_list = format!("l([{}]).", vec!["a"; 5000].join(","));
        assert_eq!(read(&long_list).0.len(), 1);
    }
}
