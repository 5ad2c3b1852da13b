//! Reports: what agents, managers and owners decided, and what came of it.

use std::fmt;

use mario_colony::Proposal;
use mario_domain::{
    AgentId, AgentOperation, ApplicationId, FlavourId, Id, Inhibition, InstanceId, NodeId, OperatorWord, Request,
    Target, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::{AnyId, Operation, Word};

/// A report, of this version or a newer one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Report {
    /// A report of this version.
    Known(NodeReport),
    /// A report that this version does not know, or a known one that has changed.
    #[schemars(skip)]
    Unknown(UnknownReport),
}

/// A report that this version does not know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UnknownReport {
    /// Its kind.
    pub kind: String,
    /// Its fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// A report of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NodeReport {
    /// An agent evaluated its policy.
    Evaluated {
        /// Its instance. Decisions of an instance may leave it out.
        #[schemars(with = "AnyId")]
        instance: Option<InstanceId>,
        /// The operation that it proposes; null if it proposes none.
        operation: Option<Word<Operation>>,
        /// The target, as the policy wrote it.
        target: Option<String>,
        /// Whether the policy had no valid answer.
        #[serde(default)]
        has_failed: bool,
    },
    /// A request was accepted and enacted, or inhibited.
    Judged {
        /// The request.
        request: JudgedRequest,
        /// Whether it was accepted.
        #[serde(default)]
        is_accepted: bool,
        /// The node whose manager inhibited it; null if it was accepted.
        #[schemars(with = "Option<AnyId>")]
        inhibited_by: Option<NodeId>,
        /// The rule that inhibited it; null if it was accepted.
        rule: Option<String>,
        /// Why it was inhibited; null if it was accepted.
        reason: Option<String>,
        /// The instance that it created; null if it created none.
        #[schemars(with = "Option<AnyId>")]
        created: Option<InstanceId>,
    },
    /// An instance arrived from a neighbour.
    Arrived {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// How often it has migrated.
        #[serde(default)]
        epoch: u64,
        /// The neighbour.
        #[schemars(with = "AnyId")]
        from: NodeId,
    },
    /// An operator's update or rollback of an instance was accepted or rejected.
    Updated {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// The version before.
        from: Option<u64>,
        /// The version that was asked for; null for a rollback without a previous version.
        to: Option<u64>,
        /// Whether it was accepted.
        #[serde(default)]
        is_accepted: bool,
        /// Why it was rejected; null if it was accepted.
        reason: Option<String>,
    },
    /// An instance that an operator undeployed has ended.
    Undeployed {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
    },
    /// An instance that an operator undeployed while it was being handed over is alive on another node.
    LivesOn {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// The node.
        #[schemars(with = "AnyId")]
        node: NodeId,
    },
    /// The acceptance policy of the node had no answer.
    AcceptanceFailed {
        /// The request that it had to judge.
        request: JudgedRequest,
        /// What failed.
        cause: String,
    },
    /// The owner of the node evicted an instance.
    Evicted {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// The reason that the owner's policy stated.
        #[serde(default)]
        reason: String,
        /// Whether an operator had pinned the instance.
        #[serde(default)]
        pinned: bool,
    },
    /// A client request reached a sleeping instance.
    Woken {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// Whether the instance wakes.
        #[serde(default)]
        is_accepted: bool,
        /// Why it does not wake; null if it does.
        reason: Option<String>,
    },
    /// The owner of the node shrank an instance to another flavour.
    Shrunk {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// The reason that the owner's policy stated.
        #[serde(default)]
        reason: String,
    },
    /// The owner of the node announced the eviction of an instance.
    Leave {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// How many evaluations its agent has left.
        #[serde(default)]
        evaluations: u32,
        /// The reason that the owner's policy stated.
        #[serde(default)]
        reason: String,
    },
    /// The policy of the owner of the node had no valid answer.
    InitiativeFailed {
        /// What failed.
        cause: String,
    },
    /// A neighbour is ignored, because its journal is an old copy, or was replaced and declared lost.
    RefusedPeer {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        node: NodeId,
    },
    /// A neighbour has confirmed the node's journal, for the first time since the node started.
    Confirmed {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        by: NodeId,
    },
    /// The node's journal is an old copy: all copies are stopped.
    Outdated {
        /// The neighbour that has proof of it.
        #[schemars(with = "AnyId")]
        by: NodeId,
        /// What the proof is.
        #[serde(default)]
        cause: String,
    },
}

/// A request that a manager judged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JudgedRequest {
    /// Who asked.
    pub requester: Requester,
    /// The application concerned.
    #[schemars(with = "AnyId")]
    pub application: ApplicationId,
    /// The operation.
    pub operation: Word<Operation>,
    /// The target of an operation that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<RequestTarget>,
}

