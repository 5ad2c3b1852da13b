//! What clients saw, and how much instances were used.

use std::io::Write;

use super::TraceWriter;
use crate::output::json::{integer, natural, number};

impl<W: Write> TraceWriter<W> {
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
            number(&mut self.line, usage.sum);
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
