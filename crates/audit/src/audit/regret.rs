//! How far the placement is said to be from the best.

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Detail, Regret, Worth};

impl Audit {
    /// What can be counted is counted; how many users are satisfied, and what the best is, nobody can see in a trace.
    pub(super) fn regret(&mut self, record: &Regret) {
        // A trace of counts does not tell who is connected.
        let (users, is_known) = match self.header.detail {
            Detail::Summary => (self.header.users.len(), false),
            Detail::Full | Detail::Operations => (self.world.users.iter().flatten().count(), true),
        };
        let users = users as u64;
        if record.users > users || (is_known && record.users < users) {
            let expected = if is_known { format!("{users} connected") } else { format!("at most {users} connected") };
            self.find(FindingKind::Regret, "the users", expected, record.users.to_string());
        }
        let instances = self.alive();
        if record.actual.instances != instances {
            let found = record.actual.instances.to_string();
            self.find(FindingKind::Regret, "the placement", format!("{instances} instances"), found);
        }
        for (who, worth) in [("the placement", &record.actual), ("the best placement", &record.best)] {
            let Worth { present, satisfied, served, .. } = *worth;
            let applications = self.header.applications.len() as u64;
            if satisfied > served || served > record.users || present > applications {
                let expected = format!(
                    "at most {} users served, no more of them satisfied, and at most {applications} applications present",
                    record.users
                );
                let found = format!("{served}, {satisfied} and {present}");
                self.find(FindingKind::Regret, who, expected, found);
            }
        }
        if record.best.is_less_than(&record.actual) {
            let expected = "one that is worth no less than the placement itself";
            self.find(FindingKind::Regret, "the best placement", expected, "one that is worth less");
        }
    }
}
