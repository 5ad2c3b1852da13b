//! The predicates of the facts that policies read.
//!
//! Everything that is particular to one predicate is a column of its [`FactRow`], and [`table`] has the rows. Knowledge
//! bases, decision cache, explanations, small worlds, the Python package and the documentation read the rows, so
//! a new fact is a new row and the code that supplies it.

mod table;

use std::fmt;

pub use table::FactPredicate;

/// The key of the `fact/3` with the random number of an evaluation, which every policy that reads the key gets.
pub const RANDOM: &str = "random";

/// What is known about the facts of one predicate.
#[derive(Debug)]
pub struct FactRow {
    /// The name of the predicate.
    pub name: &'static str,
    /// The arguments, in order.
    pub arguments: &'static [FactArgument],
    /// The predicate whose facts these are under another name or with fewer arguments; `None` if they are its own.
    pub alias_of: Option<FactPredicate>,
    /// What a fact says, for the documentation of policies. Empty for an alias, whose facts the other row describes.
    pub says: &'static str,
    /// Whose policies see the facts.
    pub seen_by: SeenBy,
    /// Whether clauses of a policy may replace the facts.
    pub defined_by: DefinedBy,
    /// How long the facts last.
    pub lifetime: Lifetime,
    /// Which part of the key of a shared decision contains the facts.
    pub in_key: KeyPart,
    /// What a counterfactual explanation may change; `None` if these facts are never changed.
    pub changes: Option<Changes>,
    /// The variation of the small worlds that is explored for a policy that reads the facts.
    pub small_worlds: SmallWorlds,
}

/// An argument of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FactArgument {
    /// Its meaning, for users.
    pub meaning: &'static str,
    /// The kind of its values.
    pub kind: FactKind,
}

/// The kind of values of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactKind {
    /// The id of an application.
    Application,
    /// The id of an instance.
    Instance,
    /// The id of a node, or `self`.
    Node,
    /// A list of ids of nodes.
    Nodes,
    /// A name or an integer that names none of the above.
    Word,
    /// A number, `inf` or `infinite`.
    Number,
    /// A name or a number.
    Constant,
}

/// Whose policies see facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeenBy {
    /// The policies of agents.
    Agents,
    /// The acceptance policies of node managers.
    Managers,
    /// Both.
    Both,
}

/// Who defines a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefinedBy {
    /// The host. A policy must not define the predicate.
    Host,
    /// The host, unless the policy has clauses of the predicate.
    HostUnlessPolicy,
}

/// How long facts stay in a knowledge base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// They are about applications, and stay from one evaluation to the next.
    Applications,
    /// They stay until they are replaced by those of another node.
    Extra,
    /// They are about one agent at one time.
    Evaluation,
}

/// The part of the key of a shared decision that contains facts. Agents share a decision only if the keys of what they
/// know are equal, so a policy that reads facts outside of the key must decide for each agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPart {
    /// The inhibitions that the agent remembers.
    Remembered,
    /// The node with its free hardware, and its neighbours if the policy reads them.
    Node,
    /// The client requests of the evaluation.
    Requests,
    /// The history.
    Past,
    /// The history with the age.
    Age,
    /// Nothing: the facts are the same for all agents that share decisions.
    Same,
    /// No part: decisions of policies that read the facts are not shared.
    Excluded,
    /// The application of the instance.
    Application,
}

impl KeyPart {
    /// All parts, in the order in which they are written.
    pub const ALL: [KeyPart; 8] = [
        KeyPart::Remembered,
        KeyPart::Node,
        KeyPart::Requests,
        KeyPart::Past,
        KeyPart::Age,
        KeyPart::Same,
        KeyPart::Excluded,
        KeyPart::Application,
    ];
}

/// What a counterfactual explanation may change about facts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Changes {
    /// The zero-based columns whose numbers may change.
    pub quantities: &'static [usize],
    /// The cost of removing a fact. A changed number costs between 1 and 2.
    pub cost_to_remove: f64,
    /// The cost of adding a fact.
    pub cost_to_add: f64,
}

