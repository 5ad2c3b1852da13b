//! Static truth of goals: whether a goal always fails or always succeeds, regardless of the facts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mario_prolog::{Budget, Engine, Machine, Outcome, Tree, TreeKind};

use super::Known;
use super::text::{Indicator, Text};

/// The statically known truth of a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Truth {
    /// The goal succeeds for all facts.
    Always,
    /// The goal fails for all facts.
    Never,
    /// The truth depends on the facts, or is not known.
    Open,
}

/// What is known about the variables of a clause at one point of its body.
#[derive(Clone, Default, Debug)]
pub(super) struct Bindings {
    /// Variables that are known to be bound to a ground term, with that term.
    constants: BTreeMap<String, Tree>,
    /// Variables that occurred before this point.
    seen: BTreeSet<String>,
    /// The variable in the head that stands for the instance whose agent decides; `None` if the head has a constant
    /// there or the clause is not one of `operation/3`.
    instance: Option<String>,
}

/// Determines the truth of goals.
pub(super) struct Judge<'a> {
    text: &'a Text<'a>,
    known: &'a Known,
    engine: &'a Engine,
    machine: Machine,
    /// The predicates whose clauses are being analysed. The truth of a recursive call is `Open`.
    open: Vec<Indicator>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(text: &'a Text<'a>, known: &'a Known, engine: &'a Engine) -> Judge<'a> {
        Judge { text, known, engine, machine: Machine::new(engine), open: Vec::new() }
    }

    /// The truth of a goal under these bindings. Updates the bindings to those after the goal.
    pub(super) fn truth(&mut self, goal: &Tree, bindings: &mut Bindings) -> Truth {
        let truth = self.judged(goal, bindings);
        bindings.see(goal);
        truth
    }

    fn judged(&mut self, goal: &Tree, bindings: &mut Bindings) -> Truth {
        let Some((name, arguments)) = goal.callable() else { return Truth::Open };
        match (name, arguments) {
            ("true" | "!", []) | ("ignore", [_]) => Truth::Always,
            ("fail" | "false", []) => Truth::Never,
            ("," | "->" | "*->", [first, second]) => {
                let first = self.truth(first, bindings);
                if first == Truth::Never { Truth::Never } else { both(first, self.truth(second, bindings)) }
            }
            (";", [first, second]) => self.either(first, second, bindings),
            ("\\+", [goal]) => match self.truth(goal, &mut bindings.clone()) {
                Truth::Always => Truth::Never,
                Truth::Never => Truth::Always,
                Truth::Open => Truth::Open,
            },
            ("once" | "call", [goal]) => self.truth(goal, bindings),
            ("=", [left, right]) => self.unified(left, right, bindings),
            _ if is_test(name, arguments.len()) => self.tested(name, arguments, bindings),
            _ if self.known.fact(name, arguments.len()).is_some() => fact(name, arguments, bindings),
            _ => self.called(name, arguments, bindings),
        }
    }

    fn either(&mut self, first: &Tree, second: &Tree, bindings: &Bindings) -> Truth {
        if let Some(("->" | "*->", [condition, then])) = first.callable() {
            let mut inside = bindings.clone();
            return match self.truth(condition, &mut inside) {
                Truth::Never => self.truth(second, &mut bindings.clone()),
                Truth::Always => self.truth(then, &mut inside),
                Truth::Open => match (self.truth(then, &mut inside), self.truth(second, &mut bindings.clone())) {
                    (then, otherwise) if then == otherwise => then,
                    _ => Truth::Open,
                },
            };
        }
        match (self.truth(first, &mut bindings.clone()), self.truth(second, &mut bindings.clone())) {
            // A cut in the first branch may prevent the second from being tried.
            (Truth::Always, _) | (_, Truth::Always) if !has_cut(first) => Truth::Always,
            (Truth::Never, Truth::Never) => Truth::Never,
            _ => Truth::Open,
        }
    }

    fn unified(&mut self, left: &Tree, right: &Tree, bindings: &mut Bindings) -> Truth {
        let (left, right) = (bindings.apply(left), bindings.apply(right));
        if self.answers(&format!("{} = {}", written(&left, "A"), written(&right, "A"))) == Some(false) {
            return Truth::Never;
        }
        for (one, other) in [(&left, &right), (&right, &left)] {
            let TreeKind::Variable(name) = &one.kind else { continue };
            let is_new = name == "_" || !bindings.seen.contains(name);
            if is_ground(other) && name != "_" {
                bindings.constants.insert(name.clone(), other.clone());
            }
            if is_new {
                return Truth::Always;
            }
        }
        if is_ground(&left) && is_ground(&right) { Truth::Always } else { Truth::Open }
    }

    /// The truth of a test. It is known if all arguments are ground. For a type test other than `ground/1`, it is
    /// enough that the argument is not a variable.
    fn tested(&mut self, name: &str, arguments: &[Tree], bindings: &Bindings) -> Truth {
        let arguments: Vec<Tree> = arguments.iter().map(|argument| bindings.apply(argument)).collect();
        let is_settled = match arguments.as_slice() {
            // The type of a term does not depend on the variables inside it. `is_list/1` is an exception: it fails for
            // a list whose tail is a variable here, although the variable may be bound to a list when the policy runs.
            [argument] => !matches!(argument.kind, TreeKind::Variable(_)) && (name != "ground" || is_ground(argument)),
            arguments => arguments.iter().all(is_ground),
        };
        if !is_settled {
            return Truth::Open;
        }
        let arguments: Vec<String> = arguments.iter().map(|argument| written(argument, "A")).collect();
        match self.answers(&format!("{}({})", quoted(name), arguments.join(","))) {
            Some(true) => Truth::Always,
            Some(false) => Truth::Never,
            None => Truth::Open,
        }
    }

    fn called(&mut self, name: &str, arguments: &[Tree], bindings: &Bindings) -> Truth {
        let indicator = (name.to_owned(), arguments.len());
        if self.text.may_change(name) || self.open.contains(&indicator) {
            return Truth::Open;
        }
        if !self.text.has_clauses(name, arguments.len()) {
            // A call of a dynamic predicate without clauses fails.
            return if self.text.declared.contains(&indicator) { Truth::Never } else { Truth::Open };
        }
        let arguments: Vec<Tree> = arguments.iter().map(|argument| bindings.apply(argument)).collect();
        let goal: Vec<String> = arguments.iter().map(|argument| written(argument, "A")).collect();
        self.open.push(indicator);
        let mut found = Truth::Never;
        let clauses: Vec<_> = self.text.clauses_of(name, arguments.len()).collect();
        // A cut in one clause may prevent later clauses from being tried.
        let cuts = clauses.iter().filter_map(|clause| clause.body).any(has_cut);
        for clause in clauses {
            let (_, parameters) = clause.head.callable().unwrap_or(("", &[]));
            let head: Vec<String> = parameters.iter().map(|parameter| written(parameter, "B")).collect();
            if self.answers(&format!("f({}) = f({})", goal.join(","), head.join(","))) == Some(false) {
                continue;
            }
            let mut inside = Bindings::of_head(clause.head, None);
            let body = clause.body.map_or(Truth::Always, |body| self.truth(body, &mut inside));
            match body {
                Truth::Never => {}
                Truth::Always if takes_anything(parameters) && !cuts => {
                    found = Truth::Always;
                    break;
                }
                Truth::Always | Truth::Open => found = Truth::Open,
            }
        }
        self.open.pop();
        found
    }

    /// Whether a goal without side effects, given as text, has an answer; `None` if it cannot be parsed, raises an
    /// exception or exhausts its budget.
    fn answers(&mut self, goal: &str) -> Option<bool> {
        let budget = Budget { inferences: 10_000, ..Budget::default() };
        let mut query = self.machine.query(self.engine.library(), goal, &(), &budget).ok()?;
        match query.next_answer() {
            Outcome::Answer => Some(true),
            Outcome::NoMore => Some(false),
            _ => None,
        }
    }
}

