//! The changes that the auditor cannot always detect, because no other record contradicts them.

use super::fields::Change;

/// Whether the changes of an entry are detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// No record contradicts them.
    Never,
    /// Some are contradicted by other records, some are not.
    Sometimes,
}

/// An entry of the list.
pub struct Believed {
    /// The field, or a prefix of fields followed by `*`. A final `/*` is part of a field: any position in a list.
    pub field: &'static str,
    /// The changes of the field; empty for all.
    pub changes: &'static [Change],
    /// The trace levels; empty for all.
    pub details: &'static [&'static str],
    pub found: Lookup,
    /// Why no record contradicts the changes, as stated in `docs/auditing.md`.
    pub reason: &'static str,
}

impl Believed {
    pub fn is_about(&self, field: &str, change: Change, detail: &str) -> bool {
        let is_field = match self.field.strip_suffix('*') {
            Some(beginning) if !self.field.ends_with("/*") => field.starts_with(beginning),
            _ => field == self.field,
        };
        is_field
            && (self.changes.is_empty() || self.changes.contains(&change))
            && (self.details.is_empty() || self.details.contains(&detail))
    }
}

/// Declares entries grouped by their reason. Each has the field, whether changes are detected, the changes, and the
/// trace levels.
macro_rules! believed {
    ($($reason:literal => [$($field:literal $found:ident [$($change:ident)*] [$($detail:literal)*];)*];)*) => {
        pub const BELIEVED: &[Believed] = &[$($(Believed {
            field: $field,
            changes: &[$(Change::$change),*],
            details: &[$($detail),*],
            found: Lookup::$found,
            reason: $reason,
        },)*)*];
    };
}

