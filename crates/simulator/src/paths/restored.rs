//! Prepares paths that were restored from a checkpoint, and checks them.

use mario_scenario::Topology;

use super::{Path, Paths, SHORT, Search};

impl Paths {
    /// Allocates the scratch memory, which is not stored. Returns whether the restored paths are consistent with a
    /// topology.
    #[must_use]
    pub(crate) fn resume(&mut self, topology: &Topology) -> bool {
        self.search = Search::new(topology.node_count());
        let links = [self.link_is_up.len(), self.link_carries.len()];
        let is_sound = |path: &Path| {
            let is_there = path.link_count as usize <= SHORT || {
                let end = u64::from(path.first_link) + u64::from(path.room);
                path.link_count <= path.room && end <= self.links.len() as u64
            };
            let is_possible = path.link_count == 0 || topology.link_count() > 0;
            is_there && is_possible && path.version <= self.version && path.room < 1 << 31
        };
        let idle = self.link_carries.iter().filter(|carries| !**carries).count();
        self.node_is_up.len() == topology.node_count()
            && links == [topology.link_count(); 2]
            && idle == self.idle_links as usize
            && self.all.iter().all(is_sound)
            && self.variants_lead_back()
    }

    /// Whether each path is the `variant` of exactly one path. Then the variants form circular lists, and following
    /// them terminates.
    fn variants_lead_back(&self) -> bool {
        let mut is_led_to = vec![false; self.all.len()];
        self.all.iter().all(|path| {
            let led_to = is_led_to.get_mut(path.variant.0 as usize);
            led_to.is_some_and(|led_to| !std::mem::replace(led_to, true))
        })
    }
}
