//! What a policy reads and proposes, which determines the small worlds in which a check runs it.

use mario_domain::{AgentOperation, Concerned, FactPredicate, FlavourId, Id, SmallWorlds};
use mario_prolog::{Tree, TreeKind};

/// The facts and operations that a policy uses and that not every small world has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent of the others")]
pub struct Interests {
    /// Whether it reads `inhibited/3` or `refused/3`.
    pub memory: bool,
    /// Whether it reads `needs/3` or `free/3`.
    pub kinds: bool,
    /// The keys of `fact/3` that it reads, in the order of the text.
    pub keys: Vec<KeyValues>,
    /// The flavours that it names, in the order of the text; `None` if it does not use flavours.
    pub flavours: Option<Vec<FlavourId>>,
    /// Whether it reads `leave/2`.
    pub notice: bool,
    /// Whether it reads `asleep/1`, or proposes to sleep or to wake.
    pub sleep: bool,
}

/// A key of `fact/3`, and the values that a policy compares it with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyValues {
    /// The key.
    pub key: Id,
    /// The values that the policy writes as the third argument, in the order of the text.
    pub values: Vec<Id>,
}

impl Interests {
    /// Records what a goal reads, or what the head of a clause proposes.
    pub(super) fn note(&mut self, name: &str, arguments: &[Tree]) {
        if let Some(predicate) = FactPredicate::of_agents(name, arguments.len()) {
            return self.note_fact(predicate, arguments);
        }
        let ("operation", [Tree { kind: TreeKind::Atom(word), .. }, _, target]) = (name, arguments) else { return };
        let proposed = AgentOperation::ALL.into_iter().find(|operation| operation.as_str() == word);
        match proposed.map(AgentOperation::concerned) {
            None | Some(Concerned::Every) => {}
            Some(Concerned::WithFlavours) => self.note_flavour(target),
            Some(Concerned::WithSleep) => self.sleep = true,
        }
    }

    fn note_fact(&mut self, predicate: FactPredicate, arguments: &[Tree]) {
        match predicate.row().small_worlds {
            SmallWorlds::All => {}
            SmallWorlds::Memory => self.memory = true,
            SmallWorlds::Kinds => self.kinds = true,
            SmallWorlds::Notice => self.notice = true,
            SmallWorlds::Sleep => self.sleep = true,
            // The key is the second argument, and so is a flavour.
            SmallWorlds::Extra => {
                if let [_, Tree { kind: TreeKind::Atom(key), .. }, value] = arguments {
                    self.note_key(key, value);
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
            && let Ok(flavour) = FlavourId::name(name)
            && !flavours.contains(&flavour)
        {
            flavours.push(flavour);
        }
    }

    fn note_key(&mut self, key: &str, value: &Tree) {
        // The empty name is no id, so no fact has it.
        let Ok(key) = Id::name(key) else { return };
        let position = self.keys.iter().position(|known| known.key == key).unwrap_or_else(|| {
            self.keys.push(KeyValues { key, values: Vec::new() });
            self.keys.len() - 1
        });
        let value = match &value.kind {
            TreeKind::Atom(name) => Id::name(name).ok(),
            TreeKind::Integer(number) => Some(Id::number(*number)),
            _ => None,
        };
        let values = &mut self.keys[position].values;
        values.extend(value.filter(|value| !values.contains(value)));
    }
}
