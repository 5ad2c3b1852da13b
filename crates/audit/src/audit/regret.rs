//! How far the placement is said to be from the best.

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Regret, Worth};

impl Audit {
    /// What can be counted is counted; how many users are satisfied, and what the best is, nobody can see in a trace.
    pub(super) fn regret(&mut self, record: &Regret) {
        let users = self.world.users.iter().flatten().count() as u64;
        if record.users != users {
            self.find(FindingKind::Regret, "the users", format!("{users} connected"), format!("{}", record.users));
        }
        let instances = self.world.alive();
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
