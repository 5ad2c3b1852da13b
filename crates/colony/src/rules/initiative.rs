//! The owner's initiative: which instances the policy of a node's owner evicts or shrinks.

use mario_domain::{Application, FlavourIndex, Hardware, InstanceId, Wakefulness};
use mario_policy::{Acceptance, AcceptanceFailure, Eviction, Initiative, ManagerView, Shrink};
use mario_prolog::Machine;
use serde::{Deserialize, Serialize};

use super::adapt::{HardwareChange, adapt};

/// The announced eviction of an instance from its node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct EvictionNotice {
    /// How many evaluations the agent has left, which the agent's policy reads as `leave/2`. At 0 the instance is
    /// evicted, but not while a transfer is being prepared for it.
    pub left: u32,
    /// The reason, as stated by the owner's policy.
    pub reason: String,
}

impl EvictionNotice {
    /// Records an evaluation of the agent.
    pub fn evaluated(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Whether the agent has no evaluations left. Then its instance is evicted, if it is still on the node.
    pub fn is_due(&self) -> bool {
        self.left == 0
    }
}

/// An instance on the owner's node. `I` identifies it.
#[derive(Clone, Copy, Debug)]
pub struct HostedInstance<'a, I> {
    /// The instance.
    pub instance: I,
    /// Its application.
    pub application: &'a Application,
    /// The flavour that it runs in.
    pub flavour: FlavourIndex,
    /// Whether it is awake.
    pub wakefulness: Wakefulness,
    /// The hardware that it holds.
    pub held: Hardware,
    /// Whether its eviction was announced.
    pub is_leaving: bool,
}

/// An action of an owner on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerAct<I> {
    /// Shrinks the instance to a smaller flavour.
    Shrink {
        /// The instance.
        instance: I,
        /// The smaller flavour.
        flavour: FlavourIndex,
        /// The change of hardware, which takes no additional hardware.
        change: HardwareChange,
        /// The reason.
        reason: String,
    },
    /// Announces the eviction of the instance.
    Announce {
        /// The instance.
        instance: I,
        /// The reason.
        reason: String,
    },
}

/// Evaluates the policy of a node's owner. Returns its actions: first shrinks, then announcements of evictions.
/// `present` finds an instance on the node.
///
/// Actions without an effect are omitted: those on instances that `present` does not find, a shrink to the current
/// flavour, and an eviction that was already announced. One invalid answer, e.g. a shrink to a flavour that needs more
/// hardware, makes the whole result an error.
pub fn initiative<'a, I: Copy>(
    acceptance: &Acceptance,
    machine: &mut Machine,
    view: Result<ManagerView, AcceptanceFailure>,
    present: impl Fn(&InstanceId) -> Option<HostedInstance<'a, I>>,
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
        acts.extend(staying.map(|HostedInstance { instance, .. }| OwnerAct::Announce { instance, reason }));
    }
    Ok(acts)
}

/// The owner's action for a shrink that its policy wants; `None` if the instance already runs in that flavour. Fails if
/// the flavour is unknown or needs more hardware of any kind.
fn shrink<I>(present: HostedInstance<'_, I>, wanted: Shrink) -> Result<Option<OwnerAct<I>>, AcceptanceFailure> {
    let HostedInstance { instance, application, flavour, wakefulness, held, .. } = present;
    if application.find_flavour(&wanted.flavour) == Some(flavour) {
        return Ok(None);
    }
    // A sleeping instance holds the same in all flavours, but must not need more when it wakes.
    let needs_now = if wakefulness.is_asleep() { application.needed_in(flavour) } else { held };
    let is_smaller = |wanted| HardwareChange::between(needs_now, application.needed_in(wanted)).arrives().is_none();
    match adapt(application, (flavour, wakefulness), held, &wanted.flavour) {
        Ok((smaller, change)) if is_smaller(smaller) => {
            Ok(Some(OwnerAct::Shrink { instance, flavour: smaller, change, reason: wanted.reason }))
        }
        _ => {
            let (flavour, named) = (wanted.flavour, wanted.instance);
            let cause = format!("shrink/3 gives {flavour} for instance {named}, which is not a smaller flavour of it");
            let mut failure = AcceptanceFailure::new(cause);
            failure.hint = Some("choose one of flavour/6 that needs no more of any kind of hardware".to_owned());
            Err(failure)
        }
    }
}
