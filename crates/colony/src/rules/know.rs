//! The knowledge base of an agent when it evaluates its policy.

use mario_domain::{Capacity, Fact, RANDOM, Wakefulness};
use mario_policy::{Constant, KnowledgeBase};
use mario_prolog::Value;

/// Everything that one agent observes, as constants that its policy reads.
///
/// An agent sees its own node, the client requests that reached its instance, its memory, and facts about applications,
/// its node and the neighbours. It sees neither other nodes' hardware, nor other agents, nor routes.
pub trait Situation {
    /// The agent's instance.
    fn instance(&self) -> Constant;
    /// The application of the instance.
    fn application(&self) -> Constant;
    /// The node that it is on.
    fn node(&self) -> Constant;
    /// The free hardware of the node.
    fn free(&self) -> Capacity;
    /// All the hardware of the node; `None` unless the policy reads hardware by kind.
    fn capacity(&self) -> Option<Capacity>;
    /// The neighbours of the node.
    fn neighbours(&self) -> impl Iterator<Item = Constant>;
    /// The client requests of the last evaluation period: last hop, rate and latency, in standard order.
    fn requests(&self) -> impl Iterator<Item = (Constant, f64, f64)>;
    /// The inhibitions that the agent remembers: operation and target, as [`visible`](super::visible) orders them.
    fn inhibited(&self) -> impl Iterator<Item = (Constant, Constant)>;
    /// Earlier client requests, if the policy looks back: age in evaluations, last hop, rate and latency.
    fn earlier(&self) -> impl Iterator<Item = (u32, Constant, f64, f64)>;
    /// Own accepted operations, if the policy looks back: age in evaluations, operation and target.
    fn done(&self) -> impl Iterator<Item = (u32, Constant, Constant)>;
    /// How many evaluations the agent has made on its node; `None` unless the policy reads that.
    fn age(&self) -> Option<u32>;
    /// The flavour that the instance runs in; `None` if its application has no flavours.
    fn running(&self) -> Option<Constant>;
    /// Whether the instance is awake.
    fn wakefulness(&self) -> Wakefulness;
    /// How many evaluations the agent has left on its node; `None` if no eviction was announced.
    fn leave(&self) -> Option<u32>;
    /// The random number for this evaluation; `None` if none was drawn.
    fn random(&self) -> Option<u32>;
    /// Extra facts about applications, about the node and about its neighbours; `None` to keep those of the previous
    /// agent, which include its random number if it had one.
    fn facts(&self) -> Option<impl Iterator<Item = &Fact>>;
}

/// Builds the knowledge base of an agent in `facts`, replacing that of the previous agent. The descriptions of
/// applications are kept, and so are extra facts if [`Situation::facts`] returns `None`. Returns the constant that
/// denotes the agent's instance.
pub fn know(facts: &mut KnowledgeBase, situation: &impl Situation) -> Constant {
    facts.clear_situation();
    let (node, free) = (situation.node(), facts.capacity(situation.free()));
    facts.push_node(node, free, situation.neighbours());
    if let Some(capacity) = situation.capacity() {
        facts.push_free(node, situation.free(), capacity);
    }
    let instance = situation.instance();
    facts.push_instance(instance, situation.application(), node);
    for (neighbour, rate, latency) in situation.requests() {
        facts.push_requests(instance, neighbour, number(rate), number(latency));
    }
    for (operation, target) in situation.inhibited() {
        facts.push_inhibited(operation, instance, target);
    }
    for (ago, neighbour, rate, latency) in situation.earlier() {
        facts.push_earlier(ago, instance, [neighbour, number(rate), number(latency)]);
    }
    for (ago, operation, target) in situation.done() {
        facts.push_done(ago, instance, operation, target);
    }
    if let Some(evaluations) = situation.age() {
        facts.push_age(instance, evaluations);
    }
    if let Some(flavour) = situation.running() {
        facts.push_running(instance, flavour);
    }
    if situation.wakefulness().is_asleep() {
        facts.push_asleep(instance);
    }
    if let Some(evaluations) = situation.leave() {
        facts.push_leave(instance, evaluations);
    }
    if let Some(extra) = situation.facts() {
        facts.clear_facts();
        for fact in extra {
            facts.push_domain_fact(fact);
        }
    }
    if let Some(drawn) = situation.random() {
        let key = facts.constant(RANDOM);
        facts.push_fact(instance, key, Value::Integer(i64::from(drawn)));
    }
    instance
}

/// Returns a number as an agent sees it: an integer if it is whole and its magnitude is at most 2^53, else a float.
#[inline]
pub fn number(value: f64) -> Constant {
    /// Beyond this, not every integer can be represented as a float.
    const EXACT: u64 = 9_007_199_254_740_992;
    // The conversion saturates, and NaN becomes 0.
    let whole = value as i64;
    if whole as f64 - value == 0.0 && whole.unsigned_abs() <= EXACT {
        Value::Integer(whole)
    } else {
        Value::Float(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_integers() {
        assert_eq!(number(6.0), Value::Integer(6));
        assert_eq!(number(0.5), Value::Float(0.5));
        assert_eq!(number(1e300), Value::Float(1e300));
        assert_eq!(number(-0.0), Value::Integer(0));
        assert_eq!(number(-9_007_199_254_740_992.0), Value::Integer(-9_007_199_254_740_992));
        assert_eq!(number(9_007_199_254_740_994.0), Value::Float(9_007_199_254_740_994.0));
        assert_eq!(number(i64::MIN as f64), Value::Float(i64::MIN as f64));
        assert_eq!(number(f64::INFINITY), Value::Float(f64::INFINITY));
        assert_eq!(number(f64::NEG_INFINITY), Value::Float(f64::NEG_INFINITY));
        assert!(matches!(number(f64::NAN), Value::Float(value) if value.is_nan()));
    }
}
