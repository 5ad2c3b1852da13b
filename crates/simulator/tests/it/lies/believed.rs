//! The changes that contradict nothing in a trace, or nothing in some places: what the auditor takes as recorded.

use super::fields::Change;

/// Whether such changes are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// Nothing contradicts them.
    Never,
    /// Some are contradicted by what follows from them, and others are not.
    Sometimes,
}

/// An entry of the list.
pub struct Believed {
    /// The field; it may end in `*`, for all that begin so.
    pub field: &'static str,
    /// Which changes of it; all, if there are none.
    pub changes: &'static [Change],
    /// How much the trace tells; in all of them, if there are none.
    pub details: &'static [&'static str],
    pub found: Lookup,
    /// Why nothing contradicts them, as `docs/auditing.md` says it.
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

/// Declares entries by their reason: the field, whether it is found, the changes, and the details.
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
        "header/routing" Never [Word] [];
    ];
    "The policy of an application is that of its agents unless a deploy says otherwise, and each deploy names one." => [
        "header/applications/*/policy" Never [Other] [];
    ];
    "Ids are names: they are found out where a reason, a target, a fact or the order of facts depends on them." => [
        "header/applications/*/id" Sometimes [More Less Much Word] [];
        "header/nodes/*/id" Sometimes [Word] [];
    ];
    "An instance that is never heard of again may have any id that is free, be of another application, or be elsewhere." => [
        "cycle/outcomes/deploy accepted/application" Sometimes [Other] ["operations"];
        "cycle/outcomes/deploy accepted/new" Sometimes [More Less Much] ["operations"];
        "cycle/outcomes/deploy accepted/node" Sometimes [Other] ["operations"];
        "cycle/outcomes/migrate accepted/new" Sometimes [More Less Much] ["operations"];
        "cycle/outcomes/migrate accepted/target" Sometimes [Other] ["operations"];
        "cycle/outcomes/replicate accepted/new" Sometimes [More Much] ["full" "operations"];
        "cycle/outcomes/replicate accepted/new" Sometimes [Less] ["operations"];
        "cycle/outcomes/replicate accepted/target" Sometimes [Other] ["operations"];
        "deployed/application" Sometimes [Other] ["full" "operations"];
        "deployed/instance" Sometimes [More Less Much] ["summary"];
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
        "cycle/outcomes/migrate inhibited/operation" Never [Word] ["operations"];
        "cycle/outcomes/nop" Never [Dropped] ["operations"];
        "deployed/policy" Sometimes [Other] [];
        "header/detail" Sometimes [Word] ["full"];
        "header/evaluation_period" Sometimes [More Less Much] [];
        "usage/sum" Sometimes [More Less Much] ["operations" "summary"];
    ];
    "How long agents remember is found out where something was inhibited that they would have remembered." => [
        "header/forgets_every" Sometimes [More Less Much] [];
        "header/policies/*/memory" Sometimes [Dropped More Less Much] [];
    ];
    "The words for a solution that is no operation, and for why a policy gave no answer, differ between versions." => [
        "evaluation/solutions/invalid/why" Never [Word] ["full"];
    ];
    "The rules for what agents see are fewer with `route-entries`, so what is true by `arrivals` is so by it, too." => [
        "header/observation" Sometimes [Word] [];
    ];
    "Arbitrations differ by rules that only some operations go against." => [
        "header/arbitration" Sometimes [Word] [];
    ];
    "A trace of format 2 that has neither names of tiers nor comparisons is one of format 1, too." => [
        "header/mario_trace" Sometimes [Less] [];
    ];
    "How much a node holds and an instance needs, in which tier a node is, and whether users connect to it, is found out where something fills it, is there, or connects to it." => [
        "header/applications/*/hardware" Sometimes [More Less Much] [];
        "header/nodes/*" Sometimes [Dropped] ["summary"];
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
        "handovers/moves/*/application" Sometimes [Other] ["summary"];
        "responses/sum" Sometimes [More Less] ["summary"];
    ];
    "A user of whom no request was served or lost may be of any application, and in a trace of counts not be there." => [
        "header/users" Sometimes [Dropped] ["full"];
        "header/users/*" Sometimes [Dropped] ["summary"];
        "header/users/*/application" Sometimes [Other] [];
    ];
    "Where a user is is found out when the user moves again, and whose move it was when the user does." => [
        "handover/to" Sometimes [Other] ["operations"];
        "handover/user" Sometimes [Other] ["full" "operations"];
    ];
    "A step is found out where users move or response times are told after the first." => [
        "header/step" Sometimes [More Less Much] [];
    ];
    "A node, link or notice that nothing depended on may have stayed as it was, or been another." => [
        "link-down" Sometimes [Dropped] ["full" "operations"];
        "link-down/node" Sometimes [Other] ["full" "operations"];
        "link-up" Sometimes [Dropped] ["full" "operations"];
        "node-down" Sometimes [Dropped] ["full" "operations"];
        "node-down/node" Sometimes [Other] ["full"];
        "node-leaving" Sometimes [Dropped] ["full" "operations"];
        "node-leaving/node" Sometimes [Other] ["full"];
        "node-up" Sometimes [Dropped] ["full" "operations"];
    ];
    "A node that gave notice may crash before it leaves, and one that was down may have given a notice that nobody heard." => [
        "node-down/cause" Sometimes [Word] ["full" "operations"];
    ];
    "What happens at no fixed time may have happened a little earlier or later, between what was before and after it: the period of the managers is not in a trace." => [
        "counts/time" Sometimes [More Less] ["summary"];
        "cycle/time" Sometimes [More Less] ["full" "operations"];
        "gone/time" Sometimes [More Less] ["summary"];
        "handovers/time" Sometimes [More Less Much] ["summary"];
        "link-down/time" Sometimes [More Less] ["full" "operations"];
        "link-up/time" Sometimes [More Less] ["full" "operations"];
        "node-down/time" Sometimes [More Less] ["full" "operations"];
        "node-down/time" Sometimes [Much] ["full"];
        "node-leaving/time" Sometimes [More Less] ["full" "operations"];
        "node-up/time" Sometimes [More Less] ["full" "operations"];
    ];
    "What is never judged is missed at the next cycle, and after the last there is none; without evaluations, what nobody hears of again is not missed." => [
        "counts" Sometimes [Dropped Repeated] ["summary"];
        "cycle" Sometimes [Dropped] ["full" "operations"];
    ];
    "A deploy that was inhibited may have been of any application that the same rule speaks against." => [
        "cycle/outcomes/deploy inhibited/application" Sometimes [Other] ["full" "operations"];
    ];
    "What the manager of the agent's own node inhibits, whatever the target, may have been aimed at another neighbour." => [
        "cycle/outcomes/replicate inhibited/target" Sometimes [Other] ["operations"];
    ];
    "A trace without its end is one of a run that was interrupted, and the report says so." => [
        "end" Never [Dropped] [];
    ];
    "Who is satisfied, how late those served are, and what the best placement is worth, is found out where it must be as before, or no less than the other." => [
        "regret/actual/latency" Sometimes [More Less Much] [];
        "regret/actual/satisfied" Sometimes [More Less] [];
        "regret/actual/served" Sometimes [More Less] ["summary"];
        "regret/best/instances" Sometimes [More Less Much] [];
        "regret/best/latency" Sometimes [More Much] [];
        "regret/best/latency" Sometimes [Less] ["full" "summary"];
        "regret/best/present" Sometimes [Less] [];
        "regret/best/satisfied" Sometimes [More] ["full" "summary"];
        "regret/best/satisfied" Sometimes [Less] [];
        "regret/best/served" Sometimes [More] ["summary"];
        "regret/best/served" Sometimes [Less] ["full" "summary"];
        "regret/users" Sometimes [More Less] ["summary"];
    ];
    "A bin of a histogram may be another as long as no response takes a million times as long as the run, and all together at most what the upper bounds of the bins add up to." => [
        "responses/histogram/*/bin" Sometimes [More Less] [];
        "responses/histogram/*/bin" Sometimes [Other] [];
    ];
}
