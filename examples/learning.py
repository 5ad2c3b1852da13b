"""Agents that learn where to run, by tabular Q-learning.

Run it with the Python package installed (docs/python.md): python examples/learning.py
"""

from __future__ import annotations

import random
from collections import defaultdict

import mario_fog as mario
from mario_fog.environment import Environment, late_and_large

WORLD = {"duration": 6000}

#: The actions of an agent in each state; `there` is the neighbour that most requests come through.
ACTIONS = ("stay", "migrate there", "replicate there", "undeploy")


def state(facts: mario.Facts) -> tuple[str, str]:
    """Returns the state of an agent: whether its clients are late, and whether most of them are elsewhere."""
    if not facts.requests:
        return "idle", "here"
    busiest = max(facts.requests, key=lambda request: request[1])
    rate = sum(rate for _, rate, _ in facts.requests)
    late = sum(rate for _, rate, latency in facts.requests if latency > facts.max_latency)
    return ("late" if late > rate / 2 else "in time"), ("here" if busiest[0] == "self" else "there")


def proposal(facts: mario.Facts, action: str) -> tuple[str, object] | None:
    """Converts an action to an operation and its target; None if there is nothing to do."""
    if action == "undeploy":
        return "undeploy", "self"
    elsewhere = [request for request in facts.requests if request[0] != "self"]
    if action == "stay" or not elsewhere:
        return None
    return action.split()[0], max(elsewhere, key=lambda request: request[1])[0]


def learn(episodes: int = 30, rate: float = 0.2, patience: float = 0.8, curiosity: float = 0.2) -> dict:
    """Q-learning, with one table for all agents: the value of each action in each state."""
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
                best = max(worth[here, action] for action in ACTIONS)
                worth[done[agent]] += rate * (reward + patience * best - worth[done[agent]])
            explores = chance.random() < curiosity
            action = chance.choice(ACTIONS) if explores else max(ACTIONS, key=lambda action: worth[here, action])
            done[agent] = (here, action)
            environment.step(environment.action(facts, proposal(facts, action)))
    environment.close()
    return dict(worth)


def as_policy(worth: dict) -> mario.FunctionPolicy:
    """Converts the learned table to a policy for runs and comparisons."""

    def learned(facts: mario.Facts):
        here = state(facts)
        return proposal(facts, max(ACTIONS, key=lambda action: worth.get((here, action), 0.0)))

    return mario.policy(learned)


def evaluate(worth: dict, seeds) -> tuple[float, float]:
    """Returns the mean reward per turn of learned and of random actions, for seeds not used in training."""

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
    learned = mean(lambda here: max(ACTIONS, key=lambda action: worth.get((here, action), 0.0)))
    return learned, mean(lambda here: chance.choice(ACTIONS))


if __name__ == "__main__":
    table = learn()
    for (here, action), value in sorted(table.items()):
        print(f"{' '.join(here):16} {action:16} {value:7.3f}")
    learned, by_chance = evaluate(table, range(100, 110))
    print(f"reward of a turn: {learned:.3f} as learned, {by_chance:.3f} by chance")
    print(mario.compare("paper", [as_policy(table), "latency-aware", "never-move"], seeds=10, set=WORLD))
