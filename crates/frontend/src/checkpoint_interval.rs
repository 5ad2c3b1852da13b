//! How often checkpoints are written.

use std::str::FromStr;
use std::time::{Duration, Instant};

use mario_domain::Time;

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckpointInterval {
    /// Whenever this much wall-clock time has passed since the last attempt to write one, shortly after the start of a
    /// run without a checkpoint, and on interruption.
    Elapsed(Duration),
    /// Whenever the managers have been activated this number of times since the last attempt to write one, shortly
    /// after the start of a run without a checkpoint, and on interruption.
    Cycles(u32),
    /// Only on interruption.
    Never,
}

impl CheckpointInterval {
    /// The default: every minute.
    pub const DEFAULT: CheckpointInterval = CheckpointInterval::Elapsed(Duration::from_mins(1));
}

impl FromStr for CheckpointInterval {
    type Err = String;

    fn from_str(text: &str) -> Result<CheckpointInterval, String> {
        let wrong = || "a number of seconds, a number of cycles such as `20cycles`, or `never`".to_owned();
        if text == "never" {
            return Ok(CheckpointInterval::Never);
        }
        if let Some(count) = text.strip_suffix("cycles") {
            let count = count.trim_end().parse().ok().filter(|count| *count > 0);
            return count.map(CheckpointInterval::Cycles).ok_or_else(wrong);
        }
        let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
        let elapsed = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        elapsed.map(CheckpointInterval::Elapsed).ok_or_else(wrong)
    }
}

/// The wall-clock time after which a run without a checkpoint gets its first one, unless one is due earlier, or the
/// interval is [`CheckpointInterval::Never`]. It is short, so that even a run that is killed early can be resumed.
const FIRST: Duration = Duration::from_millis(200);

/// Decides when the next checkpoint is due.
pub(crate) struct CheckpointSchedule {
    every: CheckpointInterval,
    /// Whether the run already has a checkpoint, or an attempt to write one has failed.
    is_saved: bool,
    /// The simulation time between two activations of the managers.
    period: mario_domain::Duration,
    /// The wall-clock time of the last attempt to write a checkpoint or, before the first, of the start.
    since: Instant,
    /// The simulation time of the next checkpoint; [`Time::NEVER`] unless the interval is a number of cycles.
    until: Time,
}

impl CheckpointSchedule {
    /// The schedule of a run that has reached the simulation time `now`.
    pub(crate) fn new(
        every: CheckpointInterval,
        is_saved: bool,
        period: mario_domain::Duration,
        now: Time,
    ) -> CheckpointSchedule {
        let mut schedule = CheckpointSchedule { every, is_saved, period, since: Instant::now(), until: Time::NEVER };
        schedule.schedule_next(now);
        schedule
    }

    /// The simulation time at which the run must pause for a checkpoint; [`Time::NEVER`] unless the interval is a
    /// number of cycles.
    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Whether a checkpoint is due. `reached_until` says whether the run has reached [`CheckpointSchedule::until`].
    pub(crate) fn is_due(&self, reached_until: bool) -> bool {
        let is_first = !self.is_saved && self.since.elapsed() >= FIRST;
        match self.every {
            CheckpointInterval::Elapsed(elapsed) => is_first || self.since.elapsed() >= elapsed,
            CheckpointInterval::Cycles(_) => is_first || reached_until,
            CheckpointInterval::Never => false,
        }
    }

    /// Records an attempt to write a checkpoint at this simulation time, successful or not.
    pub(crate) fn saved(&mut self, now: Time) {
        self.is_saved = true;
        self.schedule_next(now);
    }

    fn schedule_next(&mut self, now: Time) {
        self.since = Instant::now();
        if let CheckpointInterval::Cycles(count) = self.every {
            // The next representable time after the activation, so that all events at the time of the activation are
            // processed.
            let cycles = ((now - Time::ZERO) / self.period).floor() + f64::from(count);
            self.until = Time::at((self.period * cycles).units().next_up());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: mario_domain::Duration = mario_domain::Duration::of(300.0);

    #[test]
    fn reads_seconds_cycles_and_never() {
        assert_eq!("60".parse(), Ok(CheckpointInterval::Elapsed(Duration::from_mins(1))));
        assert_eq!("0.5".parse(), Ok(CheckpointInterval::Elapsed(Duration::from_millis(500))));
        assert_eq!("20cycles".parse(), Ok(CheckpointInterval::Cycles(20)));
        assert_eq!("never".parse(), Ok(CheckpointInterval::Never));
        for text in ["", "0", "-1", "NaN", "inf", "1e300", "0cycles", "cycles", "1.5cycles", "often"] {
            assert!(text.parse::<CheckpointInterval>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_checkpoint_by_cycles_is_due_every_n_cycles() {
        let mut schedule = CheckpointSchedule::new(CheckpointInterval::Cycles(2), true, PERIOD, Time::ZERO);
        assert!(schedule.until() > Time::at(600.0) && schedule.until() < Time::at(601.0));
        schedule.saved(Time::at(600.0));
        assert!(schedule.until() > Time::at(1_200.0) && schedule.until() < Time::at(1_201.0));
    }

    #[test]
    fn the_first_checkpoint_is_due_soon_unless_disabled() {
        let hour = CheckpointInterval::Elapsed(Duration::from_hours(1));
        for (every, is_due) in [(hour, true), (CheckpointInterval::Cycles(9), true), (CheckpointInterval::Never, false)]
        {
            let mut schedule = CheckpointSchedule::new(every, false, PERIOD, Time::ZERO);
            assert!(!CheckpointSchedule::new(every, true, PERIOD, Time::ZERO).is_due(false));
            std::thread::sleep(FIRST);
            assert_eq!(schedule.is_due(false), is_due, "{every:?}");
            schedule.saved(Time::at(10.0));
            assert!(!schedule.is_due(false), "{every:?}");
        }
    }
}
