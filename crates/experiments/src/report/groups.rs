//! The groups of applications that figures are drawn for: all of them first, then each kind.

use mario_audit::reader::Header;

/// Which application belongs to which group.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(crate) names: Vec<String>,
    of_application: Vec<usize>,
}

impl Groups {
    /// The group of all applications.
    pub(crate) const ALL: usize = 0;

    pub(crate) fn new(header: &Header) -> Groups {
        let mut names = vec!["all".to_owned()];
        let of_application = header.applications.iter().map(|application| {
            let known = names.iter().skip(1).position(|name| *name == application.kind);
            known.map_or_else(
                || {
                    names.push(application.kind.clone());
                    names.len() - 1
                },
                |place| place + 1,
            )
        });
        let of_application = of_application.collect();
        Groups { names, of_application }
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// All, and the group of this application.
    pub(crate) fn of(&self, application: u32) -> [usize; 2] {
        [Groups::ALL, self.of_application[application as usize]]
    }
}
