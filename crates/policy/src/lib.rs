//! The facts that an agent may see, and how its policy decides.
//!
//! Start at [`Decider::decide`]: it queries a [`Policy`], a compiled logic program, for the proposals of one instance's
//! agent, given its [`KnowledgeBase`]. The answer is a [`Decision`]: the proposals in the order of the policy's
//! clauses, each with the clause that produced it.
//!
//! ```
//! use mario_policy::{Decider, KnowledgeBase, Policy, PolicySettings, Solution, SolutionLimit};
//! use mario_prolog::Engine;
//!
//! let engine = Engine::new();
//! let text = "operation(undeploy, Instance, self) :- \\+ requests(Instance, _, _, _).";
//! let policy = Policy::load(&engine, "shy.pl", text, None, PolicySettings::default())?;
//!
//! let mut facts = KnowledgeBase::new(engine.symbols());
//! facts.read(&engine, "facts.pl", "serviceInstance(s1, video, n42).").expect("these are facts");
//!
//! let mut decider = Decider::new(&engine);
//! let instance = facts.constant("s1");
//! let decision = decider.decide(&policy, &facts, instance, SolutionLimit::All);
//! let [Solution::Proposal(proposal)] = &decision.solutions[..] else { panic!("one proposal") };
//! assert_eq!(proposal.operation.as_str(), "undeploy");
//! # Ok::<(), mario_policy::PolicyError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | find out why an agent decided as it did, and which change of facts would lead to another decision | [`Explainer::explain`] |
//! | judge a request as a node's manager, given the facts that the manager may see | [`Acceptance::judge`] |
//! | find out why a manager judged as it did | [`explain_verdict`] |
//! | find problems in the text of a policy before any agent runs it | [`analyse`], and `mario_check::check`, which also runs it in small worlds |
//! | test a policy with facts and expected operations | [`TestTable`] |
//! | decide with a function of the host instead of a logic program | [`PolicyFunction`] |
//! | prove that renaming nodes and instances does not change a policy's proposals, up to the names | [`name_invariance`] |
//!
//! **Invariant:** without a shared allowance, a decision is a pure function of policy, knowledge base and instance. It
//! may be cached while the facts do not change, replayed, and computed on any thread.
//!
//! **Invariant:** no file is read: the caller supplies the texts.
//!
//! **Invariant:** facts are read in place; nothing is asserted for a query. A [`Decider`] reuses its buffers, so
//! repeated decisions of a logic program allocate nothing, unless a solution is invalid or the policy fails.
//!
//! **Invariant:** a solution that is not an operation is reported, never dropped; a policy that exhausts its budget or
//! raises an exception is reported as failed.
//!
//! Not here: where facts come from (`simulator`, `live`), and the consequences of a decision (`colony`).

mod facts;
mod knowledge_base;
mod recorded;

mod decide;
mod policy;
mod remembers;
mod text;

mod function;

mod invariance;

mod acceptance;

mod explain;

mod test_table;

mod verdict;

mod check;

pub use acceptance::{Acceptance, AcceptanceError, AcceptanceFailure, Eviction, Initiative, ManagerView, Shrink};
pub use check::{
    AllowedFinding, Analysis, Finding, FindingKind, Interests, KeyValues, Resolvers, analyse, undefined_calls,
    unknown_keys,
};
// For `frontend` and `simulator`: the place of a failed call in the text, for their warnings.
#[doc(hidden)]
pub use check::find_unknown_call;
pub use decide::{Decider, Decision, Ending, InvalidProposal, Proposal, ProposalFault, Solution, SolutionLimit};
pub use explain::{
    Change, ClauseText, Comparison, ExplainedDecision, Explainer, FactChange, Line, LineRole, MissedClause,
    MissedOperation, Proof, ProofStep, ProofStepKind,
};
pub use facts::{FactProblem, FactsError};
pub use function::{FunctionProposal, PolicyFunction, PolicyFunctions};
pub use invariance::{FactsAllowed, NameDependence, NameInvariance, name_invariance};
pub use knowledge_base::{Constant, KnowledgeBase, NodeFact, UnknownInstance};
pub use policy::{Policy, PolicyError, PolicySettings};
pub use recorded::{RecordedSituation, RecordedSituationError};
pub use remembers::MemoryDeclaration;
pub use test_table::{DecisionClaim, DiffLine, Test, TestOutcome, TestTable, Tests, VerdictClaim};
pub use text::PolicyText;
pub use verdict::{
    AcceptanceText, ExplainedAct, ExplainedInitiative, ExplainedVerdict, JudgingClause, explain_initiative,
    explain_verdict,
};
