//! Tests that repeated decisions of the four policies of the paper allocate no memory.

use mario_policy::{Decider, KnowledgeBase, SolutionLimit};
use mario_prolog::Engine;
use mario_testing::Random;

use crate::generated::Generated;
use crate::{PAPER, shipped};

#[test]
fn decides_without_allocating_in_the_steady_state() {
    let engine = Engine::new();
    let mut random = Random::new(7);
    let generated: Vec<Generated> = (0..500).map(|_| Generated::new(&mut random)).collect();
    for name in PAPER {
        let policy = shipped(&engine, name);
        let mut decider = Decider::new(&engine);
        let mut facts = KnowledgeBase::new(engine.symbols());
        let mut solutions = 0;
        let mut decide_all = || {
            for knowledge_base in &generated {
                let instance = knowledge_base.fill(engine.symbols(), &mut facts);
                solutions += decider.decide(&policy, &facts, instance, SolutionLimit::All).solutions.len();
            }
        };
        decide_all();
        let measured = allocation_counter::measure(&mut decide_all);
        assert_eq!(measured.count_total, 0, "{name}");
        assert!(solutions > 300, "{name}");
    }
}
