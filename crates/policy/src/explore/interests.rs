//! What a policy reads and proposes, which determines the worlds to explore.

use mario_domain::{AgentOperation, FactPredicate, SmallWorlds};
use mario_prolog::{Tree, TreeKind};

use super::world::{ExtraFact, ExtraValue};

/// The facts and operations that a policy uses, which determine the worlds to explore.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent of the others")]
pub(crate) struct Interests {
    /// Whether it reads `inhibited/3` or `refused/3`.
    pub(super) memory: bool,
    /// Whether it reads `needs/3` or `free/3`.
    pub(super) kinds: bool,
    pub(super) extra: Vec<ExtraFact>,
    /// The flavours that it names; `None` if it does not use flavours.
    pub(super) flavours: Option<Vec<String>>,
    /// Whether it reads `leave/2`.
    pub(super) leaving: bool,
    /// Whether it reads `asleep/1`, or proposes to sleep or to wake.
    pub(super) sleep: bool,
}

impl Interests {
    /// Records what a goal reads, or what the head of a clause proposes.
    pub(crate) fn note(&mut self, name: &str, arguments: &[Tree]) {
        if let Some(predicate) = FactPredicate::of_agents(name, arguments.len()) {
            return self.note_fact(predicate, arguments);
        }
        match (name, arguments) {
            ("operation", [Tree { kind: TreeKind::Atom(word), .. }, _, _])
                if word == AgentOperation::Sleep.as_str() || word == AgentOperation::Wake.as_str() =>
            {
                self.sleep = true;
            }
            ("operation", [Tree { kind: TreeKind::Atom(word), .. }, _, flavour])
                if word == AgentOperation::Adapt.as_str() =>
            {
                self.note_flavour(flavour);
            }
            _ => {}
        }
    }

    fn note_fact(&mut self, predicate: FactPredicate, arguments: &[Tree]) {
        match predicate.row().small_worlds {
            SmallWorlds::All => {}
            SmallWorlds::Memory => self.memory = true,
            SmallWorlds::Kinds => self.kinds = true,
            SmallWorlds::Notice => self.leaving = true,
            SmallWorlds::Sleep => self.sleep = true,
            // The key is the second argument, and so is a flavour.
            SmallWorlds::Extra => {
                if let [_, Tree { kind: TreeKind::Atom(key), .. }, value] = arguments {
                    self.note_extra(key, value);
                }
            }
            SmallWorlds::Flavours => {
                if let [_, flavour, ..] = arguments {
                    self.note_flavour(flavour);
                }
            }
        }
    }

    fn note_flavour(&mut self, flavour: &Tree) {
        let flavours = self.flavours.get_or_insert_default();
        if let TreeKind::Atom(name) = &flavour.kind
            && !flavours.contains(name)
        {
            flavours.push(name.clone());
        }
    }

    fn note_extra(&mut self, key: &str, value: &Tree) {
        let position = self.extra.iter().position(|fact| fact.key == key).unwrap_or_else(|| {
            self.extra.push(ExtraFact { key: key.to_owned(), values: Vec::new() });
            self.extra.len() - 1
        });
        let value = match &value.kind {
            TreeKind::Atom(name) => ExtraValue::Name(name.clone()),
            TreeKind::Integer(number) => ExtraValue::Number(*number),
            _ => return,
        };
        let values = &mut self.extra[position].values;
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// Completes what the policy names: to three flavours, if it uses flavours, and to two values of each extra fact.
    /// If all values of a fact are numbers, 1, 2 and 3 are among them. Added values are numbers, because a number can
    /// be an id or an amount.
    pub(super) fn complete(&mut self) {
        for name in ["full", "lite", "large"] {
            if let Some(flavours) = self.flavours.as_mut().filter(|flavours| flavours.len() < 3)
                && !flavours.iter().any(|known| known == name)
            {
                flavours.push(name.to_owned());
            }
        }
        for fact in &mut self.extra {
            let mut number = 1;
            while fact.values.len() < 2
                || (number <= 3 && fact.values.iter().all(|value| matches!(value, ExtraValue::Number(_))))
            {
                let value = ExtraValue::Number(number);
                number += 1;
                if !fact.values.contains(&value) {
                    fact.values.push(value);
                }
            }
        }
    }
}
