//! What an agent may know, and how its policy decides from it.
//!
//! Start at [`Decider::decide`]: it asks a [`Policy`], a compiled logic program, what the agent of one instance proposes,
//! given its [`KnowledgeBase`]. The answer is a [`Decision`]: the proposals in the order of the policy's clauses, each with
//! the clause that gave it.
//!
//! ```
//! use mario_policy::{Decider, KnowledgeBase, Policy, Settings, Wanted};
//! use mario_prolog::Engine;
//!
//! let engine = Engine::new();
//! let text = "operation(undeploy, Instance, self) :- \\+ requests(Instance, _, _, _).";
//! let policy = Policy::load(&engine, "shy.pl", text, None, Settings::default())?;
//!
//! let mut facts = KnowledgeBase::new(engine.symbols());
//! facts.read(&engine, "facts.pl", "serviceInstance(s1, video, n42).").expect("these are facts");
//!
//! let mut decider = Decider::new(&engine);
//! let instance = facts.constant("s1");
//! let decision = decider.decide(&policy, &facts, instance, Wanted::All);
//! assert_eq!(decision.solutions.len(), 1);
//! # Ok::<(), mario_policy::PolicyError>(())
//! ```
//!
//! [`Explainer::explain`] gives a decision with its reasons, and says what would have to be different for another one.
//!
//! A node's manager is the other side: [`Acceptance::judge`] answers a request from what the manager may know.
//!
//! [`check()`] tells what is wrong with a policy before any agent has it, and [`blindness`] whether it would propose the same
//! if everything had another name.
//!
//! **Invariant:** a decision is a pure function of policy, knowledge base and instance. It may be kept while the facts do
//! not change, replayed, and computed on any thread.
//! **Invariant:** facts are read in place. Nothing is asserted for a query, and deciding allocates nothing once the memory
//! of the first decisions is there.
//! **Invariant:** what a policy gives that is no operation is reported, never dropped; a policy that ran out of its budget
//! or raised an exception has not answered, and says so.
//!
//! Not here: what facts become true when (`simulator`), and what follows from a decision (`colony`).

mod vocabulary;

mod facts;
mod knowledge_base;
mod recorded;

mod decide;
mod policy;
mod remembers;
mod text;

mod blind;

mod acceptance;

mod explain;

mod test_table;

mod verdict;

mod check;
mod explore;

pub use acceptance::{
    Acceptance, AcceptanceError, AcceptanceFailure, Eviction, Initiative, MANAGER_FACTS, ManagerView, Shrink,
};
pub use blind::{Blindness, FactsAllowed, Seeing, blindness};
pub use check::{Allowed, Finding, FindingKind, Report, Resolvers, check, find_unknown_call};
pub use decide::{Decider, Decision, Ending, InvalidProposal, Proposal, ProposalFault, Solution, Wanted};
pub use explain::{
    Change, ClauseText, Comparison, Explained, Explainer, FactChange, Line, Look, Miss, MissedOperation, Proof, Step,
    StepKind,
};
pub use explore::{Bounds, Exploration};
pub use facts::{FactProblem, FactsError};
pub use knowledge_base::{Constant, KnowledgeBase, NodeFact, UnknownInstance};
pub use policy::{Policy, PolicyError, Settings};
pub use recorded::{Recorded, RecordedError};
pub use remembers::Remembers;
pub use test_table::{DecisionClaim, DiffLine, Test, TestOutcome, TestTable, Tests, VerdictClaim};
pub use text::PolicyText;
pub use verdict::{
    AcceptanceText, ExplainedAct, ExplainedInitiative, ExplainedVerdict, JudgingClause, explain_initiative,
    explain_verdict,
};
pub use vocabulary::{FACTS, FactArgument, FactKind, FactPredicate};
