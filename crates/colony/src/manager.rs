//! Node managers: the hardware of a node, its reservations, and whether an instance fits.

use mario_domain::{Capacity, Hardware, NodeId, Rule};
use serde::{Deserialize, Serialize};

/// The manager of one node: its hardware, used and reserved.
///
/// Requests are judged one after another, and hardware is reserved or taken for each accepted one before the next is
/// judged, so that two requests for the last free unit are never both accepted. `K` identifies a reservation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Manager<K> {
    node: NodeId,
    capacity: Capacity,
    free: Capacity,
    availability: Availability,
    reservations: Vec<Reservation<K>>,
}

/// Hardware reserved for an accepted request that is not enacted yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Reservation<K> {
    /// Identifies the reservation.
    pub key: K,
    /// The reserved amount.
    pub needed: Hardware,
}

/// Whether a node accepts new instances, and lets instances on it take more hardware.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Availability {
    /// The node accepts new instances.
    Up,
    /// The node is up but about to leave, and accepts neither new instances nor larger ones.
    Leaving,
    /// The node is down.
    Down,
}

/// The caller miscounted: the hardware does not fit, or was never taken. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountingError;

impl Availability {
    /// The availability of a node that an operator drains, or does not drain.
    pub(crate) fn of_drain(is_draining: bool) -> Availability {
        if is_draining { Availability::Leaving } else { Availability::Up }
    }
}

impl<K> Manager<K> {
    /// The manager of an empty node.
    pub fn new(node: NodeId, capacity: Capacity) -> Manager<K> {
        Manager { node, capacity, free: capacity, availability: Availability::Up, reservations: Vec::new() }
    }

    /// Its node.
    pub fn node(&self) -> &NodeId {
        &self.node
    }

    /// All the hardware of the node.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// The hardware that no copy on the node uses; reservations are not subtracted.
    pub fn free(&self) -> Capacity {
        self.free
    }

    /// Whether the node accepts new instances.
    pub fn availability(&self) -> Availability {
        self.availability
    }

    /// Sets whether the node accepts new instances and larger ones.
    pub fn set_availability(&mut self, availability: Availability) {
        self.availability = availability;
    }

    /// The reservations, in the order in which they were made.
    pub fn reservations(&self) -> &[Reservation<K>] {
        &self.reservations
    }

    /// The hardware that is neither used nor reserved.
    pub fn unreserved(&self) -> Capacity {
        let reserve = |left: Capacity, reservation: &Reservation<K>| left.take(reservation.needed).unwrap_or(NOTHING);
        self.reservations.iter().fold(self.free, reserve)
    }

    /// Checks that the node accepts instances, and that this hardware is neither used nor reserved. If not, returns the
    /// rule that inhibits the request.
    pub fn has_room(&self, needed: Hardware) -> Result<(), Rule> {
        match self.availability {
            Availability::Down => Err(Rule::Down),
            Availability::Leaving => Err(Rule::Leaving),
            Availability::Up => {
                let free = self.unreserved();
                if needed.fits(free) { Ok(()) } else { Err(Rule::Capacity { needed, free }) }
            }
        }
    }

    /// Reserves hardware. The caller must have checked with [`Manager::has_room`] that it fits.
    pub fn reserve(&mut self, key: K, needed: Hardware) {
        self.reservations.push(Reservation { key, needed });
    }

    /// Ends a reservation. Returns the reserved amount; `None` if there was no such reservation.
    pub fn release(&mut self, key: &K) -> Option<Hardware>
    where
        K: PartialEq,
    {
        let position = self.reservations.iter().position(|reservation| reservation.key == *key)?;
        Some(self.reservations.remove(position).needed)
    }

    /// Ends all reservations.
    pub fn release_all(&mut self) {
        self.reservations.clear();
    }

    /// Counts hardware as used; an error if it is not free.
    pub fn take(&mut self, needed: Hardware) -> Result<(), AccountingError> {
        self.free = self.free.take(needed).ok_or(AccountingError)?;
        Ok(())
    }

    /// Counts hardware as free again; an error if more would be free than the node has.
    pub fn give_back(&mut self, needed: Hardware) -> Result<(), AccountingError> {
        let free = self.free.give_back(needed).ok_or(AccountingError)?;
        let exceeds = match (free, self.capacity) {
            (Capacity::Bounded(free), capacity) => !free.fits(capacity),
            _ => false,
        };
        if exceeds {
            return Err(AccountingError);
        }
        self.free = free;
        Ok(())
    }

    /// Frees all hardware and ends all reservations.
    pub fn clear(&mut self) {
        self.free = self.capacity;
        self.reservations.clear();
    }
}

/// The unreserved hardware of a node whose reservations exceed its free hardware.
const NOTHING: Capacity = Capacity::units(0);

#[cfg(test)]
mod tests {
    use mario_domain::HardwareKind;

    use super::*;

    #[test]
    fn reserved_hardware_is_not_promised_twice() {
        let mut manager: Manager<u8> = Manager::new(NodeId::number(1), Capacity::units(3));
        let two = Hardware::units(2);
        assert_eq!(manager.has_room(two), Ok(()));
        manager.reserve(1, two);
        let rule = Rule::Capacity { needed: two, free: Capacity::units(1) };
        assert_eq!(manager.has_room(two), Err(rule));
        assert_eq!(manager.free(), Capacity::units(3), "agents see what is used, not what is promised");
        assert_eq!((manager.release(&1), manager.release(&1)), (Some(two), None));
        assert_eq!(manager.has_room(two), Ok(()));
    }

    #[test]
    fn every_kind_must_fit_and_the_first_that_does_not_is_the_reason() {
        let amounts = |units, gpu| Hardware::units(units).with(HardwareKind::Gpu, gpu).expect("counted");
        let mut manager: Manager<u8> = Manager::new(NodeId::number(1), Capacity::Bounded(amounts(4, 1)));
        assert_eq!(manager.has_room(amounts(1, 1)), Ok(()));
        manager.reserve(1, amounts(1, 1));
        let (needed, free) = (amounts(1, 1), Capacity::Bounded(amounts(3, 0)));
        assert_eq!(manager.has_room(needed), Err(Rule::Capacity { needed, free }));
        assert_eq!(needed.lacking(free), Some(HardwareKind::Gpu));
        assert_eq!(manager.has_room(Hardware::units(3)), Ok(()));
        manager.release(&1);
        assert_eq!(manager.take(amounts(4, 1)), Ok(()));
        assert_eq!(manager.give_back(amounts(0, 2)), Err(AccountingError));
        assert_eq!(manager.free(), Capacity::units(0));
    }

    #[test]
    fn a_miscount_is_reported_and_changes_nothing() {
        let mut manager: Manager<u8> = Manager::new(NodeId::number(1), Capacity::units(1));
        assert_eq!(manager.give_back(Hardware::units(1)), Err(AccountingError));
        assert_eq!(manager.take(Hardware::units(2)), Err(AccountingError));
        assert_eq!(manager.free(), Capacity::units(1));
    }
}
