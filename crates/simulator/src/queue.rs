//! The event queue: events are taken in the order of their times. The tie-break between equal times is the order of
//! scheduling. Messages that arrive at nodes are not handled at once: the simulation collects them, and schedules one
//! event for all of them, after the events already scheduled for that time.

use mario_domain::Time;
use serde::{Deserialize, Serialize};

/// A stable radix heap.
///
/// Time in a simulation never runs backwards, so a key is never less than the last one taken. Events are kept in
/// buckets by the highest bit in which their time differs from the present. As the present advances, events move to
/// lower buckets. All events at the same time are always in the same bucket, in the order of scheduling.
///
/// Keys are the bit patterns of times, which have the same order as the times because these are not negative.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue<E> {
    now: u64,
    /// The events of the present. The first `taken` of them have been taken.
    present: Vec<E>,
    taken: usize,
    /// For each bit, the events whose key differs from that of the present in this bit and in no higher bit.
    later: Vec<Vec<(u64, E)>>,
    /// A bit mask of the non-empty buckets of `later`.
    occupied: u64,
    #[serde(skip, default = "Vec::new")]
    spare: Vec<(u64, E)>,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            now: 0,
            present: Vec::new(),
            taken: 0,
            later: (0..u64::BITS).map(|_| Vec::new()).collect(),
            occupied: 0,
            spare: Vec::new(),
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Whether all times are valid, and every event is in the bucket of its time.
    pub(crate) fn is_consistent(&self) -> bool {
        let is_time = |key: u64| f64::from_bits(key).is_finite() && f64::from_bits(key) >= 0.0;
        let belongs = |bucket: usize, key: u64| {
            is_time(key) && key > self.now && (key ^ self.now).leading_zeros() as usize == 63 - bucket
        };
        let is_sound = |(bucket, events): (usize, &Vec<(u64, E)>)| {
            events.is_empty() == (self.occupied >> bucket & 1 == 0)
                && events.iter().all(|(key, _)| belongs(bucket, *key))
        };
        is_time(self.now)
            && self.taken <= self.present.len()
            && self.later.len() == u64::BITS as usize
            && self.later.iter().enumerate().all(is_sound)
    }

    /// All pending events, in no particular order.
    pub(crate) fn events(&self) -> impl Iterator<Item = E> {
        self.present[self.taken..].iter().chain(self.later.iter().flatten().map(|(_, event)| event)).copied()
    }

    /// The present: the time of the last event taken; 0 before the first.
    pub fn now(&self) -> Time {
        Time::at(f64::from_bits(self.now))
    }

    /// Schedules an event. A time before the present is treated as the present.
    #[inline]
    pub fn schedule(&mut self, time: Time, event: E) {
        self.put(self.key(time), event);
    }

    #[inline]
    fn key(&self, time: Time) -> u64 {
        // Adding zero turns a negative zero into a positive one.
        (time.units().max(0.0) + 0.0).to_bits().max(self.now)
    }

    /// The pending event that was scheduled last for `time`, if it is also the last in its bucket; otherwise `None`.
    pub fn last_at(&self, time: Time) -> Option<E> {
        let key = self.key(time);
        let difference = key ^ self.now;
        if difference == 0 {
            return self.present[self.taken..].last().copied();
        }
        let bucket = u64::BITS - 1 - difference.leading_zeros();
        let (last, event) = self.later[bucket as usize].last()?;
        (*last == key).then_some(*event)
    }

    #[inline]
    fn put(&mut self, key: u64, event: E) {
        let difference = key ^ self.now;
        if difference == 0 {
            self.present.push(event);
        } else {
            let bucket = u64::BITS - 1 - difference.leading_zeros();
            self.later[bucket as usize].push((key, event));
            self.occupied |= 1 << bucket;
        }
    }

    /// Takes the next event of the present. If none is left, advances the present to the next event, if its time is
    /// before `end`, and takes it. Otherwise returns `None`.
    #[inline]
    pub fn next_before(&mut self, end: Time) -> Option<E> {
        if self.taken == self.present.len() && !self.advance(end) {
            return None;
        }
        let event = self.present[self.taken];
        self.taken += 1;
        Some(event)
    }

    /// Takes the next event of the present if it satisfies `wanted`.
    #[inline]
    pub fn next_now_if(&mut self, wanted: impl FnOnce(E) -> bool) -> Option<E> {
        let event = *self.present.get(self.taken)?;
        wanted(event).then(|| {
            self.taken += 1;
            event
        })
    }

    /// Advances the present to the time of the next event, if that is before `end`. Returns whether it did.
    fn advance(&mut self, end: Time) -> bool {
        self.present.clear();
        self.taken = 0;
        if self.occupied == 0 {
            return false;
        }
        let bucket = self.occupied.trailing_zeros() as usize;
        let next = self.later[bucket].iter().map(|(key, _)| *key).min().unwrap_or(self.now);
        if f64::from_bits(next) >= end.units() {
            return false;
        }
        self.occupied &= !(1 << bucket);
        self.now = next;
        let mut moving = std::mem::replace(&mut self.later[bucket], std::mem::take(&mut self.spare));
        for (key, event) in moving.drain(..) {
            self.put(key, event);
        }
        self.spare = moving;
        true
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::Duration;
    use mario_testing::Random;

    use super::*;

    #[test]
    fn events_are_ordered_by_time_and_then_by_the_order_of_scheduling() {
        let mut random = Random::new(1);
        let mut queue = EventQueue::default();
        let mut expected: Vec<(Time, u32)> = Vec::new();
        let mut taken: Vec<(Time, u32)> = Vec::new();
        let mut sequence = 0;
        for _ in 0..20_000 {
            if random.below(3) < 2 {
                // Draws from few different times, some of them fractional, so that many are equal.
                let time = queue.now() + Duration::of(f64::from(random.below(16)) * 0.37);
                queue.schedule(time, sequence);
                expected.push((time, sequence));
                sequence += 1;
            } else if let Some(event) = queue.next_before(Time::NEVER) {
                taken.push((queue.now(), event));
            }
        }
        while let Some(event) = queue.next_before(Time::NEVER) {
            taken.push((queue.now(), event));
        }
        expected.sort();
        // Times never decrease, so no event can be scheduled before one that was already taken.
        assert_eq!(taken, expected);
    }

    #[test]
    fn returns_the_last_event_scheduled_for_a_time() {
        let mut queue = EventQueue::default();
        assert_eq!(queue.last_at(Time::at(5.0)), None);
        queue.schedule(Time::at(5.0), 'a');
        assert_eq!(queue.last_at(Time::at(5.0)), Some('a'));
        assert_eq!(queue.last_at(Time::at(5.5)), None);
        queue.schedule(Time::at(5.0), 'b');
        assert_eq!(queue.last_at(Time::at(5.0)), Some('b'));
        assert_eq!(queue.next_before(Time::at(9.0)), Some('a'));
        assert_eq!(queue.last_at(Time::at(5.0)), Some('b'));
        assert_eq!(queue.next_before(Time::at(9.0)), Some('b'));
        assert_eq!(queue.last_at(Time::at(5.0)), None, "it is taken");
    }

    #[test]
    fn returns_no_event_at_the_end() {
        let mut queue = EventQueue::default();
        queue.schedule(Time::at(5.0), 'a');
        queue.schedule(Time::at(7.0), 'b');
        assert_eq!(queue.next_before(Time::at(7.0)), Some('a'));
        assert_eq!(queue.next_before(Time::at(7.0)), None);
        assert_eq!(queue.next_before(Time::at(7.5)), Some('b'));
    }

    #[test]
    fn an_event_scheduled_for_the_past_happens_now() {
        let mut queue = EventQueue::default();
        queue.schedule(Time::at(5.0), 'a');
        assert_eq!(queue.next_before(Time::at(9.0)), Some('a'));
        queue.schedule(Time::at(1.0), 'b');
        queue.schedule(Time::at(-0.0), 'c');
        assert_eq!(queue.next_before(Time::at(9.0)), Some('b'));
        assert_eq!(queue.next_now_if(|event| event == 'd'), None);
        assert_eq!(queue.next_now_if(|event| event == 'c'), Some('c'));
        assert_eq!(queue.now(), Time::at(5.0));
    }
}
