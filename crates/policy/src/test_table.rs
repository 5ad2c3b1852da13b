//! Tables of tests for a policy: each test has facts and the expected result.
//!
//! A table is a text of facts and tests. Facts outside of tests are shared by all tests, but a test's own facts replace
//! the shared facts whose predicate has the same name.
//!
//! ```prolog
//! service(video, 4, 10, 25).
//! node(n42, 10).
//! serviceInstance(s1, video, n42).
//!
//! test('undeploys without client requests', [], [operation(undeploy, s1, self)]).
//! test('asks first to migrate to the demand', [requests(s1, n41, 11, 5)], [operation(migrate, s1, n41)|_]).
//! ```
//!
//! In a test of the policy of an agent, the expected operations are all solutions in order, or only the first ones if
//! the list ends with `|_`. A test of an acceptance policy has a request and a verdict instead:
//!
//! ```prolog
//! test('has no room', [node(n42, 0)], request(replicate, s1, video, n41, n42), inhibited).
//! ```
//!
//! A test of what the owner of a node shrinks or evicts without a request has the word `initiative` and the expected
//! solutions of `shrink/3` and `evict/2`:
//!
//! ```prolog
//! test('evicts the largest', [node(n42, 0)], initiative, [evict(s1, nearly_full)]).
//! ```
//!
//! A directive `:- policy('name.pl')` names the file of the policy. Without it, the table `name.test.pl` tests
//! `name.pl`.

mod read;
mod run;

use mario_domain::{Hardware, Request};

use crate::acceptance::ManagerView;
use crate::knowledge_base::{Constant, KnowledgeBase};

pub use run::{DiffLine, TestOutcome};

/// Tests for one policy.
#[derive(Clone, Debug)]
pub struct TestTable {
    /// The file that the last `policy` directive names; `None` if there is no such directive.
    pub policy: Option<String>,
    /// The tests, in order. Never empty.
    pub tests: Tests,
}

/// The tests of a table, which are all for the same kind of policy.
#[derive(Clone, Debug)]
pub enum Tests {
    /// Tests of the policy of an agent.
    OfPolicy(Vec<Test<DecisionClaim>>),
    /// Tests of an acceptance policy.
    OfAcceptance(Vec<Test<VerdictClaim>>),
}

/// One test.
#[derive(Clone, Debug)]
pub struct Test<Claim> {
    /// The name of the test, which states the claim.
    pub name: String,
    /// The one-based line at which it starts.
    pub line: usize,
    claim: Claim,
}

/// Facts, and the expected operations.
#[derive(Clone, Debug)]
pub struct DecisionClaim {
    facts: KnowledgeBase,
    instance: Constant,
    expected: Vec<[String; 3]>,
    rest: Rest,
}

/// The facts of a manager, and either the expected verdict on a request or the expected shrinks and evictions.
#[derive(Clone, Debug)]
pub struct VerdictClaim {
    view: ManagerView,
    claimed: Claimed,
}

#[derive(Clone, Debug)]
enum Claimed {
    /// The expected verdict on a request.
    Verdict { request: Request, needed: Hardware, expected: ExpectedVerdict },
    /// The instances that the owner of the node is expected to shrink or evict.
    Initiative(Vec<ExpectedAct>),
}

/// An expected `evict/2` or `shrink/3`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ExpectedAct {
    instance: String,
    /// `None` for an eviction.
    flavour: Option<String>,
    /// `None` for any reason.
    reason: Option<String>,
}

impl<Claim> Test<Claim> {
    /// The claim of the test.
    pub(crate) fn into_claim(self) -> Claim {
        self.claim
    }
}

impl VerdictClaim {
    /// The facts that the manager sees.
    pub(crate) fn view(&self) -> &ManagerView {
        &self.view
    }
}

/// Whether more solutions may follow the expected ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    None,
    Any,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ExpectedVerdict {
    Accepted,
    Inhibited,
    /// Inhibited with this reason.
    InhibitedBecause(String),
}
