//! The groups of applications that have figures: all applications, then each kind in order of first appearance. `all` is
//! no kind: such an application is only in the group of all applications.

use mario_trace::reader::Header;

pub(crate) struct Groups {
    pub(crate) names: Vec<String>,
    /// For each application, the index of its kind in `names`; 0 if it has no kind.
    pub(crate) of_application: Vec<usize>,
}

impl Groups {
    pub(crate) fn new(header: &Header) -> Groups {
        let mut names = vec!["all".to_owned()];
        let mut of_application = Vec::with_capacity(header.applications.len());
        for application in &header.applications {
            let place = names.iter().position(|name| *name == application.kind);
            of_application.push(place.unwrap_or_else(|| {
                names.push(application.kind.clone());
                names.len() - 1
            }));
        }
        Groups { names, of_application }
    }

    /// The groups that include an application: all applications, and its kind if it has one.
    pub(crate) fn of(&self, application: u32) -> impl Iterator<Item = usize> + use<> {
        let kind = self.of_application[application as usize];
        std::iter::once(0).chain((kind > 0).then_some(kind))
    }

    /// The applications of a group.
    pub(crate) fn members(&self, group: usize) -> impl Iterator<Item = usize> {
        let of_application = self.of_application.iter().enumerate();
        of_application.filter(move |(_, of)| group == 0 || **of == group).map(|(application, _)| application)
    }
}
