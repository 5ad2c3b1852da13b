//! The description of an application, which travels with its instances.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mario_domain::{Application, Fact};
use mario_policy::PolicyText;
use serde::{Deserialize, Serialize};

/// An application as its owner describes it: its needs and tolerances, the policy of its agents, and how often they may
/// replicate. The shell of a live node verifies the owner's signature before the node receives the description.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    /// The version, from 1. An update has a higher version than the description that it replaces.
    pub version: u64,
    /// The application: `service/4`.
    pub application: Application,
    /// The policy of the application's agents.
    pub policy: PolicyText,
    /// Extra facts about the application: `fact/3`.
    pub facts: Vec<Fact>,
    /// How often a deployed instance and all its descendants together may replicate; `None` for unlimited.
    pub replications_max: Option<u32>,
    /// Whether two copies of an instance may run at once.
    pub copies: Copies,
    /// The document that the owner signed, for the shell only: how to run the application, its names, and the
    /// signature. Empty if nothing is signed, as in a simulated world.
    pub document: Arc<[u8]>,
}

/// Whether two copies of an instance may run at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Copies {
    /// The copy on the target is healthy before the copy on the source drains, so that requests are served throughout
    /// the transfer.
    #[default]
    MayOverlap,
    /// The copy on the source is stopped before the instance is handed over, so no copy serves requests until the one
    /// on the target is healthy.
    Exclusive,
}

// All numbers in a descriptor are finite, so equality is total.
impl Eq for Descriptor {}

impl Hash for Descriptor {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.application.id.hash(hasher);
    }
}
