//! The state of a live node that concerns instances, workloads and transfers, as a record of a part or a trace.

use mario_domain::{Hardware, InstanceId};
use serde::{Deserialize, Serialize};

/// The state of a node that concerns instances, workloads and transfers: from the ledger of its journal, and its
/// reservations and transfers in preparation. Pins, deploy keys and journals of neighbours are omitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeState<N> {
    /// The number of records in its journal.
    pub records: u64,
    /// Whether the state follows from the earlier records. If not, records are missing.
    pub follows: bool,
    /// The instances that it owns.
    pub owned: Vec<OwnedState>,
    /// Instances in custody, whose targets have not answered yet.
    pub custody: Vec<CustodyState<N>>,
    /// Offers that were not answered yet.
    pub offers: Vec<OfferState<N>>,
    /// Workloads that are stopping, and their hardware.
    pub draining: Vec<(String, Hardware)>,
    /// Workloads that are to run with less hardware, or to stop because their instances sleep, and the hardware that
    /// they use until then in addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shrinking: Vec<(String, Hardware)>,
    /// Accepted transfers whose sources may still ask about them.
    pub taken: Vec<String>,
    /// Its reservations.
    pub reserved: Vec<ReservedState>,
    /// Workloads of dropped reservations, and their hardware.
    pub released: Vec<(String, Hardware)>,
    /// Transfers in preparation, with the instances that are to migrate or replicate.
    pub preparing: Vec<(String, InstanceId)>,
}

/// An instance that a node owns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OwnedState {
    /// The instance.
    pub instance: InstanceId,
    /// The epoch: 1 for the first owner, and one more each time that a node takes the instance over.
    pub epoch: u32,
    /// The index of its application.
    pub application: u32,
    /// The hardware of its workload.
    pub needed: Hardware,
    /// Its workload.
    pub workload: String,
    /// The index of its flavour.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flavour: u32,
    /// Whether it is asleep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_asleep: bool,
    /// Whether it is an anchor: an operator deployed it, and its agent cannot undeploy it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_anchor: bool,
}

/// Whether a flavour is the default.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_default(flavour: &u32) -> bool {
    *flavour == 0
}

/// An instance in custody: handed over, and kept until the target has answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CustodyState<N> {
    /// The state of the instance when it was handed over.
    #[serde(flatten)]
    pub owned: OwnedState,
    /// The transfer.
    pub transfer: String,
    /// The target.
    pub target: N,
    /// Whether its workload is running.
    pub is_running: bool,
    /// Whether an operator has ended it in the meantime.
    pub is_ended: bool,
}

/// A new instance that was offered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OfferState<N> {
    /// The transfer.
    pub transfer: String,
    /// The new instance.
    pub instance: InstanceId,
    /// The instance of the replicating agent.
    pub parent: InstanceId,
    /// The target.
    pub target: N,
}

/// A reservation for an instance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReservedState {
    /// The transfer.
    pub transfer: String,
    /// The instance that may arrive.
    pub instance: InstanceId,
    /// The index of its application.
    pub application: u32,
    /// The reserved hardware.
    pub needed: Hardware,
    /// The workload that is started for it.
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
