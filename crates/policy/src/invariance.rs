//! Tries to prove that a policy is invariant under renaming: if nodes and instances are renamed, its proposals are the
//! same up to the names.
//!
//! Start at [`name_invariance`]. A policy is invariant if its solutions for a renamed knowledge base are its renamed
//! solutions for the original. Only these renamings are considered: `self` keeps its name, different names stay
//! different, and the order of the names is preserved, both among nodes (including `self`) and among instances.
//!
//! The proof is a type inference. Every argument of every predicate and every variable has a kind: nodes, instances,
//! values that no renaming affects, or lists or terms of these. The facts determine some kinds, and each goal requires
//! some kinds to be equal. A built-in predicate may be called if it commutes with renaming for the kinds of its
//! arguments: it only moves them, or compares values of one kind with each other. So two runs that differ only in names
//! execute the same goals, with the same results up to the names.
//!
//! **Invariant:** everything that cannot be analysed counts as dependent on names, such as a predicate without a
//! signature or a goal that is a variable.
//!
//! Not here: the cache that uses this proof (`simulator`).

mod kinds;

use std::collections::BTreeMap;
use std::fmt::Write;

use mario_domain::{FactKind, FactPredicate, KeyPart, SELF};
use mario_prolog::{Engine, Meaning, Program, Tree, TreeKind};

use crate::policy::{NUMBERED_OPERATION, Policy};
use kinds::{APPLICATION, Clash, FIXED, INSTANCE, Kind, Kinds, NODE, Shape};

/// The conditions under which a policy is invariant under renaming.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameInvariance {
    /// Which `fact/3` facts are allowed.
    pub facts: FactsAllowed,
    /// Whether the policy may read the neighbours in `node/3`. If not, neither their names nor their number matter;
    /// only neighbours that occur in other facts do.
    pub sees_neighbours: bool,
    /// Whether the policy may read applications other than its own, or depend on the names of applications.
    pub sees_applications: bool,
}

/// The `fact/3` facts under which a policy is invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactsAllowed {
    /// Facts that contain no names of renamed nodes or instances.
    Fixed,
    /// No facts, so that a goal that reads `fact/3` always fails.
    None,
}

/// Why a policy may depend on names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameDependence {
    /// The predicate of the policy and the reason, as `name/arity: reason`, or the reason alone.
    pub place: String,
}

/// The signatures of the built-in predicates.
const SIGNATURES: &str = include_str!("invariance/signatures.pl");

/// The maximum nesting of goals that is analysed; deeper goals count as dependent on names.
const DEPTH_MAX: usize = 100;

/// Proves that a policy is invariant under renaming, or returns why the last attempt of a proof fails. There are up to
/// four attempts: two with extra facts, then two without; the first of each two also lets applications be renamed.
pub fn name_invariance(engine: &Engine, policy: &Policy) -> Result<NameInvariance, NameDependence> {
    if let Some(function) = policy.outside() {
        return Err(NameDependence { place: format!("the function `{function}` decides") });
    }
    let signatures = Signatures::new(engine);
    let look = |facts, applications| Inference::new(policy.program(), &signatures, facts, applications).run();
    let attempt = |facts| look(facts, APPLICATION).or_else(|_| look(facts, FIXED));
    attempt(FactsAllowed::Fixed).or_else(|_| attempt(FactsAllowed::None)).map_err(|place| NameDependence { place })
}

type Indicator = (String, usize);

/// The signatures by name and arity.
struct Signatures(BTreeMap<Indicator, Vec<Tree>>);

impl Signatures {
    fn new(engine: &Engine) -> Signatures {
        let text = format!("{SIGNATURES}{}", signatures_of_facts());
        let (trees, problems) = engine.read_trees("signatures.pl", &text);
        debug_assert!(problems.is_empty(), "{problems:?}");
        let mut signatures: BTreeMap<Indicator, Vec<Tree>> = BTreeMap::new();
        for tree in trees {
            if let Some((name, arguments)) = tree.callable() {
                signatures.entry((name.to_owned(), arguments.len())).or_default().push(tree);
            }
        }
        Signatures(signatures)
    }

    /// The kinds of the arguments in the signature that applies to a goal with these arguments. Of several signatures,
    /// the one whose first argument has the same name and arity as that of the goal. `None` if no signature applies.
    fn find(&self, indicator: &Indicator, arguments: &[Tree]) -> Option<&[Tree]> {
        let found = match self.0.get(indicator)?.as_slice() {
            [only] => only,
            several => several.iter().find(|signature| {
                let first = |tree: &Tree| tree.callable().map(|(name, parts)| (name.to_owned(), parts.len()));
                let expected = signature.callable().and_then(|(_, kinds)| first(&kinds[0]));
                expected.is_some() && expected == arguments.first().and_then(first)
            })?,
        };
        found.callable().map(|(_, kinds)| kinds)
    }
}

