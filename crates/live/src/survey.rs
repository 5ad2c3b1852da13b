//! Asks nodes, one after the other, for their current state.

use std::time::Duration;

use mario_domain::{Application, Fact};
use mario_policy::PolicyText;
use tokio::time::timeout;

use crate::api::{Applications, Hosted, Instance, Instances, Link, Links, Status};
use crate::error::LiveError;
use crate::identity::Identity;
use crate::operators::{Client, Method};

/// The timeout for all answers of one node.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The answers of several nodes.
pub struct Survey {
    /// The nodes that answered.
    pub nodes: Vec<NodeAnswers>,
    /// The addresses of the others, and what went wrong.
    pub silent: Vec<(String, LiveError)>,
}

/// The answers of one node.
pub struct NodeAnswers {
    /// The state of the node.
    pub status: Status,
    /// Its instances.
    pub instances: Vec<Instance>,
    /// Its links.
    pub links: Vec<Link>,
    /// The applications that it hosts.
    pub applications: Vec<HostedApplication>,
    /// Further facts about the node.
    pub facts: Vec<Fact>,
}

/// An application that a node hosts.
pub struct HostedApplication {
    /// The application.
    pub application: Application,
    /// Further facts about it.
    pub facts: Vec<Fact>,
    /// The policy of its agents.
    pub policy: PolicyText,
}

/// Asks the nodes at these addresses. They need an operator with the role `look`.
pub async fn survey(identity: &Identity, addresses: &[String]) -> Survey {
    let mut survey = Survey { nodes: Vec::new(), silent: Vec::new() };
    for address in addresses {
        let late = || LiveError::new(format!("the node at {address} does not answer"));
        match timeout(TIMEOUT, ask(identity, address)).await.unwrap_or_else(|_| Err(late())) {
            Ok(answers) => survey.nodes.push(answers),
            Err(fault) => survey.silent.push((address.clone(), fault)),
        }
    }
    survey
}

async fn ask(identity: &Identity, address: &str) -> Result<NodeAnswers, LiveError> {
    let client = Client::new(identity, address)?;
    let ask = async |path: &str| client.ask(Method::GET, path, &[], Vec::new()).await;
    let unknown = |cause: String| {
        LiveError::new(format!("the node at {address} reports what this version does not know")).caused_by(cause)
    };
    let hosted: Applications = ask("/v1/applications").await?.known()?;
    let applications = hosted.applications.into_iter().map(application).collect::<Result<_, _>>().map_err(unknown)?;
    let Instances { instances } = ask("/v1/instances").await?.known()?;
    let Links { links } = ask("/v1/links").await?.known()?;
    let facts = hosted.facts.into_iter().map(Fact::from).collect();
    Ok(NodeAnswers { status: ask("/v1/status").await?.known()?, instances, links, applications, facts })
}

/// Fails if the application needs a kind of hardware that this version does not know.
fn application(Hosted { application, facts, policy }: Hosted) -> Result<HostedApplication, String> {
    let facts = facts.into_iter().map(Fact::from).collect();
    Ok(HostedApplication { application: application.try_into()?, facts, policy: policy.into() })
}
