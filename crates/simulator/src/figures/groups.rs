//! The groups that figures are computed for: all applications, and each kind of application.

use mario_scenario::{ApplicationIndex, Scenario};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Groups {
    names: Vec<String>,
    of_application: Vec<usize>,
}

impl Groups {
    /// The group of all applications.
    pub(super) const ALL: usize = 0;

    pub(super) fn new(scenario: &Scenario) -> Groups {
        let mut groups = Groups { names: vec!["all".to_owned()], of_application: Vec::new() };
        for plan in &scenario.applications {
            let known = groups.names.iter().skip(1).position(|name| *name == plan.kind).map(|place| place + 1);
            let group = known.unwrap_or_else(|| {
                groups.names.push(plan.kind.clone());
                groups.names.len() - 1
            });
            groups.of_application.push(group);
        }
        groups
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, group: usize) -> &str {
        &self.names[group]
    }

    pub(super) fn of(&self, application: ApplicationIndex) -> usize {
        self.of_application[application.position()]
    }

    pub(super) fn applications(&self, group: usize) -> impl Iterator<Item = ApplicationIndex> {
        let is_member = move |of: &usize| group == Groups::ALL || *of == group;
        let members = self.of_application.iter().enumerate().filter(move |(_, of)| is_member(of));
        members.map(|(position, _)| ApplicationIndex::at(position))
    }
}
