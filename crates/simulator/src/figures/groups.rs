//! The groups that figures are computed for: all applications, and each kind of application. `all`, the default, is no
//! kind: such an application is only in the group of all applications.

use mario_scenario::{ApplicationIndex, Scenario};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Groups {
    names: Vec<String>,
    /// For each application, the index of its kind in `names`; [`Groups::ALL`] if it has no kind.
    of_application: Vec<usize>,
}

impl Groups {
    /// The group of all applications.
    pub(super) const ALL: usize = 0;

    pub(super) fn new(scenario: &Scenario) -> Groups {
        let mut groups = Groups { names: vec!["all".to_owned()], of_application: Vec::new() };
        for plan in &scenario.applications {
            let known = groups.names.iter().position(|name| *name == plan.kind);
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

    /// The groups that include an application: all applications, and its kind if it has one.
    pub(super) fn of(&self, application: ApplicationIndex) -> impl Iterator<Item = usize> + use<> {
        let kind = self.of_application[application.position()];
        std::iter::once(Groups::ALL).chain((kind != Groups::ALL).then_some(kind))
    }

    pub(super) fn applications(&self, group: usize) -> impl Iterator<Item = ApplicationIndex> {
        let is_member = move |of: &usize| group == Groups::ALL || *of == group;
        let members = self.of_application.iter().enumerate().filter(move |(_, of)| is_member(of));
        members.map(|(position, _)| ApplicationIndex::at(position))
    }
}
