//! Budgets, and the meter that counts against them.

use crate::allowance::Allowance;
use crate::interrupt::Interrupt;
use std::cell::Cell;

/// A limit for each resource of a query. In the default, all limits except that on answers are finite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Predicate calls, and retries of builtins, host relations and dynamic predicates; work on large data counts one
    /// per 6 cells. A query also ends when the clause bodies it has left and the alternative clauses and branches it
    /// has tried number more than twice this limit.
    pub inferences: u64,
    /// Bytes of everything that the query creates: terms, stacks, trail, choice points, atoms, clauses, global
    /// variables, collected answers, diverted output, and the temporary memory of builtins. With an allocator that
    /// returns freed memory, the memory that the operating system sees stays within 1.2 times this, plus 64 MiB for the
    /// engine and the program.
    pub heap_bytes: usize,
    /// Entries on the trail.
    pub trail_entries: usize,
    /// Choice points open at once.
    pub choice_points: usize,
    /// Answers returned to the host.
    pub answers: u64,
    /// Bytes of output.
    pub output_bytes: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            inferences: 100_000_000,
            heap_bytes: 1 << 30,
            trail_entries: 1 << 26,
            choice_points: 1 << 24,
            answers: u64::MAX,
            output_bytes: 1 << 26,
        }
    }
}

impl Budget {
    /// No limit except the memory of the computer.
    pub const UNLIMITED: Budget = Budget {
        inferences: u64::MAX,
        heap_bytes: usize::MAX,
        trail_entries: usize::MAX,
        choice_points: usize::MAX,
        answers: u64::MAX,
        output_bytes: usize::MAX,
    };
}

/// What ended a query early: an exhausted part of its [`Budget`], or the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// [`Budget::inferences`].
    Inferences,
    /// [`Budget::heap_bytes`].
    HeapBytes,
    /// [`Budget::trail_entries`].
    TrailEntries,
    /// [`Budget::choice_points`].
    ChoicePoints,
    /// [`Budget::answers`].
    Answers,
    /// [`Budget::output_bytes`].
    OutputBytes,
    /// The host stopped the query with its [`Interrupt`], or an [`Allowance`] is used up.
    Time,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Resource::Inferences => "inferences",
            Resource::HeapBytes => "heap bytes",
            Resource::TrailEntries => "trail entries",
            Resource::ChoicePoints => "choice points",
            Resource::Answers => "answers",
            Resource::OutputBytes => "output bytes",
            Resource::Time => "time",
        })
    }
}

/// The number of cells of a long walk that cost one inference. A walk takes 4 to 12 ns per cell, and the cheapest call
/// 4 ns. With more cells, an inference of a walk could take more than 20 times as long as the cheapest call.
pub(crate) const CELLS_PER_INFERENCE: u64 = 6;
/// For each inference of its budget, a query may leave clause bodies and try alternatives this many times in total. A
/// clause body is left once for each solution of its last goal, so a recursion with many solutions leaves many bodies
/// in few inferences.
const EXITS_PER_INFERENCE: u64 = 2;
/// The length of a chain of variables that is followed without a charge.
const FREE_CHAIN: u64 = 8;
/// The number of inferences between two checks of the memory, the allowance and the host's interrupt: a few
/// microseconds. A machine that collects garbage eagerly checks at every inference.
const INFERENCES_PER_CHECK: u64 = 1 << 8;

/// Counts the resources that a query uses against its [`Budget`].
#[derive(Default)]
pub(crate) struct Meter {
    /// Inferences of this query so far.
    pub(crate) inferences: u64,
    /// The machine leaves its fast path when `inferences` reaches this value: at the end of the budget, periodically to
    /// check the memory, the allowance and the host's interrupt, or immediately (0) when something needs attention. So
    /// a call needs only one comparison to check all budgets.
    pub(crate) attention_at: u64,
    inference_limit: u64,
    pub(crate) cell_limit: usize,
    pub(crate) trail_limit: usize,
    pub(crate) choice_limit: usize,
    pub(crate) output_limit: usize,
    pub(crate) answer_limit: u64,
    walked: u64,
    /// Steps along chains of variables that are not charged yet: see [`Meter::chain`].
    chained: Cell<u64>,
    /// Words of memory outside of the store and the machine's stacks: see [`Meter::hold`].
    held: usize,
    /// Words of the machine's stacks, atoms, clauses and diverted output at the last check.
    pub(crate) stacks: usize,
    /// The number of clause bodies left, and of alternative clauses and branches tried.
    pub(crate) exits: u64,
    exhausted: Option<Resource>,
    /// The handle by which the host can stop queries. It is kept from one query to the next.
    pub(crate) host_interrupt: Option<Interrupt>,
    /// The limit on inferences that this query shares with others. It is kept from one query to the next.
    pub(crate) allowance: Option<Allowance>,
    /// The inferences of this query that have been charged to the allowance; two exits count as one.
    charged: u64,
    /// The number of inferences between two checks.
    pace: u64,
}