/// The variation of the small worlds in which policies are checked, for facts that not every world has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmallWorlds {
    /// None: every world has the facts.
    All,
    /// Agents that remember inhibitions.
    Memory,
    /// Applications and nodes with several kinds of hardware.
    Kinds,
    /// Extra facts about nodes and applications.
    Extra,
    /// Applications with flavours.
    Flavours,
    /// Instances that are given notice of their eviction.
    Notice,
    /// Instances that sleep.
    Sleep,
}

impl FactPredicate {
    /// The predicates that policies of agents may read. A position here is that of a relation in a compiled policy.
    pub const OF_AGENTS: [FactPredicate; Selection::SeenBy(SeenBy::Agents).count()] =
        Selection::SeenBy(SeenBy::Agents).predicates();

    /// The predicates that acceptance policies may read. A position here is that of a relation in a compiled policy.
    pub const OF_MANAGERS: [FactPredicate; Selection::SeenBy(SeenBy::Managers).count()] =
        Selection::SeenBy(SeenBy::Managers).predicates();

    /// The predicates, without aliases, whose facts are about one agent at one time.
    pub const OF_ONE_EVALUATION: [FactPredicate; Selection::Lasting(Lifetime::Evaluation).count()] =
        Selection::Lasting(Lifetime::Evaluation).predicates();

    /// The predicates whose facts a counterfactual explanation may change.
    pub const CHANGEABLE: [FactPredicate; Selection::Changeable.count()] = Selection::Changeable.predicates();

    /// The name.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The arguments, in order.
    pub const fn arguments(self) -> &'static [FactArgument] {
        self.row().arguments
    }

    /// The number of arguments.
    pub const fn arity(self) -> usize {
        self.row().arguments.len()
    }

    /// The predicate that the facts belong to: the one of which this is an alias, or else itself.
    #[must_use]
    pub const fn own(self) -> FactPredicate {
        match self.row().alias_of {
            Some(own) => own,
            None => self,
        }
    }

    /// The predicate with this name and arity that agents see; `None` if there is none.
    pub fn of_agents(name: &str, arity: usize) -> Option<FactPredicate> {
        let is_it = |predicate: &FactPredicate| predicate.name() == name && predicate.arity() == arity;
        FactPredicate::OF_AGENTS.into_iter().find(is_it)
    }
}

/// Shows a predicate as `name/arity`.
impl fmt::Display for FactPredicate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.name(), self.arity())
    }
}

impl FactKind {
    /// Whether the values are ids: names and integers.
    pub const fn is_id(self) -> bool {
        match self {
            FactKind::Application | FactKind::Instance | FactKind::Node | FactKind::Word => true,
            FactKind::Nodes | FactKind::Number | FactKind::Constant => false,
        }
    }

    /// A description for users.
    pub const fn description(self) -> &'static str {
        match self {
            FactKind::Application | FactKind::Instance | FactKind::Node | FactKind::Word => "a name or an integer",
            FactKind::Number => "a number or `inf`",
            FactKind::Nodes => "a list of names or integers",
            FactKind::Constant => "a name or a number",
        }
    }
}

/// A selection of predicates by their rows, for the constant lists of [`FactPredicate`].
#[derive(Clone, Copy)]
enum Selection {
    /// Those that the policies of this reader see.
    SeenBy(SeenBy),
    /// Those without aliases whose facts last so long.
    Lasting(Lifetime),
    /// Those whose facts an explanation may change.
    Changeable,
}

impl Selection {
    const fn includes(self, predicate: FactPredicate) -> bool {
        let row = predicate.row();
        match self {
            Selection::SeenBy(reader) => matches!(row.seen_by, SeenBy::Both) || row.seen_by as u8 == reader as u8,
            Selection::Lasting(lifetime) => row.alias_of.is_none() && row.lifetime as u8 == lifetime as u8,
            Selection::Changeable => row.changes.is_some(),
        }
    }

