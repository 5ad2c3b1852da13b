//! Owners with initiative: what the owner of a node wants of what runs there.

use mario_domain::{Application, FlavourIndex, Hardware, InstanceId, Wakefulness};
use mario_policy::{Acceptance, AcceptanceFailure, Eviction, Initiative, ManagerView, Shrink};
use mario_prolog::Machine;
use serde::{Deserialize, Serialize};

use super::adapt::{HardwareChange, adapt};

/// That an instance will be evicted from its node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// How many evaluations its agent has left: `leave/2` while there is one. With none left, it is evicted after the next cycle.
    pub left: u32,
    /// Why, as the owner's policy said it.
    pub reason: String,
}

impl Notice {
    /// The agent has evaluated.
    pub fn evaluated(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Whether the agent has had its last evaluation, so that its instance is evicted if it is still there.
    pub fn is_due(&self) -> bool {
        self.left == 0
    }
}

/// An instance on the node whose owner is asked. `I` is how its holder names it.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a, I> {
    /// Which instance.
    pub instance: I,
    /// What it is an instance of.
    pub application: &'a Application,
    /// The flavour that it runs in.
    pub flavour: FlavourIndex,
    /// Whether it is awake.
    pub wakefulness: Wakefulness,
    /// The hardware that it holds.
    pub held: Hardware,
    /// Whether it has been told to leave.
    pub is_leaving: bool,
}

/// What an owner wants of an instance, and may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerAct<I> {
    /// It runs in a smaller flavour, from now on.
    Shrink {
        /// Which instance.
        instance: I,
        /// The smaller flavour.
        flavour: FlavourIndex,
        /// What that frees.
        change: HardwareChange,
        /// Why.
        reason: String,
    },
    /// It is told to leave.
    Announce {
        /// Which instance.
        instance: I,
        /// Why.
        reason: String,
    },
}

/// Asks the owner of a node what it wants of what runs there: shrinks first, then evictions, which are announced. `present` finds an
/// instance on the node.
///
/// What is so already is not wanted: a flavour that an instance runs in, and an eviction that was announced, which stands. All or
/// nothing: an owner whose policy has no valid answer, or shrinks to what is not smaller, wants nothing.
pub fn initiative<'a, I: Copy>(
    acceptance: &Acceptance,
    machine: &mut Machine,
    view: Result<ManagerView, AcceptanceFailure>,
    present: impl Fn(&InstanceId) -> Option<Present<'a, I>>,
) -> Result<Vec<OwnerAct<I>>, AcceptanceFailure> {
    let Initiative { shrinks, evictions } = acceptance.initiative(machine, &view?)?;
    let mut acts = Vec::new();
    for shrink in shrinks {
        if let Some(present) = present(&shrink.instance) {
            acts.extend(self::shrink(present, shrink)?);
        }
    }
    for Eviction { instance, reason } in evictions {
        let staying = present(&instance).filter(|present| !present.is_leaving);
        acts.extend(staying.map(|Present { instance, .. }| OwnerAct::Announce { instance, reason }));
    }
    Ok(acts)
}

/// What an instance gives back when its owner's node shrinks it; `None` if it runs in that flavour already.
fn shrink<I>(present: Present<'_, I>, wanted: Shrink) -> Result<Option<OwnerAct<I>>, AcceptanceFailure> {
    let Present { instance, application, flavour, wakefulness, held, .. } = present;
    if application.find_flavour(&wanted.flavour) == Some(flavour) {
        return Ok(None);
    }
    // A sleeper holds the same in all flavours, and is to need no more when it wakes.
    let needs_now = if wakefulness.is_asleep() { application.needed_in(flavour) } else { held };
    let is_smaller = |wanted| HardwareChange::between(needs_now, application.needed_in(wanted)).arrives().is_none();
    match adapt(application, (flavour, wakefulness), held, &wanted.flavour) {
        Ok((smaller, change)) if is_smaller(smaller) => {
            Ok(Some(OwnerAct::Shrink { instance, flavour: smaller, change, reason: wanted.reason }))
        }
        _ => {
            let (flavour, named) = (wanted.flavour, wanted.instance);
            let cause = format!("shrink/3 gives {flavour} for instance {named}, which is no smaller flavour of it");
            let mut failure = AcceptanceFailure::new(cause);
            failure.hint = Some("choose one of flavour/6 that needs no more of any kind of hardware".to_owned());
            Err(failure)
        }
    }
}
