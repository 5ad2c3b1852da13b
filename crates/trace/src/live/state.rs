//! The whole state of a live node, as in the first record of a part.

use mario_domain::{Hardware, InstanceId};
use serde::{Deserialize, Serialize};

/// Everything that a node has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeState<N> {
    /// How many records its journal has.
    pub records: u64,
    /// Whether the trace has everything that led to it. If not, records are missing.
    pub follows: bool,
    /// What it owns.
    pub owned: Vec<OwnedState>,
    /// Instances in custody, not answered yet.
    pub custody: Vec<CustodyState<N>>,
    /// Grants, not answered yet.
    pub offers: Vec<OfferState<N>>,
    /// Stopping copies, and their hardware.
    pub draining: Vec<(String, Hardware)>,
    /// Shrinking copies, and their surplus hardware.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shrinking: Vec<(String, Hardware)>,
    /// Transfers that it took and whose sources may still ask.
    pub taken: Vec<String>,
    /// Places that it keeps.
    pub reserved: Vec<ReservedState>,
    /// Copies of dropped reservations, and their hardware.
    pub released: Vec<(String, Hardware)>,
    /// Transfers that it prepares, and the instances whose agents asked.
    pub preparing: Vec<(String, InstanceId)>,
}

/// An instance that is a node's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OwnedState {
    /// The instance.
    pub instance: InstanceId,
    /// Counts its owners, from 1.
    pub epoch: u32,
    /// The place of its application.
    pub application: u32,
    /// What its copy uses.
    pub needed: Hardware,
    /// Its copy.
    pub workload: String,
    /// The place of the flavour that it runs in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flavour: u32,
    /// Whether it sleeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_asleep: bool,
}

/// Whether a flavour is the first.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_default(flavour: &u32) -> bool {
    *flavour == 0
}

/// An instance that was handed over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CustodyState<N> {
    /// The instance as it was.
    #[serde(flatten)]
    pub owned: OwnedState,
    /// By which transfer.
    pub transfer: String,
    /// To whom.
    pub target: N,
    /// Whether its copy runs.
    pub is_running: bool,
    /// Whether an operator ended it meanwhile.
    pub is_ended: bool,
}

/// A new instance that was offered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OfferState<N> {
    /// By which transfer.
    pub transfer: String,
    /// The new instance.
    pub instance: InstanceId,
    /// The instance whose agent replicates.
    pub parent: InstanceId,
    /// To whom.
    pub target: N,
}

/// A place that is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservedState {
    /// By which transfer.
    pub transfer: String,
    /// The instance that may come.
    pub instance: InstanceId,
    /// The place of its application.
    pub application: u32,
    /// The reserved hardware.
    pub needed: Hardware,
    /// The copy in it.
    pub workload: String,
}

impl<N> NodeState<N> {
    pub(super) fn map<M>(
        self,
        node: &mut impl FnMut(N) -> M,
        application: &mut impl FnMut(u32) -> u32,
    ) -> NodeState<M> {
        let custody = self.custody.into_iter().map(|custody| CustodyState {
            owned: custody.owned.map(application),
            transfer: custody.transfer,
            target: node(custody.target),
            is_running: custody.is_running,
            is_ended: custody.is_ended,
        });
        let custody = custody.collect();
        NodeState {
            records: self.records,
            follows: self.follows,
            owned: self.owned.into_iter().map(|owned| owned.map(application)).collect(),
            custody,
            offers: self.offers.into_iter().map(|offer| offer.map(node)).collect(),
            draining: self.draining,
            shrinking: self.shrinking,
            taken: self.taken,
            reserved: self.reserved.into_iter().map(|reserved| reserved.map(application)).collect(),
            released: self.released,
            preparing: self.preparing,
        }
    }
}

impl<N> OfferState<N> {
    pub(super) fn map<M>(self, node: &mut impl FnMut(N) -> M) -> OfferState<M> {
        let OfferState { transfer, instance, parent, target } = self;
        OfferState { transfer, instance, parent, target: node(target) }
    }
}

impl OwnedState {
    pub(super) fn map(self, application: &mut impl FnMut(u32) -> u32) -> OwnedState {
        OwnedState { application: application(self.application), ..self }
    }
}

impl ReservedState {
    pub(super) fn map(self, application: &mut impl FnMut(u32) -> u32) -> ReservedState {
        ReservedState { application: application(self.application), ..self }
    }
}
