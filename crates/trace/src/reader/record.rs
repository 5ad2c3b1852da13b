//! The records of a trace as they are read: all lines after the header.
//!
//! Records are arrays. The fields of each type are the elements of its array, in order.

use mario_domain::InstanceId;
use serde::Deserialize;

use super::rule::RuleName;
use super::values::{Evaluation, OutcomeCounts, OwnerCounts, Placed, PlacementValue, Search, Totals, Wakings, Woken};
use crate::live::LiveEvent;
use crate::record::{Cause, Outcome, OwnerAct};

/// One line after the header. Nodes, applications, policies and users are indices into the tables of the header.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceRecord {
    /// An instance of the initial deployment, at the start of the run.
    Deployed(Deployed),
    /// A user's connection moved.
    Handover(Handover),
    /// An agent evaluated its policy.
    Evaluation(Evaluation),
    /// The managers judged the pending proposals.
    Cycle(Cycle),
    /// A node went down, with everything on it, or is absent at the start of the run.
    NodeDown(NodeDown),
    /// A node announced that it will leave; it accepts no more instances.
    NodeLeaving(NodeEvent),
    /// A node came up, for the first time or again.
    NodeUp(NodeEvent),
    /// A link went down.
    LinkDown(LinkEvent),
    /// A link came up.
    LinkUp(LinkEvent),
    /// The policy of an application's agents changed.
    Update(Update),
    /// The placement was compared with the best one.
    Regret(Regret),
    /// The results of an application's client requests since the last such record of the application.
    Responses(Responses),
    /// The usage of an application's instances in the whole run.
    Usage(Usage),
    /// The results of a user's client requests in the whole run.
    Client(Client),
    /// The results of all users of an application in the whole run, in a trace of counts.
    Clients(Clients),
    /// The number of handovers at a time, in a trace of counts.
    Handovers(Handovers),
    /// The outcomes of a cycle, in a trace of counts.
    Counts(Counted),
    /// Instances were lost with their nodes, in a trace of counts.
    Gone(Gone),
    /// The owner of a node acted on instances there.
    Owner(Owner),
    /// Like `Owner`, in a trace of counts.
    Owners(Owners),
    /// A client request reached a sleeping instance, and the manager of its node judged whether the instance may wake.
    Woken(Woken),
    /// Like `Woken`, in a trace of counts.
    Wakings(Wakings),
    /// An application's late requests in the whole run, and a fine histogram of its response times.
    Latency(Latency),
    /// The number of links that client requests passed in the whole run.
    Traffic(Traffic),
    /// The results of one call of the header in the whole run.
    Calls(Calls),
    /// An event on a live node.
    Live(Live),
    /// The run is complete. The last record.
    End(End),
}

/// Defines the types of records. Each starts with its time, and is described in errors by the names of its elements.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident $elements:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Deserialize)]
        #[serde(expecting = $elements)]
        pub struct $name {
            /// The time of the record.
            pub time: f64,
            $($(#[$field_doc])* pub $field: $type,)*
        }
    )* };
}

