//! What an agent proposed to facts that it saw before: whoever sees the same again proposes the same.

use serde::{Deserialize, Serialize};

use crate::agent::{Agent, RequestFact};
use crate::wish::Wish;

/// What an agent saw before it saw what it sees now, and what it proposed to that.
///
/// Requests that take turns among instances often come in one of two patterns, again and again. Then an agent finds each
/// time what it proposed to the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Former {
    requests: Vec<RequestFact>,
    proposed: Option<Proposed>,
    /// What was proposed to what the agent sees now, when it saw it before.
    recalled: Option<Proposed>,
}

/// What an agent proposed, which may be nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Proposed(Option<Wish>);

impl Agent {
    /// The client requests that the agent sees from now on.
    pub(crate) fn sees(&mut self, facts: &[RequestFact]) {
        if self.requests == facts {
            return;
        }
        let proposed = self.is_unchanged.then(|| Proposed(self.proposal.clone()));
        let former = self.former.get_or_insert_default();
        let before = std::mem::replace(&mut former.proposed, proposed);
        std::mem::swap(&mut self.requests, &mut former.requests);
        former.recalled = before.filter(|_| self.requests == facts);
        if former.recalled.is_none() {
            self.requests.clear();
            self.requests.extend_from_slice(facts);
        }
        self.rate = self.requests.iter().map(|fact| fact.rate).sum();
        self.is_unchanged = false;
    }

    /// Whether the agent has seen before what it sees now, and knows what it proposed then.
    pub(crate) fn recalls(&self) -> bool {
        self.former.as_ref().is_some_and(|former| former.recalled.is_some())
    }

    /// What the agent proposed when it saw before what it sees now.
    pub(crate) fn recall(&mut self) -> Option<Wish> {
        self.former.as_mut().and_then(|former| former.recalled.take()).and_then(|Proposed(wish)| wish)
    }

    /// Something else than client requests is new to the agent: nothing that it proposed tells what it would propose now.
    pub(crate) fn knows_better(&mut self) {
        self.is_unchanged = false;
        if let Some(former) = &mut self.former {
            former.proposed = None;
            former.recalled = None;
        }
    }
}