/// The truth of a goal that reads facts: `Always` or `Open`. Every knowledge base contains the agent's node, its
/// instance and its application; all other facts may be missing.
fn fact(name: &str, arguments: &[Tree], bindings: &Bindings) -> Truth {
    let is_there = matches!(name, "node" | "service" | "serviceInstance");
    let mut names = BTreeSet::new();
    let asks_nothing = arguments.iter().enumerate().all(|(index, argument)| match &argument.kind {
        TreeKind::Variable(variable) if variable == "_" => true,
        TreeKind::Variable(variable) => {
            let is_own = index == 0 && name == "serviceInstance" && bindings.instance.as_ref() == Some(variable);
            is_own || (!bindings.seen.contains(variable) && names.insert(variable))
        }
        _ => false,
    });
    if is_there && asks_nothing { Truth::Always } else { Truth::Open }
}

fn both(first: Truth, second: Truth) -> Truth {
    match (first, second) {
        (Truth::Never, _) | (_, Truth::Never) => Truth::Never,
        (Truth::Always, Truth::Always) => Truth::Always,
        _ => Truth::Open,
    }
}

impl Bindings {
    /// What is known at the start of a clause body.
    pub(super) fn of_head(head: &Tree, instance: Option<&Tree>) -> Bindings {
        let mut bindings = Bindings::default();
        bindings.see(head);
        if let Some(Tree { kind: TreeKind::Variable(name), .. }) = instance {
            bindings.instance = Some(name.clone());
        }
        bindings
    }

