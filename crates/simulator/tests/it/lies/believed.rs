//! The changes that nothing in a trace contradicts, everywhere or in some places: values that the auditor takes as
//! recorded.

use super::fields::Change;

/// Whether such changes are detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// Nothing contradicts them.
    Never,
    /// Some are contradicted by later records, and others are not.
    Sometimes,
}

/// An entry of the list.
pub struct Believed {
    /// The field; it may end in `*`, for a prefix.
    pub field: &'static str,
    /// The changes of the field; empty for all.
    pub changes: &'static [Change],
    /// The trace levels; empty for all.
    pub details: &'static [&'static str],
    pub found: Lookup,
    /// Why nothing contradicts them, as stated in `docs/auditing.md`.
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

/// Declares entries by their reason: the field, whether it is detected, the changes, and the trace levels.
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
    "Names and what is only shown: nothing but a name depends on them." => [
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
    "How client requests are routed shows in what agents see, and that is taken as recorded." => [
        "header/routing" Sometimes [Word] [];
    ];
    "The policy of an application is that of its agents unless a deploy says otherwise, and each deploy names one." => [
        "header/applications/*/policy" Never [Other] [];
    ];
    "Ids are names: they are found out where a reason, a target, a fact or the order of facts depends on them." => [
        "header/applications/*/id" Sometimes [More Less Much Word] [];
        "header/nodes/*/id" Sometimes [Word] [];
    ];
    "An instance that is never heard of again may have any id that is free, be of another application, or be elsewhere." => [
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
    "A text that nobody has, or that has no effect, decides nothing: a policy told twice, a file that is not loaded or loaded by another name, the memory of a manager, a manager's policy that says yes." => [
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
    "What an agent saw, and what its policy knows, is found out where another decision follows from it, or another order; rates are found out by the usage." => [
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
    "Without evaluations, nothing tells when agents evaluate, by which policy, from what, and how much they are used; with them, not if they never decide or never twice." => [
        "cycle/outcomes/deploy accepted/policy" Sometimes [Other] ["full" "operations"];
        "cycle/outcomes/migrate inhibited/operation" Sometimes [Word] ["operations"];
        "cycle/outcomes/nop" Never [Dropped] ["operations"];
        "deployed/policy" Sometimes [Other] [];
        "evaluation/time" Sometimes [More] ["full"];
        "header/detail" Sometimes [Word] ["full"];
        "header/evaluation_period" Sometimes [More Less Much] [];
        "usage/sum" Sometimes [More Less Much] ["operations" "summary"];
    ];
    "Without evaluations, nothing tells which of two agents of an application on one node acted, once both can have evaluated." => [
        "cycle/outcomes/replicate accepted/instance" Sometimes [More Less] ["operations"];
        "cycle/outcomes/replicate inhibited/instance" Sometimes [More Less] ["operations"];
    ];
    "How long agents remember is found out where something was inhibited that they would have remembered." => [
        "header/forgets_every" Sometimes [More Less Much] [];
        "header/policies/*/memory" Sometimes [Dropped More Less Much] [];
    ];
    "The words for a solution that is no operation, and for why a policy gave no answer, differ between versions." => [
        "evaluation/ending" Never [Word] ["full"];
        "evaluation/solutions/invalid/why" Never [Word] ["full"];
    ];
    "How far a policy comes before its budget is spent depends on the budget, and that is not in a trace." => [
        "evaluation/solutions/*" Sometimes [Repeated] ["full"];
    ];
    "The rules for what agents see are fewer with `route-entries`, so what is true by `arrivals` is so by it, too." => [
        "header/observation" Sometimes [Word] [];
    ];
    "Arbitrations differ by rules that only some operations go against." => [
        "header/arbitration" Sometimes [Word] [];
    ];
    "A trace that uses nothing that a later format added is true in both formats." => [
        "header/mario_trace" Sometimes [More Less] [];
    ];
    "How much a node holds and an instance needs, in which tier a node is, and whether users connect to it, is found out where something fills it, is there, or connects to it." => [
        "header/applications/*/flavours" Sometimes [Dropped] [];
        "header/applications/*/flavours/*" Sometimes [Dropped Repeated] [];
        "header/applications/*/flavours/*/hardware" Sometimes [More Less Much] [];
        "header/applications/*/hardware" Sometimes [More Less Much] [];
        "header/nodes/*" Sometimes [Dropped] ["operations" "summary"];
        "header/nodes/*/access_point" Sometimes [Dropped Word] [];
        "header/nodes/*/capacity" Sometimes [More Less Much] [];
        "header/nodes/*/tier" Sometimes [Dropped More Less Much] [];
    ];
    "A trace of counts does not tell who is where: an instance counts by its tier, and rules, moves, users, response times and agents that do nothing only in sum." => [
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
    "A user of whom no request was served or lost may be of any application, and in a trace of counts not be there." => [
        "header/users" Sometimes [Dropped] [];
        "header/users/*" Sometimes [Dropped] ["summary"];
        "header/users/*/application" Sometimes [Other] [];
    ];
    "Where a user is is found out when the user moves again, and whose move it was when the user does." => [
        "handover/to" Sometimes [Other] ["full" "operations"];
        "handover/user" Sometimes [Other] ["full" "operations"];
    ];
    "A step is found out where users move or response times are told after the first." => [
        "header/step" Sometimes [More Less Much] [];
    ];
    "A node, link or notice that nothing depended on may have stayed as it was, or been another." => [
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
    "A node that gave notice may crash before it leaves, and one that was down may have given a notice that nobody heard." => [
        "node-down/cause" Sometimes [Word] ["full" "operations"];
    ];
    "What happens at no fixed time may have happened a little earlier or later, between what was before and after it: the period of the managers is not in a trace." => [
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
    "What is never judged is missed at the next cycle, and after the last there is none; without evaluations, what nobody hears of again is not missed." => [
        "counts" Sometimes [Dropped Repeated] ["summary"];
        "cycle" Sometimes [Dropped] ["full" "operations"];
    ];
    "A deploy that was inhibited may have been of any application that the same rule speaks against." => [
        "cycle/outcomes/deploy inhibited/application" Sometimes [Other] ["full" "operations"];
    ];
    "What the manager of the agent's own node inhibits, whatever the target, may have been aimed at another neighbour." => [
        "cycle/outcomes/migrate inhibited/target" Sometimes [Other] ["operations"];
        "cycle/outcomes/replicate inhibited/target" Sometimes [Other] ["operations"];
    ];
    "Which calls are a stage, in which order their requests are sent and how many they are, is found out where counts or times do not allow it, and nothing of it where traffic is said to be rates." => [
        "header/calls/*/order" Sometimes [Word] [];
        "header/calls/*/requests" Sometimes [More Less Much] [];
        "header/calls/*/stage" Sometimes [More] [];
        "header/traffic" Never [Word] [];
    ];
    "Any number of requests of calls may be on their way when a run ends, and in a trace of counts nothing tells how long users waited and how long callers did." => [
        "calls/sent" Sometimes [More Much] [];
        "calls/sum" Sometimes [More Less] ["summary"];
    ];
    "A trace without its end is one of a run that was interrupted, and the report says so." => [
        "end" Never [Dropped] [];
    ];
    "Nothing but comparisons tells that the placement was compared: without the first of two, the other is the first, and without the only one there is none." => [
        "regret" Sometimes [Dropped] [];
    ];
    "Who is satisfied, how late those served are, and what the best placement is worth, is found out where it must be as before, or no less than the other." => [
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
    "A bin of a histogram may be another where the bounds of the bins allow the sum; where a mean may have been corrected, any up to a million times the length of the run." => [
        "responses/histogram/*/bin" Sometimes [More Less Much Other] [];
    ];
}
