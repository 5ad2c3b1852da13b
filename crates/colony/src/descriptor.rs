//! What travels with an instance: the description of its application.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mario_domain::{Application, Fact};
use mario_policy::PolicyText;
use serde::{Deserialize, Serialize};

/// An application as its owner describes it: its needs and tolerances, the policy of its agents, and how far they may
/// replicate. Its owner signs it; the shell verifies the signature before a node receives it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    /// Its version, from 1: an update has a higher one than the description that it replaces.
    pub version: u64,
    /// What is run: `service/4`.
    pub application: Application,
    /// The policy of its agents.
    pub policy: PolicyText,
    /// Extra facts about the application: `fact/3`.
    pub facts: Vec<Fact>,
    /// How often an instance, its replicas and theirs may replicate in all; `None` for unlimited.
    pub replications_max: Option<u32>,
    /// Whether two copies of an instance may run at once.
    pub copies: Copies,
    /// The document that its owner signed, for the shell only: how the application is run, its names, and the
    /// signature. Empty where nothing is signed, as in a simulated world.
    pub document: Arc<[u8]>,
}

/// Whether two copies of an instance may run at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Copies {
    /// The copy on the target is healthy before the one on the source drains: there is always one for requests.
    #[default]
    MayOverlap,
    /// The copy on the source is stopped before the instance is handed over; the application accepts the gap.
    Exclusive,
}

// Its numbers are finite, so that equality is total.
impl Eq for Descriptor {}

impl Hash for Descriptor {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.application.id.hash(hasher);
    }
}
