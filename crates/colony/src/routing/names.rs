//! The names under which clients reach an application. They are announced with its routes, so that every ingress with a
//! route knows them.
//!
//! An announcement carries a proof of its names. The shell verifies it, and removes names without a valid proof, before
//! it passes the announcement to the router. A router announces the names that it has, and prefers the later version.

use std::sync::Arc;

use mario_domain::ApplicationId;
use serde::{Deserialize, Serialize};

use super::{Router, RouterEffect, Step};

/// The maximum number of host names of an application, and of path prefixes.
pub const NAMES_MAX: usize = 16;

/// The maximum size of the certificate that proves the names, in bytes.
pub const CERTIFICATE_BYTES_MAX: usize = 12 << 10;

/// The names under which clients reach an application, and the proof.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Names {
    /// The version of the description that has these names. Later versions replace earlier ones.
    pub version: u64,
    /// Host names, written in lower case; at most [`NAMES_MAX`].
    pub hosts: Vec<String>,
    /// Path prefixes, at most [`NAMES_MAX`].
    pub prefixes: Vec<String>,
    /// The certificate of the application, which lists these names.
    pub certificate: Arc<[u8]>,
}

impl Router {
    /// The names of an application; `None` if this node does not know them.
    pub fn names(&self, application: &ApplicationId) -> Option<&Arc<Names>> {
        self.applications.get(application)?.names.as_ref()
    }

    /// Whether this router would store these names of an application: it has an older version, or it has none and
    /// stores names of fewer applications than the limit.
    pub fn wants_names(&self, application: &ApplicationId, names: &Names) -> bool {
        match self.names(application) {
            Some(known) => names.version > known.version,
            None => self.named < self.config.limits.names_max,
        }
    }
}

impl Step<'_> {
    /// Stores the names of an application that is hosted here, unless the same or a later version is known, and
    /// announces them.
    pub(super) fn named(&mut self, application: &ApplicationId, names: Arc<Names>) {
        self.take_names(application, names, usize::MAX);
        self.announce_names(application);
    }

    /// Stores the names of a known application. Does nothing if the same or a later version is stored, or if none is
    /// stored and names of `names_max` other applications are. Returns whether they were stored.
    pub(super) fn take_names(&mut self, application: &ApplicationId, names: Arc<Names>, names_max: usize) -> bool {
        let Router { applications, named, refused, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return false };
        match &entry.names {
            Some(known) if known.version >= names.version => return false,
            Some(_) => {}
            None if *named >= names_max => {
                *refused += 1;
                return false;
            }
            None => *named += 1,
        }
        entry.names = Some(names);
        self.effects.push(RouterEffect::Changed(application.clone()));
        true
    }

    /// Announces the names of an application to the neighbours to which this router announced a route, but not this
    /// version of the names. The label of the route is repeated unchanged.
    pub(super) fn announce_names(&mut self, application: &ApplicationId) {
        let Some(entry) = self.router.applications.get(application) else { return };
        let Some(names) = &entry.names else { return };
        for (neighbour, label) in &entry.announced {
            if entry.announced_names.get(neighbour) != Some(&names.version) {
                self.outbox.add_unless_there(neighbour, application, *label);
            }
        }
    }
}
