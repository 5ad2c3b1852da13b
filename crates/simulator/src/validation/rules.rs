//! The rules for numbers in a state, by field.

use super::TableSizes;
use super::walk::{Site, Visitor};

/// An upper bound on counts: no run reaches it, and sums of two counts do not overflow.
const COUNT_MAX: u64 = 1 << 52;

/// The upper bound on 32-bit counts and on versions.
const SMALL_COUNT_MAX: u64 = 1 << 31;

/// In an index field, this value means that there is no index: no cell, or no instance on a node. One less means that a
/// node has several instances.
const NONE: u64 = u32::MAX as u64;

/// The highest of 32 bits, which is a flag in some fields.
const MARKED: u64 = 1 << 31;

/// The valid values of a number.
enum Rule {
    /// An index below this size.
    Below(usize),
    /// An index below this size, or [`NONE`], or one less than [`NONE`].
    BelowOrNone(usize),
    /// An index below this size, with or without the flag [`MARKED`], or [`NONE`].
    BelowMarked(usize),
    /// A count.
    Count,
    /// A 32-bit count.
    SmallCount,
    /// Any value: bit sets, seeds, and numbers that are checked elsewhere.
    Any,
}

pub(super) struct Rules<'a> {
    limits: &'a TableSizes,
}

impl<'a> Rules<'a> {
    pub(super) fn new(limits: &'a TableSizes) -> Rules<'a> {
        Rules { limits }
    }

    fn rule(&self, site: Site) -> Rule {
        let limits = self.limits;
        match (site.container, site.field) {
            ("NodeIndex", "") => Rule::Below(limits.nodes),
            // Unused inline storage has index 0, even if there are no links.
            ("LinkIndex", "") => Rule::Below(limits.links.max(1)),
            ("ApplicationIndex" | "ApplicationRef", "") => Rule::Below(limits.applications),
            ("PolicyIndex", "") => Rule::Below(limits.policies),
            ("AgentIndex", "") if site.holder == "on_node" => Rule::BelowOrNone(limits.agents),
            ("AgentIndex", "") => Rule::Below(limits.agents),
            ("PathIndex", "") => Rule::Below(limits.paths),
            ("MessageIndex", "") => Rule::Below(limits.messages),
            ("UserIndex", "") => Rule::Below(limits.users),
            ("PendingIndex", "") => Rule::Below(limits.pending),
            ("CallIndex" | "CallRef", "") => Rule::Below(limits.calls),
            // The slot of an agent that was never scheduled has batch 0, even if there are no batches.
            ("BatchIndex", "") if site.holder == "batch" => Rule::Below(limits.batches.max(1)),
            ("BatchIndex", "") => Rule::Below(limits.batches),
            ("Event", "Step") => Rule::Below(limits.steps + 1),
            ("Event", "Disturbance") => Rule::Below(limits.disturbances),
            ("Event", "Update") => Rule::Below(limits.updates),
            ("Scenario", "acceptance_of") => Rule::Below(limits.acceptances),
            ("Answers", "spare") => Rule::Below(limits.applications),
            ("CellIndex", "") if site.holder == "of_user" => Rule::BelowOrNone(limits.cells),
            ("CellIndex", "") => Rule::Below(limits.cells),
            ("CellMark", "") => Rule::BelowMarked(limits.cells),
            ("Instances", "marked") => Rule::BelowMarked(limits.agents),
            ("RoundRobinIndex", "") => Rule::Below(limits.round_robins),
            (container, field) => rule_of_count(container, field),
        }
    }
}

/// The rules of numbers that are not indices.
fn rule_of_count(container: &str, field: &str) -> Rule {
    match (container, field) {
        // Checked by the tables that contain them, or valid with any value.
        ("EventQueue" | "Slot" | "Pattern", _) | ("Batch", "awake") | ("NextHop", "") => Rule::Any,
        ("Agent", "pending_at" | "current")
        | ("RequestSnapshot", "same_as")
        | ("ExtraKnowledge", "random")
        | ("Placement", _) => Rule::Any,
        ("Path", _) | ("", "") => Rule::Any,
        ("Nearest", "nodes") | ("Summing", _) => Rule::Any,
        ("Scenario" | "Commuters", "seed") | ("Past", "checksum") | ("Capacity" | "Hardware" | "Id", _) => Rule::Any,
        (_, "capacity" | "free" | "hardware") => Rule::Any,
        (
            "Batch" | "Agent" | "LinksVersion" | "Remembered" | "History" | "Rotation" | "Paths" | "Cohort" | "Cycle"
            | "Share" | "Pending",
            _,
        ) => Rule::SmallCount,
        ("RoundRobin", "cells" | "holders") | ("LeastUsed", "used") | ("Message", "hops") | ("Change", _) => {
            Rule::SmallCount
        }
        _ => Rule::Count,
    }
}

impl Visitor for Rules<'_> {
    fn natural(&mut self, site: Site, value: u64) -> bool {
        let below = |value: u64, limit: usize| value < limit as u64;
        match self.rule(site) {
            Rule::Below(limit) => below(value, limit),
            Rule::BelowOrNone(limit) => below(value, limit) || value == NONE || value == NONE - 1,
            Rule::BelowMarked(limit) => below(value & !MARKED, limit) || value == NONE,
            Rule::Count => value <= COUNT_MAX,
            Rule::SmallCount => value <= SMALL_COUNT_MAX,
            Rule::Any => true,
        }
    }

    fn integer(&mut self, site: Site, value: i64) -> bool {
        let is_count = matches!(site.container, "Numbers" | "Value" | "Sums" | "Histogram" | "Change");
        !is_count || value.unsigned_abs() <= COUNT_MAX
    }

    fn float(&mut self, site: Site, value: f64) -> bool {
        let is_period = |value: f64| self.limits.periods.contains(&value.to_bits());
        match (site.container, site.field) {
            // Sums of fractions of requests. The account of a member of a cohort is reduced by the cohort's value at
            // the time of joining, so it can be negative.
            ("Account" | "Cohort", "served") | ("Accounts", "lost" | "hops") => value.abs() <= COUNT_MAX as f64,
            // The times at which counting starts.
            ("Account", "arrival") => value.is_finite() && value >= 0.0,
            ("Account", "counted") | ("Cohort", "since") => value >= 0.0,
            ("Account" | "Cohort", "waited") | ("RoundRobin", "until" | "regular_from") => !value.is_nan(),
            ("Periodic" | "OnOff" | "AgentTiming", "period") | ("Poisson", "mean_period") | ("OnOff", _) => {
                value.is_finite() && value > 0.0
            }
            ("Scenario", "step" | "management_period") => value.is_finite() && value > 0.0,
            ("LinkState", "busy_until") | ("FieldEntry", "distance") => !value.is_nan(),
            ("Exact" | "Regular" | "Number", "period") => is_period(value),
            ("Cohort", "period") => value == 0.0 || is_period(value),
            // The times of first requests, from which all later ones are computed.
            ("Exact" | "Number" | "Cohort", "first") | ("Regular", "firsts") => value.is_finite() && value >= 0.0,
            _ => value.is_finite(),
        }
    }

    fn length(&mut self, _: Site, _: u32, _: usize) -> bool {
        true
    }
}
