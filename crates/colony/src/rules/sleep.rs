//! Sleep, or scale to zero: the change of hardware when an instance's workload stops, and when it starts again.

use mario_domain::{Application, FlavourIndex, Hardware, Rule, Wakefulness};

use super::adapt::HardwareChange;

/// The change of hardware when an instance that holds `held` falls asleep. Inhibited if it already sleeps, or if its
/// application cannot sleep.
pub fn sleep(application: &Application, wakefulness: Wakefulness, held: Hardware) -> Result<HardwareChange, Rule> {
    let Some(sleep) = application.sleep else { return Err(Rule::Sleepless) };
    match wakefulness {
        Wakefulness::Asleep => Err(Rule::Asleep),
        Wakefulness::Awake => Ok(HardwareChange::between(held, sleep.keeps)),
    }
}

/// The change of hardware when an instance that holds `held` wakes, in its current flavour. Inhibited if it is awake.
pub fn wake(
    application: &Application,
    flavour: FlavourIndex,
    wakefulness: Wakefulness,
    held: Hardware,
) -> Result<HardwareChange, Rule> {
    match wakefulness {
        Wakefulness::Awake => Err(Rule::Awake),
        Wakefulness::Asleep => Ok(HardwareChange::between(held, application.needed_in(flavour))),
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::{ApplicationId, Quantity, Sleep};

    use super::*;

    #[test]
    fn a_sleeping_instance_keeps_the_configured_hardware_and_takes_the_rest_when_it_wakes() {
        let mut application = Application {
            id: ApplicationId::number(1),
            owner: None,
            hardware: Hardware::units(4),
            max_rate: Quantity::whole(5),
            max_latency: Quantity::whole(10),
            flavours: Vec::new(),
            sleep: None,
        };
        let (full, kept) = (Hardware::units(4), Hardware::units(1));
        assert_eq!(sleep(&application, Wakefulness::Awake, full), Err(Rule::Sleepless));
        application.sleep = Some(Sleep { keeps: kept, start: Quantity::whole(20) });
        let change = sleep(&application, Wakefulness::Awake, full).expect("it can sleep");
        assert_eq!((change.arrives(), change.freed), (None, Hardware::units(3)));
        assert_eq!(sleep(&application, Wakefulness::Asleep, kept), Err(Rule::Asleep));
        let change = wake(&application, FlavourIndex::DEFAULT, Wakefulness::Asleep, kept).expect("it sleeps");
        assert_eq!((change.arrives(), change.freed), (Some(Hardware::units(3)), Hardware::NONE));
        assert_eq!(wake(&application, FlavourIndex::DEFAULT, Wakefulness::Awake, full), Err(Rule::Awake));
    }
}
