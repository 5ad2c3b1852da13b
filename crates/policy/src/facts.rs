//! Reads the facts of a knowledge base from Prolog text.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use mario_domain::{FactArgument, FactKind, FactPredicate};
use mario_prolog::{Engine, Tree, TreeKind, Value};
use strsim::osa_distance;

use crate::knowledge_base::{Constant, KnowledgeBase, NodeConflict};

/// The problems of a text that should contain facts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactsError {
    /// The name of the text.
    pub name: String,
    /// At least one problem, in the order of the text.
    pub problems: Vec<FactProblem>,
}

/// A problem with a fact, or with the syntax of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactProblem {
    /// The byte range that the problem refers to; `0..0` for the whole text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl FactProblem {
    /// A problem with this part of the text.
    pub fn new(tree: &Tree, message: impl Into<String>) -> FactProblem {
        FactProblem { span: tree.span.clone(), message: message.into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> FactProblem {
        self.hint = Some(hint.into());
        self
    }
}

impl KnowledgeBase {
    /// Adds the facts of a text. If some facts are invalid, the valid ones are still added, and the error lists the
    /// problems.
    pub fn read(&mut self, engine: &Engine, name: &str, text: &str) -> Result<(), FactsError> {
        let (trees, problems) = engine.read_trees(name, text);
        let mut problems: Vec<FactProblem> = problems
            .into_iter()
            .map(|problem| FactProblem { span: problem.span, message: problem.message, hint: problem.hint })
            .collect();
        problems.extend(trees.iter().filter_map(|tree| self.push_clause(tree).err()));
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| problem.span.start);
        Err(FactsError { name: name.to_owned(), problems })
    }

    /// Adds a fact, or skips a directive that only declares predicates. An error for rules and other directives.
    fn push_clause(&mut self, tree: &Tree) -> Result<(), FactProblem> {
        match tree.callable() {
            Some((":-" | "?-", [directive])) => match directive.callable() {
                Some(("dynamic" | "discontiguous" | "multifile", [_])) => Ok(()),
                _ => Err(FactProblem::new(tree, "facts cannot have directives")
                    .hint("only `dynamic`, `discontiguous` and `multifile` may stand here, and mean nothing")),
            },
            Some((":-" | "-->", [_, _])) => Err(FactProblem::new(tree, "this is a rule")
                .hint("a knowledge base holds facts only: rules go into the policy")),
            _ => self.push_tree(tree),
        }
    }

    /// Adds a fact that was read from a text.
    pub fn push_tree(&mut self, tree: &Tree) -> Result<(), FactProblem> {
        let Some((name, arguments)) = tree.callable() else {
            return Err(FactProblem::new(tree, "this is not a fact").hint(known_facts()));
        };
        let Some(predicate) = FactPredicate::of_agents(name, arguments.len()) else {
            return Err(unknown_fact(tree, name, arguments.len()));
        };
        let expected = predicate.arguments();
        let constant = |index: usize| self.argument(&expected[index], index, &arguments[index]);
        if predicate.own() == FactPredicate::NodeWithNeighbours {
            let (node, free) = (constant(0)?, constant(1)?);
            let neighbours = arguments.get(2).map(|neighbours| self.ids(&expected[2], neighbours)).transpose()?;
            return self.push_node_fact(tree, node, free, neighbours);
        }
        let row = (0..arguments.len()).map(constant).collect::<Result<Vec<Constant>, FactProblem>>()?;
        self.push(predicate, &row);
        Ok(())
    }

    fn push_node_fact(
        &mut self,
        tree: &Tree,
        node: Constant,
        free: Constant,
        neighbours: Option<Vec<Constant>>,
    ) -> Result<(), FactProblem> {
        let shown = self.text(node);
        self.push_node_form(node, free, neighbours).map_err(|conflict| match conflict {
            NodeConflict::Twice => FactProblem::new(tree, format!("node `{shown}` has this fact already")),
            NodeConflict::OtherHardware => {
                FactProblem::new(tree, format!("node/2 and node/3 of `{shown}` differ in their free hardware"))
            }
        })
    }

    fn argument(&self, expected: &FactArgument, index: usize, tree: &Tree) -> Result<Constant, FactProblem> {
        let constant = match (expected.kind, &tree.kind) {
            (kind, TreeKind::Atom(name)) if kind.is_id() || kind == FactKind::Constant => Some(self.constant(name)),
            (FactKind::Number, TreeKind::Atom(name)) if name == "inf" || name == "infinite" => {
                Some(self.constant(name))
            }
            (FactKind::Number, TreeKind::Integer(..0)) => return Err(negative(expected, index, tree)),
            (FactKind::Number, TreeKind::Float(value)) if *value < 0.0 => {
                return Err(negative(expected, index, tree));
            }
            (_, TreeKind::Integer(value)) => Some(Value::Integer(*value)),
            (FactKind::Number | FactKind::Constant, TreeKind::Float(value)) => Some(Value::Float(*value)),
            _ => None,
        };
        constant.ok_or_else(|| wrong_kind(expected, index, tree))
    }

    fn ids(&self, expected: &FactArgument, tree: &Tree) -> Result<Vec<Constant>, FactProblem> {
        let TreeKind::List(items) = &tree.kind else { return Err(wrong_kind(expected, 2, tree)) };
        let id = FactArgument { meaning: "a neighbour", kind: FactKind::Node };
        items.iter().map(|item| self.argument(&id, 2, item).map_err(|_| wrong_kind(expected, 2, item))).collect()
    }
}

