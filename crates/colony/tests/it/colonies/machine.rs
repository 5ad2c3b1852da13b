//! The workloads of one simulated machine. They outlive the daemon that started them.

use std::collections::BTreeMap;

use mario_colony::{Copies, Descriptor, WorkloadId};
use mario_domain::InstanceId;

/// The copies on one machine, except dead ones.
#[derive(Default)]
pub struct Machine {
    copies: BTreeMap<WorkloadId, Copy>,
}

struct Copy {
    instance: InstanceId,
    hardware: u64,
    is_exclusive: bool,
    state: State,
    /// Distinguishes this copy from an earlier one with the same id.
    generation: u64,
    /// The process of the daemon that last requested the copy. Only that process gets the result of the start.
    life: u32,
}

#[derive(PartialEq, Eq)]
enum State {
    Starting,
    Running,
    /// The copy was killed and is not dead yet.
    Stopping {
        is_wanted_again: bool,
    },
}

/// Whether the caller has to schedule the end of a copy's start-up.
#[derive(PartialEq, Eq)]
pub enum Wanted {
    /// No: no copy starts now.
    Nothing,
    /// Yes: the copy starts now.
    Starts,
}

/// The result of starting a copy.
#[derive(PartialEq, Eq)]
pub enum Startup {
    /// The copy runs. The value is the process of the daemon to be informed.
    Up(u32),
    /// The copy failed to start. The value is the process of the daemon to be informed.
    Failed(u32),
    /// The copy was stopped or replaced in the meantime.
    Superseded,
}

impl Machine {
    pub fn ask(
        &mut self,
        workload: WorkloadId,
        instance: &InstanceId,
        descriptor: &Descriptor,
        generation: u64,
        life: u32,
    ) -> Wanted {
        if let Some(copy) = self.copies.get_mut(&workload) {
            copy.instance.clone_from(instance);
            copy.life = life;
            if let State::Stopping { is_wanted_again } = &mut copy.state {
                *is_wanted_again = true;
            }
            return Wanted::Nothing;
        }
        let copy = Copy {
            instance: instance.clone(),
            hardware: descriptor.application.hardware.as_units(),
            is_exclusive: descriptor.copies == Copies::Exclusive,
            state: State::Starting,
            generation,
            life,
        };
        self.copies.insert(workload, copy);
        Wanted::Starts
    }

    /// Called when the start-up time of a copy has passed.
    pub fn started(&mut self, workload: WorkloadId, generation: u64, fails: bool) -> Startup {
        let Some(copy) = self.copies.get_mut(&workload) else { return Startup::Superseded };
        if copy.generation != generation || copy.state != State::Starting {
            return Startup::Superseded;
        }
        let life = copy.life;
        if fails {
            self.copies.remove(&workload);
            return Startup::Failed(life);
        }
        copy.state = State::Running;
        Startup::Up(life)
    }

    /// Marks a copy as stopping; [`Machine::died`] ends it. Returns its generation; `None` if there is no such copy.
    pub fn kill(&mut self, workload: WorkloadId) -> Option<u64> {
        let copy = self.copies.get_mut(&workload)?;
        copy.state = State::Stopping { is_wanted_again: false };
        Some(copy.generation)
    }

    /// Called when a killed copy is dead. If it is wanted again, starts it with the generation `next`.
    pub fn died(&mut self, workload: WorkloadId, generation: u64, next: u64) -> Wanted {
        let Some(copy) = self.copies.get_mut(&workload) else { return Wanted::Nothing };
        match copy.state {
            State::Stopping { is_wanted_again: true } if copy.generation == generation => {
                (copy.state, copy.generation) = (State::Starting, next);
                Wanted::Starts
            }
            State::Stopping { is_wanted_again: false } if copy.generation == generation => {
                self.copies.remove(&workload);
                Wanted::Nothing
            }
            _ => Wanted::Nothing,
        }
    }

    /// The copies that a sweep kills, with their generations: all that are not in `keep`.
    pub fn unlisted(&self, keep: &[WorkloadId]) -> Vec<(WorkloadId, u64)> {
        let unlisted = self.copies.iter().filter(|(workload, _)| !keep.contains(workload));
        unlisted.map(|(workload, copy)| (*workload, copy.generation)).collect()
    }

    /// Removes swept copies, except those that have been restarted since.
    pub fn swept(&mut self, dead: &[(WorkloadId, u64)]) {
        for (workload, generation) in dead {
            if self.copies.get(workload).is_some_and(|copy| copy.generation == *generation) {
                self.copies.remove(workload);
            }
        }
    }

    /// All copies, and the hardware of each.
    pub fn copies(&self) -> impl Iterator<Item = (WorkloadId, u64)> {
        self.copies.iter().map(|(workload, copy)| (*workload, copy.hardware))
    }

    /// The instance of each copy of an exclusive application.
    pub fn exclusive(&self) -> impl Iterator<Item = &InstanceId> {
        self.copies.values().filter(|copy| copy.is_exclusive).map(|copy| &copy.instance)
    }
}
