//! A hybrid logical clock: close to wall-clock time, and later than every timestamp accepted from a message.

use std::time::{SystemTime, UNIX_EPOCH};

use mario_trace::live::Stamp;

/// A received timestamp is accepted if it is at most this many milliseconds ahead of wall-clock time. So a wrong or
/// forged clock cannot push this node's clock further into the future.
const AHEAD_MS_MAX: u64 = 60_000;

/// The maximum of the counter, which has 16 bits in a message.
const COUNTER_MAX: u32 = 0xffff;

/// A hybrid logical clock.
#[derive(Default)]
pub(super) struct Clock {
    last: Stamp,
    /// Whether wall-clock time is ignored, because the events to be recorded are in the past.
    is_stopped: bool,
}

impl Clock {
    /// Returns the timestamp of a new event, which is later than all previous ones.
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

    /// Makes further timestamps later than that of a received message, unless that one is more than [`AHEAD_MS_MAX`]
    /// ahead.
    pub(super) fn heard(&mut self, packed: u64) {
        self.heard_at(packed, wall_ms());
    }

    fn heard_at(&mut self, packed: u64, wall: u64) {
        let heard = Stamp(packed >> 16, (packed & u64::from(COUNTER_MAX)) as u32);
        if heard.0 <= wall.saturating_add(AHEAD_MS_MAX) {
            self.not_before(heard);
        }
    }

    /// Makes further timestamps later than `stamp`.
    pub(super) fn not_before(&mut self, stamp: Stamp) {
        self.last = self.last.max(stamp);
    }

    /// Stops following wall-clock time: each further timestamp is the smallest one that is later than the previous one.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Uses wall-clock time again.
    pub(super) fn resume(&mut self) {
        self.is_stopped = false;
    }

    /// Encodes a timestamp for messages.
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
    fn timestamps_grow_even_when_wall_clock_time_goes_back() {
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
    fn a_far_future_timestamp_does_not_move_the_clock() {
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
