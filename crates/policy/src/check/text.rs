//! The parsed text of a policy: its clauses, their goals, and the calls of each goal.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mario_prolog::{Loaded, Place, SourceTree, Tree, TreeKind};

/// A name and an arity.
pub(super) type Indicator = (String, usize);

/// A clause, split into its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause<'a> {
    pub(super) head: &'a Tree,
    /// `None` for a fact.
    pub(super) body: Option<&'a Tree>,
    pub(super) place: &'a Place,
}

/// Predicates whose clauses may change while a program is loaded or runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Change {
    /// The predicates with this name.
    Of(String),
    /// Any predicate: the name is not known statically.
    Unknown,
}

/// The clauses in the files of a policy, and the predicates that these files declare or change.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// The clauses, in reading order.
    pub(super) clauses: Vec<Clause<'a>>,
    by_name: BTreeMap<Indicator, Vec<usize>>,
    /// Predicates that are declared dynamic.
    pub(super) declared: BTreeSet<Indicator>,
    /// The predicates whose clauses the text asserts or retracts, in directives and in bodies.
    changed: BTreeSet<Change>,
}

impl<'a> Text<'a> {
    pub(super) fn new(loaded: &'a Loaded) -> Text<'a> {
        let mut text =
            Text { clauses: Vec::new(), by_name: BTreeMap::new(), declared: BTreeSet::new(), changed: BTreeSet::new() };
        for source in &loaded.trees {
            text.add(source);
        }
        let mut changed = BTreeSet::new();
        for body in text.clauses.iter().filter_map(|clause| clause.body) {
            each_part(body, &mut |part| changed.extend(change(part)));
        }
        text.changed.extend(changed);
        text
    }

    fn add(&mut self, source: &'a SourceTree) {
        match source.tree.callable() {
            Some((":-" | "?-", [directive])) => {
                each_part(directive, &mut |part| {
                    if let Some(("dynamic", [declared])) = part.callable() {
                        each_part(declared, &mut |part| self.declared.extend(indicator(part)));
                    }
                    self.changed.extend(change(part));
                });
            }
            // The translation of a grammar rule adds arguments to its calls, so they are not analysed.
            Some(("-->", [_, _])) => {}
            Some((":-", [head, body])) => self.push(head, Some(body), &source.place),
            _ => self.push(&source.tree, None, &source.place),
        }
    }

    fn push(&mut self, head: &'a Tree, body: Option<&'a Tree>, place: &'a Place) {
        let Some((name, arguments)) = head.callable() else { return };
        self.by_name.entry((name.to_owned(), arguments.len())).or_default().push(self.clauses.len());
        self.clauses.push(Clause { head, body, place });
    }

    /// The clauses of a predicate, in order.
    pub(super) fn clauses_of(&self, name: &str, arity: usize) -> impl Iterator<Item = Clause<'a>> {
        let indices = self.by_name.get(&(name.to_owned(), arity));
        indices.into_iter().flatten().map(|index| self.clauses[*index])
    }

    pub(super) fn has_clauses(&self, name: &str, arity: usize) -> bool {
        self.by_name.contains_key(&(name.to_owned(), arity))
    }

    /// Whether clauses of a predicate with this name may appear or disappear while the program runs or is loaded.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.changed.contains(&Change::Unknown) || self.changed.contains(&Change::Of(name.to_owned()))
    }
}

/// Reads a term `name/arity`; `None` for other terms.
fn indicator(tree: &Tree) -> Option<Indicator> {
    match tree.callable() {
        Some(("/", [name, arity])) => match (&name.kind, &arity.kind) {
            (TreeKind::Atom(name), TreeKind::Integer(arity)) => Some((name.clone(), usize::try_from(*arity).ok()?)),
            _ => None,
        },
        _ => None,
    }
}

/// The predicate that a goal changes by asserting or retracting clauses; `None` for other goals.
fn change(goal: &Tree) -> Option<Change> {
    let ("assert" | "asserta" | "assertz" | "retract" | "retractall", [clause]) = goal.callable()? else { return None };
    let head = match clause.callable() {
        Some((":-", [head, _])) => head,
        _ => clause,
    };
    Some(head.callable().map_or(Change::Unknown, |(name, _)| Change::Of(name.to_owned())))
}

