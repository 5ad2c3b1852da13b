//! The domain of mario as plain data: applications, nodes, instances, requests and verdicts.
//!
//! Start at [`Request`], by which an agent requests an [`Operation`] on its [`Instance`], or an operator a deploy, and
//! at [`Verdict`], the answer of the managers of the nodes concerned. An operation has the same name in code, in
//! policies and in files: [`Operation::Migrate`], `migrate`, `"migrate"`.
//!
//! ```
//! use mario_domain::{Capacity, Hardware, Inhibition, NodeId, Operation, Target, Verdict};
//!
//! let n41 = NodeId::name("n41")?;
//! let operation = Operation::Migrate(Target::Node(n41.clone()));
//! assert_eq!(serde_json::to_string(&operation)?, r#"{"operation":"migrate","target":"n41"}"#);
//!
//! // The node has one unit of hardware free, and the instance needs four.
//! let verdict = Verdict::Inhibited(Inhibition::capacity(n41, Hardware::units(4), Capacity::units(1)));
//! let json = r#"{"verdict":"inhibited","node":"n41","rule":"capacity","needed":4,"free":1}"#;
//! assert_eq!(serde_json::to_string(&verdict)?, json);
//! assert_eq!(serde_json::from_str::<Verdict>(json)?, verdict);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | noun | JSON |
//! |---|---|
//! | [`Id`] and the ids made of it | `"n42"` or `42` |
//! | [`Hardware`] | `4` or `{"units":4,"gpu":1}` |
//! | [`Capacity`] | as [`Hardware`], or `"unbounded"` |
//! | [`Quantity`] | `10` or `2.5` |
//! | [`Target`] | `"self"`, a node's id or `{"flavour":"lite"}` |
//! | [`Application`] | `{"id":"video","owner":"acme","hardware":4,"max_rate":10,"max_latency":25}`; `owner` may be absent, and `flavours` and `sleep` may follow |
//! | [`Flavour`] | `{"flavour":"lite","hardware":1,"max_rate":20,"max_latency":25,"quality":0.5}` |
//! | [`Node`] | `{"id":"n42","capacity":10,"neighbours":["n41"]}` |
//! | [`Instance`] | `{"id":"s1","application":"video","node":"n42"}` |
//! | [`Fact`] | `{"subject":"n42","key":"region","value":"eu"}` |
//! | [`Operation`] | `{"operation":"migrate","target":"n41"}`, `{"operation":"adapt","target":"lite"}`; without a target: `undeploy`, `sleep`, `wake` |
//! | [`Request`] | `{"requester":{"agent":7,"instance":"s1","node":"n42"},"application":"video","operation":…,"target":…}` |
//! | [`Verdict`] | `{"verdict":"accepted"}`, `{"verdict":"inhibited","node":"n41","rule":"capacity","needed":4,"free":1}` |
//!
//! These forms are stable, and tests pin them.
//!
//! **Invariant:** a type with private fields has only valid values, even after deserialisation.
//!
//! **Invariant:** nothing here depends on Prolog, a clock or a network.
//!
//! Not here: knowledge bases, which contain the facts of an agent (`policy`), and the rules that change the state (`colony`).

mod id;

mod hardware;
mod quantity;
mod time;

mod application;
mod fact;
mod infrastructure;
mod mixing;
mod models;
mod predicate;

mod operation;
mod request;
mod verdict;

pub use application::{Application, Flavour, FlavourIndex, Sleep, Wakefulness};
pub use fact::{Fact, FactValue};
pub use hardware::{Capacity, Hardware, HardwareKind};
pub use id::{AgentId, ApplicationId, FlavourId, Id, IdError, InstanceId, Name, NodeId, OwnerId, SELF};
pub use infrastructure::{Instance, Node, NodeError};
pub use mixing::{Fnv1a, RANDOM_NUMBERS, mixed};
pub use models::{Intensity, Models};
pub use operation::{AgentOperation, Concerned, InstanceEffect, Operation, OperationCounts, OperationName, Target};
pub use predicate::{
    Changes, DefinedBy, FactArgument, FactKind, FactPredicate, FactRow, KeyPart, Lifetime, RANDOM, SeenBy, SmallWorlds,
};
pub use quantity::{Quantity, QuantityError};
pub use request::{OperatorWord, Request, RequestError, Requester};
pub use time::{Duration, Time};
pub use verdict::{Inhibition, Rule, Verdict};