/// The problem that a number in a fact is negative.
fn negative(expected: &FactArgument, index: usize, tree: &Tree) -> FactProblem {
    FactProblem::new(tree, format!("argument {} is {}, and cannot be negative", index + 1, expected.meaning))
}

fn wrong_kind(expected: &FactArgument, index: usize, tree: &Tree) -> FactProblem {
    let found = match &tree.kind {
        TreeKind::Variable(name) => format!("the variable `{name}`"),
        TreeKind::Atom(name) => format!("the name `{name}`"),
        TreeKind::Integer(value) => format!("the number {value}"),
        TreeKind::LargeInteger(_) => "an integer of more than 64 bits".to_owned(),
        TreeKind::Float(value) => format!("the number {value:?}"),
        TreeKind::Text(text) => format!("the string \"{text}\""),
        TreeKind::List(_) => "a list".to_owned(),
        TreeKind::Compound(name, arguments) => format!("a term {name}/{}", arguments.len()),
    };
    let problem = FactProblem::new(
        tree,
        format!(
            "argument {} is {}: expected {}, found {found}",
            index + 1,
            expected.meaning,
            expected.kind.description()
        ),
    );
    match &tree.kind {
        TreeKind::Variable(name) if name != "_" => {
            problem.hint(format!("a name that starts with a capital needs quotes: `'{name}'`"))
        }
        TreeKind::Text(text) => problem.hint(format!("write `'{text}'`")),
        _ => problem,
    }
}

fn unknown_fact(tree: &Tree, name: &str, arity: usize) -> FactProblem {
    let problem = FactProblem::new(tree, format!("an agent sees no facts of {name}/{arity}"));
    let known = FactPredicate::OF_AGENTS;
    let same_name: Vec<String> =
        known.iter().filter(|predicate| predicate.name() == name).map(ToString::to_string).collect();
    if same_name.is_empty() {
        let near = known.iter().map(|fact| (osa_distance(name, fact.name()), fact)).min_by_key(|(cost, _)| *cost);
        match near.filter(|(cost, _)| cost * 3 <= name.chars().count()) {
            Some((_, fact)) => problem.hint(format!("did you mean {fact}?")),
            None => problem.hint(known_facts()),
        }
    } else {
        problem.hint(format!("did you mean {}?", same_name.join(" or ")))
    }
}

fn known_facts() -> String {
    format!("facts are {}", FactPredicate::OF_AGENTS.map(|predicate| predicate.to_string()).join(", "))
}

impl FactsError {
    /// An error about the whole text.
    pub(crate) fn whole(name: &str, message: &str) -> FactsError {
        let problem = FactProblem { span: 0..0, message: message.to_owned(), hint: None };
        FactsError { name: name.to_owned(), problems: vec![problem] }
    }
}

impl fmt::Display for FactsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot read the facts `{}`", self.name)
    }
}

impl Error for FactsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.problems.first().map(|problem| problem as &dyn Error)
    }
}

impl fmt::Display for FactProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for FactProblem {}
