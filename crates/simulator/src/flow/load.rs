//! How busy links and instances are, and how long requests wait for them by the theory of queues.

use serde::{Deserialize, Serialize};

use crate::network::Links;
use crate::paths::{PathIndex, Paths};

/// How busy the links are: the share of time in which each carries something.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    links: Vec<f64>,
}

/// Beyond this share, the theory says that queues grow without end; the estimate stays where it is here.
const BUSY_MAX: f64 = 0.99;

impl Load {
    pub(super) fn new(links: usize) -> Load {
        Load { links: vec![0.0; links] }
    }

    /// So many more requests per unit of time take a path; fewer if the number is negative.
    pub(super) fn add(&mut self, path: PathIndex, rate: f64, paths: &Paths, links: &Links) {
        let mut position = 0;
        while let Some(link) = paths.link(path, position) {
            self.links[link.0 as usize] += rate * links.occupied(link);
            position += 1;
        }
    }

    /// How long a request takes along a path, and how many links it takes.
    pub(super) fn travel(&self, path: PathIndex, paths: &Paths, links: &Links) -> (f64, u64) {
        let (mut time, mut position) = (0.0, 0);
        while let Some(link) = paths.link(path, position) {
            time += links.takes(link) + wait(self.links[link.0 as usize], links.occupied(link));
            position += 1;
        }
        (time, u64::from(position))
    }
}

/// The mean wait for a server that takes always the same time, when requests come at random.
pub(super) fn wait(busy: f64, service: f64) -> f64 {
    let busy = busy.clamp(0.0, BUSY_MAX);
    service * busy / (2.0 * (1.0 - busy))
}

#[cfg(test)]
mod tests {
    use super::wait;

    #[test]
    fn the_wait_is_that_of_the_textbook() {
        // Half busy: half of a service time on average.
        assert!((wait(0.5, 3.0) - 1.5).abs() < 1e-12);
        assert!(wait(0.0, 3.0).abs() < 1e-12);
        assert!(wait(7.0, 1.0).is_finite());
    }
}
