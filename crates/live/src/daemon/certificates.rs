//! The expiry of the node's certificates, for the log, operators and monitoring.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::UnixTime;
use tokio::task::JoinSet;

use super::events::Events;
use crate::api::{CertificateStatus, NodeEvent};
use crate::identity::{Identity, expiry};

const DAY_S: i64 = 86_400;

/// How often the certificates are looked at.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// How often a warning is repeated.
const WARN_EVERY_S: i64 = DAY_S;

/// The certificates of a node, and when they expire. A clone is a handle to the same ones.
#[derive(Clone)]
pub(crate) struct Certificates {
    /// The name of each certificate, and when it expires, in seconds since 1970.
    expiries: Arc<[(&'static str, i64)]>,
    warn_s: i64,
}

impl Certificates {
    fn new(identity: &Identity, warn_days: u32) -> Certificates {
        let all = [("node", identity.certificate()), ("authority", identity.authority())];
        let expiries = all.into_iter().filter_map(|(name, certificate)| Some((name, expiry(certificate)?)));
        Certificates { expiries: expiries.collect(), warn_s: i64::from(warn_days) * DAY_S }
    }

    /// The certificates of a node, and spawns a task that publishes warnings.
    pub(crate) fn watched(
        identity: &Identity,
        warn_days: u32,
        events: &Events,
        tasks: &mut JoinSet<()>,
    ) -> Certificates {
        let certificates = Certificates::new(identity, warn_days);
        tasks.spawn(certificates.clone().watch(events.clone()));
        certificates
    }

    /// The name of each certificate, and in how many seconds it expires: negative if it has expired.
    pub(crate) fn seconds_left(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let now = UnixTime::now().as_secs() as i64;
        self.expiries.iter().map(move |(name, expires)| (*name, expires - now))
    }

    /// The certificates, for operators.
    pub(crate) fn status(&self) -> Vec<CertificateStatus> {
        let status = |(name, left_s): (&str, i64)| CertificateStatus {
            certificate: name.to_owned(),
            expires_in_s: left_s,
            warning: self.warning(name, left_s),
        };
        self.seconds_left().map(status).collect()
    }

    /// What an operator should know about a certificate; `None` if it is valid for long enough.
    fn warning(&self, name: &str, left_s: i64) -> Option<String> {
        let effect = "new connections of links and operators are refused";
        let remedy = "make a new one with `mario ca` and restart the daemon; its workloads keep running";
        if left_s <= 0 {
            return Some(format!(
                "the certificate of the {name} expired {} days ago: {effect}; {remedy}",
                -left_s / DAY_S
            ));
        }
        let is_soon = left_s <= self.warn_s;
        is_soon.then(|| {
            format!("the certificate of the {name} expires in {} days; then {effect}; {remedy}", left_s / DAY_S)
        })
    }

    /// Publishes a warning when a certificate expires soon or has expired, and repeats it daily. Never completes.
    async fn watch(self, events: Events) {
        let mut warned = vec![None; self.expiries.len()];
        loop {
            for ((certificate, left_s), warned) in self.seconds_left().zip(&mut warned) {
                if let Some(message) = self.warning(certificate, left_s)
                    && is_due(*warned, left_s)
                {
                    *warned = Some(left_s);
                    let (certificate, expires_in_s) = (certificate.to_owned(), left_s);
                    events.publish(NodeEvent::CertificateExpires { certificate, expires_in_s, message });
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Whether a warning is due: the first one, one a day after the last, and one when the certificate expires.
fn is_due(warned_at: Option<i64>, left_s: i64) -> bool {
    warned_at.is_none_or(|before| before - left_s >= WARN_EVERY_S || before > 0 && left_s <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificates(warn_days: u32) -> Certificates {
        Certificates { expiries: Arc::new([]), warn_s: i64::from(warn_days) * DAY_S }
    }

    #[test]
    fn a_warning_comes_before_a_certificate_expires_and_after() {
        let text = |left_s| certificates(30).warning("node", left_s);
        assert_eq!(text(31 * DAY_S), None);
        assert!(text(30 * DAY_S).is_some_and(|text| text.contains("expires in 30 days")));
        assert!(text(60).is_some_and(|text| text.contains("expires in 0 days")));
        assert!(text(-3 * DAY_S).is_some_and(|text| text.contains("expired 3 days ago")));
        assert_eq!(certificates(0).warning("node", 1), None);
    }

    #[test]
    fn a_warning_is_repeated_daily_and_when_the_certificate_expires() {
        assert!(is_due(None, 29 * DAY_S));
        assert!(!is_due(Some(29 * DAY_S), 29 * DAY_S - 60));
        assert!(is_due(Some(29 * DAY_S), 28 * DAY_S));
        assert!(is_due(Some(60), 0) && !is_due(Some(0), -60));
    }
}
