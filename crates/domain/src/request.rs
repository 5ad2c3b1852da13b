//! Requests of agents and operators.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AgentId, ApplicationId, InstanceId, NodeId, Operation, OperationName};

/// A request to perform one operation, judged by the manager of each node that it concerns.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "TypedRequest")]
pub struct Request {
    requester: Requester,
    application: ApplicationId,
    #[serde(flatten)]
    operation: Operation,
}

/// The origin of a request.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Requester {
    /// The agent of an instance.
    Agent {
        /// The id of the agent.
        agent: AgentId,
        /// The instance that it manages.
        instance: InstanceId,
        /// The node of that instance.
        node: NodeId,
    },
    /// A person or an external program, written `operator`.
    Operator(OperatorWord),
}

/// The word `operator`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorWord {
    /// `operator`.
    Operator,
}

/// Why a request is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestError {
    /// Agents cannot deploy.
    AgentDeploys,
    /// The only operation that an operator can request is a deploy.
    OperatorDoes(OperationName),
}

impl Request {
    /// A request from an agent. Fails for a deploy.
    pub fn by_agent(
        agent: AgentId,
        instance: InstanceId,
        node: NodeId,
        application: ApplicationId,
        operation: Operation,
    ) -> Result<Request, RequestError> {
        Request::new(Requester::Agent { agent, instance, node }, application, operation)
    }

    /// An operator's request for a new instance of `application` on `node`.
    pub fn deploy(application: ApplicationId, node: NodeId) -> Request {
        let requester = Requester::Operator(OperatorWord::Operator);
        Request { requester, application, operation: Operation::Deploy(node) }
    }

    fn new(requester: Requester, application: ApplicationId, operation: Operation) -> Result<Request, RequestError> {
        match (&requester, operation.name()) {
            (Requester::Agent { .. }, OperationName::Deploy) => Err(RequestError::AgentDeploys),
            (Requester::Agent { .. }, _) | (Requester::Operator(_), OperationName::Deploy) => {
                Ok(Request { requester, application, operation })
            }
            (Requester::Operator(_), name) => Err(RequestError::OperatorDoes(name)),
        }
    }

    /// The origin of the request.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// The application of the agent's instance, or of the instance to deploy.
    pub fn application(&self) -> &ApplicationId {
        &self.application
    }

    /// The requested operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The instance of the agent; `None` for a deploy, whose instance does not exist yet.
    pub fn instance(&self) -> Option<&InstanceId> {
        match &self.requester {
            Requester::Agent { instance, .. } => Some(instance),
            Requester::Operator(_) => None,
        }
    }

    /// The node of the agent's instance when it made the request; `None` for a deploy.
    pub fn from(&self) -> Option<&NodeId> {
        match &self.requester {
            Requester::Agent { node, .. } => Some(node),
            Requester::Operator(_) => None,
        }
    }

    /// The node on which the operation takes effect; `None` for an undeploy. See [`Operation::target`].
    pub fn to(&self) -> Option<&NodeId> {
        match (&self.operation, &self.requester) {
            (Operation::Deploy(node), _) => Some(node),
            (operation, Requester::Agent { node, .. }) => operation.target(node),
            (_, Requester::Operator(_)) => None,
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::AgentDeploys => formatter.write_str("an agent cannot ask to deploy"),
            RequestError::OperatorDoes(name) => write!(formatter, "an operator can ask to deploy, not to {name}"),
        }
    }
}

impl Error for RequestError {}

/// A deserialised [`Request`] before validation.
#[derive(Deserialize)]
struct TypedRequest {
    requester: Requester,
    application: ApplicationId,
    #[serde(flatten)]
    operation: Operation,
}

impl TryFrom<TypedRequest> for Request {
    type Error = RequestError;

    fn try_from(typed: TypedRequest) -> Result<Request, RequestError> {
        Request::new(typed.requester, typed.application, typed.operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_AGENT: &str = r#"{"requester":{"agent":7,"instance":"s1","node":"n42"},"application":"video","#;

    #[test]
    fn a_request_has_this_json() {
        for rest in [
            r#""operation":"migrate","target":"n41"}"#,
            r#""operation":"replicate","target":"self"}"#,
            r#""operation":"undeploy"}"#,
        ] {
            let json = format!("{BY_AGENT}{rest}");
            let request: Request = serde_json::from_str(&json).expect(rest);
            assert_eq!(serde_json::to_string(&request).expect("plain data"), json);
        }
        let json = r#"{"requester":"operator","application":"video","operation":"deploy","target":"n42"}"#;
        let request: Request = serde_json::from_str(json).expect("valid");
        assert_eq!(serde_json::to_string(&request).expect("plain data"), json);
    }

    #[test]
    fn agents_cannot_deploy_and_operators_can_only_deploy() {
        let error = serde_json::from_str::<Request>(&format!(r#"{BY_AGENT}"operation":"deploy","target":"n1"}}"#));
        assert!(error.expect_err("an agent").to_string().contains("cannot ask to deploy"));
        let json = r#"{"requester":"operator","application":"video","operation":"undeploy"}"#;
        let error = serde_json::from_str::<Request>(json).expect_err("an operator").to_string();
        assert!(error.contains("not to undeploy"), "{error}");
    }

    #[test]
    fn requests_have_origin_and_target_nodes() {
        let node = NodeId::name("n42").expect("a name");
        let video = ApplicationId::name("video").expect("a name");
        let to_self = Request::by_agent(
            AgentId::number(7),
            InstanceId::number(1),
            node.clone(),
            video.clone(),
            Operation::Replicate(crate::Target::Own),
        )
        .expect("an agent may");
        assert_eq!((to_self.from(), to_self.to()), (Some(&node), Some(&node)));
        let deploy = Request::deploy(video, node.clone());
        assert_eq!((deploy.from(), deploy.to(), deploy.instance()), (None, Some(&node), None));
    }
}
