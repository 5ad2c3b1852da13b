//! Resolves the settings of groups of nodes. A group is selected by tier, by a pattern for node ids, or by both.

use mario_domain::{Fact, FactValue, Id};
use mario_settings::At;

use super::Resolving;
use crate::index::NodeIndex;
use crate::settings::{NodesSettings, TierChoice};
use crate::topology::Topology;

impl Resolving<'_> {
    /// Applies the capacities, facts and owners of `[[nodes]]` to the nodes of each group. An error in a group is
    /// reported once.
    pub(super) fn groups_of_nodes(&mut self, topology: &mut Topology) {
        let settings = self.settings;
        for (position, group) in settings.nodes.iter().enumerate() {
            if !self.is_group(topology, group, position) {
                continue;
            }
            let chosen = self.chosen(topology, group);
            let mut is_reported = false;
            for index in chosen {
                if let Some(capacity) = group.capacity {
                    topology.set_capacity(index, capacity);
                }
                let subject = topology.node(index).id.id().clone();
                // All nodes of the group have the same errors, so only those of the first node are kept.
                let before = self.mistakes.len();
                let mut facts = self.facts(&subject, &group.facts, "nodes", position);
                if is_reported {
                    self.mistakes.truncate(before);
                }
                is_reported |= self.mistakes.len() > before;
                if let Some(owner) = &group.owner {
                    let key = Id::name("owner").expect("it is not empty");
                    facts.push(Fact { subject, key, value: FactValue::Id(owner.id().clone()) });
                }
                for fact in facts {
                    topology.set_fact(index, fact);
                }
            }
        }
    }

    /// Whether a group is valid and selects at least one node. Reports an error if not.
    fn is_group(&mut self, topology: &Topology, group: &NodesSettings, position: usize) -> bool {
        let at = |key: &'static str| [At::Key("nodes"), position.into(), At::Key(key)];
        if group.tier.is_none() && group.pattern.is_none() {
            let mistake = self.mistake("this does not say which nodes are meant", &[At::Key("nodes"), position.into()]);
            self.mistakes.push(mistake.hint("add `tier = …` or `match = \"…\"`; `match = \"*\"` means all of them"));
            return false;
        }
        let tiers = topology.nodes().map(|(_, node)| usize::from(node.tier) + 1).max().unwrap_or(0);
        if let Some(tier) = &group.tier
            && self.tier_number(tier).is_none_or(|number| usize::from(number) >= tiers)
        {
            let (written, what) = match tier {
                TierChoice::Number(number) => (number.to_string(), "tiers are the numbers from 0"),
                TierChoice::Name(name) => (name.clone(), "tiers are the names in `tiers`, or numbers from 0"),
            };
            let mistake = self.mistake(format!("there is no tier `{written}`"), &at("tier"));
            let names = self.settings.tiers.iter().map(String::as_str);
            let mistake = mistake.known(&written, "tiers", names);
            let hint = mistake.hint.clone().map(|hint| format!("; {hint}")).unwrap_or_default();
            self.mistakes.push(mistake.hint(format!("{what} to {}{hint}", tiers.saturating_sub(1))));
            return false;
        }
        if self.chosen(topology, group).is_empty() {
            let key = if group.pattern.is_some() { "match" } else { "tier" };
            let mistake = self.mistake("no node is meant by this", &at(key));
            let example = topology.nodes().next().map(|(_, node)| node.id.to_string()).unwrap_or_default();
            self.mistakes.push(
                mistake.hint(format!(
                    "nodes have names such as `{example}`; `*` stands for any characters, and `?` for one"
                )),
            );
            return false;
        }
        true
    }

    /// The nodes that match both the tier and the pattern of a group, where given.
    pub(super) fn chosen(&self, topology: &Topology, group: &NodesSettings) -> Vec<NodeIndex> {
        let tier = group.tier.as_ref().map(|tier| self.tier_number(tier));
        let is_meant = |id: &str, its: u16| {
            tier.is_none_or(|tier| tier == Some(its))
                && group.pattern.as_ref().is_none_or(|pattern| matches(pattern.as_bytes(), id.as_bytes()))
        };
        let nodes = topology.nodes().filter(|(_, node)| is_meant(&node.id.to_string(), node.tier));
        nodes.map(|(index, _)| index).collect()
    }

    fn tier_number(&self, tier: &TierChoice) -> Option<u16> {
        match tier {
            TierChoice::Number(number) => Some(*number),
            TierChoice::Name(name) => {
                let position = self.settings.tiers.iter().position(|known| known == name)?;
                u16::try_from(position).ok()
            }
        }
    }
}

/// Whether a name matches a pattern, where `*` stands for any number of bytes and `?` for one byte. The running time is
/// at most proportional to the product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == name[place] => {
                at += 1;
                place += 1;
            }
            // Backtracks: the last star consumes one more byte, and the rest of the pattern is matched again.
            _ => match star {
                Some((behind, taken)) => {
                    star = Some((behind, taken + 1));
                    (at, place) = (behind + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_has_stars_and_question_marks() {
        for (pattern, name, is_match) in [
            ("n3*", "n3lt0ln0", true),
            ("n3*", "n2lt0ln0", false),
            ("*", "", true),
            ("*ln?", "n3lt0ln7", true),
            ("*ln?", "n3lt0ln17", false),
            ("n?lt*ln*", "n1lt1ln1", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("", "n", false),
            ("n1", "n1", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), is_match, "{pattern} {name}");
        }
        let (pattern, name) = ("*a".repeat(500), "b".repeat(5_000));
        assert!(!matches(pattern.as_bytes(), name.as_bytes()));
    }
}