impl Meter {
    pub(crate) fn start(&mut self, budget: &Budget) {
        self.charge(1);
        *self = Meter {
            inferences: 0,
            attention_at: 0,
            inference_limit: budget.inferences,
            cell_limit: budget.heap_bytes / 8,
            trail_limit: budget.trail_entries,
            choice_limit: budget.choice_points,
            output_limit: budget.output_bytes,
            answer_limit: budget.answers,
            walked: 0,
            chained: Cell::new(0),
            held: 0,
            stacks: 0,
            exits: 0,
            exhausted: None,
            host_interrupt: self.host_interrupt.take(),
            allowance: self.allowance.take(),
            charged: 0,
            pace: INFERENCES_PER_CHECK,
        };
        self.resume();
    }

    /// Charges the allowance with the inferences since the last charge, if they are at least `at_least`; two exits
    /// count as one inference. Returns false if the allowance is used up.
    fn charge(&mut self, at_least: u64) -> bool {
        let Some(allowance) = &self.allowance else { return true };
        let used = self.inferences + self.exits / EXITS_PER_INFERENCE - self.charged;
        if used >= at_least {
            allowance.charge(used);
            self.charged += used;
        }
        !allowance.is_spent()
    }

    /// The budget that the query was started with; its heap bytes are rounded down to whole words.
    pub(crate) fn budget(&self) -> Budget {
        Budget {
            inferences: self.inference_limit,
            heap_bytes: self.cell_limit.saturating_mul(8),
            trail_entries: self.trail_limit,
            choice_points: self.choice_limit,
            answers: self.answer_limit,
            output_bytes: self.output_limit,
        }
    }

    /// Makes the machine leave its fast path at the next call.
    #[inline]
    pub(crate) fn interrupt(&mut self) {
        self.attention_at = 0;
    }

    /// Schedules the next check; at the next call if the budget is exhausted.
    pub(crate) fn resume(&mut self) {
        self.attention_at = match self.exhausted {
            Some(_) => 0,
            None => self.inference_limit.min(self.inferences.saturating_add(self.pace)),
        };
    }

    /// Sets whether memory is checked at every inference.
    pub(crate) fn check_every_inference(&mut self, often: bool) {
        self.pace = if often { 1 } else { INFERENCES_PER_CHECK };
        self.resume();
    }

    /// Notes that a chain of this many variables was followed. A long one is charged at the next charge or check.
    #[inline]
    pub(crate) fn chain(&self, steps: u64) {
        if steps > FREE_CHAIN {
            self.chained.set(self.chained.get() + steps);
        }
    }

    /// Charges the chains of variables that were followed since the last charge.
    pub(crate) fn charge_chains(&mut self) {
        if self.chained.get() > 0 {
            self.walk(0);
        }
    }

    /// Charges a walk over `cells` cells; returns false if the budget is exhausted.
    #[inline]
    pub(crate) fn walk(&mut self, cells: u64) -> bool {
        self.walked += cells + self.chained.take();
        if self.walked >= CELLS_PER_INFERENCE {
            self.inferences += self.walked / CELLS_PER_INFERENCE;
            self.walked %= CELLS_PER_INFERENCE;
            self.spent();
        }
        self.exhausted.is_none()
    }

    /// Counts `words` words of memory outside of the store, until they are released.
    #[inline]
    pub(crate) fn hold(&mut self, words: usize) {
        self.held += words;
    }

    /// Stops counting `words` words of earlier calls of [`Meter::hold`].
    #[inline]
    pub(crate) fn release(&mut self, words: usize) {
        self.held -= words;
    }

    /// The words of the heap budget that are used outside of the store.
    #[inline]
    pub(crate) fn words_elsewhere(&self) -> usize {
        self.held + self.stacks
    }

    /// Checks the inferences, the exits, the host's interrupt and the allowance. Returns the first resource that ran
    /// out, now or earlier; `None` if the query may continue.
    pub(crate) fn spent(&mut self) -> Option<Resource> {
        let exit_limit = self.inference_limit.saturating_mul(EXITS_PER_INFERENCE);
        if self.inferences > self.inference_limit || self.exits > exit_limit {
            self.exhaust(Resource::Inferences);
        } else if self.host_interrupt.as_ref().is_some_and(Interrupt::is_requested)
            || !self.charge(INFERENCES_PER_CHECK)
        {
            self.exhaust(Resource::Time);
        }
        self.exhausted
    }

    /// Records that `resource` ran out, unless another one did before. The machine stops at its next call or failure.
    #[cold]
    pub(crate) fn exhaust(&mut self, resource: Resource) {
        self.exhausted.get_or_insert(resource);
        self.attention_at = 0;
    }

    #[inline(always)]
    pub(crate) fn exhausted(&self) -> Option<Resource> {
        self.exhausted
    }
}
