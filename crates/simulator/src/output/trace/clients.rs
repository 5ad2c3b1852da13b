//! What clients saw, and how much instances were used.

use std::io::Write;

use mario_scenario::{ApplicationIndex, UserIndex};

use super::TraceWriter;
use crate::output::json::{integer, natural, number};
use crate::recorder::Sent;

/// What is lost in the difference of two sums must not bring a response time that is a bound of the histogram below it.
const BOUND_TOLERANCE: f64 = 1e-9;

impl<W: Write> TraceWriter<W> {
    /// This became of further client requests of a user.
    pub(super) fn became(&mut self, user: UserIndex, application: ApplicationIndex, of: Sent) {
        let Sent { served, lost, response } = of;
        self.totals.served += served;
        self.totals.lost += lost;
        let client = &mut self.clients[user.position()];
        client.served += served;
        client.lost += lost;
        client.sum += response;
        let seen = &mut self.seen[application.position()];
        seen.served += served;
        seen.lost += lost;
        seen.sum += response;
        match served {
            0 => {}
            1 => seen.histogram.count(response, 1),
            _ => seen.histogram.count(response / served as f64 * (1.0 + BOUND_TOLERANCE), served),
        }
    }

    /// What the clients saw since the last records of this kind.
    pub(super) fn responses(&mut self, time: f64) {
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
            number(&mut self.line, seen.sum);
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

    /// What the whole run came to, for each application and for each user.
    pub(super) fn usage_and_clients(&mut self, time: f64) {
        for application in 0..self.usage.len() {
            let usage = self.usage[application];
            self.begin("usage", time);
            for count in [application as u64, usage.evaluations] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, usage.requests / usage.max_rate);
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
            number(&mut self.line, client.sum);
            self.line.push(b']');
            self.end_line();
        }
    }
}
