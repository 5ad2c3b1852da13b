"""The environment for learning agents."""

from __future__ import annotations

import sys
import threading

import mario
import pytest

pytest.importorskip("pettingzoo")

from mario.environment import Environment  # noqa: E402

SHORT = {"duration": 4000}


def play(environment: Environment, choose, seed: int = 1) -> list[tuple[str, float]]:
    """Plays a run to its end, and returns the rewards in the order of turns."""
    environment.reset(seed=seed)
    rewards = []
    for agent in environment.agent_iter():
        observation, reward, terminated, truncated, info = environment.last()
        rewards.append((agent, reward))
        environment.step(None if terminated or truncated else choose(observation, info))
    return rewards


def test_the_environment_passes_the_tests_of_pettingzoo():
    from pettingzoo.test import api_test, seed_test

    api_test(Environment("paper", set=SHORT), num_cycles=300, verbose_progress=False)
    seed_test(lambda: Environment("paper", set=SHORT), num_cycles=60)


def test_agents_that_act_like_a_policy_produce_the_run_of_that_policy():
    """Learners get the observations of policies at the same times, and their actions have the same effects."""
    policy = mario.Policy.open("latency-aware")
    turns = []

    def as_the_policy(observation, info):
        facts = info["facts"]
        first = policy.decide(facts, instance=facts.instance).first
        turns.append((info["time"], facts.instance, first))
        return environment.action(facts, first and (first[0], first[2]))

    environment = Environment("paper", set=SHORT)
    play(environment, as_the_policy, seed=1)
    asked = []

    @mario.policy
    def watched(facts):
        first = policy.decide(facts, instance=facts.instance).first
        asked.append((facts.instance, first))
        return first and (first[0], first[2])

    run = mario.run("paper", policy=watched, set=SHORT, seed=1, reuse=False)
    assert [(instance, first) for _, instance, first in turns] == asked
    assert run.summary["groups"] == mario.run("paper", policy="latency-aware", set=SHORT, seed=1).summary["groups"]
    assert sum(1 for _, first in asked if first and first[0] == "migrate") > 20


def test_verdicts_have_their_reasons():
    told = set()

    def crowd(observation, info):
        told.update(info["news"].get("verdicts", ()))
        return 2 + 8 if observation["action_mask"][2 + 8] else 0

    play(Environment("paper", set=SHORT), crowd)
    assert ("replicate", None) in told, "some are accepted"
    assert any(reason and "is needed" in reason for _, reason in told), told


def test_the_same_seed_and_actions_yield_the_same_run():
    def choose(observation, info):
        allowed = observation["action_mask"].nonzero()[0]
        return int(allowed[int(info["time"]) % len(allowed)])

    environment = Environment("paper", set=SHORT)
    assert play(environment, choose) == play(environment, choose)


def test_invalid_actions_are_refused_and_no_thread_is_left():
    before = threading.active_count()
    environment = Environment("paper", set=SHORT)
    with pytest.raises(RuntimeError, match="call reset first"):
        environment.step(0)
    environment.reset(seed=3)
    for action in (99, "migrate", None):
        with pytest.raises(ValueError, match="does one of 0 to 17"):
            environment.step(action)
    masked = int((environment.observe(environment.agent_selection)["action_mask"] == 0).nonzero()[0][0])
    with pytest.raises(ValueError, match="is masked"):
        environment.step(masked)
    environment.step(0)
    environment.close()
    for seed in range(5):
        environment.reset(seed=seed)
    del environment
    assert threading.active_count() == before
    with pytest.raises(mario.InputError, match="did you mean `size`"):
        Environment("paper", set={"topology.sise": 3}).reset()


def test_the_example_learns_to_do_better_than_chance(root):
    sys.path.insert(0, str(root / "examples"))
    try:
        import learning
    finally:
        sys.path.pop(0)
    table = learning.learn(episodes=12)
    learned, by_chance = learning.evaluate(table, seeds=range(100, 104))
    assert learned > by_chance + 0.1, (learned, by_chance)
    learned = mario.run("paper", policy=learning.as_policy(table), set=learning.WORLD, seed=100).summary
    still = mario.run("paper", policy="never-move", set=learning.WORLD, seed=100).summary
    assert learned["lost"] < 0.05 * learned["emitted"], "no reward for leaving clients alone"
    assert learned["groups"][0]["response"] < still["groups"][0]["response"]
