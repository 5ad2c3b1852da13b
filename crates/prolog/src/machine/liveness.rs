//! Liveness analysis of environment slots: which slots a clause still reads from a given instruction on.
//!
//! The garbage collector must not visit other slots, because they may be uninitialised. Values that are not read again
//! need not be kept. Jumps in a clause only go forward, so one backward pass is enough.

use crate::instruction::{FAIL, Instruction, Label};
use crate::program::{Place, Program, RowCall, Wanted};
use rustc_hash::FxHashMap;

/// How a clause ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Ending {
    /// It does not return, for example because it fails.
    Never,
    /// It returns, or calls its last goal, without its own environment: the current environment is the caller's.
    InEnvironmentOfCaller,
    /// It frees its environment, then returns or calls its last goal.
    InItsOwn,
}

/// The slots that are live before an instruction, and how the clause ends from there.
#[derive(Clone, Debug)]
pub(super) struct Needed {
    /// The live slots, one bit each.
    slots: Vec<u64>,
    pub(super) ending: Ending,
}

impl Needed {
    fn nothing(ending: Ending) -> Needed {
        Needed { slots: Vec::new(), ending }
    }

    fn add(&mut self, slot: u16) {
        let word = slot as usize / 64;
        if self.slots.len() <= word {
            self.slots.resize(word + 1, 0);
        }
        self.slots[word] |= 1 << (slot % 64);
    }

    fn remove(&mut self, slot: u16) {
        if let Some(word) = self.slots.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    fn unite(&mut self, other: &Needed) {
        if self.slots.len() < other.slots.len() {
            self.slots.resize(other.slots.len(), 0);
        }
        for (word, more) in self.slots.iter_mut().zip(&other.slots) {
            *word |= more;
        }
        self.ending = self.ending.max(other.ending);
    }

    /// The live slots in ascending order.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let slot = index * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    slot
                })
            })
        })
    }
}

/// A cache of the liveness at labels.
#[derive(Default)]
pub(super) struct Liveness {
    known: FxHashMap<Label, Needed>,
}

impl Liveness {
    pub(super) fn from(&mut self, program: &Program, label: Label) -> &Needed {
        self.known.entry(label).or_insert_with(|| needed_from(program, label))
    }
}

fn needed_from(program: &Program, start: Label) -> Needed {
    let code = &program.code;
    let start = start as usize;
    let mut at_targets: FxHashMap<usize, Needed> = FxHashMap::default();
    let mut needed = Needed::nothing(Ending::Never);
    for position in (start..clause_end(code, start, &mut at_targets)).rev() {
        let at = |label: Label| at_targets.get(&(label as usize));
        step(program, code[position], &mut needed, at);
        if let Some(here) = at_targets.get_mut(&position) {
            here.clone_from(&needed);
        }
    }
    needed
}

/// One past the last reachable instruction. All jump targets except [`FAIL`] are added to `targets`.
fn clause_end(code: &[Instruction], start: usize, targets: &mut FxHashMap<usize, Needed>) -> usize {
    let mut last = start;
    let mut position = start;
    loop {
        let (target, goes_on) = follows(code[position]);
        if let Some(target) = target.filter(|&target| target != FAIL) {
            last = last.max(target as usize);
            targets.insert(target as usize, Needed::nothing(Ending::Never));
        }
        position += 1;
        if !goes_on && position > last {
            return position;
        }
    }
}

/// The jump target of an instruction, if it has one, and whether execution may continue with the next instruction.
fn follows(instruction: Instruction) -> (Option<Label>, bool) {
    match instruction {
        Instruction::TryElse { otherwise }
        | Instruction::RetryElse { otherwise }
        | Instruction::Test { otherwise, .. }
        | Instruction::CompareTerms { otherwise, .. }
        | Instruction::CompareNumbers { otherwise, .. }
        | Instruction::CompareWithSmall { otherwise, .. }
        | Instruction::TestNoRows { otherwise, .. } => (Some(otherwise), true),
        Instruction::Jump { to } => (Some(to), false),
        Instruction::Proceed
        | Instruction::Execute { .. }
        | Instruction::Fail
        | Instruction::CollectAdd { .. }
        | Instruction::Stop
        | Instruction::Resume => (None, false),
        _ => (None, true),
    }
}

