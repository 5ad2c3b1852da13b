//! Negotiates the version of the protocol between two neighbours.

use std::error::Error;
use std::fmt;

/// The versions of the protocol that a node speaks: all from `min` to `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Versions {
    /// The oldest version.
    pub min: u32,
    /// The newest version.
    pub max: u32,
}

/// Two neighbours have no version in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoCommonVersion {
    /// The versions of this node.
    pub ours: Versions,
    /// The versions of the neighbour.
    pub theirs: Versions,
}

impl Versions {
    /// The versions of this build. From version 2 on, a build must also speak the version before, so that a colony can
    /// be updated node by node.
    pub const OURS: Versions = Versions { min: 1, max: 1 };

    /// The newest version that both nodes speak. Both ends of a link agree on the same version.
    pub fn agree(self, theirs: Versions) -> Result<u32, NoCommonVersion> {
        let newest = self.max.min(theirs.max);
        if newest < self.min.max(theirs.min) {
            return Err(NoCommonVersion { ours: self, theirs });
        }
        Ok(newest)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(formatter, "version {}", self.min)
        } else {
            write!(formatter, "versions {} to {}", self.min, self.max)
        }
    }
}

impl fmt::Display for NoCommonVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoCommonVersion { ours, theirs } = self;
        let older = if theirs.max < ours.min { "the neighbour" } else { "this node" };
        write!(formatter, "the neighbour speaks {theirs} and this node speaks {ours}: update {older} first")
    }
}

impl Error for NoCommonVersion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_agree_on_the_newest_version_that_both_speak() {
        let versions = |min, max| Versions { min, max };
        for (one, other, agreed) in [
            (versions(1, 1), versions(1, 1), Some(1)),
            (versions(1, 2), versions(1, 1), Some(1)),
            (versions(2, 3), versions(1, 2), Some(2)),
            (versions(2, 3), versions(4, 5), None),
            (versions(3, 1), versions(1, 3), None),
        ] {
            assert_eq!(one.agree(other).ok(), agreed);
            assert_eq!(other.agree(one).ok(), agreed);
        }
        let error = versions(2, 3).agree(versions(1, 1)).expect_err("nothing in common").to_string();
        assert_eq!(
            error,
            "the neighbour speaks version 1 and this node speaks versions 2 to 3: update the neighbour first"
        );
    }
}
