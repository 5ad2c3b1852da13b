"""One controller for all agents, tuned by the cross-entropy method: an estimate of what global knowledge is worth.

Run it with the Python package installed (docs/python.md): python examples/controller.py
"""

from __future__ import annotations

import gymnasium
import mario_fog.environment  # noqa: F401 - registers mario/Controller-v0
import numpy

WORLD = {"duration": 6000}
NEIGHBOURS = 8

#: The number of weights in `act`: three for migrations, three for replications, two for undeploys.
WEIGHTS = 8


def make() -> gymnasium.Env:
    return gymnasium.make("mario/Controller-v0", scenario="paper", set=WORLD, instances=64, neighbours=NEIGHBOURS)


def act(weights: numpy.ndarray, seen: dict[str, numpy.ndarray]) -> numpy.ndarray:
    """Returns the best allowed action of each row; doing nothing has score 0."""
    rows, mask = seen["observation"], seen["action_mask"].astype(bool)
    own_rate, tolerated = rows[:, 4], rows[:, 3]
    rate, latency, no_migration, no_replication = rows[:, 6:].reshape(len(rows), NEIGHBOURS, 4).transpose(2, 0, 1)
    total = own_rate + rate.sum(axis=1)
    share = rate / numpy.maximum(total, 1e-9)[:, None]
    late = share * (latency > tolerated[:, None])
    scores = numpy.zeros((len(rows), 2 + 2 * NEIGHBOURS))
    scores[:, 1] = weights[6] + weights[7] * (total == 0)
    # Operations that were inhibited recently are not tried again.
    scores[:, 2 : 2 + NEIGHBOURS] = weights[0] + weights[1] * share + weights[2] * late - 100 * no_migration
    scores[:, 2 + NEIGHBOURS :] = weights[3] + weights[4] * share + weights[5] * late - 100 * no_replication
    return numpy.where(mask, scores, -numpy.inf).argmax(axis=1)


def play(environment: gymnasium.Env, seed: int, choose) -> float:
    """Returns the sum of all rewards of one run."""
    seen, _ = environment.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        seen, reward, terminated, truncated, _ = environment.step(choose(seen))
        total += reward
        is_over = terminated or truncated
    return total


def learn(rounds: int = 8, candidates: int = 16, best: int = 4) -> numpy.ndarray:
    """Draws candidate weights, keeps the best, and draws the next candidates around them."""
    chance = numpy.random.default_rng(1)
    centre, spread = numpy.zeros(WEIGHTS), numpy.full(WEIGHTS, 2.0)
    environment = make()
    for number in range(rounds):
        drawn = chance.normal(centre, spread, (candidates, WEIGHTS))
        worth = [play(environment, number, lambda seen, weights=weights: act(weights, seen)) for weights in drawn]
        elite = drawn[numpy.argsort(worth)[-best:]]
        centre, spread = elite.mean(axis=0), elite.std(axis=0) + 0.1
    environment.close()
    return centre


def evaluate(weights: numpy.ndarray, seeds) -> dict[str, float]:
    """Returns the mean sum of rewards with learned, no and random actions, for seeds not used in training."""
    environment = make()
    environment.action_space.seed(1)
    ways = {
        "learned": lambda seen: act(weights, seen),
        "nothing": lambda seen: numpy.zeros(len(seen["observation"]), int),
        "chance": lambda seen: environment.action_space.sample(),
    }
    means = {name: float(numpy.mean([play(environment, seed, choose) for seed in seeds])) for name, choose in ways.items()}
    environment.close()
    return means


if __name__ == "__main__":
    for name, mean in evaluate(learn(), range(100, 110)).items():
        print(f"{name:8} {mean:9.1f}")
