//! Flavours: the change of hardware when an instance adapts to another flavour.

use mario_domain::{Application, FlavourId, FlavourIndex, Hardware, Rule, Wakefulness};

/// A change of the hardware that an instance holds on its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HardwareChange {
    /// The additional hardware that it needs, of each kind. It must be free on the node.
    pub taken: Hardware,
    /// The hardware that it no longer needs, of each kind. In a simulator it is free from the next cycle on; on a live
    /// node, once the copy has been restarted or stopped.
    pub freed: Hardware,
}

impl HardwareChange {
    /// The change from the hardware that an instance holds to the hardware that it needs.
    pub fn between(held: Hardware, needed: Hardware) -> HardwareChange {
        HardwareChange { taken: needed.saturating_sub(held), freed: held.saturating_sub(needed) }
    }

    /// The hardware that must be free on the node; `None` if the instance needs no more than it holds, so that a full
    /// node does not inhibit the change.
    pub fn arrives(self) -> Option<Hardware> {
        (self.taken != Hardware::NONE).then_some(self.taken)
    }
}

/// Returns the index of the flavour `wanted`, and the change of hardware when an instance that holds `held` and runs in
/// the flavour `running` adapts to it. Fails with [`Rule::Flavour`] if the application does not have the flavour, or
/// the instance already runs in it. A sleeping instance holds the same hardware in all flavours.
pub fn adapt(
    application: &Application,
    (running, wakefulness): (FlavourIndex, Wakefulness),
    held: Hardware,
    wanted: &FlavourId,
) -> Result<(FlavourIndex, HardwareChange), Rule> {
    let flavour = application.find_flavour(wanted).filter(|flavour| *flavour != running);
    let Some(flavour) = flavour else { return Err(Rule::Flavour { flavour: wanted.clone() }) };
    Ok((flavour, HardwareChange::between(held, application.held_in(flavour, wakefulness))))
}

#[cfg(test)]
mod tests {
    use mario_domain::{ApplicationId, Flavour, HardwareKind, Quantity};

    use super::*;

    fn flavour(name: &str, hardware: Hardware) -> Flavour {
        let (max_rate, max_latency, quality) = (Quantity::whole(5), Quantity::whole(10), Quantity::whole(1));
        Flavour { id: FlavourId::name(name).expect("a name"), hardware, max_rate, max_latency, quality }
    }

    #[test]
    fn a_growing_instance_needs_the_difference_of_each_kind_and_a_shrinking_one_nothing() {
        let full = Hardware::units(4);
        let lite = Hardware::units(1).with(HardwareKind::Gpu, 1).expect("counted");
        let application = Application {
            id: ApplicationId::number(1),
            owner: None,
            hardware: full,
            max_rate: Quantity::whole(5),
            max_latency: Quantity::whole(10),
            sleep: None,
            flavours: vec![flavour("full", full), flavour("lite", lite), flavour("least", Hardware::units(1))],
        };
        let id = |name: &str| FlavourId::name(name).expect("a name");
        let awake = |flavour: FlavourIndex| (flavour, Wakefulness::Awake);
        let (to, change) = adapt(&application, awake(FlavourIndex::DEFAULT), full, &id("lite")).expect("another one");
        let gpu = Hardware::NONE.with(HardwareKind::Gpu, 1).expect("counted");
        assert_eq!((to, change.taken, change.freed), (FlavourIndex(1), gpu, Hardware::units(3)));
        assert_eq!(change.arrives(), Some(gpu));
        let (to, change) = adapt(&application, awake(FlavourIndex(1)), lite, &id("least")).expect("another one");
        assert_eq!((to, change.arrives(), change.freed), (FlavourIndex(2), None, gpu));
        let asleep = (FlavourIndex::DEFAULT, Wakefulness::Asleep);
        let (to, change) = adapt(&application, asleep, Hardware::NONE, &id("lite")).expect("another one");
        assert_eq!((to, change), (FlavourIndex(1), HardwareChange::between(Hardware::NONE, Hardware::NONE)));
        for wanted in ["full", "large", "self"] {
            let refused = adapt(&application, awake(FlavourIndex::DEFAULT), full, &id(wanted));
            assert_eq!(refused, Err(Rule::Flavour { flavour: id(wanted) }));
        }
    }
}
