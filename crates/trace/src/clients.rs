//! Records the results of client requests: for each step of mobility, by application; for the whole run, by user or, in
//! a summary trace, by application. Also writes the usage of each application at the end of the run.

use std::io::Write;

use mario_domain::{Duration, Time};

use crate::json::{integer, natural, number};
use crate::latencies::Latency;
use crate::record::UserResults;
use crate::reference::{ApplicationRef, UserRef};
use crate::writer::{ResponseSums, TraceWriter};

/// The relative tolerance for mean response times: the rounding error of a difference of two sums must not move a mean
/// into the bucket below.
const BOUND_TOLERANCE: f64 = 1e-9;

impl<W: Write> TraceWriter<W> {
    /// Records that a client request of a user was served, with its response time.
    pub fn served(&mut self, user: UserRef, application: ApplicationRef, response: Duration) {
        self.became_of(user, application, UserResults { served: 1, lost: 0, response });
    }

    /// Records that a client request of a user was lost.
    pub fn lost(&mut self, user: UserRef, application: ApplicationRef) {
        self.became_of(user, application, UserResults { served: 0, lost: 1, response: Duration::ZERO });
    }

    /// Records the cumulative results of all requests of a user since the start of the run. Only the increase since the
    /// last report is counted.
    pub fn sent(&mut self, user: UserRef, application: ApplicationRef, sent: &UserResults) {
        let before = self.clients[user.position()];
        let (served, lost) = (sent.served.saturating_sub(before.served), sent.lost.saturating_sub(before.lost));
        if served + lost > 0 {
            self.became_of(user, application, UserResults { served, lost, response: sent.response - before.sum });
            // Set directly, because the rounding error of a sum of differences would depend on how often the total was
            // reported.
            self.clients[user.position()].sum = sent.response;
        }
    }

    /// Adds the results of more client requests of a user.
    fn became_of(&mut self, user: UserRef, application: ApplicationRef, of: UserResults) {
        let client = &mut self.clients[user.position()];
        client.served += of.served;
        client.lost += of.lost;
        client.sum += of.response;
        self.became(application, of);
    }

    /// Adds the results of more client requests to an application.
    pub(crate) fn became(&mut self, application: ApplicationRef, of: UserResults) {
        let UserResults { served, lost, response } = of;
        self.totals.served += served;
        self.totals.lost += lost;
        let seen = &mut self.seen[application.position()];
        seen.served += served;
        seen.lost += lost;
        seen.sum += response;
        let each = match served {
            0 => return,
            1 => response,
            _ => response / served as f64 * (1.0 + BOUND_TOLERANCE),
        };
        seen.histogram.count(each.units(), served);
        if let Some(latencies) = &mut self.latencies {
            latencies[application.position()].count(each, served);
        }
    }

    /// Adds the results of several requests to an application, of any users.
    pub(crate) fn add_responses(&mut self, application: ApplicationRef, sums: &ResponseSums) {
        self.totals.served += sums.served;
        self.totals.lost += sums.lost;
        let seen = &mut self.seen[application.position()];
        seen.served += sums.served;
        seen.lost += sums.lost;
        seen.sum += sums.sum;
        seen.histogram.add_all(&sums.histogram);
    }

    /// Sets the totals of users and the response times of applications, whose requests [`TraceWriter::add_responses`]
    /// added.
    pub(crate) fn set_clients(&mut self, results: &[UserResults], latencies: &[(ApplicationRef, &Latency)]) {
        for (client, results) in self.clients.iter_mut().zip(results) {
            (client.served, client.lost, client.sum) = (results.served, results.lost, results.response);
        }
        for (application, latency) in latencies {
            if let Some(known) = self.latencies.as_mut().and_then(|all| all.get_mut(application.position())) {
                *known = (*latency).clone();
            }
        }
    }

    /// Writes the results of the requests to each application since the last record of this kind; nothing for an
    /// application without results. To be called before each step of mobility except the first;
    /// [`TraceWriter::finish`] calls it for the last step.
    pub fn responses(&mut self, time: Time) {
        for application in 0..self.seen.len() {
            let seen = std::mem::take(&mut self.seen[application]);
            if seen.served == 0 && seen.lost == 0 {
                continue;
            }
            self.begin("responses", time);
            for count in [application as u64, seen.served, seen.lost] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, seen.sum.units());
            self.line.extend_from_slice(b",[");
            for (position, (bucket, count)) in seen.histogram.buckets().enumerate() {
                self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
                match bucket {
                    Some(bucket) => integer(&mut self.line, i64::from(bucket)),
                    None => self.line.extend_from_slice(b"null"),
                }
                self.line.push(b',');
                natural(&mut self.line, count);
                self.line.push(b']');
            }
            self.line.extend_from_slice(b"]]");
            self.end_line();
        }
    }

    /// Writes the results of the whole run: the usage of each application, and the client requests of each user. A
    /// summary trace has the client requests by application.
    pub(crate) fn usage_and_clients(&mut self, time: Time) {
        for application in 0..self.usage.len() {
            let usage = self.usage[application];
            self.begin("usage", time);
            for count in [application as u64, usage.evaluations] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, usage.requests / usage.max_rate + usage.used_in_flavours);
            self.line.push(b']');
            self.end_line();
        }
        if self.summing.is_some() {
            self.clients_of_applications(time);
            return;
        }
        for user in 0..self.clients.len() {
            let client = self.clients[user];
            self.begin("client", time);
            for count in [user as u64, client.served, client.lost] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, client.sum.units());
            self.line.push(b']');
            self.end_line();
        }
    }
}
