//! The instances that the owner of a node evicts or shrinks, according to `evict/2` and `shrink/3` of the acceptance
//! policy.

use std::fmt;

use mario_domain::{FlavourId, Id, InstanceId};
use mario_prolog::{Argument, Machine, Outcome, Query, Value};

use super::{Acceptance, AcceptanceFailure, Goal, ManagerView};

/// The instances that the owner of a node wants to evict or shrink. Of several answers to one predicate for the same
/// instance, only the first counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Initiative {
    /// Instances to run in another flavour, in the order of the answers to `shrink/3`.
    pub shrinks: Vec<Shrink>,
    /// Instances to evict, in the order of the answers to `evict/2`.
    pub evictions: Vec<Eviction>,
}

/// An answer to `shrink(Instance, Flavour, Reason)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrink {
    /// The instance to shrink.
    pub instance: InstanceId,
    /// The flavour that it should run in.
    pub flavour: FlavourId,
    /// The reason stated by the policy.
    pub reason: String,
}

/// An answer to `evict(Instance, Reason)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eviction {
    /// The instance to evict.
    pub instance: InstanceId,
    /// The reason stated by the policy.
    pub reason: String,
}

impl fmt::Display for Initiative {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shrinks = self
            .shrinks
            .iter()
            .map(|Shrink { instance, flavour, reason }| format!("shrink({instance}, {flavour}, {reason})"));
        let evictions =
            self.evictions.iter().map(|Eviction { instance, reason }| format!("evict({instance}, {reason})"));
        let all: Vec<String> = shrinks.chain(evictions).collect();
        if all.is_empty() { formatter.write_str("nothing") } else { formatter.write_str(&all.join(", ")) }
    }
}

impl Acceptance {
    /// Whether the policy defines `evict/2` or `shrink/3`.
    pub fn has_initiative(&self) -> bool {
        self.defines(Goal::Evict) || self.defines(Goal::Shrink)
    }

    /// Returns the instances that the owner wants to evict or shrink. An error if the policy fails or any of its
    /// answers is invalid: without a reason, for an instance that is not on the node, or with a flavour that is not an
    /// id.
    pub fn initiative(&self, machine: &mut Machine, view: &ManagerView) -> Result<Initiative, AcceptanceFailure> {
        let mut wanted = Initiative::default();
        if self.defines(Goal::Shrink) {
            self.each(Goal::Shrink, machine, view, |acceptance, query| {
                let instance = acceptance.instance(Goal::Shrink, view, query)?;
                let Some(flavour) = id(view, query.argument(1)) else {
                    let cause = format!("shrink/3 gives {} as a flavour", query.argument_text(1));
                    return Err(acceptance.failure(Goal::Shrink, cause).hint("take flavours from flavour/6"));
                };
                let reason = acceptance.reason(Goal::Shrink, query, 2)?;
                if wanted.shrinks.iter().all(|shrink| shrink.instance != instance) {
                    wanted.shrinks.push(Shrink { instance, flavour: flavour.into(), reason });
                }
                Ok(())
            })?;
        }
        if self.defines(Goal::Evict) {
            self.each(Goal::Evict, machine, view, |acceptance, query| {
                let instance = acceptance.instance(Goal::Evict, view, query)?;
                let reason = acceptance.reason(Goal::Evict, query, 1)?;
                if wanted.evictions.iter().all(|eviction| eviction.instance != instance) {
                    wanted.evictions.push(Eviction { instance, reason });
                }
                Ok(())
            })?;
        }
        Ok(wanted)
    }

    /// Queries `evict/2` or `shrink/3` with unbound arguments, and calls `answer` for each answer.
    fn each(
        &self,
        goal: Goal,
        machine: &mut Machine,
        view: &ManagerView,
        mut answer: impl FnMut(&Acceptance, &mut Query<'_>) -> Result<(), AcceptanceFailure>,
    ) -> Result<(), AcceptanceFailure> {
        let (predicate, arity) = match goal {
            Goal::Shrink => (self.words.shrink, 3),
            _ => (self.words.evict, 2),
        };
        let arguments = [Argument::Unknown, Argument::Unknown, Argument::Unknown];
        let mut query = machine.ask(&self.program, predicate, &arguments[..arity], view, &self.budget);
        loop {
            match query.next_answer() {
                Outcome::Answer => answer(self, &mut query)?,
                Outcome::NoMore => return Ok(()),
                other => return Err(self.no_answer(goal, other, &mut query)),
            }
        }
    }

    /// The instance that an answer names; an error if it is not on the node.
    fn instance(&self, goal: Goal, view: &ManagerView, query: &mut Query<'_>) -> Result<InstanceId, AcceptanceFailure> {
        let named = id(view, query.argument(0));
        let is_here = |id: &Id| view.facts.instances().any(|row| row[0] == view.facts.id(id));
        match named.filter(is_here) {
            Some(id) => Ok(id.into()),
            None => {
                let cause = format!("{} names {}, which is not on the node", goal.predicate(), query.argument_text(0));
                Err(self.failure(goal, cause).hint("take instances from serviceInstance/3"))
            }
        }
    }

    fn reason(&self, goal: Goal, query: &mut Query<'_>, position: usize) -> Result<String, AcceptanceFailure> {
        if query.is_unbound(position) {
            let cause = format!("{} gave no reason", goal.predicate());
            return Err(self.failure(goal, cause).hint("give it a last argument that says why, such as `nearly_full`"));
        }
        Ok(query.argument_words(position))
    }
}

/// The id in an argument of an answer; `None` if the argument is not a valid id.
fn id(view: &ManagerView, argument: Option<Value<'_>>) -> Option<Id> {
    view.facts.to_id(argument?)
}
