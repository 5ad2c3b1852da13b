"""A PettingZoo environment for learning agents: agents act one after another (the AEC interface).

A turn is one evaluation of an agent in the simulator. The agent observes what its policy would see at that time, and its
action is judged by the node managers like every proposal. The set of agents changes: a replica is a new agent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

try:
    import gymnasium
    import numpy
    from pettingzoo import AECEnv
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError("mario.environment needs PettingZoo: pip install 'mario[environment]'") from error

from . import _mario
from .arguments import whole
from .facts import Constant, Facts
from .policy import FunctionPolicy
from .scenario import ScenarioLike, Settings, overrides, scenario_of

#: Computes a reward from what the agent sees now and what happened since its last turn: how many requests it ``served``, the
#: sum of their ``response`` times, the ``verdicts`` on its proposals, and whether its instance is ``gone``.
Reward = Callable[[Facts, Mapping[str, Any]], float]

#: How many numbers of an observation describe the agent itself, and each neighbour.
_OWN, _OF_NEIGHBOUR = 6, 4


def late_and_large(facts: Facts, news: Mapping[str, Any]) -> float:
    """The default reward: minus the share of requests with too high a latency, minus 0.1 for the cost of the instance.

    An agent that serves all its clients in time gets -0.1 per turn, and one whose clients are all too far away gets -1.1. The
    final reward is -10 if the instance ended while it had clients, and 0 if it had none.
    """
    if news["gone"]:
        has_moved = ("migrate", None) in news["verdicts"]
        return -10.0 if facts.requests and not has_moved else 0.0
    rate = sum(rate for _, rate, _ in facts.requests)
    late = sum(rate for _, rate, latency in facts.requests if latency > facts.max_latency)
    return -0.1 - (late / rate if rate > 0 else 0.0)


class Environment(AECEnv):
    """A run of a scenario in which the caller chooses the actions of one agent after another.

    Actions are numbers: 0 does nothing, 1 undeploys the instance, 2 + i migrates it to the i-th neighbour, and
    2 + ``neighbours`` + i replicates it there. Neighbours beyond ``neighbours`` cannot be targets. An observation has the
    array ``observation`` and the ``action_mask`` of allowed actions.

    The facts of the agent whose turn it is are in ``infos[agent]["facts"]``, for encodings of your own.
    """

    metadata = {"name": "mario_v0", "render_modes": [], "is_parallelizable": False}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
        neighbours: int = 8,
        agents_max: int = 1000,
        reward: Reward = late_and_large,
    ) -> None:
        super().__init__()
        self._scenario = scenario_of(scenario)
        self._overrides = [*self._scenario._overrides, *overrides(set)]
        self._neighbours = whole("neighbours", neighbours, 1)
        self._reward = reward
        self._session: _mario.Session | None = None
        self._facts: dict[str, Facts] = {}
        # Instances are numbered from 1.
        self.possible_agents = [f"agent_{number}" for number in range(1, whole("agents_max", agents_max, 1) + 1)]
        length = _OWN + _OF_NEIGHBOUR * self._neighbours
        self._actions = 2 + 2 * self._neighbours
        self._observations = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(-1.0, numpy.inf, (length,), numpy.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (self._actions,), numpy.int8),
            }
        )
        self.observation_spaces = {agent: self._observations for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(self._actions) for agent in self.possible_agents}
        self.render_mode = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a new run. ``seed`` is the seed of the scenario."""
        self.close()
        asked = FunctionPolicy(lambda facts: None, name="environment")
        self._session = _mario.Session(
            self._scenario._loaded,
            asked.name,
            overrides=self._overrides,
            choices=[asked.file],
            seed=whole("seed", seed),
            files={asked.file: asked.text},
        )
        self._seed = seed
        self._facts = {}
        self.agents: list[str] = []
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._skip_agent_selection = None
        self._advance(self._session)

    def observe(self, agent: str) -> dict[str, numpy.ndarray]:
        """The observation of an agent at its last turn."""
        facts = self._facts.get(agent)
        observation = numpy.zeros(_OWN + _OF_NEIGHBOUR * self._neighbours, numpy.float32)
        mask = numpy.zeros(self._actions, numpy.int8)
        mask[0] = 1
        if facts is not None:
            self._encode(facts, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def _encode(self, facts: Facts, observation: numpy.ndarray, mask: numpy.ndarray) -> None:
        mask[1] = 1
        seen = {node: (rate, latency) for node, rate, latency in facts.requests}
        own_rate, own_latency = seen.get("self", (0.0, 0.0))
        # Unbounded hardware is -1: a learner cannot use infinity.
        numbers = [facts.free, facts.hardware, facts.max_rate, facts.max_latency, own_rate, own_latency]
        observation[:_OWN] = [-1.0 if math.isinf(number) else number for number in numbers]
        for place, node in enumerate(facts.neighbours[: self._neighbours]):
            rate, latency = seen.get(node, (0.0, 0.0))
            was_inhibited = [float((operation, node) in facts.inhibited) for operation in ("migrate", "replicate")]
            start = _OWN + _OF_NEIGHBOUR * place
            observation[start : start + _OF_NEIGHBOUR] = [rate, latency, *was_inhibited]
            mask[2 + place] = mask[2 + self._neighbours + place] = 1

    def step(self, action: int | None) -> None:
        """Performs an action of the agent whose turn it is."""
        if self._session is None:
            raise RuntimeError("the environment has no run: call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._session.answer(self._proposals(agent, action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._advance(self._session)
        self._accumulate_rewards()
        self._deads_step_first()

    def action(self, facts: Facts, proposal: tuple[str, Constant] | None) -> int:
        """The number of the action for a proposal of the agent with these facts; ``None`` means to do nothing."""
        if proposal is None:
            return 0
        operation, target = proposal
        if operation == "undeploy":
            return 1
        if operation not in ("migrate", "replicate"):
            raise ValueError(f"an action is undeploy, migrate or replicate, and not {operation}")
        places = [str(node) for node in facts.neighbours[: self._neighbours]]
        if str(target) not in places:
            raise ValueError(f"{target!r} is not among the neighbours that are targets: {', '.join(places)}")
        return (2 if operation == "migrate" else 2 + self._neighbours) + places.index(str(target))

    def _proposals(self, agent: str, action: Any) -> list[tuple[str, str | int]]:
        if action is None or not self.action_space(agent).contains(action):
            raise ValueError(f"{agent} does one of 0 to {self._actions - 1}, and not {action!r}")
        facts = self._facts[agent]
        if action == 0:
            return []
        if action == 1:
            return [("undeploy", "self")]
        operation, place = (
            ("migrate", action - 2) if action < 2 + self._neighbours else ("replicate", action - 2 - self._neighbours)
        )
        if place >= len(facts.neighbours):
            raise ValueError(f"{agent} has {len(facts.neighbours)} neighbours: action {action} is masked")
        return [(operation, facts.neighbours[place])]

    def _advance(self, session: _mario.Session) -> None:
        """Advances to the next turn of an agent, or to the end of the run."""
        question = session.next_question()
        for gone in session.gone():
            agent = f"agent_{gone}"
            if agent in self._facts:
                self.terminations[agent] = True
                self._reward_for(agent, {**session.news(gone), "gone": True}, session.now)
        if question is None:
            for agent in self.agents:
                self.truncations[agent] = not self.terminations[agent]
            if self.agents:
                self.agent_selection = self.agents[0]
            return
        instance, known = question
        agent = f"agent_{instance}"
        if agent not in self.observation_spaces:
            raise RuntimeError(f"there are more agents than `agents_max`: {agent} is one too many")
        if agent not in self.agents:
            self.agents.append(agent)
            self.rewards[agent] = 0.0
            self._cumulative_rewards[agent] = 0.0
            self.terminations[agent] = self.truncations[agent] = False
            if self._seed is not None:
                # The samples of its actions depend only on the seed.
                self.action_spaces[agent].seed(self._seed + len(self.infos))
        is_first = agent not in self._facts
        self._facts[agent] = facts = Facts(known, instance)
        news = {**session.news(str(instance)), "gone": False}
        if is_first:
            self.infos[agent] = {"facts": facts, "news": news, "time": session.now}
        else:
            self._reward_for(agent, news, session.now)
        self.agent_selection = agent

    def _reward_for(self, agent: str, news: Mapping[str, Any], now: float) -> None:
        facts = self._facts[agent]
        self.rewards[agent] = float(self._reward(facts, news))
        self.infos[agent] = {"facts": facts, "news": news, "time": now}

    def close(self) -> None:
        """Ends the run, even if it is not complete."""
        if self._session is not None:
            self._session.close()
            self._session = None
