//! The rows of the facts.

use super::{Changes, DefinedBy, FactArgument, FactKind, FactRow, KeyPart, Lifetime, SeenBy, SmallWorlds};

/// Declares the predicates with their rows, so that a predicate without a row, or a row without a column, does not
/// compile.
macro_rules! facts {
    ($($(#[$doc:meta])* $variant:ident $row:tt)*) => {
        /// A predicate whose facts come from the host.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FactPredicate { $($(#[$doc])* $variant,)* }

        impl FactPredicate {
            /// All predicates, in the order of the documentation and of messages.
            pub const ALL: [FactPredicate; [$(stringify!($variant)),*].len()] = [$(FactPredicate::$variant),*];

            /// What is known about the facts.
            pub const fn row(self) -> &'static FactRow {
                const ROWS: &[FactRow] = &[$(FactRow $row),*];
                &ROWS[self as usize]
            }
        }
    };
}

const fn argument(meaning: &'static str, kind: FactKind) -> FactArgument {
    FactArgument { meaning, kind }
}

const APPLICATION: FactArgument = argument("the application", FactKind::Application);
const INSTANCE: FactArgument = argument("the instance", FactKind::Instance);
const NODE: FactArgument = argument("the node", FactKind::Node);
const NEIGHBOUR: FactArgument = argument("the neighbour", FactKind::Node);
const OPERATION: FactArgument = argument("the operation", FactKind::Word);
const TARGET: FactArgument = argument("the target", FactKind::Node);
const FLAVOUR: FactArgument = argument("the flavour", FactKind::Word);
const HARDWARE_KIND: FactArgument = argument("the kind of hardware", FactKind::Word);
const HARDWARE: FactArgument = argument("the hardware that one instance needs", FactKind::Number);
const MAX_RATE: FactArgument = argument("the rate that one instance handles", FactKind::Number);
const MAX_LATENCY: FactArgument = argument("the latency that is tolerated", FactKind::Number);
const FREE: FactArgument = argument("its free hardware", FactKind::Number);
const RATE: FactArgument = argument("the rate", FactKind::Number);
const LATENCY: FactArgument = argument("the latency", FactKind::Number);
const AGO: FactArgument = argument("how many evaluations ago", FactKind::Number);

/// A change of a number is cheaper than any removed or added fact.
const NUMBERS: Changes = Changes { quantities: &[], cost_to_remove: 2.0, cost_to_add: 3.0 };
/// An inhibition or an operation of the agent is removed at the price of a changed number.
const MEMORIES: Changes = Changes { quantities: &[], cost_to_remove: 1.0, cost_to_add: 3.0 };

facts! {
    /// `service/4`.
    Service {
        name: "service",
        arguments: &[APPLICATION, HARDWARE, MAX_RATE, MAX_LATENCY],
        alias_of: None,
        says: "application, hardware that an instance needs, rate of requests that an instance handles, tolerated latency",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Applications,
        in_key: KeyPart::Application,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `node/2`, the first two arguments of `node/3`.
    Node {
        name: "node",
        arguments: &[NODE, FREE],
        alias_of: Some(FactPredicate::NodeWithNeighbours),
        says: "",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Node,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `node/3`.
    NodeWithNeighbours {
        name: "node",
        arguments: &[NODE, FREE, argument("its neighbours", FactKind::Nodes)],
        alias_of: None,
        says: "its node, the free hardware there (`inf` if unlimited), and in `node/3` the list of neighbours",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Node,
        changes: Some(Changes { quantities: &[1], ..NUMBERS }),
        small_worlds: SmallWorlds::All,
    }
    /// `serviceInstance/3`.
    ServiceInstance {
        name: "serviceInstance",
        arguments: &[INSTANCE, APPLICATION, NODE],
        alias_of: None,
        says: "the instance of the agent, its application, its node",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Node,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `requests/4`.
    Requests {
        name: "requests",
        arguments: &[INSTANCE, NEIGHBOUR, RATE, LATENCY],
        alias_of: None,
        says: "instance, neighbour that requests come through (`self` for clients on the node), rate, latency",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Requests,
        changes: Some(Changes { quantities: &[2, 3], ..NUMBERS }),
        small_worlds: SmallWorlds::All,
    }
    /// `inhibited/3`.
    Inhibited {
        name: "inhibited",
        arguments: &[OPERATION, INSTANCE, TARGET],
        alias_of: None,
        says: "operation, instance, target: an inhibited operation that the agent still remembers",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Remembered,
        changes: Some(MEMORIES),
        small_worlds: SmallWorlds::Memory,
    }
    /// `refused/3`, another name of `inhibited/3`.
    Refused {
        name: "refused",
        arguments: &[OPERATION, INSTANCE, TARGET],
        alias_of: Some(FactPredicate::Inhibited),
        says: "",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Remembered,
        changes: None,
        small_worlds: SmallWorlds::Memory,
    }
    /// `fact/3`.
    Fact {
        name: "fact",
        arguments: &[
            argument("the subject", FactKind::Word),
            argument("the key", FactKind::Word),
            argument("the value", FactKind::Constant),
        ],
        alias_of: None,
        says: "subject, key, and a name or a number as the value: `fact(n41, region, north)`, `fact(n41, price, 5)`",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Extra,
        in_key: KeyPart::Same,
        changes: Some(Changes { quantities: &[2], ..NUMBERS }),
        small_worlds: SmallWorlds::Extra,
    }
    /// `owner/2`.
    Owner {
        name: "owner",
        arguments: &[APPLICATION, argument("its owner", FactKind::Word)],
        alias_of: None,
        says: "application, its owner",
        seen_by: SeenBy::Managers,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Applications,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `capacity/2`.
    Capacity {
        name: "capacity",
        arguments: &[NODE, argument("all its hardware", FactKind::Number)],
        alias_of: None,
        says: "the manager's node, all its hardware",
        seen_by: SeenBy::Managers,
        defined_by: DefinedBy::Host,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `earlier/5`.
    Earlier {
        name: "earlier",
        arguments: &[AGO, INSTANCE, NEIGHBOUR, RATE, LATENCY],
        alias_of: None,
        says: "number of evaluations ago, instance, neighbour, rate, latency: `requests/4` at that evaluation, if the policy [looks back](#looking-back)",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Past,
        // The requests of one earlier evaluation may be several facts.
        changes: Some(Changes { quantities: &[3, 4], cost_to_remove: 0.75, cost_to_add: 0.75 }),
        small_worlds: SmallWorlds::All,
    }
    /// `done/4`.
    Done {
        name: "done",
        arguments: &[AGO, INSTANCE, OPERATION, TARGET],
        alias_of: None,
        says: "number of evaluations ago, instance, operation, target: an accepted operation of the agent, if the policy looks back",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Past,
        changes: Some(MEMORIES),
        small_worlds: SmallWorlds::All,
    }
    /// `age/2`.
    Age {
        name: "age",
        arguments: &[INSTANCE, argument("its evaluations on this node", FactKind::Number)],
        alias_of: None,
        says: "the instance, and the number of evaluations that its agent has made on this node before; 0 at the first",
        seen_by: SeenBy::Agents,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Age,
        changes: Some(Changes { quantities: &[1], ..NUMBERS }),
        small_worlds: SmallWorlds::All,
    }
    /// `needs/3`.
    Needs {
        name: "needs",
        arguments: &[APPLICATION, HARDWARE_KIND, argument("what one instance needs of it", FactKind::Number)],
        alias_of: None,
        says: "application, kind of hardware, amount that one instance needs: for `units` and each other kind that the application names",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Applications,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::Kinds,
    }
    /// `free/3`.
    Free {
        name: "free",
        arguments: &[NODE, HARDWARE_KIND, argument("what is free of it", FactKind::Number)],
        alias_of: None,
        says: "the agent's node, kind of hardware, free amount",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: Some(Changes { quantities: &[2], ..NUMBERS }),
        small_worlds: SmallWorlds::Kinds,
    }
    /// `capacity/3`.
    CapacityByKind {
        name: "capacity",
        arguments: &[NODE, HARDWARE_KIND, argument("all its hardware of that kind", FactKind::Number)],
        alias_of: None,
        says: "the manager's node, kind of hardware, all its hardware of that kind",
        seen_by: SeenBy::Managers,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::All,
    }
    /// `flavour/6`.
    Flavour {
        name: "flavour",
        arguments: &[APPLICATION, FLAVOUR, HARDWARE, MAX_RATE, MAX_LATENCY, argument("the quality", FactKind::Number)],
        alias_of: None,
        says: "application, flavour, hardware, rate that one instance handles, tolerated latency, quality: the ways to run an application, the default first",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Applications,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::Flavours,
    }
    /// `running/2`.
    Running {
        name: "running",
        arguments: &[INSTANCE, FLAVOUR],
        alias_of: None,
        says: "the instance, and the flavour that it runs in",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::Flavours,
    }
    /// `leave/2`.
    Leave {
        name: "leave",
        arguments: &[INSTANCE, argument("how many evaluations it has left", FactKind::Number)],
        alias_of: None,
        says: "the instance, and the number of evaluations that it has left, if it will be evicted",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::Notice,
    }
    /// `asleep/1`.
    Asleep {
        name: "asleep",
        arguments: &[INSTANCE],
        alias_of: None,
        says: "the instance, while it sleeps",
        seen_by: SeenBy::Both,
        defined_by: DefinedBy::HostUnlessPolicy,
        lifetime: Lifetime::Evaluation,
        in_key: KeyPart::Excluded,
        changes: None,
        small_worlds: SmallWorlds::Sleep,
    }
}