/// Visits a term and all its subterms.
pub(super) fn each_part<'t>(tree: &'t Tree, visit: &mut impl FnMut(&'t Tree)) {
    visit(tree);
    let parts = match &tree.kind {
        TreeKind::Compound(_, parts) | TreeKind::List(parts) => parts.as_slice(),
        _ => &[],
    };
    for part in parts {
        each_part(part, visit);
    }
}

/// The goals of a conjunction, in order.
pub(super) fn conjunction(body: Option<&Tree>) -> Vec<&Tree> {
    let mut goals = Vec::new();
    let mut pending: Vec<&Tree> = body.into_iter().collect();
    while let Some(goal) = pending.pop() {
        match goal.callable() {
            Some((",", [first, second])) => pending.extend([second, first]),
            _ => goals.push(goal),
        }
    }
    goals
}

/// A call that a body makes, directly or through a meta-predicate such as `findall/3`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'t> {
    pub(super) name: &'t str,
    /// The arity of the predicate. Larger than the number of `arguments` if its caller adds some, as in `maplist/2`.
    pub(super) arity: usize,
    pub(super) arguments: &'t [Tree],
    pub(super) tree: &'t Tree,
}

/// All calls of a body, including control constructs and the goals inside meta-predicates.
pub(super) fn calls(body: &Tree) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    let mut pending = vec![(body, 0)];
    while let Some((tree, more)) = pending.pop() {
        let Some((name, arguments)) = tree.callable() else { continue };
        match (name, arguments) {
            ("^" | ":", [_, goal]) if more == 0 => {
                pending.push((goal, 0));
                continue;
            }
            // The body of a lambda expression of library `yall` is not analysed.
            (">>", [_, _]) => continue,
            _ => {}
        }
        calls.push(Call { name, arity: arguments.len() + more, arguments, tree });
        if more == 0 {
            pending.extend(goal_arguments(name, arguments).into_iter().rev());
        }
    }
    calls
}

/// The goal arguments of a meta-predicate, each with the number of arguments that the predicate adds to it.
fn goal_arguments<'t>(name: &str, arguments: &'t [Tree]) -> Vec<(&'t Tree, usize)> {
    match (name, arguments) {
        ("," | ";" | "->" | "*->" | "|" | "forall", [first, second]) => vec![(first, 0), (second, 0)],
        ("\\+" | "once" | "ignore", [goal])
        | ("with_output_to" | "freeze" | "when", [_, goal])
        | ("findall" | "bagof" | "setof" | "aggregate_all", [_, goal, _])
        | ("findall", [_, goal, _, _])
        | ("aggregate_all", [_, _, goal, _]) => vec![(goal, 0)],
        ("catch", [goal, _, recovery]) => vec![(goal, 0), (recovery, 0)],
        ("call" | "maplist", [goal, rest @ ..]) => vec![(goal, rest.len())],
        ("foldl", [goal, rest @ ..]) if rest.len() >= 3 => vec![(goal, rest.len())],
        ("include" | "exclude" | "partition", [goal, ..]) => vec![(goal, 1)],
        _ => Vec::new(),
    }
}

/// The place of a subterm, as exactly as possible. Atoms, variables and integers have the span of the enclosing term,
/// but if their text occurs in it exactly once, that occurrence is used.
pub(super) fn exact_place(place: &Place, tree: &Tree) -> Place {
    let around = &tree.span;
    let name = match &tree.kind {
        TreeKind::Atom(name) | TreeKind::Variable(name) => name.clone(),
        TreeKind::Integer(value) => value.to_string(),
        _ => return place.at(around.clone()),
    };
    let text = place.source_text().get(around.clone()).unwrap_or("");
    let is_word = |character: Option<char>| character.is_some_and(|found| found.is_alphanumeric() || found == '_');
    let mut found: Vec<Range<usize>> = text
        .match_indices(&name)
        .filter(|(at, _)| !is_word(text[..*at].chars().next_back()) && !is_word(text[at + name.len()..].chars().next()))
        .map(|(at, _)| around.start + at..around.start + at + name.len())
        .collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => place.at(only),
        _ => place.at(around.clone()),
    }
}
