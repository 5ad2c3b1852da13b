//! The groups of applications that have figures: all applications, then each kind in order of first appearance.

use mario_audit::reader::Header;

pub(crate) struct Groups {
    pub(crate) names: Vec<String>,
    /// For each application, the index of its kind in `names`.
    pub(crate) of_application: Vec<usize>,
}

impl Groups {
    pub(crate) fn new(header: &Header) -> Groups {
        let mut names = vec!["all".to_owned()];
        let mut of_application = Vec::with_capacity(header.applications.len());
        for application in &header.applications {
            // A kind that is named `all` is a separate group.
            let place = names[1..].iter().position(|name| *name == application.kind);
            of_application.push(match place {
                Some(place) => place + 1,
                None => {
                    names.push(application.kind.clone());
                    names.len() - 1
                }
            });
        }
        Groups { names, of_application }
    }

    /// The groups that include an application: all applications, and its kind.
    pub(crate) fn of(&self, application: u32) -> [usize; 2] {
        [0, self.of_application[application as usize]]
    }

    /// The applications of a group.
    pub(crate) fn members(&self, group: usize) -> impl Iterator<Item = usize> {
        let of_application = self.of_application.iter().enumerate();
        of_application.filter(move |(_, of)| group == 0 || **of == group).map(|(application, _)| application)
    }
}