    fn see(&mut self, tree: &Tree) {
        super::text::each_part(tree, &mut |part| {
            if let TreeKind::Variable(name) = &part.kind {
                self.seen.insert(name.clone());
            }
        });
    }

    /// The term with variables replaced by the ground terms that they are bound to.
    fn apply(&self, tree: &Tree) -> Tree {
        let all = |parts: &[Tree]| parts.iter().map(|part| self.apply(part)).collect();
        let kind = match &tree.kind {
            TreeKind::Variable(name) => match self.constants.get(name) {
                Some(constant) => constant.kind.clone(),
                None => tree.kind.clone(),
            },
            TreeKind::List(items) => TreeKind::List(all(items)),
            TreeKind::Compound(name, arguments) => TreeKind::Compound(name.clone(), all(arguments)),
            other => other.clone(),
        };
        Tree { kind, span: tree.span.clone() }
    }
}

/// Whether a head with these arguments matches every call.
fn takes_anything(parameters: &[Tree]) -> bool {
    let mut names = BTreeSet::new();
    parameters.iter().all(|parameter| match &parameter.kind {
        TreeKind::Variable(name) => name == "_" || names.insert(name.clone()),
        _ => false,
    })
}

fn has_cut(body: &Tree) -> bool {
    let mut found = false;
    super::text::each_part(body, &mut |part| found |= part.kind == TreeKind::Atom("!".to_owned()));
    found
}

fn is_test(name: &str, arity: usize) -> bool {
    match arity {
        1 => {
            matches!(
                name,
                "var" | "nonvar" | "atom" | "number" | "integer" | "float" | "atomic" | "compound" | "callable"
            ) || matches!(name, "is_list" | "string" | "ground")
        }
        2 => {
            matches!(name, "<" | ">" | "=<" | ">=" | "=:=" | "=\\=" | "is" | "==" | "\\==" | "\\=")
                || matches!(name, "@<" | "@>" | "@=<" | "@>=" | "member" | "memberchk")
        }
        _ => false,
    }
}

fn is_ground(tree: &Tree) -> bool {
    let mut ground = true;
    super::text::each_part(tree, &mut |part| ground &= !matches!(part.kind, TreeKind::Variable(_)));
    ground
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A term as Prolog text. `prefix` is added to the names of its variables, so that those of two clauses differ.
fn written(tree: &Tree, prefix: &str) -> String {
    let all = |parts: &[Tree]| parts.iter().map(|part| written(part, prefix)).collect::<Vec<_>>().join(",");
    match &tree.kind {
        TreeKind::Variable(name) if name == "_" => "_".to_owned(),
        TreeKind::Variable(name) => format!("{prefix}{name}"),
        TreeKind::Atom(name) => quoted(name),
        TreeKind::Integer(value) if *value < 0 => format!("({value})"),
        TreeKind::Integer(value) => value.to_string(),
        TreeKind::LargeInteger(value) => value.clone(),
        TreeKind::Float(value) => format!("({value:.17e})"),
        TreeKind::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        TreeKind::List(items) => format!("[{}]", all(items)),
        TreeKind::Compound(name, parts) if name == "[|]" && parts.len() == 2 => {
            format!("[{}|{}]", written(&parts[0], prefix), written(&parts[1], prefix))
        }
        TreeKind::Compound(name, arguments) => {
            let mut text = quoted(name);
            // Writing to a string does not fail.
            let _ = write!(text, "({})", all(arguments));
            text
        }
    }
}
