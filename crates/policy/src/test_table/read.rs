//! Reads a table from its text.

use std::sync::Arc;

use mario_domain::{
    AgentOperation, Capacity, FactPredicate, Hardware, HardwareKind, Id, Node, NodeId, Operation, OperationName,
    Request, RequestError, Target,
};
use mario_prolog::{Engine, Symbols, Tree, TreeKind, Value};

use super::{Claimed, DecisionClaim, ExpectedAct, ExpectedVerdict, Rest, Test, TestTable, Tests, VerdictClaim};
use crate::acceptance::ManagerView;
use crate::facts::{FactProblem, FactsError};
use crate::knowledge_base::{Constant, KnowledgeBase};

impl TestTable {
    /// Reads a table from a text. `name` is the name of the text in errors.
    pub fn read(engine: &Engine, name: &str, text: &str) -> Result<TestTable, FactsError> {
        let (trees, problems) = engine.read_trees(name, text);
        let mut reading = Reading {
            symbols: engine.symbols(),
            text,
            policy: None,
            shared: Vec::new(),
            problems: problems
                .into_iter()
                .map(|problem| FactProblem { span: problem.span, message: problem.message, hint: problem.hint })
                .collect(),
        };
        let tests: Vec<&Tree> = trees.iter().filter(|tree| reading.is_test(tree)).collect();
        let tests = reading.tests(&tests);
        let mut problems = reading.problems;
        problems.sort_by_key(|problem| problem.span.start);
        match tests {
            Some(tests) if problems.is_empty() => Ok(TestTable { policy: reading.policy, tests }),
            _ => Err(FactsError { name: name.to_owned(), problems }),
        }
    }
}

struct Reading<'a> {
    symbols: &'a Arc<Symbols>,
    text: &'a str,
    policy: Option<String>,
    shared: Vec<&'a Tree>,
    problems: Vec<FactProblem>,
}

impl<'a> Reading<'a> {
    /// Returns whether a term is a test. If it is not, applies or ignores a known directive, reports any other
    /// directive, a rule, or a `test` of the wrong arity as a problem, and stores any other term as a shared fact.
    fn is_test<'t: 'a>(&mut self, tree: &'t Tree) -> bool {
        match tree.callable() {
            Some(("test", [_, _, _] | [_, _, _, _])) => return true,
            Some((":-", [directive])) => match directive.callable() {
                Some(("policy", [file])) if file.callable().is_some_and(|(_, parts)| parts.is_empty()) => {
                    self.policy = file.callable().map(|(name, _)| name.to_owned());
                }
                Some(("dynamic" | "discontiguous" | "multifile", [_])) => {}
                _ => self.problems.push(
                    FactProblem::new(tree, "a table has no such directive")
                        .hint("`:- policy('name.pl')` says which policy is tested"),
                ),
            },
            Some((":-", _)) => self.problems.push(FactProblem::new(tree, "a table holds facts and tests, no rules")),
            Some(("test", arguments)) if !matches!(arguments.len(), 3 | 4) => self.problems.push(
                FactProblem::new(tree, format!("a test has 3 or 4 arguments, and this has {}", arguments.len()))
                    .hint("write `test(Name, Facts, Operations).`, or for an acceptance policy `test(Name, Facts, Request, Verdict).`"),
            ),
            _ => self.shared.push(tree),
        }
        false
    }

    fn tests(&mut self, trees: &[&Tree]) -> Option<Tests> {
        let Some((_, first)) = trees.first().and_then(|tree| tree.callable()) else {
            let whole = FactProblem { span: 0..0, message: "there is no test here".to_owned(), hint: None };
            self.problems.push(whole.hint("write `test(Name, Facts, Operations).`"));
            return None;
        };
        if first.len() == 3 {
            let tests = self.each(trees, 3, Reading::decision_claim);
            Some(Tests::OfPolicy(tests))
        } else {
            let tests = self.each(trees, 4, Reading::verdict_claim);
            Some(Tests::OfAcceptance(tests))
        }
    }

