//! Parses timestamps.

/// Parses a time in seconds: a plain number, or a date and time such as `2014-02-01 00:00:00.739166+01`. Dates yield
/// seconds since the start of 1970; without a time zone, UTC is assumed. `None` for any other text.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    if !text.is_ascii() {
        return None;
    }
    let (date, time) = text.split_once(['T', ' '])?;
    let mut parts = date.splitn(3, '-').map(whole);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (time, zone_seconds) = split_zone(time.trim())?;
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let second: f64 = match parts.next() {
        Some(second) if second.starts_with(|digit: char| digit.is_ascii_digit()) => second.parse().ok()?,
        Some(_) => return None,
        None => 0.0,
    };
    // 60 is a leap second.
    if hour > 23 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let day_seconds = (hour * 60 + minute) * 60 - zone_seconds;
    Some(days(year, month, day)? as f64 * 86_400.0 + day_seconds as f64 + second)
}

/// Splits a time into the time of day and the offset of its zone from UTC in seconds, positive east of Greenwich.
/// Without a zone the offset is 0. `None` for an invalid zone.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(place) = time.find(['+', '-']) else { return Some((time, 0)) };
    let zone = &time[place + 1..];
    let (hours, minutes) = match (zone.split_once(':'), zone.len()) {
        (Some((hours, minutes)), _) => (hours, minutes),
        (None, 4) => zone.split_at(2),
        (None, _) => (zone, "0"),
    };
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    Some((&time[..place], if time.as_bytes()[place] == b'+' { seconds } else { -seconds }))
}

/// Parses a number of one to four digits.
fn whole(text: &str) -> Option<i64> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The number of days since the start of 1970; `None` if there is no such date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    if !(1..=length).contains(&day) {
        return None;
    }
    let years_before = year - 1;
    let before_year =
        years_before * 365 + years_before.div_euclid(4) - years_before.div_euclid(100) + years_before.div_euclid(400);
    let before_month: i64 = lengths[..month as usize - 1].iter().sum();
    Some(before_year + before_month + day - 1 - 719_162)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn timestamps_are_seconds_or_dates_with_times() {
        for (text, expected) in [
            ("12.5", 12.5),
            ("1970-01-01 00:00:00", 0.0),
            ("1970-01-01T00:00:01Z", 1.0),
            ("2000-03-01T00:00:00", 951_868_800.0),
            ("2014-02-01 00:00:00.5+01", 1_391_209_200.5),
            ("2014-02-01 00:00:00+01:30", 1_391_207_400.0),
            ("2014-02-01T00:00:00-0100", 1_391_216_400.0),
            ("2024-02-29 23:59", 1_709_251_140.0),
        ] {
            let found = seconds(text).expect(text);
            assert!((found - expected).abs() < 1e-6, "{text}: {found}");
        }
    }

    #[test]
    fn an_invalid_timestamp_is_rejected() {
        for text in [
            "",
            "soon",
            "nan",
            "inf",
            "2014-02-01",
            "2014-02-30 00:00:00",
            "2023-02-29 00:00:00",
            "2014-13-01 00:00:00",
            "2014-00-01 00:00:00",
            "2014-02-01 24:00:00",
            "2014-02-01 00:60:00",
            "2014-02-01 00:00:61",
            "2014-02-01 00:00:00+99",
            "2014-02-01 00:00:-1",
            "20140-02-01 00:00:00",
            "2014-02-01 00:00:00+é",
            "2014-02-01 ",
            "-- ::",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