    const fn count(self) -> usize {
        let (mut count, mut index) = (0, 0);
        while index < FactPredicate::ALL.len() {
            count += self.includes(FactPredicate::ALL[index]) as usize;
            index += 1;
        }
        count
    }

    /// The selected predicates, in the order of the table. `COUNT` is [`Selection::count`].
    const fn predicates<const COUNT: usize>(self) -> [FactPredicate; COUNT] {
        let mut selected = [FactPredicate::ALL[0]; COUNT];
        let (mut count, mut index) = (0, 0);
        while index < FactPredicate::ALL.len() {
            if self.includes(FactPredicate::ALL[index]) {
                selected[count] = FactPredicate::ALL[index];
                count += 1;
            }
            index += 1;
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_predicates_have_the_same_name_and_arity() {
        for (index, predicate) in FactPredicate::ALL.iter().enumerate() {
            assert_eq!(*predicate as usize, index);
            let same = |other: &&FactPredicate| other.name() == predicate.name() && other.arity() == predicate.arity();
            assert_eq!(FactPredicate::ALL.iter().filter(same).count(), 1, "{predicate}");
        }
    }

    #[test]
    fn an_alias_reads_the_first_columns_of_facts_that_are_no_alias() {
        for predicate in FactPredicate::ALL {
            let (row, own) = (predicate.row(), predicate.own());
            assert_eq!(own.own(), own, "{predicate}");
            assert!(
                row.arguments.iter().zip(own.arguments()).all(|(one, other)| one.kind == other.kind),
                "{predicate}"
            );
            assert!(row.arguments.len() <= own.arity(), "{predicate}");
            assert_eq!(row.says.is_empty(), own != predicate, "{predicate}");
            let own = own.row();
            assert_eq!((row.seen_by, row.lifetime, row.in_key), (own.seen_by, own.lifetime, own.in_key), "{predicate}");
        }
    }

    #[test]
    fn explanations_change_only_numbers() {
        for predicate in FactPredicate::ALL {
            for &column in predicate.row().changes.map_or(&[][..], |changes| changes.quantities) {
                let kind = predicate.arguments()[column].kind;
                assert!(matches!(kind, FactKind::Number | FactKind::Constant), "{predicate}, column {column}");
            }
        }
    }

    #[test]
    fn lists_of_predicates_are_in_the_order_of_the_table() {
        let shown = |predicates: &[FactPredicate]| predicates.iter().map(ToString::to_string).collect::<Vec<_>>();
        let agents = shown(&FactPredicate::OF_AGENTS);
        assert!(agents.contains(&"requests/4".to_owned()) && !agents.contains(&"owner/2".to_owned()));
        let managers = shown(&FactPredicate::OF_MANAGERS);
        assert!(managers.contains(&"owner/2".to_owned()) && !managers.contains(&"requests/4".to_owned()));
        assert_eq!(FactPredicate::of_agents("node", 3), Some(FactPredicate::NodeWithNeighbours));
        assert_eq!(FactPredicate::of_agents("capacity", 2), None);
        let of_one_evaluation = shown(&FactPredicate::OF_ONE_EVALUATION);
        assert!(of_one_evaluation.contains(&"node/3".to_owned()) && !of_one_evaluation.contains(&"node/2".to_owned()));
        assert!(!of_one_evaluation.contains(&"fact/3".to_owned()), "extra facts stay");
        let changeable = shown(&FactPredicate::CHANGEABLE);
        assert!(changeable.contains(&"fact/3".to_owned()) && !changeable.contains(&"service/4".to_owned()));
        for list in [&FactPredicate::OF_AGENTS[..], &FactPredicate::OF_ONE_EVALUATION, &FactPredicate::CHANGEABLE] {
            assert!(list.is_sorted());
        }
    }
}