/// The signatures of the facts that agents may share decisions about. A policy that reads other facts has no proof.
fn signatures_of_facts() -> String {
    let is_shared = |predicate: &FactPredicate| predicate.row().in_key != KeyPart::Excluded;
    let mut text = String::new();
    for predicate in FactPredicate::OF_AGENTS.into_iter().filter(is_shared) {
        let kinds = predicate.arguments().iter().map(|argument| match argument.kind {
            FactKind::Application => "application",
            FactKind::Instance => "instance",
            FactKind::Node => "node",
            FactKind::Nodes => "[node]",
            FactKind::Word | FactKind::Number | FactKind::Constant => "fixed",
        });
        let kinds: Vec<&str> = kinds.collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}({}).", predicate.name(), kinds.join(", "));
    }
    text
}

/// The kinds of the variables of one clause or signature.
type Variables = BTreeMap<String, Kind>;

/// An argument of a goal.
enum Given<'t> {
    Tree(&'t Tree),
    /// An argument that is added by a meta-predicate such as `maplist/2`, of which only the kind is known.
    Kind(Kind),
}

/// The state of the inference.
struct Inference<'a> {
    program: &'a Program,
    signatures: &'a Signatures,
    facts: FactsAllowed,
    /// The kind of applications: [`APPLICATION`] if they may be renamed, too; [`FIXED`] if they keep their names.
    applications: Kind,
    kinds: Kinds,
    /// The kinds of the arguments of each called predicate that the policy defines.
    predicates: BTreeMap<Indicator, Vec<Kind>>,
    /// Predicates whose clauses are still to be analysed.
    pending: Vec<(Indicator, Vec<Tree>)>,
    /// The variables of the current clause.
    variables: Variables,
    /// The number of occurrences of each variable in the current clause.
    occurrences: BTreeMap<String, usize>,
    /// The variables that are known to be bound to the agent's own application at the current goal.
    own: Vec<String>,
    sees_neighbours: bool,
}