believed! {
    "Names and values that are only displayed: nothing depends on them." => [
        "header/acceptances/*/name" Never [Word] [];
        "header/applications/*/kind" Never [Dropped Word] [];
        "header/nodes/*/position" Never [Dropped] [];
        "header/nodes/*/position/*" Never [More Less Much] [];
        "header/policies/*/name" Never [Word] [];
        "header/program" Never [Word] [];
        "header/scenario" Never [Word] [];
        "header/seed" Never [More Less Much] [];
        "header/users/*/id" Sometimes [More Much Word] [];
    ];
    "Routing only affects the client requests that agents see, and these are taken as recorded." => [
        "header/routing" Sometimes [Word] [];
    ];
    "The policy of an application is only a default, and each deploy names one." => [
        "header/applications/*/policy" Never [Other] [];
    ];
    "That the instances of an application are anchors is contradicted only if one of their agents proposes to undeploy it." => [
        "header/applications/*/anchor" Sometimes [Dropped Word] [];
    ];
    "A wrong id is detected only if a reason, a target, a fact or the order of facts depends on it." => [
        "header/applications/*/id" Sometimes [More Less Much Word] [];
        "header/nodes/*/id" Sometimes [Word] [];
    ];
    "An instance that does not occur again may have any free id, another application, or another node." => [
        "cycle/outcomes/deploy accepted/application" Sometimes [Other] ["full" "operations"];
        "cycle/outcomes/deploy accepted/new" Sometimes [More Less Much] ["full" "operations"];
        "cycle/outcomes/deploy accepted/node" Sometimes [Other] ["full" "operations"];
        "cycle/outcomes/migrate accepted/new" Sometimes [More Less Much] ["full" "operations"];
        "cycle/outcomes/migrate accepted/target" Sometimes [Other] ["operations"];
        "cycle/outcomes/replicate accepted/new" Sometimes [More Less Much] ["full" "operations"];
        "cycle/outcomes/replicate accepted/target" Sometimes [Other] ["operations"];
        "deployed/application" Sometimes [Other] ["full" "operations"];
        "deployed/instance" Sometimes [More Less Much] ["full" "summary"];
        "deployed/node" Sometimes [Other] ["operations" "summary"];
    ];
    "A text without effect cannot be checked: a repeated or unused policy, a file that is not loaded or loaded by another name, the memory of a manager, an acceptance policy that accepts." => [
        "header/acceptances" Sometimes [Dropped] [];
        "header/acceptances/*" Sometimes [Dropped Repeated] [];
        "header/acceptances/*/files/*" Never [Repeated] [];
        "header/acceptances/*/files/*/*" Sometimes [Word] [];
        "header/acceptances/*/memory" Never [Dropped More Much] [];
        "header/nodes/*/acceptance" Sometimes [Dropped Other] [];
        "header/policies/*" Sometimes [Repeated] [];
        "header/policies/*/files/*" Sometimes [Dropped] ["operations" "summary"];
        "header/policies/*/files/*" Sometimes [Repeated] [];
        "header/policies/*/files/*/*" Sometimes [Word] [];
    ];
    "Wrong facts of an agent are detected only if another decision or order follows from them; wrong rates by the usage." => [
        "evaluation/random" Sometimes [More Much] ["full"];
        "evaluation/requests/*/latency" Sometimes [More Less Much] ["full"];
        "evaluation/requests/*/neighbour" Sometimes [Other] ["full"];
        "header/applications/*/flavours/*/flavour" Sometimes [Word] [];
        "header/applications/*/flavours/*/max_latency" Sometimes [More Less Much] [];
        "header/applications/*/flavours/*/max_rate" Sometimes [More Less Much] [];
        "header/applications/*/flavours/*/quality" Sometimes [More Less Much] [];
        "header/applications/*/max_latency" Sometimes [More Less Much] [];
        "header/applications/*/max_rate" Sometimes [More Less Much] [];
        "header/facts" Sometimes [Dropped] [];
        "header/facts/*" Sometimes [Dropped Repeated] [];
        "header/facts/*/key" Sometimes [Word] [];
        "header/facts/*/subject" Sometimes [Word] [];
        "header/facts/*/value" Sometimes [Word] [];
    ];
    "Without evaluations, the times, policies, facts and usage of evaluations are unknown; with them, they are unknown for agents that never decide, or only once." => [
        "cycle/outcomes/deploy accepted/policy" Sometimes [Other] ["full" "operations"];
        "cycle/outcomes/migrate inhibited/operation" Sometimes [Word] ["operations"];
        "cycle/outcomes/nop" Never [Dropped] ["operations"];
        "deployed/policy" Sometimes [Other] [];
        "evaluation/time" Sometimes [More] ["full"];
        "header/detail" Sometimes [Word] ["full"];
        "header/evaluation_period" Sometimes [More Less Much] [];
        "usage/sum" Sometimes [More Less Much] ["operations" "summary"];
    ];
    "Without evaluations, two agents of an application on one node cannot be distinguished, once both can have evaluated." => [
        "cycle/outcomes/replicate accepted/instance" Sometimes [More Less] ["operations"];
        "cycle/outcomes/replicate inhibited/instance" Sometimes [More Less] ["operations"];
    ];
    "A wrong length of memory is detected only if an inhibition would have been remembered." => [
        "header/forgets_every" Sometimes [More Less Much] [];
        "header/policies/*/memory" Sometimes [Dropped More Less Much] [];
    ];
    "The descriptions of invalid solutions and of failures differ between versions." => [
        "evaluation/ending" Never [Word] ["full"];
        "evaluation/solutions/invalid/why" Never [Word] ["full"];
    ];
    "How far a policy gets before its budget is exhausted depends on the budget, which is not in a trace." => [
        "evaluation/solutions/*" Sometimes [Repeated] ["full"];
    ];
    "There are fewer rules about observations with `route-entries`, so what is valid with `arrivals` is valid with it, too." => [
        "header/observation" Sometimes [Word] [];
    ];
    "Arbitrations differ by rules that only some operations violate." => [
        "header/arbitration" Sometimes [Word] [];
    ];
    "A trace that uses no feature of a later format is valid in both formats." => [
        "header/mario_trace" Sometimes [More Less] [];
    ];
    "Wrong capacities, needs, tiers and access points are detected only if something fills the node, is on it, or connects to it." => [
        "header/applications/*/flavours" Sometimes [Dropped] [];
        "header/applications/*/flavours/*" Sometimes [Dropped Repeated] [];
        "header/applications/*/flavours/*/hardware" Sometimes [More Less Much] [];
        "header/applications/*/hardware" Sometimes [More Less Much] [];
        "header/nodes/*" Sometimes [Dropped] ["operations" "summary"];
        "header/nodes/*/access_point" Sometimes [Dropped Word] [];
        "header/nodes/*/capacity" Sometimes [More Less Much] [];
        "header/nodes/*/tier" Sometimes [Dropped More Less Much] [];
    ];
    "A trace of counts has no individual placement: instances count by tier, and rules, moves, users, response times and idle agents only in sum." => [
        "clients/sum" Sometimes [More Less] ["summary"];
        "clients/users" Sometimes [More Less] ["summary"];
        "counts/instances/*/tier" Sometimes [More Less Much] ["summary"];
        "counts/outcomes/*" Sometimes [Dropped] ["summary"];
        "counts/outcomes/*/application" Sometimes [Other] ["summary"];
        "counts/outcomes/*/nop" Sometimes [More Less] ["summary"];
        "counts/rules/*/rule" Sometimes [Word] ["summary"];
        "gone/instances/*/application" Sometimes [Other] ["summary"];
        "handovers/moves/*/application" Sometimes [Other] ["summary"];
        "responses/sum" Sometimes [More Less Much] ["summary"];
    ];
    "A user without a served or lost request may have any application, and in a trace of counts may be missing." => [
        "header/users" Sometimes [Dropped] [];
        "header/users/*" Sometimes [Dropped] ["summary"];
        "header/users/*/application" Sometimes [Other] [];
    ];
    "A wrong access point or user of a handover is detected only if the user moves again." => [
        "handover/to" Sometimes [Other] ["full" "operations"];
        "handover/user" Sometimes [Other] ["full" "operations"];
    ];
    "A wrong step is detected only if users move or response times are recorded after the first one." => [
        "header/step" Sometimes [More Less Much] [];
    ];
    "If nothing depends on an event of a node or link, it may be missing or concern another one." => [
        "link-down" Sometimes [Dropped] ["full" "operations"];
        "link-down/node" Sometimes [Other] ["full" "operations"];
        "link-up" Sometimes [Dropped] ["full" "operations"];
        "link-up/node" Sometimes [Other] ["full"];
        "node-down" Sometimes [Dropped] ["full" "operations"];
        "node-down/node" Sometimes [Other] ["full" "operations"];
        "node-leaving" Sometimes [Dropped] ["full" "operations"];
        "node-leaving/node" Sometimes [Other] ["full" "operations"];
        "node-up" Sometimes [Dropped] ["full" "operations"];
        "node-up/node" Sometimes [Other] ["full" "operations"];
    ];
    "A node that gave notice may crash before it leaves, and one that was down may have given an unrecorded notice." => [
        "node-down/cause" Sometimes [Word] ["full" "operations"];
    ];
    "Events without a fixed time may be slightly earlier or later, between the records before and after: the period of the managers is not in a trace." => [
        "counts/time" Sometimes [More Less] ["summary"];
        "cycle/time" Sometimes [More Less] ["full" "operations"];
        "gone/time" Sometimes [More Less] ["summary"];
        "handovers/time" Sometimes [More Less Much] ["summary"];
        "link-down/time" Sometimes [More Less Much] ["full" "operations"];
        "link-up/time" Sometimes [More Less Much] ["full" "operations"];
        "node-down/time" Sometimes [More Less Much] ["full" "operations"];
        "node-leaving/time" Sometimes [More Less Much] ["full" "operations"];
        "node-up/time" Sometimes [More Less Much] ["full" "operations"];
    ];
    "A missing verdict is noticed at the next cycle, so not after the last one; without evaluations, a missing cycle is noticed only if a later record depends on it." => [
        "counts" Sometimes [Dropped Repeated] ["summary"];
        "cycle" Sometimes [Dropped] ["full" "operations"];
    ];
    "An inhibited deploy may have been of any application that the same rule inhibits." => [
        "cycle/outcomes/deploy inhibited/application" Sometimes [Other] ["full" "operations"];
    ];
    "If the manager of the agent's own node inhibits a proposal regardless of its target, the target may be another neighbour." => [
        "cycle/outcomes/migrate inhibited/target" Sometimes [Other] ["operations"];
        "cycle/outcomes/replicate inhibited/target" Sometimes [Other] ["operations"];
    ];
    "Wrong stages, orders and numbers of requests of calls are detected only if counts or times contradict them, and never if traffic is rates." => [
        "header/calls/*/order" Sometimes [Word] [];
        "header/calls/*/requests" Sometimes [More Less Much] [];
        "header/calls/*/stage" Sometimes [More] [];
        "header/traffic" Never [Word] [];
    ];
    "Any number of calls may be in transit when a run ends, and a trace of counts does not separate the waits of users and callers." => [
        "calls/sent" Sometimes [More Much] [];
        "calls/sum" Sometimes [More Less] ["summary"];
    ];
    "A trace without its end is that of an interrupted run, and the report says so." => [
        "end" Never [Dropped] [];
    ];
    "Comparisons are recorded nowhere else: without the first of two, the other one becomes the first, and without the only one there is none." => [
        "regret" Sometimes [Dropped] [];
    ];
    "Wrong numbers of satisfied users, latencies and values of the best placement are detected only if nothing has changed since the last comparison, or if the best is worse than the placement." => [
        "regret/actual/latency" Sometimes [More Less Much] [];
        "regret/actual/satisfied" Sometimes [More Less] [];
        "regret/actual/served" Sometimes [More Less] ["summary"];
        "regret/best/instances" Sometimes [More Less Much] [];
        "regret/best/latency" Sometimes [More Less Much] [];
        "regret/best/present" Sometimes [Less] [];
        "regret/best/satisfied" Sometimes [More Less] [];
        "regret/best/served" Sometimes [More Less] [];
        "regret/users" Sometimes [More Less] ["summary"];
    ];
    "Another bin of a histogram is possible if its bounds allow the sum; if a mean may have been corrected, any bin up to a million times the duration of the run." => [
        "responses/histogram/*/bin" Sometimes [More Less Much Other] [];
    ];
}
