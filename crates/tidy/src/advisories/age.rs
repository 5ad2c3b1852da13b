//! The age of the last look-up of advisories.

use std::time::{SystemTime, UNIX_EPOCH};

use toml::value::Date;

use super::{DATABASE, Database};

/// The maximum age of a look-up, in days. [`warning`] warns about an older one.
pub const AGE_DAYS_MAX: i64 = 120;

/// A day in UTC, as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// The day of this time.
    pub fn of(time: SystemTime) -> Self {
        const DAY_SECONDS: u64 = 24 * 60 * 60;
        // A clock before 1970 is wrong; using the first day then causes no warning.
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        Self((seconds / DAY_SECONDS) as i64)
    }
}

impl From<Date> for Day {
    fn from(date: Date) -> Self {
        const DAYS_TO_1970: i64 = 719_469;
        // Counting years from March puts the leap day last, so that the days before a month do not depend on the year.
        let (year, month) = (i64::from(date.year), i64::from(date.month));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let days_before_month = (153 * month + 2) / 5;
        Self(year * 365 + leap_days + days_before_month + i64::from(date.day) - DAYS_TO_1970)
    }
}

/// The warning about a look-up that is too old on this day; `None` if the look-up is recent. An old look-up is not a
/// finding, because a commit that passed must not fail later without a change.
pub fn warning(database: &Database, today: Day) -> Option<String> {
    let age_days = today.0 - Day::from(database.looked_up).0;
    (age_days > AGE_DAYS_MAX).then(|| {
        format!(
            "warning: {DATABASE} is {age_days} days old (looked up on {}, newest advisory of {}): \
             look its packages up again and set its dates",
            database.looked_up, database.newest_advisory
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn day(date: &str) -> Day {
        let text = format!("looked_up = {date}\nnewest_advisory = {date}\npackages = []");
        let database: Database = toml::from_str(&text).expect("the test writes dates");
        database.looked_up.into()
    }

    #[test]
    fn counts_days_from_1970() {
        for (date, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("1972-02-29", 789),
            ("1972-03-01", 790),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2026-11-16", 20_773),
            ("2100-02-28", 47_540),
            ("2100-03-01", 47_541),
        ] {
            assert_eq!(day(date), Day(days), "{date}");
        }
    }

    #[test]
    fn counts_every_day_once() {
        let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut expected = day("1999-12-31").0;
        for year in 2000..2005 {
            for (index, days) in months.iter().enumerate() {
                let leap = u8::from(index == 1 && year % 4 == 0);
                for date in 1..=days + leap {
                    expected += 1;
                    assert_eq!(day(&format!("{year}-{:02}-{date:02}", index + 1)), Day(expected));
                }
            }
        }
    }

    #[test]
    fn takes_the_day_of_a_time_in_utc() {
        let midnight = UNIX_EPOCH + Duration::from_hours(20_773 * 24);
        assert_eq!(Day::of(midnight), day("2026-11-16"));
        assert_eq!(Day::of(midnight - Duration::from_secs(1)), day("2026-11-15"));
        assert_eq!(Day::of(UNIX_EPOCH - Duration::from_secs(1)), day("1970-01-01"));
    }

    #[test]
    fn warns_from_the_day_after_the_last_good_one() {
        let database: Database = toml::from_str("looked_up = 2026-11-16\nnewest_advisory = 2026-10-02\npackages = []")
            .expect("the test writes a database");
        for fresh in ["2020-01-01", "2026-11-16", "2027-03-16"] {
            assert_eq!(warning(&database, day(fresh)), None, "{fresh}");
        }
        assert_eq!(
            warning(&database, day("2027-03-17")).as_deref(),
            Some(
                "warning: crates/tidy/data/advisories.toml is 121 days old (looked up on 2026-11-16, newest advisory of \
                 2026-10-02): look its packages up again and set its dates"
            )
        );
    }
}
