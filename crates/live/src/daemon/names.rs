//! The names under which clients reach applications. Each name has one holder, the application that it selects. Also
//! limits how many invalid names of a neighbour are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mario_colony::routing::Names;
use mario_domain::{ApplicationId, NodeId};

use crate::api::{Conflict, Name};

/// The rate limit of a neighbour: after this number of invalid announcements of names within [`WINDOW`], its further
/// names are ignored until the window ends, because each costs a signature check.
const FAILURES_MAX: u32 = 256;
const WINDOW: Duration = Duration::from_mins(1);

/// The holders of names, as this node knows them. The first application known to claim a name holds it until it drops
/// the claim or is no longer known. The host names made of an application's id take precedence over claims.
#[derive(Debug, Default)]
pub(crate) struct NameBook {
    colony: String,
    holders: BTreeMap<Name, ApplicationId>,
    conflicts: BTreeSet<Conflict>,
    failures: BTreeMap<NodeId, (Instant, u32)>,
}

impl NameBook {
    pub(crate) fn new(colony: &str) -> NameBook {
        NameBook { colony: colony.to_ascii_lowercase(), ..NameBook::default() }
    }

    /// Recomputes the holders from all known applications and their names. Returns the conflicts that are new since the
    /// last call.
    pub(crate) fn update(&mut self, known: &[(&ApplicationId, Option<&Names>)]) -> Vec<Conflict> {
        let mut before = std::mem::take(&mut self.holders);
        for (application, _) in known {
            for host in self.own_hosts(application) {
                self.holders.insert(Name::Host(host), (*application).clone());
            }
        }
        let claims = known.iter().filter_map(|(application, names)| Some((*application, (*names)?)));
        let claims: Vec<(Name, &ApplicationId)> =
            claims.flat_map(|(application, names)| claimed(names).map(move |name| (name, application))).collect();
        for (name, application) in &claims {
            if before.get(name) == Some(*application) && !self.holders.contains_key(name) {
                before.remove(name);
                self.holders.insert(name.clone(), (*application).clone());
            }
        }
        let mut conflicts = BTreeSet::new();
        for (name, application) in claims {
            let holder = self.holders.entry(name.clone()).or_insert_with(|| application.clone());
            if holder != application {
                conflicts.insert(Conflict { name, holder: holder.clone(), claimed_by: application.clone() });
            }
        }
        let new = conflicts.difference(&self.conflicts).cloned().collect();
        self.conflicts = conflicts;
        new
    }

    /// Checks that an application may claim these names. The error is the first name that another application holds.
    pub(crate) fn check(&self, application: &ApplicationId, names: &Names) -> Result<(), Conflict> {
        let taken = claimed(names).find_map(|name| {
            let holder = self.holders.get(&name).filter(|holder| *holder != application)?;
            Some(Conflict { holder: holder.clone(), claimed_by: application.clone(), name })
        });
        taken.map_or(Ok(()), Err)
    }

    /// All names with their holders.
    pub(crate) fn holders(&self) -> &BTreeMap<Name, ApplicationId> {
        &self.holders
    }

    /// The names that several applications claim.
    pub(crate) fn conflicts(&self) -> &BTreeSet<Conflict> {
        &self.conflicts
    }

    /// Whether names from a neighbour are checked. After [`FAILURES_MAX`] invalid announcements, they are ignored until
    /// [`WINDOW`] has passed since the first of these.
    pub(crate) fn is_believed(&self, neighbour: &NodeId) -> bool {
        let failed = self.failures.get(neighbour);
        failed.is_none_or(|(since, failures)| *failures < FAILURES_MAX || since.elapsed() >= WINDOW)
    }

    /// Counts one invalid announcement of a neighbour.
    pub(crate) fn failed(&mut self, neighbour: &NodeId) {
        let (since, failures) = self.failures.entry(neighbour.clone()).or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() >= WINDOW {
            (*since, *failures) = (Instant::now(), 0);
        }
        *failures += 1;
    }

    /// The host names that belong to an application because its certificate carries its id: for `shop`, they are
    /// `shop.COLONY` and `shop`, in lower case.
    fn own_hosts(&self, application: &ApplicationId) -> [String; 2] {
        let id = application.to_string().to_ascii_lowercase();
        [format!("{id}.{}", self.colony), id]
    }
}

fn claimed(names: &Names) -> impl Iterator<Item = Name> + '_ {
    let hosts = names.hosts.iter().map(|host| Name::Host(host.clone()));
    hosts.chain(names.prefixes.iter().map(|prefix| Name::Prefix(prefix.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(hosts: &[&str], prefixes: &[&str]) -> Names {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Names { version: 1, hosts: owned(hosts), prefixes: owned(prefixes), certificate: [].into() }
    }

    #[test]
    fn the_first_holder_keeps_a_name_and_ids_belong_to_their_applications() {
        let [bank, shop] = ["bank", "shop"].map(|name| ApplicationId::name(name).expect("a name"));
        let mut book = NameBook::new("Harbour");
        let (of_shop, of_bank) = (names(&["a.example"], &["/x"]), names(&["a.example", "shop", "b.example"], &["/x"]));
        assert_eq!(book.update(&[(&shop, Some(&of_shop))]), []);
        let conflict = book.check(&bank, &of_bank).expect_err("taken");
        assert_eq!((conflict.name.to_string().as_str(), &conflict.holder), ("host name a.example", &shop));
        assert_eq!(book.check(&shop, &of_shop), Ok(()));
        let known = [(&bank, Some(&of_bank)), (&shop, Some(&of_shop))];
        let taken: Vec<String> = book.update(&known).iter().map(|one| one.name.to_string()).collect();
        assert_eq!(
            taken,
            ["host name a.example", "host name shop", "path prefix /x"],
            "bank comes first by its name only"
        );
        assert_eq!(book.update(&known), [], "told once");
        assert_eq!(book.conflicts().len(), 3);
        let holder = |book: &NameBook, host: &str| book.holders().get(&Name::Host(host.to_owned())).cloned();
        assert_eq!(holder(&book, "b.example"), Some(bank.clone()));
        assert_eq!(holder(&book, "shop.harbour"), Some(shop.clone()));
        book.update(&[(&bank, Some(&of_bank))]);
        assert_eq!((holder(&book, "a.example"), book.conflicts().len()), (Some(bank), 0), "the holder is gone");
    }

    #[test]
    fn a_neighbour_that_announces_wrong_names_is_ignored_for_a_while() {
        let (mut book, node) = (NameBook::new("harbour"), NodeId::name("b").expect("a name"));
        for _ in 0..FAILURES_MAX {
            assert!(book.is_believed(&node));
            book.failed(&node);
        }
        assert!(!book.is_believed(&node));
    }
}