/// Steps backwards over one instruction: updates `needed` from the live slots after it to those before it.
fn step<'n>(
    program: &Program,
    instruction: Instruction,
    needed: &mut Needed,
    at: impl Fn(Label) -> Option<&'n Needed>,
) {
    match instruction {
        Instruction::Proceed | Instruction::Execute { .. } => *needed = Needed::nothing(Ending::InEnvironmentOfCaller),
        Instruction::Deallocate => *needed = Needed::nothing(Ending::InItsOwn),
        Instruction::Fail | Instruction::CollectAdd { .. } | Instruction::Stop | Instruction::Resume => {
            *needed = Needed::nothing(Ending::Never);
        }
        Instruction::Jump { to } => *needed = at(to).cloned().unwrap_or(Needed::nothing(Ending::Never)),
        _ => {}
    }
    if let (Some(target), true) = follows(instruction)
        && let Some(there) = at(target)
    {
        needed.unite(there);
    }
    slots_of(program, instruction, needed);
}

/// Steps backwards over the effect of an instruction on slots. The match is exhaustive, so that a new instruction must
/// be considered.
fn slots_of(program: &Program, instruction: Instruction, needed: &mut Needed) {
    match instruction {
        Instruction::GetVariableY { y, .. }
        | Instruction::UnifyVariableY { y }
        | Instruction::PutVariableY { y, .. }
        | Instruction::InitializeY { y }
        | Instruction::SaveNeck { y }
        | Instruction::SaveCut { y } => needed.remove(y),
        Instruction::GetValueY { y, .. }
        | Instruction::UnifyValueY { y }
        | Instruction::PutValueY { y, .. }
        | Instruction::CutTo { y, .. }
        | Instruction::SoftCut { y, .. } => needed.add(y),
        Instruction::CallRows { call, .. } | Instruction::TestNoRows { call, .. } => {
            rows(&program.row_calls[call as usize], needed);
        }
        Instruction::CatchExit => needed.add(0),
        Instruction::GetValueX { .. }
        | Instruction::GetConstant { .. }
        | Instruction::GetList { .. }
        | Instruction::GetStructure { .. }
        | Instruction::GetLiteral { .. }
        | Instruction::UnifyVariableX { .. }
        | Instruction::UnifyValueX { .. }
        | Instruction::UnifyConstant { .. }
        | Instruction::UnifyLiteral { .. }
        | Instruction::UnifyVoid { .. }
        | Instruction::UnifyList
        | Instruction::UnifyStructure { .. }
        | Instruction::UnifyLastList
        | Instruction::UnifyLastStructure { .. }
        | Instruction::Pop
        | Instruction::GetListOfVariables { .. }
        | Instruction::GetListOfValue { .. }
        | Instruction::PutListOfValues { .. }
        | Instruction::PutPairOfValues { .. }
        | Instruction::Move { .. }
        | Instruction::PutVariableX { .. }
        | Instruction::PutConstant { .. }
        | Instruction::PutList { .. }
        | Instruction::PutStructure { .. }
        | Instruction::PutLiteral { .. }
        | Instruction::Charge { .. }
        | Instruction::Allocate { .. }
        | Instruction::Deallocate
        | Instruction::Call { .. }
        | Instruction::Execute { .. }
        | Instruction::Proceed
        | Instruction::NeckCut { .. }
        | Instruction::TryElse { .. }
        | Instruction::RetryElse { .. }
        | Instruction::TrustElse
        | Instruction::Jump { .. }
        | Instruction::Fail
        | Instruction::Stop
        | Instruction::Resume
        | Instruction::Builtin { .. }
        | Instruction::Test { .. }
        | Instruction::CompareTerms { .. }
        | Instruction::CompareNumbers { .. }
        | Instruction::CompareWithSmall { .. }
        | Instruction::Compute { .. }
        | Instruction::ComputeWithSmall { .. }
        | Instruction::Evaluate { .. }
        | Instruction::CollectStart { .. }
        | Instruction::CollectAdd { .. }
        | Instruction::CollectEnd { .. } => {}
    }
}

/// Steps backwards over a goal on a host relation, which reads some slots and sets others.
fn rows(call: &RowCall, needed: &mut Needed) {
    for &(_, place) in &call.new {
        if let Place::Y(y) = place {
            needed.remove(y);
        }
    }
    for &wanted in &call.wanted {
        if let Wanted::Y(y) = wanted {
            needed.add(y);
        }
    }
}
