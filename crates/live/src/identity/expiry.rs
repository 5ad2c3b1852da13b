//! When a certificate expires. The libraries that verify certificates do not tell.

use rustls::pki_types::CertificateDer;
use time::{Date, Month, PrimitiveDateTime, Time};

const SEQUENCE: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns when a certificate expires, in seconds since 1970; `None` if it cannot be read.
pub(crate) fn expiry(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (content, _) = element(certificate, SEQUENCE)?;
    let (mut rest, _) = element(content, SEQUENCE)?;
    if rest.first() == Some(&EXPLICIT_VERSION) {
        rest = skip(rest)?;
    }
    // The serial number, the algorithm of the signature, and the issuer.
    for _ in 0..3 {
        rest = skip(rest)?;
    }
    let (validity, _) = element(rest, SEQUENCE)?;
    moment(skip(validity)?)
}

/// The content of the first element of `bytes`, which must have this tag, and the bytes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    if found != tag {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // The length takes this many bytes.
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// The bytes after the first element.
fn skip(bytes: &[u8]) -> Option<&[u8]> {
    element(bytes, *bytes.first()?).map(|(_, rest)| rest)
}

/// The time of the first element of `bytes`: `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn moment(bytes: &[u8]) -> Option<i64> {
    let tag = *bytes.first()?;
    let text = std::str::from_utf8(element(bytes, tag)?.0).ok()?.strip_suffix('Z')?;
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u16>().ok();
    let (year, at) = match tag {
        // Two digits mean 1950 to 2049 (RFC 5280).
        UTC_TIME => (number(0, 2).map(|year| if year < 50 { 2_000 + year } else { 1_900 + year })?, 2),
        GENERALIZED_TIME => (number(0, 4)?, 4),
        _ => return None,
    };
    let part = |index: usize| u8::try_from(number(at + 2 * index, at + 2 * index + 2)?).ok();
    let date = Date::from_calendar_date(i32::from(year), Month::try_from(part(0)?).ok()?, part(1)?).ok()?;
    let time = Time::from_hms(part(2)?, part(3)?, part(4)?).ok()?;
    Some(PrimitiveDateTime::new(date, time).assume_utc().unix_timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Authority;

    #[test]
    fn the_expiry_of_certificates_is_read() {
        let now = time::OffsetDateTime::now_utc().unix_timestamp();
        let authority = Authority::new("harbour", 400).unwrap();
        let node = authority.node(crate::identity::node_id("a").unwrap(), Vec::new());
        // 2049 is the last year that is written with two digits.
        for days in [1, 365, 40 * 365] {
            let issued = authority.issue(&node, days).unwrap();
            let pem = issued.certificate_pem.as_bytes();
            let certificate = <CertificateDer<'_> as rustls::pki_types::pem::PemObject>::from_pem_slice(pem).unwrap();
            let left = expiry(&certificate).unwrap() - now;
            assert!((left - days * 86_400).abs() < 3_600, "{days} days: {left} s");
            // No part of a certificate makes it panic.
            for length in 0..certificate.len() {
                let _ = expiry(&CertificateDer::from(&certificate[..length]));
            }
        }
    }
}
