//! A hybrid logical clock: close to the wall's, and never behind anything that the node has heard of.

use std::time::{SystemTime, UNIX_EPOCH};

use mario_trace::live::Stamp;

/// A clock that a neighbour sends is believed if it is no further ahead than this many milliseconds. A neighbour whose clock is wrong, or who
/// lies, cannot push this node's into the future; the ids of transfers put the trace in order then.
const AHEAD_MS_MAX: u64 = 60_000;

/// The counter has 16 bits in a message.
const COUNTER_MAX: u32 = 0xffff;

/// A hybrid logical clock.
#[derive(Default)]
pub(super) struct Clock {
    last: Stamp,
    /// Whether the time of the wall is not read: what is told happened before.
    is_stopped: bool,
}

impl Clock {
    /// The time of something that happens now: later than everything before.
    pub(super) fn tick(&mut self) -> Stamp {
        let wall = if self.is_stopped { 0 } else { wall_ms() };
        self.tick_at(wall)
    }

    fn tick_at(&mut self, wall: u64) -> Stamp {
        let Stamp(ms, counter) = self.last;
        self.last = if wall > ms {
            Stamp(wall, 0)
        } else if counter < COUNTER_MAX {
            Stamp(ms, counter + 1)
        } else {
            Stamp(ms.saturating_add(1), 0)
        };
        self.last
    }

    /// A message came that was sent at this time.
    pub(super) fn heard(&mut self, packed: u64) {
        self.heard_at(packed, wall_ms());
    }

    fn heard_at(&mut self, packed: u64, wall: u64) {
        let heard = Stamp(packed >> 16, (packed & u64::from(COUNTER_MAX)) as u32);
        if heard.0 <= wall.saturating_add(AHEAD_MS_MAX) {
            self.not_before(heard);
        }
    }

    /// Something has happened at this time.
    pub(super) fn not_before(&mut self, stamp: Stamp) {
        self.last = self.last.max(stamp);
    }

    /// From now on, only the counter counts.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// The time of the wall is read again.
    pub(super) fn go_on(&mut self) {
        self.is_stopped = false;
    }

    /// A time as messages have it.
    pub(super) fn pack(stamp: Stamp) -> u64 {
        stamp.0 << 16 | u64::from(stamp.1)
    }
}

fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back_when_the_wall_does() {
        let mut clock = Clock::default();
        let times: Vec<Stamp> = [5, 9, 9, 3, 10].map(|wall| clock.tick_at(wall)).into();
        assert_eq!(times, [Stamp(5, 0), Stamp(9, 0), Stamp(9, 1), Stamp(9, 2), Stamp(10, 0)]);
    }

    #[test]
    fn an_effect_is_later_than_its_cause_on_a_faster_clock() {
        let mut clock = Clock::default();
        clock.heard_at(Clock::pack(Stamp(500, 7)), 100);
        assert_eq!(clock.tick_at(101), Stamp(500, 8));
    }

    #[test]
    fn a_neighbour_from_the_far_future_does_not_move_the_clock() {
        let mut clock = Clock::default();
        clock.heard_at(Clock::pack(Stamp(100 + AHEAD_MS_MAX + 1, 0)), 100);
        assert_eq!(clock.tick_at(101), Stamp(101, 0));
    }

    #[test]
    fn the_counter_runs_over_into_the_next_millisecond() {
        let mut clock = Clock::default();
        clock.not_before(Stamp(7, COUNTER_MAX));
        assert_eq!(clock.tick_at(0), Stamp(8, 0));
    }
}