records! {
    /// See [`TraceRecord::Deployed`].
    Deployed "time, instance, application, node, policy" {
        /// The instance.
        instance: InstanceId,
        /// The application.
        application: u32,
        /// The node.
        node: u32,
        /// The policy of its agent.
        policy: u32,
    }

    /// See [`TraceRecord::Handover`].
    Handover "time, user, previous access point, new access point" {
        /// The user.
        user: u32,
        /// The previous access point; `None` if the user was not connected.
        from: Option<u32>,
        /// The new access point; `None` if the user is no longer connected.
        to: Option<u32>,
    }

    /// See [`TraceRecord::Cycle`].
    Cycle "time, outcomes" {
        /// The outcomes, in the order of judging.
        outcomes: Vec<Outcome>,
    }

    /// See [`TraceRecord::NodeDown`].
    NodeDown "time, node, cause, instances" {
        /// The node.
        node: u32,
        /// The cause.
        cause: Cause,
        /// The instances that were on it and are lost.
        instances: Vec<InstanceId>,
    }

    /// An event of a node.
    NodeEvent "time, node" {
        /// The node.
        node: u32,
    }

    /// An event of a link.
    LinkEvent "time, first node, second node" {
        /// One end.
        one: u32,
        /// The other end.
        other: u32,
    }

    /// The agents of an application switch to another policy, with an empty memory.
    Update "time, application, policy" {
        /// The application of the agents.
        application: u32,
        /// The new policy.
        policy: u32,
    }

    /// See [`TraceRecord::Regret`].
    Regret "time, search, users, actual value, best value" {
        /// How the best placement was searched for.
        search: Search,
        /// Connected users.
        users: u64,
        /// The value of the placement.
        actual: PlacementValue,
        /// The value of the best known placement.
        best: PlacementValue,
    }

    /// See [`TraceRecord::Responses`]. The time is a step of mobility, or the end of the run.
    Responses "time, application, served, lost, sum, histogram" {
        /// The application.
        application: u32,
        /// Client requests served since the last such record of the application.
        served: u64,
        /// Client requests lost since the last such record of the application.
        lost: u64,
        /// The sum of the response times of the requests in `served`; if traffic is simulated as rates, with
        /// corrections of earlier records.
        sum: f64,
        /// The histogram of the response times in `sum`: pairs of `k` and the number of response times in
        /// [2^(k/4), 2^((k+1)/4)), with `None` instead of `k` for response times of 0.
        histogram: Vec<(Option<i64>, u64)>,
    }

    /// See [`TraceRecord::Usage`].
    Usage "time, application, evaluations, sum" {
        /// The application.
        application: u32,
        /// The number of evaluations of its agents.
        evaluations: u64,
        /// The sum, over all evaluations, of the rate that the agent saw divided by the maximum rate of the instance.
        sum: f64,
    }

    /// See [`TraceRecord::Client`].
    Client "time, user, served, lost, sum" {
        /// The user.
        user: u32,
        /// Client requests served.
        served: u64,
        /// Client requests lost.
        lost: u64,
        /// The sum of the response times.
        sum: f64,
    }

    /// See [`TraceRecord::Clients`].
    Clients "time, application, users, served, lost, sum" {
        /// The application.
        application: u32,
        /// The number of the application's users who were served at least once.
        users: u64,
        /// Client requests served.
        served: u64,
        /// Client requests lost.
        lost: u64,
        /// The sum, over the users in `users`, of each user's mean response time.
        sum: f64,
    }

    /// See [`TraceRecord::Handovers`].
    Handovers "time, moves" {
        /// Pairs of an application and the number of handovers of its users.
        moves: Vec<(u32, u64)>,
    }

    /// See [`TraceRecord::Counts`].
    Counted "time, outcomes, rules, instances" {
        /// The outcomes of each application that has any.
        outcomes: Vec<OutcomeCounts>,
        /// The number of inhibitions by each rule.
        rules: Vec<(RuleName, u64)>,
        /// The placement after the cycle.
        placed: Vec<Placed>,
    }

    /// See [`TraceRecord::Gone`].
    Gone "time, instances" {
        /// The lost instances.
        placed: Vec<Placed>,
    }

    /// See [`TraceRecord::Owner`].
    Owner "time, node, acts" {
        /// The node.
        node: u32,
        /// The actions, in order.
        acts: Vec<OwnerAct>,
    }

    /// See [`TraceRecord::Owners`].
    Owners "time, counts" {
        /// The numbers of actions of one node's owner, for each application concerned.
        rows: Vec<OwnerCounts>,
    }

    /// See [`TraceRecord::Latency`].
    Latency "time, application, late, max, histogram" {
        /// The application.
        application: u32,
        /// The number of served client requests that took longer than the application's maximum latency.
        late: u64,
        /// The longest response time.
        max: f64,
        /// Pairs of a bucket and its number of response times; [`Latency::bound`] returns the lower bound of a bucket.
        /// `None` is for response times of 0.
        histogram: Vec<(Option<i64>, u64)>,
    }

    /// See [`TraceRecord::Traffic`].
    Traffic "time, links" {
        /// The number of links that client requests passed.
        hops: u64,
    }

    /// See [`TraceRecord::Calls`].
    Calls "time, call, sent, served, lost, sum" {
        /// The index of the call in the header.
        call: u32,
        /// Requests sent, including those still in transit at the end.
        sent: u64,
        /// Requests served.
        served: u64,
        /// Requests lost.
        lost: u64,
        /// The sum of the response times of served requests.
        sum: f64,
    }

    /// See [`TraceRecord::Live`].
    Live "time, node, number, event" {
        /// The node.
        node: u32,
        /// The number of the record in its journal, from 1; `None` for events that are not in the journal.
        number: Option<u64>,
        /// The event.
        event: LiveEvent<u32>,
    }

    /// See [`TraceRecord::End`].
    End "time, totals" {
        /// The totals.
        totals: Totals,
    }
}

impl Latency {
    /// The lower bound of a bucket: 2^e (1 + j/64) for the bucket 64 e + j, with j from 0 to 63.
    pub fn bound(bucket: i64) -> f64 {
        let power = i32::try_from(bucket.div_euclid(64)).unwrap_or(i32::MAX);
        2_f64.powi(power) * (1.0 + bucket.rem_euclid(64) as f64 / 64.0)
    }
}

impl TraceRecord {
    /// The time of the record.
    pub fn time(&self) -> f64 {
        match self {
            TraceRecord::Deployed(Deployed { time, .. })
            | TraceRecord::Handover(Handover { time, .. })
            | TraceRecord::Evaluation(Evaluation { time, .. })
            | TraceRecord::Cycle(Cycle { time, .. })
            | TraceRecord::NodeDown(NodeDown { time, .. })
            | TraceRecord::NodeLeaving(NodeEvent { time, .. })
            | TraceRecord::NodeUp(NodeEvent { time, .. })
            | TraceRecord::LinkDown(LinkEvent { time, .. })
            | TraceRecord::LinkUp(LinkEvent { time, .. })
            | TraceRecord::Update(Update { time, .. })
            | TraceRecord::Regret(Regret { time, .. })
            | TraceRecord::Responses(Responses { time, .. })
            | TraceRecord::Usage(Usage { time, .. })
            | TraceRecord::Client(Client { time, .. })
            | TraceRecord::Clients(Clients { time, .. })
            | TraceRecord::Handovers(Handovers { time, .. })
            | TraceRecord::Counts(Counted { time, .. })
            | TraceRecord::Gone(Gone { time, .. })
            | TraceRecord::Owner(Owner { time, .. })
            | TraceRecord::Owners(Owners { time, .. })
            | TraceRecord::Woken(Woken { time, .. })
            | TraceRecord::Wakings(Wakings { time, .. })
            | TraceRecord::Latency(Latency { time, .. })
            | TraceRecord::Traffic(Traffic { time, .. })
            | TraceRecord::Calls(Calls { time, .. })
            | TraceRecord::Live(Live { time, .. })
            | TraceRecord::End(End { time, .. }) => *time,
        }
    }
}