    fn each<Claim>(
        &mut self,
        trees: &[&Tree],
        arity: usize,
        claim: fn(&Self, &Tree, &[Tree]) -> Result<Claim, FactProblem>,
    ) -> Vec<Test<Claim>> {
        let mut tests = Vec::new();
        for tree in trees {
            let Some((_, arguments)) = tree.callable() else { continue };
            let test = if arguments.len() == arity {
                test_name(&arguments[0]).and_then(|name| {
                    let line = self.text[..tree.span.start].matches('\n').count() + 1;
                    claim(self, tree, arguments).map(|claim| Test { name, line, claim })
                })
            } else {
                let message = "one table cannot test a policy and an acceptance policy";
                Err(FactProblem::new(tree, message).hint("test/3 is for a policy, test/4 for an acceptance policy"))
            };
            match test {
                Ok(test) => tests.push(test),
                // An error in a shared fact occurs in every test, but is reported once.
                Err(problem) if self.problems.contains(&problem) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
        tests
    }

    fn decision_claim(&self, tree: &Tree, arguments: &[Tree]) -> Result<DecisionClaim, FactProblem> {
        let (expected, rest) = expected_operations(&arguments[2])?;
        let mut facts = KnowledgeBase::new(self.symbols);
        for fact in self.facts_of(&arguments[1])? {
            facts.push_tree(fact)?;
        }
        let instance = facts.find_instance(None).map_err(|error| {
            FactProblem::new(tree, error.to_string()).hint("give the test exactly one `serviceInstance/3` fact")
        })?;
        Ok(DecisionClaim { facts, instance, expected, rest })
    }

    fn verdict_claim(&self, tree: &Tree, arguments: &[Tree]) -> Result<VerdictClaim, FactProblem> {
        let mut agent_facts = KnowledgeBase::new(self.symbols);
        let mut others = Vec::new();
        for fact in self.facts_of(&arguments[1])? {
            match fact.callable() {
                Some(("owner" | "capacity", [_, _]) | ("capacity", [_, _, _])) => others.push(fact),
                _ => agent_facts.push_tree(fact)?,
            }
        }
        if let Some(("initiative", [])) = arguments[2].callable() {
            let claimed = Claimed::Initiative(expected_initiative(&arguments[3])?);
            return Ok(VerdictClaim { view: manager_view(tree, agent_facts, &others)?, claimed });
        }
        let request = request(&arguments[2])?;
        let application = agent_facts.id(request.application().id());
        let needed = agent_facts.services().find(|row| row[0] == application).and_then(|row| units(row[1]));
        let Some(needed) = needed else {
            let message = format!("there is no service/4 fact of `{}`", request.application());
            return Err(FactProblem::new(tree, message));
        };
        // Only operations that place an instance are judged with the hardware that it needs.
        let needed = if request.operation().name().asks_for_place() {
            with_kinds(
                tree,
                &agent_facts,
                needed,
                agent_facts.rows::<3>(FactPredicate::Needs).filter(|row| row[0] == application),
            )?
        } else {
            Hardware::NONE
        };
        let view = manager_view(tree, agent_facts, &others)?;
        let expected = expected_verdict(&arguments[3])?;
        Ok(VerdictClaim { view, claimed: Claimed::Verdict { request, needed, expected } })
    }

    /// The facts of a test: its own facts, and the shared facts of other predicates.
    fn facts_of<'t>(&self, own: &'t Tree) -> Result<Vec<&'t Tree>, FactProblem>
    where
        'a: 't,
    {
        let TreeKind::List(own_facts) = &own.kind else {
            return Err(FactProblem::new(own, "the facts of a test are a list"));
        };
        let replaced: Vec<&str> = own_facts.iter().filter_map(predicate_name).collect();
        let shared = self.shared.iter().copied();
        let kept = shared.filter(|fact| predicate_name(fact).is_none_or(|name| !replaced.contains(&name)));
        Ok(kept.chain(own_facts).collect())
    }
}

/// The name of a fact's predicate, with the alias `refused` as `inhibited`; `None` if the term is not a fact.
fn predicate_name(tree: &Tree) -> Option<&str> {
    tree.callable().map(|(name, _)| if name == "refused" { "inhibited" } else { name })
}

fn test_name(tree: &Tree) -> Result<String, FactProblem> {
    match &tree.kind {
        TreeKind::Atom(name) | TreeKind::Text(name) if !name.is_empty() => Ok(name.clone()),
        _ => {
            Err(FactProblem::new(tree, "a test starts with its name").hint("write it in quotes: `'stays where it is'`"))
        }
    }
}

fn expected_operations(tree: &Tree) -> Result<(Vec<[String; 3]>, Rest), FactProblem> {
    let mut expected = Vec::new();
    let mut rest = tree;
    loop {
        match &rest.kind {
            TreeKind::List(items) => {
                for item in items {
                    expected.push(operation(item)?);
                }
                return Ok((expected, Rest::None));
            }
            TreeKind::Compound(name, parts) if name == "[|]" && parts.len() == 2 => {
                expected.push(operation(&parts[0])?);
                rest = &parts[1];
            }
            TreeKind::Variable(_) if !expected.is_empty() => return Ok((expected, Rest::Any)),
            _ => {
                return Err(FactProblem::new(tree, "the expected operations are a list")
                    .hint("write `[operation(migrate, s1, n41)]`, or `[]` for none; of an acceptance policy, `test(Name, Facts, Request, Verdict)`"));
            }
        }
    }
}

fn operation(tree: &Tree) -> Result<[String; 3], FactProblem> {
    let wrong = || {
        FactProblem::new(tree, "this is not an operation")
            .hint("write it as the policy does: `operation(replicate, s1, n41)`")
    };
    match tree.callable() {
        Some(("operation", [name, instance, target])) => {
            let text = |tree: &Tree| id(tree).map(|id| id.to_string()).ok_or_else(wrong);
            Ok([text(name)?, text(instance)?, text(target)?])
        }
        _ => Err(wrong()),
    }
}

fn id(tree: &Tree) -> Option<Id> {
    match &tree.kind {
        TreeKind::Atom(name) => Id::name(name).ok(),
        TreeKind::Integer(value) => Some(Id::Number(*value)),
        _ => None,
    }
}

fn request(tree: &Tree) -> Result<Request, FactProblem> {
    let wrong = |hint: String| FactProblem::new(tree, "this is not a request").hint(hint);
    let shape = || {
        wrong(
            "write `request(Operation, Instance, Application, From, To)`, with `none` for what there is not".to_owned(),
        )
    };
    let Some(("request", [operation, instance, application, from, to])) = tree.callable() else { return Err(shape()) };
    let ids = [operation, instance, application, from, to].map(id);
    let [Some(operation), Some(instance), Some(application), Some(from), Some(to)] = ids else { return Err(shape()) };
    let node = |id: Id| NodeId::try_from(id).map_err(|error| wrong(error.to_string()));
    let target = |to: Id| node(to).map(Target::Node);
    let by_agent = |operation: Operation| {
        Request::by_agent(instance.clone().into(), instance.into(), node(from)?, application.clone().into(), operation)
            .map_err(|error: RequestError| wrong(error.to_string()))
    };
    match operation.to_string().as_str() {
        "deploy" => Ok(Request::deploy(application.into(), node(to)?)),
        word => match AgentOperation::ALL.into_iter().find(|operation| operation.as_str() == word) {
            // Of these operations, only adapt uses the argument of `towards`, as its flavour. The flavour is arbitrary,
            // because a request term names none.
            Some(operation) if !operation.asks_for_place() => by_agent(operation.towards(Target::Own)),
            Some(operation) => by_agent(operation.towards(target(to)?)),
            None => {
                let words = OperationName::ALL.map(OperationName::as_str).join(", ");
                Err(wrong(format!("operations are {words}")))
            }
        },
    }
}

fn expected_verdict(tree: &Tree) -> Result<ExpectedVerdict, FactProblem> {
    match tree.callable() {
        Some(("accepted", [])) => Ok(ExpectedVerdict::Accepted),
        Some(("inhibited", [])) => Ok(ExpectedVerdict::Inhibited),
        Some(("inhibited", [reason])) if id(reason).is_some() => {
            Ok(ExpectedVerdict::InhibitedBecause(id(reason).map(|id| id.to_string()).unwrap_or_default()))
        }
        _ => Err(FactProblem::new(tree, "this is not a verdict").hint(
            "verdicts are `accepted`, `inhibited` and `inhibited(Reason)`; a full node gives the reason `capacity`",
        )),
    }
}

/// Reads what the owner of a node is expected to shrink and evict. The result has shrinks before evictions.
fn expected_initiative(tree: &Tree) -> Result<Vec<ExpectedAct>, FactProblem> {
    let wrong = |tree: &Tree, message: &str| {
        FactProblem::new(tree, message).hint(
            "write `[evict(s1, nearly_full)]` or `[shrink(s1, lite, nearly_full)]`, with `_` for any reason, or `[]` for nothing",
        )
    };
    let TreeKind::List(items) = &tree.kind else { return Err(wrong(tree, "what an owner wants is a list")) };
    let mut acts = Vec::new();
    for item in items {
        let (instance, flavour, reason) = match item.callable() {
            Some(("evict", [instance, reason])) => (instance, None, reason),
            Some(("shrink", [instance, flavour, reason])) => (instance, Some(flavour), reason),
            _ => return Err(wrong(item, "this is nothing that an owner can want")),
        };
        let text = |tree: &Tree| id(tree).map(|id| id.to_string()).ok_or_else(|| wrong(tree, "this is not a name"));
        let reason = if matches!(reason.kind, TreeKind::Variable(_)) { None } else { Some(text(reason)?) };
        acts.push(ExpectedAct { instance: text(instance)?, flavour: flavour.map(text).transpose()?, reason });
    }
    acts.sort_by_key(|act| act.flavour.is_none());
    Ok(acts)
}

/// The view of the manager of the only node in the facts.
fn manager_view(tree: &Tree, facts: KnowledgeBase, others: &[&Tree]) -> Result<ManagerView, FactProblem> {
    let found: Vec<_> = facts.nodes().collect();
    let [own] = found[..] else {
        return Err(FactProblem::new(tree, "a manager sees its own node: there must be one node fact"));
    };
    let wrong = |message: String| FactProblem::new(tree, message);
    let node_id = |constant| {
        let id = facts.to_id(constant).ok_or_else(|| wrong("a node has a name or a number".to_owned()))?;
        NodeId::try_from(id).map_err(|error| wrong(error.to_string()))
    };
    let node = node_id(own.node)?;
    let free =
        amount(&facts, own.free).ok_or_else(|| wrong("free hardware is a number of units or `inf`".to_owned()))?;
    let neighbours = own.neighbours.iter().map(|&neighbour| node_id(neighbour)).collect::<Result<Vec<_>, _>>()?;
    let free = match free {
        Capacity::Unbounded => Capacity::Unbounded,
        Capacity::Bounded(units) => {
            Capacity::Bounded(with_kinds(tree, &facts, units, facts.rows::<3>(FactPredicate::Free))?)
        }
    };
    let mut capacity = free;
    let mut kinds = Vec::new();
    let mut owners = Vec::new();
    for other in others {
        match other.callable() {
            Some(("owner", [application, owner])) => match (id(application), id(owner)) {
                (Some(application), Some(owner)) => owners.push([facts.id(&application), facts.id(&owner)]),
                _ => return Err(FactProblem::new(other, "an owner and an application are names or integers")),
            },
            Some((_, [_, whole])) => {
                capacity = match (&whole.kind, capacity) {
                    (TreeKind::Integer(units), Capacity::Bounded(free)) if *units >= 0 => {
                        Capacity::Bounded(free.with(HardwareKind::Units, *units as u64).unwrap_or(free))
                    }
                    (TreeKind::Integer(units), Capacity::Unbounded) if *units >= 0 => Capacity::units(*units as u64),
                    (TreeKind::Atom(word), _) if word == "inf" => Capacity::Unbounded,
                    _ => return Err(FactProblem::new(other, "a capacity is a number of units or `inf`")),
                };
            }
            Some((_, [node, kind, whole])) => match (id(node), id(kind), id(whole)) {
                (Some(node), Some(kind), Some(whole)) => kinds.push([node, kind, whole].map(|id| facts.id(&id))),
                _ => return Err(FactProblem::new(other, "a capacity has a node, a kind and a number")),
            },
            _ => {}
        }
    }
    if let Capacity::Bounded(hardware) = capacity {
        capacity = Capacity::Bounded(with_kinds(tree, &facts, hardware, kinds.into_iter())?);
    }
    let node = Node::new(node, capacity, neighbours).map_err(|error| wrong(error.to_string()))?;
    Ok(ManagerView::from_facts(facts, &node, free, &owners))
}

/// `units` with the amounts in `rows`, which replace those of the same kind. The second argument of a row is a kind,
/// the third an amount.
fn with_kinds(
    tree: &Tree,
    facts: &KnowledgeBase,
    units: Hardware,
    rows: impl Iterator<Item = [Constant; 3]>,
) -> Result<Hardware, FactProblem> {
    let mut hardware = units;
    for [_, kind, amount] in rows {
        let word = facts.text(kind);
        let Some(kind) = HardwareKind::with_name(&word) else {
            let known = HardwareKind::ALL.map(HardwareKind::as_str).join(", ");
            return Err(FactProblem::new(
                tree,
                format!("there is no hardware of the kind `{word}`: known are {known}"),
            ));
        };
        let whole = match amount {
            Value::Integer(amount) => u64::try_from(amount).ok(),
            _ => None,
        };
        let with_kind = whole.and_then(|amount| hardware.with(kind, amount));
        hardware = with_kind.ok_or_else(|| {
            FactProblem::new(tree, format!("an amount of {word} is a whole number, where the node's units are one"))
        })?;
    }
    Ok(hardware)
}

fn amount(facts: &KnowledgeBase, constant: Value<'static>) -> Option<Capacity> {
    if constant == facts.constant("inf") {
        return Some(Capacity::Unbounded);
    }
    units(constant).map(Capacity::Bounded)
}

fn units(constant: Value<'static>) -> Option<Hardware> {
    match constant {
        Value::Integer(units) => u64::try_from(units).ok().map(Hardware::units),
        _ => None,
    }
}
