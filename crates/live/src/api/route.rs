//! The routes of client requests.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use mario_domain::{ApplicationId, InstanceId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::AnyId;

/// The routes of client requests.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Routes {
    /// The copies here that serve, by application.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<CopyRoute>>")]
    pub copies: BTreeMap<ApplicationId, Vec<CopyRoute>>,
    /// The neighbours with routes, by application, the best first.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Hop>>")]
    pub next_hops: BTreeMap<ApplicationId, Vec<Hop>>,
    /// The applications by host name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, AnyId>")]
    pub hosts: BTreeMap<String, ApplicationId>,
    /// Path prefixes with their applications, the longest first.
    #[serde(default)]
    #[schemars(with = "Vec<(String, AnyId)>")]
    pub prefixes: Vec<(String, ApplicationId)>,
    /// Names that several applications claim.
    #[serde(default)]
    pub names_claimed_twice: Vec<Conflict>,
}

/// A copy that serves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CopyRoute {
    /// Its instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// The id of the copy on this node.
    #[serde(default)]
    pub workload: String,
    /// Its address.
    #[schemars(with = "String")]
    pub address: Option<SocketAddr>,
}

/// A neighbour with a route.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// The neighbour.
    #[schemars(with = "AnyId")]
    pub neighbour: NodeId,
    /// The latency of the link to it, in quanta.
    #[serde(default)]
    pub latency_quanta: u32,
}

/// A name that an application claims and another one holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The name.
    pub name: Name,
    /// The application that holds it.
    #[schemars(with = "AnyId")]
    pub holder: ApplicationId,
    /// The application that claims it.
    #[schemars(with = "AnyId")]
    pub claimed_by: ApplicationId,
}

/// A host name or a path prefix.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// A host name.
    Host(String),
    /// A path prefix.
    Prefix(String),
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Host(host) => write!(formatter, "host name {host}"),
            Name::Prefix(prefix) => write!(formatter, "path prefix {prefix}"),
        }
    }
}
