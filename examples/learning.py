"""Agents that learn where to run, by a table of what was worth what.

Run it with the Python package installed (docs/python.md): python examples/learning.py
"""

from __future__ import annotations

import random
from collections import defaultdict

import mario
from mario.environment import Environment, late_and_large

WORLD = {"duration": 6000}

#: What an agent may do in each state; `there` is the neighbour that most requests come through.
DEEDS = ("stay", "migrate there", "replicate there", "undeploy")


def state(facts: mario.Facts) -> tuple[str, str]:
    """What matters to the agent: whether its clients are late, and whether most of them are elsewhere."""
    if not facts.requests:
        return "idle", "here"
    busiest = max(facts.requests, key=lambda request: request[1])
    rate = sum(rate for _, rate, _ in facts.requests)
    late = sum(rate for _, rate, latency in facts.requests if latency > facts.max_latency)
    return ("late" if late > rate / 2 else "in time"), ("here" if busiest[0] == "self" else "there")


def proposal(facts: mario.Facts, deed: str) -> tuple[str, object] | None:
    """A deed as an operation and its target; nothing where it means none."""
    if deed == "undeploy":
        return "undeploy", "self"
    elsewhere = [request for request in facts.requests if request[0] != "self"]
    if deed == "stay" or not elsewhere:
        return None
    return deed.split()[0], max(elsewhere, key=lambda request: request[1])[0]


def learn(episodes: int = 30, rate: float = 0.2, patience: float = 0.8, curiosity: float = 0.2) -> dict:
    """Q-learning, with one table for all agents: what each deed is worth in each state."""
    worth: dict = defaultdict(float)
    chance = random.Random(1)
    environment = Environment("paper", set=WORLD)
    for episode in range(episodes):
        environment.reset(seed=episode)
        done: dict[str, tuple] = {}
        for agent in environment.agent_iter():
            _, reward, terminated, truncated, info = environment.last()
            if terminated or truncated:
                if terminated:
                    worth[done[agent]] += rate * (reward - worth[done[agent]])
                environment.step(None)
                continue
            facts = info["facts"]
            here = state(facts)
            if agent in done:
                best = max(worth[here, deed] for deed in DEEDS)
                worth[done[agent]] += rate * (reward + patience * best - worth[done[agent]])
            deed = chance.choice(DEEDS) if chance.random() < curiosity else max(DEEDS, key=lambda deed: worth[here, deed])
            done[agent] = (here, deed)
            environment.step(environment.action(facts, proposal(facts, deed)))
    environment.close()
    return dict(worth)


def as_policy(worth: dict) -> mario.FunctionPolicy:
    """What was learned, as a policy for runs and comparisons."""

    def learned(facts: mario.Facts):
        here = state(facts)
        return proposal(facts, max(DEEDS, key=lambda deed: worth.get((here, deed), 0.0)))

    return mario.policy(learned)


def evaluate(worth: dict, seeds) -> tuple[float, float]:
    """The mean reward of a turn with what was learned, and with deeds by chance, in worlds that were not learned from."""

    def mean(choose) -> float:
        rewards = []
        environment = Environment("paper", set=WORLD, reward=late_and_large)
        for seed in seeds:
            environment.reset(seed=seed)
            for _ in environment.agent_iter():
                _, reward, terminated, truncated, info = environment.last()
                rewards.append(reward)
                if terminated or truncated:
                    environment.step(None)
                    continue
                facts = info["facts"]
                environment.step(environment.action(facts, proposal(facts, choose(state(facts)))))
        environment.close()
        return sum(rewards) / len(rewards)

    chance = random.Random(2)
    learned = mean(lambda here: max(DEEDS, key=lambda deed: worth.get((here, deed), 0.0)))
    return learned, mean(lambda here: chance.choice(DEEDS))


if __name__ == "__main__":
    table = learn()
    for (here, deed), value in sorted(table.items()):
        print(f"{' '.join(here):16} {deed:16} {value:7.3f}")
    learned, by_chance = evaluate(table, range(100, 110))
    print(f"reward of a turn: {learned:.3f} as learned, {by_chance:.3f} by chance")
    print(mario.compare("paper", [as_policy(table), "latency-aware", "never-move"], seeds=10, set=WORLD))
