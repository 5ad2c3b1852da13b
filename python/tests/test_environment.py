"""The environments for learning agents."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from pathlib import Path

import mario_fog as mario
import pytest

pytest.importorskip("pettingzoo")

import gymnasium  # noqa: E402
import numpy  # noqa: E402
from mario_fog.environment import Controller, Environment, ParallelEnvironment  # noqa: E402

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


def test_the_parallel_environment_passes_the_tests_of_pettingzoo():
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Which agents there will be follows from what they do: most of the possible ones never appear.
        warnings.filterwarnings("ignore", message="No agents present but not all possible_agents")
        parallel_api_test(ParallelEnvironment("paper", set=SHORT), num_cycles=300)
    parallel_seed_test(lambda: ParallelEnvironment("paper", set=SHORT), num_cycles=60)


def test_the_controller_passes_the_check_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Rates and latencies have no bound.
        warnings.filterwarnings("ignore", message=".*maximum value is infinity")
        check_env(gymnasium.make("mario/Controller-v0", scenario="paper", set=SHORT).unwrapped)


def play_together(environment: ParallelEnvironment, choose, seed: int = 1) -> list[dict[str, float]]:
    """Plays a run to its end, and returns the rewards of each step."""
    observations, infos = environment.reset(seed=seed)
    rewards = []
    while environment.agents:
        actions = {agent: choose(observations[agent], infos[agent]) for agent in environment.agents}
        observations, step_rewards, _, _, infos = environment.step(actions)
        rewards.append(step_rewards)
    return rewards


def play_as_controller(environment: Controller, choose, seed: int = 1) -> list[float]:
    """Plays a run to its end, and returns the reward of each step."""
    seen, info = environment.reset(seed=seed)
    rewards, is_over = [], False
    while not is_over:
        action = numpy.zeros(len(info["agents"]), int)
        # In the order of evaluation, which is not that of the rows.
        for agent, facts in info["facts"].items():
            row = info["agents"].index(agent)
            one = {name: array[row] for name, array in seen.items()}
            action[row] = choose(one, {"facts": facts, "time": info["time"], "news": info["news"][agent]})
        seen, reward, terminated, truncated, info = environment.step(action)
        rewards.append(reward)
        is_over = terminated or truncated
    return rewards


WAYS = {
    "turns": (Environment, play),
    "parallel": (ParallelEnvironment, play_together),
    "controller": (Controller, play_as_controller),
}


@pytest.mark.parametrize("way", WAYS)
def test_agents_that_act_like_a_policy_produce_the_run_of_that_policy(way):
    """Learners get the observations of policies at the same times, and their actions have the same effects."""
    policy = mario.Policy.open("latency-aware")
    turns = []

    def as_the_policy(observation, info):
        facts = info["facts"]
        first = policy.decide(facts, instance=facts.instance).first
        turns.append((facts.instance, first))
        return environment.action(facts, first and (first[0], first[2]))

    made, player = WAYS[way]
    environment = made("paper", set=SHORT, **({"instances": 200} if way == "controller" else {}))
    player(environment, as_the_policy, seed=1)
    asked = []

    @mario.policy
    def watched(facts):
        first = policy.decide(facts, instance=facts.instance).first
        asked.append((facts.instance, first))
        return first and (first[0], first[2])

    run = mario.run("paper", policy=watched, set=SHORT, seed=1, reuse=False)
    assert turns == asked
    assert run.summary["groups"] == mario.run("paper", policy="latency-aware", set=SHORT, seed=1).summary["groups"]
    assert sum(1 for _, first in asked if first and first[0] == "migrate") > 20


def test_agents_that_are_not_due_are_masked():
    """An agent evaluates a period after the managers have accepted its instance, and they meet between two evaluations here."""
    environment = ParallelEnvironment("paper", set={**SHORT, "managers.period": 130})
    observations, infos = environment.reset(seed=1)
    waiting = steps = 0
    while environment.agents and steps < 200:
        for agent in environment.agents:
            mask = observations[agent]["action_mask"]
            is_due = bool(infos[agent]["news"])
            assert mask[0] == 1 and mask[1] == is_due and (is_due or mask.sum() == 1)
            waiting += not is_due
        # Replicate to the first neighbour, whether that is allowed or not.
        observations, _, _, _, infos = environment.step(dict.fromkeys(environment.agents, 2 + 8))
        steps += 1
    environment.close()
    assert steps > 10 and waiting > 0


def test_a_controller_with_few_rows_leaves_the_others_alone():
    controller = Controller("paper", set=SHORT, instances=2)
    seen, info = controller.reset(seed=1)
    assert len(info["facts"]) > 2 and None not in info["agents"]
    assert (controller.action_masks() == seen["action_mask"].astype(bool).ravel()).all()
    first = info["agents"][0]
    # The first row undeploys its instance, and is given to another agent.
    _, _, terminated, truncated, info = controller.step([1, 0])
    assert not terminated and not truncated and first not in info["agents"] and None not in info["agents"]
    assert info["news"][first]["gone"] and info["rewards"][first] in (0.0, -10.0)
    for wrong in ([1], [1, 2, 3], [0.5, 1], "ab", [0, 99], [-1, 0], None):
        with pytest.raises(ValueError, match="whole numbers|does one of"):
            controller.step(wrong)
    while not truncated:
        _, _, terminated, truncated, info = controller.step(numpy.array([1, 1]))
        if terminated:
            break
    with pytest.raises(RuntimeError, match="the run is over"):
        controller.step([0, 0])


def test_runs_of_a_controller_without_seeds_follow_from_the_first():
    def rates(controller):
        return [controller.reset(**given)[0]["observation"].tobytes() for given in ({"seed": 5}, {}, {})]

    one, other = rates(Controller("paper", set=SHORT)), rates(Controller("paper", set=SHORT))
    assert one == other and len(set(one)) == 3
    fresh = Controller("paper", set=SHORT).reset()[0]["observation"].tobytes()
    assert (
        fresh == Controller("paper", set=SHORT).reset(seed=mario.Scenario("paper").settings()["seed"])[0]["observation"].tobytes()
    )


def test_actions_together_are_checked_before_any_is_taken():
    environment = ParallelEnvironment("paper", set=SHORT)
    with pytest.raises(RuntimeError, match="call reset first"):
        environment.step({})
    observations, _ = environment.reset(seed=3)
    agents = list(environment.agents)
    still = dict.fromkeys(agents, 0)
    with pytest.raises(ValueError, match=f"no action for {agents[0]}"):
        environment.step({agent: 0 for agent in agents[1:]})
    with pytest.raises(ValueError, match="agents that are not there: agent_999"):
        environment.step({**still, "agent_999": 0})
    for action in (99, -1, "migrate", None, 1.5):
        with pytest.raises(ValueError, match="does one of 0 to 17"):
            environment.step({**still, agents[-1]: action})
    # None of these has moved the run.
    _, _, _, _, infos = environment.step({agent: numpy.int64(0) for agent in agents})
    again = ParallelEnvironment("paper", set=SHORT)
    again.reset(seed=3)
    assert infos == again.step(still)[4]
    with pytest.raises(RuntimeError, match="more agents than `agents_max`"):
        ParallelEnvironment("paper", set=SHORT, agents_max=1).reset()
    with pytest.raises(TypeError, match="`reward` is a function"):
        ParallelEnvironment("paper", reward=3)


def test_an_exception_of_a_reward_reaches_the_learner_and_leaves_no_thread():
    def wrong(facts, news):
        raise ZeroDivisionError("no reward")

    tasks = Path("/proc/self/task")
    before = len(list(tasks.iterdir())) if tasks.exists() else None
    environment = ParallelEnvironment("paper", set=SHORT, reward=wrong)
    environment.reset(seed=1)
    with pytest.raises(ZeroDivisionError, match="no reward"):
        environment.step(dict.fromkeys(environment.agents, 0))
    environment.close()
    # The thread of the simulation is none that Python knows.
    assert before is None or len(list(tasks.iterdir())) <= before


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


def example(root, name: str):
    sys.path.insert(0, str(root / "examples"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_the_example_of_a_controller_does_better_than_chance_and_than_nothing(root):
    controller = example(root, "controller")
    means = controller.evaluate(controller.learn(rounds=6, candidates=12, best=3), range(100, 104))
    assert means["learned"] > 0.8 * means["nothing"] > means["chance"], means


def test_the_example_learns_to_do_better_than_chance(root):
    learning = example(root, "learning")
    table = learning.learn(episodes=12)
    learned, by_chance = learning.evaluate(table, seeds=range(100, 104))
    assert learned > by_chance + 0.1, (learned, by_chance)
    learned = mario.run("paper", policy=learning.as_policy(table), set=learning.WORLD, seed=100).summary
    still = mario.run("paper", policy="never-move", set=learning.WORLD, seed=100).summary
    assert learned["lost"] < 0.05 * learned["emitted"], "no reward for leaving clients alone"
    assert learned["groups"][0]["response"] < still["groups"][0]["response"]
