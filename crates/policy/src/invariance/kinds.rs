//! Kinds of values, inferred by unification.

/// The index of a kind in [`Kinds`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind(u32);

/// What is known about a kind.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    /// Nothing yet. If it stays open, only unbound variables can have this kind.
    Open,
    /// The word `self`, which may be used as a node or as a fixed word.
    Own,
    /// Terms without names of nodes and instances.
    Fixed,
    /// Nodes, and `self`.
    Node,
    /// Instances.
    Instance,
    /// Applications, if they may be renamed, too.
    Application,
    /// Lists whose elements are of one kind.
    List(Kind),
    /// Terms with one name, whose arguments have these kinds.
    Compound(String, Vec<Kind>),
    /// Unified with another kind.
    Same(Kind),
}

/// Two kinds that should be equal but are not, as descriptions for users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clash(&'static str, &'static str);

impl Clash {
    /// A message about the clash.
    pub(super) fn said(self, place: &str) -> String {
        format!("what is {} is also {}, in {place}", self.0, self.1)
    }
}

/// All kinds of one inference.
pub(super) struct Kinds {
    shapes: Vec<Shape>,
    pending: Vec<(Kind, Kind)>,
}

/// The kind of fixed values.
pub(super) const FIXED: Kind = Kind(0);
/// The kind of nodes.
pub(super) const NODE: Kind = Kind(1);
/// The kind of instances.
pub(super) const INSTANCE: Kind = Kind(2);
/// The kind of applications if their names may be renamed, too.
pub(super) const APPLICATION: Kind = Kind(3);

impl Kinds {
    pub(super) fn new() -> Kinds {
        Kinds { shapes: vec![Shape::Fixed, Shape::Node, Shape::Instance, Shape::Application], pending: Vec::new() }
    }

    pub(super) fn add(&mut self, shape: Shape) -> Kind {
        self.shapes.push(shape);
        Kind(self.shapes.len() as u32 - 1)
    }

    pub(super) fn open(&mut self) -> Kind {
        self.add(Shape::Open)
    }

    fn find(&self, mut kind: Kind) -> Kind {
        while let Shape::Same(other) = self.shapes[kind.0 as usize] {
            kind = other;
        }
        kind
    }

    /// Unifies two kinds.
    ///
    /// Terms with different names or arities can be of one kind only if everything in them is fixed. A kind may contain
    /// itself. Kinds are unified before their parts, so that this terminates.
    pub(super) fn join(&mut self, one: Kind, other: Kind) -> Result<(), Clash> {
        self.pending.clear();
        self.pending.push((one, other));
        while let Some((one, other)) = self.pending.pop() {
            let (one, other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            let (first, second) = (self.shapes[one.0 as usize].clone(), self.shapes[other.0 as usize].clone());
            let (from, to) = match (&first, &second) {
                (Shape::Open, _) => (one, other),
                (_, Shape::Open) => (other, one),
                (Shape::Own, Shape::Own | Shape::Fixed | Shape::Node) => (one, other),
                (Shape::Fixed | Shape::Node, Shape::Own) => (other, one),
                (Shape::List(element), Shape::List(same)) => {
                    self.pending.push((*element, *same));
                    (one, other)
                }
                (Shape::Compound(name, arguments), Shape::Compound(same, others))
                    if name == same && arguments.len() == others.len() =>
                {
                    self.pending.extend(arguments.iter().copied().zip(others.iter().copied()));
                    (one, other)
                }
                (first, second) => {
                    self.fix(first).and(self.fix(second)).ok_or_else(|| Clash(words(first), words(second)))?;
                    if one == FIXED {
                        (other, FIXED)
                    } else {
                        self.pending.push((other, FIXED));
                        (one, FIXED)
                    }
                }
            };
            self.shapes[from.0 as usize] = Shape::Same(to);
        }
        Ok(())
    }

    /// Queues the unification of everything inside this shape with [`FIXED`]; `None` if the shape is that of names: of
    /// nodes, instances or applications.
    fn fix(&mut self, shape: &Shape) -> Option<()> {
        match shape {
            Shape::Node | Shape::Instance | Shape::Application => return None,
            Shape::List(element) => self.pending.push((*element, FIXED)),
            Shape::Compound(_, arguments) => self.pending.extend(arguments.iter().map(|argument| (*argument, FIXED))),
            Shape::Open | Shape::Own | Shape::Fixed | Shape::Same(_) => {}
        }
        Some(())
    }
}

fn words(shape: &Shape) -> &'static str {
    match shape {
        Shape::Open | Shape::Same(_) => "anything",
        Shape::Own => "`self`",
        Shape::Fixed => "a number or a word",
        Shape::Node => "a node",
        Shape::Instance => "an instance",
        Shape::Application => "an application",
        Shape::List(_) => "a list",
        Shape::Compound(..) => "a compound term",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_instances_and_fixed_values_are_never_unified() {
        for (one, other) in
            [(NODE, INSTANCE), (NODE, FIXED), (FIXED, INSTANCE), (APPLICATION, NODE), (FIXED, APPLICATION)]
        {
            assert!(Kinds::new().join(one, other).is_err());
            let mut kinds = Kinds::new();
            let between = kinds.open();
            assert_eq!(kinds.join(one, between), Ok(()));
            assert!(kinds.join(between, other).is_err());
        }
    }

    #[test]
    fn self_is_a_node_or_a_word_but_not_an_instance() {
        for (kind, is_right) in [(NODE, true), (FIXED, true), (INSTANCE, false)] {
            for turned in [false, true] {
                let mut kinds = Kinds::new();
                let own = kinds.add(Shape::Own);
                let result = if turned { kinds.join(kind, own) } else { kinds.join(own, kind) };
                assert_eq!(result.is_ok(), is_right);
            }
        }
        let mut kinds = Kinds::new();
        let own = kinds.add(Shape::Own);
        assert_eq!(kinds.join(own, NODE), Ok(()));
        assert!(kinds.join(own, FIXED).is_err(), "it is a node now");
    }

    #[test]
    fn terms_with_different_names_unify_only_if_fixed() {
        for (inside, is_right) in [(FIXED, true), (NODE, false), (INSTANCE, false)] {
            for also_list in [false, true] {
                let mut kinds = Kinds::new();
                let open = kinds.open();
                let pair = kinds.add(Shape::Compound("-".to_owned(), vec![FIXED, open]));
                let other =
                    kinds.add(if also_list { Shape::List(open) } else { Shape::Compound("+".to_owned(), vec![open]) });
                let joined = kinds.join(pair, other).and_then(|()| kinds.join(open, inside));
                assert_eq!(joined.is_ok(), is_right);
                let mut kinds = Kinds::new();
                let pair = kinds.add(Shape::Compound("-".to_owned(), vec![FIXED, inside]));
                assert_eq!(kinds.join(pair, FIXED).is_ok(), is_right);
            }
        }
    }

    #[test]
    fn unification_of_recursive_kinds_terminates() {
        let mut kinds = Kinds::new();
        let (first, second) = (kinds.open(), kinds.open());
        let (around, about) = (kinds.add(Shape::List(first)), kinds.add(Shape::List(second)));
        assert_eq!(kinds.join(first, around), Ok(()));
        assert_eq!(kinds.join(second, about), Ok(()));
        assert_eq!(kinds.join(first, second), Ok(()));
        assert_eq!(kinds.join(first, FIXED), Ok(()));
        assert!(kinds.join(about, NODE).is_err());
    }
}
