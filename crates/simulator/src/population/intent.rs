//! What an agent proposes, in four bytes.

use mario_domain::AgentOperation;
use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::population::wish::{Target, Wish};

/// A wish, or none: the operation in the two highest bits, and the target in the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Intent(u32);

/// What an intent says.
pub(crate) enum Said {
    /// Nothing is proposed.
    Nothing,
    Wish(Wish),
    /// A wish whose target takes more than an intent has room for. Whoever has it keeps it elsewhere.
    Elsewhere,
}

const TARGET_BITS: u32 = 30;
const TARGET_MASK: u32 = (1 << TARGET_BITS) - 1;
/// The own node, written `self`.
const OWN: u32 = TARGET_MASK;
const ELSEWHERE: u32 = TARGET_MASK - 1;

impl Intent {
    pub(crate) const NOTHING: Intent = Intent(u32::MAX);

    pub(crate) fn new(wish: Option<&Wish>) -> Intent {
        let Some(Wish { operation, target }) = wish else { return Intent::NOTHING };
        let operation = match operation {
            AgentOperation::Undeploy => 0,
            AgentOperation::Migrate => 1,
            AgentOperation::Replicate => 2,
        };
        let target = match target {
            Target::Own => OWN,
            Target::Node(node) if node.0 < ELSEWHERE => node.0,
            Target::Node(_) | Target::Unknown(_) => ELSEWHERE,
        };
        Intent(operation << TARGET_BITS | target)
    }

    pub(crate) fn said(self) -> Said {
        if self == Intent::NOTHING {
            return Said::Nothing;
        }
        let operation = match self.0 >> TARGET_BITS {
            0 => AgentOperation::Undeploy,
            1 => AgentOperation::Migrate,
            _ => AgentOperation::Replicate,
        };
        let target = match self.0 & TARGET_MASK {
            OWN => Target::Own,
            ELSEWHERE => return Said::Elsewhere,
            node => Target::Node(NodeIndex(node)),
        };
        Said::Wish(Wish { operation, target })
    }

    /// Whether it says everything by itself.
    pub(crate) fn is_whole(self) -> bool {
        self == Intent::NOTHING || self.0 & TARGET_MASK != ELSEWHERE
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::NodeId;

    use super::*;

    #[test]
    fn a_wish_is_said_as_it_was_or_not_at_all() {
        let unknown = Target::Unknown(Box::new(NodeId::number(7)));
        let nodes = [0, 1, ELSEWHERE - 1, ELSEWHERE, OWN, u32::MAX].map(|node| Target::Node(NodeIndex(node)));
        for operation in AgentOperation::ALL {
            for target in nodes.iter().cloned().chain([Target::Own, unknown.clone()]) {
                let wish = Wish { operation, target };
                let intent = Intent::new(Some(&wish));
                match intent.said() {
                    Said::Nothing => panic!("{wish:?} is something"),
                    Said::Wish(said) => assert!(intent.is_whole() && said == wish, "{said:?} for {wish:?}"),
                    Said::Elsewhere => {
                        let is_large = matches!(wish.target, Target::Node(node) if node.0 >= ELSEWHERE);
                        assert!(!intent.is_whole() && (is_large || wish.target == unknown), "{wish:?}");
                    }
                }
            }
        }
        assert!(matches!(Intent::new(None).said(), Said::Nothing));
    }
}
