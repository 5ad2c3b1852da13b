//! The valid values of each number of a state, by its field.

use super::Limits;
use super::walk::{Site, Visitor};

/// An upper bound on counts: no run reaches it, and sums of two counts do not overflow.
const COUNT_MAX: u64 = 1 << 52;

/// The bound for 32-bit counts and for versions.
const SMALL_COUNT_MAX: u64 = 1 << 31;

/// Marks the absence of a cell, and nodes without an instance or with several.
const NONE: u64 = u32::MAX as u64;

/// The highest bit of 32, which marks some numbers.
const MARKED: u64 = 1 << 31;

/// The valid values of a number.
enum Rule {
    /// An index below this size.
    Below(usize),
    /// An index below this size, or the number for none.
    BelowOrNone(usize),
    /// An index below this size, with or without the mark.
    BelowMarked(usize),
    /// A count.
    Count,
    /// A 32-bit count.
    SmallCount,
    /// Anything: bits, seeds, and numbers checked elsewhere.
    Any,
}

pub(super) struct Rules<'a> {
    limits: &'a Limits,
}

impl<'a> Rules<'a> {
    pub(super) fn new(limits: &'a Limits) -> Rules<'a> {
        Rules { limits }
    }

    fn rule(&self, site: Site) -> Rule {
        let limits = self.limits;
        match (site.container, site.field) {
            ("NodeIndex", "") => Rule::Below(limits.nodes),
            // Inline storage is filled with the first index, even without links.
            ("LinkIndex", "") => Rule::Below(limits.links.max(1)),
            ("ApplicationIndex" | "ApplicationPlace", "") => Rule::Below(limits.applications),
            ("PolicyIndex", "") => Rule::Below(limits.policies),
            ("AgentIndex", "") if site.holder == "on_node" => Rule::BelowOrNone(limits.agents),
            ("AgentIndex", "") => Rule::Below(limits.agents),
            ("PathIndex", "") => Rule::Below(limits.paths),
            ("MessageIndex", "") => Rule::Below(limits.messages),
            ("UserIndex", "") => Rule::Below(limits.users),
            ("PendingIndex", "") => Rule::Below(limits.pending),
            ("CallIndex" | "CallPlace", "") => Rule::Below(limits.calls),
            // The slot of an agent that was never scheduled refers to the first batch, even if there is none.
            ("BatchIndex", "") if site.holder == "batch" => Rule::Below(limits.batches.max(1)),
            ("BatchIndex", "") => Rule::Below(limits.batches),
            ("Event", "Step") => Rule::Below(limits.steps + 1),
            ("Event", "Disturbance") => Rule::Below(limits.disturbances),
            ("Event", "Update") => Rule::Below(limits.updates),
            ("Scenario", "acceptance_of") => Rule::Below(limits.acceptances),
            ("Answers", "spare") => Rule::Below(limits.applications),
            ("CellIndex", "") if site.holder == "of_user" => Rule::BelowOrNone(limits.cells),
            ("CellIndex", "") => Rule::Below(limits.cells),
            ("Mark", "") => Rule::BelowMarked(limits.cells),
            ("Instances", "marked") => Rule::BelowMarked(limits.agents),
            ("TurnsIndex", "") => Rule::Below(limits.turns),
            (container, field) => rule_of_count(container, field),
        }
    }
}

/// The rules of numbers that are not indices.
fn rule_of_count(container: &str, field: &str) -> Rule {
    match (container, field) {
        // Checked by the tables themselves.
        ("EventQueue" | "Slot" | "Round", _) | ("Batch", "awake") | ("Onward", "") => Rule::Any,
        ("Agent", "pending_at" | "current")
        | ("RequestSnapshot", "same_as")
        | ("ExtraKnowledge", "random")
        | ("Placement", _) => Rule::Any,
        ("Path", _) | ("", "") => Rule::Any,
        ("Nearest", "nodes") | ("Summing", _) => Rule::Any,
        ("Scenario" | "Commuters", "seed") | ("Past", "checksum") | ("Capacity" | "Hardware" | "Id", _) => Rule::Any,
        (_, "capacity" | "free" | "hardware") => Rule::Any,
        (
            "Batch" | "Agent" | "LinksVersion" | "Remembered" | "History" | "Rotation" | "Paths" | "Crowd" | "Cycle"
            | "Share" | "Pending",
            _,
        ) => Rule::SmallCount,
        ("Turns", "cells" | "holders") | ("LeastUsed", "used") | ("Message", "hops") | ("Change", _) => {
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
            // Fractions of requests add up to whole counts. A member of a crowd is counted minus the crowd's value when
            // it joined, so its own part can be negative.
            ("Account" | "Crowd", "served") | ("Accounts", "lost" | "hops") => value.abs() <= COUNT_MAX as f64,
            // Counting starts at these times.
            ("Account", "arrival") => value.is_finite() && value >= 0.0,
            ("Account", "counted") | ("Crowd", "since") => value >= 0.0,
            ("Account" | "Crowd", "waited") | ("Turns", "until" | "regular_from") => !value.is_nan(),
            ("Periodic" | "OnOff" | "AgentTiming", "period") | ("Poisson", "mean_period") | ("OnOff", _) => {
                value.is_finite() && value > 0.0
            }
            ("Scenario", "step" | "management_period") => value.is_finite() && value > 0.0,
            ("LinkState", "busy_until") | ("Spot", "distance") => !value.is_nan(),
            ("Exact" | "Regular" | "Number", "period") => is_period(value),
            ("Crowd", "period") => value == 0.0 || is_period(value),
            // The times of first requests, from which all others are counted.
            ("Exact" | "Number" | "Crowd", "first") | ("Regular", "firsts") => value.is_finite() && value >= 0.0,
            _ => value.is_finite(),
        }
    }

    fn length(&mut self, _: Site, _: u32, _: usize) -> bool {
        true
    }
}