impl<'a> Inference<'a> {
    fn new(program: &'a Program, signatures: &'a Signatures, facts: FactsAllowed, applications: Kind) -> Inference<'a> {
        Inference {
            program,
            signatures,
            facts,
            applications,
            kinds: Kinds::new(),
            predicates: BTreeMap::new(),
            pending: Vec::new(),
            variables: BTreeMap::new(),
            occurrences: BTreeMap::new(),
            own: Vec::new(),
            sees_neighbours: false,
        }
    }

    /// Analyses all code that a decision can reach. The error is the first reason found why a name may matter.
    fn run(mut self) -> Result<NameInvariance, String> {
        // A library predicate that calls a redefined predicate by name would call the definition in the text, so the
        // signatures would be wrong.
        if self.program.redefines_library() {
            return Err("it redefines a predicate of the library".to_owned());
        }
        let operation = [FIXED, INSTANCE, NODE, FIXED];
        let given = operation.map(Given::Kind);
        self.call(NUMBERED_OPERATION, &given, 0)?;
        while let Some((indicator, clauses)) = self.pending.pop() {
            for clause in &clauses {
                self.clause(&indicator, clause).map_err(|reason| {
                    let (name, arity) = (indicator.0.trim_start_matches('$'), indicator.1);
                    let arity = if indicator.0 == NUMBERED_OPERATION { arity - 1 } else { arity };
                    format!("{name}/{arity}: {reason}")
                })?;
            }
        }
        let sees_applications = self.applications == FIXED;
        Ok(NameInvariance { facts: self.facts, sees_neighbours: self.sees_neighbours, sees_applications })
    }

    fn clause(&mut self, indicator: &Indicator, clause: &Tree) -> Result<(), String> {
        self.variables.clear();
        self.occurrences.clear();
        self.own.clear();
        count_variables(clause, &mut self.occurrences);
        let parts = clause.callable().filter(|(name, _)| *name == ":-").map(|(_, parts)| parts);
        let Some([head, body]) = parts else { return Err("a clause is not understood".to_owned()) };
        let arguments = match &head.kind {
            TreeKind::Compound(_, arguments) => arguments.as_slice(),
            TreeKind::Atom(_) => &[],
            _ => return Err("a head is not understood".to_owned()),
        };
        let expected = self.predicates[indicator].clone();
        for (argument, kind) in arguments.iter().zip(expected) {
            self.demand(argument, kind, "its head")?;
        }
        self.goal(body, 0)
    }

    /// Analyses a body, or a part of one.
    fn goal(&mut self, mut tree: &Tree, depth: usize) -> Result<(), String> {
        // A long conjunction nests to the right, so it is analysed in a loop.
        while let TreeKind::Compound(name, parts) = &tree.kind
            && let (",", [first, second]) = (name.as_str(), parts.as_slice())
        {
            self.goal(first, depth + 1)?;
            tree = second;
        }
        match tree.callable() {
            // `Variable^Goal`, as in `setof/3` and `bagof/3`.
            Some(("^", [_, goal])) => self.goal(goal, depth + 1),
            Some(("serviceInstance", [_, Tree { kind: TreeKind::Variable(application), .. }, _])) => {
                self.closure(tree, &[], depth)?;
                // There is only one such fact, about the agent's own instance.
                self.own.push(application.clone());
                Ok(())
            }
            _ => self.closure(tree, &[], depth),
        }
    }

    /// Analyses a goal that is passed to a meta-predicate. The variables that it adds to `own` are removed afterwards,
    /// because its bindings may be undone.
    fn inner_goal(&mut self, tree: &Tree, depth: usize) -> Result<(), String> {
        let known = self.own.len();
        self.goal(tree, depth)?;
        self.own.truncate(known);
        Ok(())
    }

    /// Analyses a goal that is called with additional arguments of the kinds `more`.
    fn closure(&mut self, tree: &Tree, more: &[Kind], depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("its goals are nested too deeply to be looked at".to_owned());
        }
        let Some((name, arguments)) = tree.callable() else {
            return Err("the goal that it calls is a variable".to_owned());
        };
        let given: Vec<Given<'_>> =
            arguments.iter().map(Given::Tree).chain(more.iter().copied().map(Given::Kind)).collect();
        self.call(name, &given, depth)
    }

    fn call(&mut self, name: &str, given: &[Given<'_>], depth: usize) -> Result<(), String> {
        let indicator = (name.to_owned(), given.len());
        let shown = format!("{name}/{}", given.len());
        let meaning = match name {
            NUMBERED_OPERATION => self.program.helper_meaning(name, given.len()),
            _ => self.program.meaning(name, given.len()),
        };
        match meaning {
            Meaning::Clauses(clauses) => {
                let expected = self.predicate(indicator, clauses);
                for (given, kind) in given.iter().zip(expected) {
                    self.give(given, kind, &shown)?;
                }
                Ok(())
            }
            Meaning::Relation if name == "fact" && self.facts == FactsAllowed::None => {
                // If there are no facts, nothing determines the kinds of the arguments, so each gets an open kind.
                for given in given {
                    let kind = self.kinds.open();
                    self.give(given, kind, &shown)?;
                }
                Ok(())
            }
            Meaning::Relation if indicator == ("node".to_owned(), 3) => {
                self.sees_neighbours |= !self.is_ignored(&given[2]);
                self.call_known(&indicator, given, &shown, depth)
            }
            Meaning::Relation if name == "service" && self.applications == APPLICATION => {
                let is_own = |given: &Given<'_>| matches!(given, Given::Tree(Tree { kind: TreeKind::Variable(name), .. }) if self.own.contains(name));
                if !is_own(&given[0]) {
                    return Err("it may look at other applications".to_owned());
                }
                self.call_known(&indicator, given, &shown, depth)
            }
            // The cut is not a predicate.
            Meaning::Unknown if name == "!" && given.is_empty() => Ok(()),
            Meaning::Relation | Meaning::Language => self.call_known(&indicator, given, &shown, depth),
            Meaning::Host | Meaning::Unknown => Err(format!("it is not known what {shown} does")),
        }
    }

    /// Whether an argument is a variable that occurs nowhere else.
    fn is_ignored(&self, given: &Given<'_>) -> bool {
        let Given::Tree(Tree { kind: TreeKind::Variable(name), .. }) = given else { return false };
        self.occurrences.get(name) == Some(&1)
    }

    /// The kinds of the arguments of a predicate that the policy defines. At the first call they are open, and the
    /// clauses are queued for analysis.
    fn predicate(&mut self, indicator: Indicator, clauses: Vec<Tree>) -> Vec<Kind> {
        if let Some(known) = self.predicates.get(&indicator) {
            return known.clone();
        }
        let kinds: Vec<Kind> = (0..indicator.1).map(|_| self.kinds.open()).collect();
        self.predicates.insert(indicator.clone(), kinds.clone());
        self.pending.push((indicator, clauses));
        kinds
    }

    /// Analyses a goal that reads facts or calls a built-in predicate, by its signature. Signatures are polymorphic, so
    /// each call gets new kinds for their variables.
    fn call_known(
        &mut self,
        indicator: &Indicator,
        given: &[Given<'_>],
        shown: &str,
        depth: usize,
    ) -> Result<(), String> {
        let written: Vec<Tree> = given
            .iter()
            .map_while(|given| match given {
                Given::Tree(tree) => Some(Tree::clone(tree)),
                Given::Kind(_) => None,
            })
            .collect();
        let signatures = self.signatures;
        let signature = signatures.find(indicator, &written);
        let expected = signature.ok_or_else(|| format!("{shown} may look at names"))?;
        let mut variables = Variables::new();
        for (given, expected) in given.iter().zip(expected) {
            match (expected.callable(), given) {
                (Some(("goal", [])), Given::Tree(tree)) => self.inner_goal(tree, depth + 1)?,
                (Some(("call", kinds)), Given::Tree(tree)) if !kinds.is_empty() => {
                    let more: Vec<Kind> = kinds.iter().map(|kind| self.expected(kind, &mut variables)).collect();
                    self.closure(tree, &more, depth + 1)?;
                }
                (Some(("goal", []) | ("call", _)), Given::Kind(_)) => {
                    return Err("the goal that it calls is a variable".to_owned());
                }
                _ => {
                    let kind = self.expected(expected, &mut variables);
                    self.give(given, kind, shown)?;
                }
            }
        }
        Ok(())
    }

    fn give(&mut self, given: &Given<'_>, kind: Kind, place: &str) -> Result<(), String> {
        match given {
            Given::Tree(tree) => self.demand(tree, kind, place),
            Given::Kind(found) => self.join(*found, kind, place),
        }
    }

    fn demand(&mut self, tree: &Tree, kind: Kind, place: &str) -> Result<(), String> {
        let found = self.found(tree).map_err(|clash| clash.said(place))?;
        self.join(found, kind, place)
    }

    fn join(&mut self, found: Kind, kind: Kind, place: &str) -> Result<(), String> {
        self.kinds.join(found, kind).map_err(|clash| clash.said(place))
    }

    /// The kind of a term of the text.
    fn found(&mut self, tree: &Tree) -> Result<Kind, Clash> {
        Ok(match &tree.kind {
            TreeKind::Variable(name) => kind_of(name, &mut self.variables, &mut self.kinds),
            TreeKind::Atom(name) if name == SELF => self.kinds.add(Shape::Own),
            TreeKind::List(items) => {
                let element = self.kinds.open();
                for item in items {
                    let found = self.found(item)?;
                    self.kinds.join(found, element)?;
                }
                self.kinds.add(Shape::List(element))
            }
            // A partial list.
            TreeKind::Compound(name, parts) if name == "[|]" && parts.len() == 2 => {
                let (first, rest) = (self.found(&parts[0])?, self.found(&parts[1])?);
                let list = self.kinds.add(Shape::List(first));
                self.kinds.join(rest, list)?;
                list
            }
            TreeKind::Compound(name, parts) => {
                let parts = parts.iter().map(|part| self.found(part)).collect::<Result<_, Clash>>()?;
                self.kinds.add(Shape::Compound(name.clone(), parts))
            }
            _ => FIXED,
        })
    }

    /// The kind for a part of a signature.
    fn expected(&mut self, tree: &Tree, variables: &mut Variables) -> Kind {
        match &tree.kind {
            TreeKind::Variable(name) if name == "_" => self.kinds.open(),
            TreeKind::Variable(name) => kind_of(name, variables, &mut self.kinds),
            TreeKind::Atom(name) if name == "node" => NODE,
            TreeKind::Atom(name) if name == "instance" => INSTANCE,
            TreeKind::Atom(name) if name == "application" => self.applications,
            TreeKind::List(items) => {
                let element = items.first().map_or(FIXED, |item| self.expected(item, variables));
                self.kinds.add(Shape::List(element))
            }
            TreeKind::Compound(name, parts) => {
                let parts = parts.iter().map(|part| self.expected(part, variables)).collect();
                self.kinds.add(Shape::Compound(name.clone(), parts))
            }
            _ => FIXED,
        }
    }
}

fn count_variables(tree: &Tree, occurrences: &mut BTreeMap<String, usize>) {
    match &tree.kind {
        TreeKind::Variable(name) => *occurrences.entry(name.clone()).or_default() += 1,
        TreeKind::List(parts) | TreeKind::Compound(_, parts) => {
            parts.iter().for_each(|part| count_variables(part, occurrences));
        }
        _ => {}
    }
}

fn kind_of(name: &str, variables: &mut Variables, kinds: &mut Kinds) -> Kind {
    *variables.entry(name.to_owned()).or_insert_with(|| kinds.open())
}
