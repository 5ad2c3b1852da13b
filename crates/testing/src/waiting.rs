//! Waits, by polling, for an event in another thread or process.

use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(20);

/// Polls `ask` until it returns a value, and returns the value. Panics with `what` if there is no value after `limit`.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "after {limit:?} still not: {what}");
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_first_answer() {
        let mut answers = [None, None, Some(3), Some(4)].into_iter();
        assert_eq!(wait_for("an answer", Duration::from_mins(1), || answers.next().flatten()), 3);
    }

    #[test]
    #[should_panic(expected = "still not: a miracle")]
    fn panics_with_the_name_of_the_event_on_timeout() {
        wait_for("a miracle", Duration::ZERO, || None::<()>);
    }
}