/// Who asked for an operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Requester {
    /// An agent.
    Agent {
        /// The agent.
        #[schemars(with = "AnyId")]
        agent: AgentId,
        /// Its instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// Its node.
        #[schemars(with = "AnyId")]
        node: NodeId,
    },
    /// An operator.
    Operator(#[schemars(with = "OperatorSchema")] OperatorWord),
}

/// The schema of [`OperatorWord`].
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum OperatorSchema {
    #[expect(dead_code, reason = "only its schema is used")]
    Operator,
}

/// The target of a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestTarget {
    /// A node, `self` for the requester's own node, or the flavour of an adapt.
    Id(#[schemars(with = "AnyId")] Id),
    /// A flavour where a node is expected.
    Flavour {
        /// The flavour.
        #[schemars(with = "AnyId")]
        flavour: FlavourId,
    },
}

impl Report {
    /// The report, if this version knows it.
    pub fn known(&self) -> Option<&NodeReport> {
        match self {
            Report::Known(known) => Some(known),
            Report::Unknown(_) => None,
        }
    }
}

impl From<&Request> for JudgedRequest {
    fn from(request: &Request) -> JudgedRequest {
        let operation = request.operation();
        JudgedRequest {
            requester: match request.requester() {
                mario_domain::Requester::Agent { agent, instance, node } => {
                    Requester::Agent { agent: agent.clone(), instance: instance.clone(), node: node.clone() }
                }
                mario_domain::Requester::Operator(word) => Requester::Operator(*word),
            },
            application: request.application().clone(),
            operation: Word::Known(operation.name().into()),
            target: operation.asked().map(|target| match &target {
                Target::Flavour(flavour)
                    if operation.name().of_agent().is_some_and(AgentOperation::asks_for_flavour) =>
                {
                    RequestTarget::Id(flavour.id().clone())
                }
                Target::Own | Target::Node(_) | Target::Flavour(_) => (&target).into(),
            }),
        }
    }
}

impl From<&Target> for RequestTarget {
    fn from(target: &Target) -> RequestTarget {
        match target {
            Target::Own | Target::Node(_) => RequestTarget::Id(target.id()),
            Target::Flavour(flavour) => RequestTarget::Flavour { flavour: flavour.clone() },
        }
    }
}

impl fmt::Display for RequestTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestTarget::Id(id) => id.fmt(formatter),
            RequestTarget::Flavour { flavour } => flavour.fmt(formatter),
        }
    }
}

impl NodeReport {
    /// Whether this is the verdict that an anchor is not undeployed. That is its purpose, and no fault: the policy of
    /// an anchor without clients may propose the undeploy at each evaluation.
    pub fn keeps_an_anchor(&self) -> bool {
        matches!(self, NodeReport::Judged { is_accepted: false, rule: Some(rule), .. } if rule == mario_domain::Rule::Anchor.as_str())
    }

    /// The report of an evaluation.
    pub(crate) fn evaluated(instance: &InstanceId, proposal: Option<&Proposal>, has_failed: bool) -> NodeReport {
        NodeReport::Evaluated {
            instance: Some(instance.clone()),
            operation: proposal.map(|proposal| Word::Known(proposal.operation.into())),
            target: proposal.map(|proposal| proposal.target.to_string()),
            has_failed,
        }
    }

    /// The report of a verdict, with the instance that the operation created.
    pub(crate) fn judged(request: &Request, verdict: &Verdict, created: Option<&InstanceId>) -> NodeReport {
        let inhibition = verdict.inhibition();
        NodeReport::Judged {
            request: request.into(),
            is_accepted: inhibition.is_none(),
            inhibited_by: inhibition.map(|inhibition| inhibition.node.clone()),
            rule: inhibition.map(|inhibition| inhibition.rule.as_str().to_owned()),
            reason: inhibition.map(ToString::to_string),
            created: created.cloned(),
        }
    }

    /// The report of the verdict on a wake.
    pub(crate) fn woken(instance: &InstanceId, verdict: &Verdict) -> NodeReport {
        let reason = verdict.inhibition().map(ToString::to_string);
        NodeReport::Woken { instance: instance.clone(), is_accepted: reason.is_none(), reason }
    }

    /// The report of an update or a rollback.
    pub(crate) fn updated(
        instance: &InstanceId,
        from: Option<u64>,
        to: Option<u64>,
        refused: Option<&Inhibition>,
    ) -> NodeReport {
        let reason = refused.map(ToString::to_string);
        NodeReport::Updated { instance: instance.clone(), from, to, is_accepted: reason.is_none(), reason }
    }
}
