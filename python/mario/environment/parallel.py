"""Agents that act at the same time: the parallel interface of PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from pettingzoo import ParallelEnv

from ..arguments import whole
from ..facts import Constant, Facts
from ..scenario import ScenarioLike, Settings
from .course import Course, Moment, Reward, late_and_large
from .encoding import Encoding, Observation
from .turns import check_possible, possible_agents


class ParallelEnvironment(ParallelEnv):
    """A run of a scenario in which all agents that are due at one time act together, without knowing the actions of others.

    Observations and actions are those of :class:`Environment`, but an action that the mask forbids does nothing, so that
    learners without masks can be tried. Where agents are due at different times, those that are not observe what they
    last saw, with a mask that allows action 0 alone.
    """

    metadata = {"name": "mario_parallel_v0", "render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
        neighbours: int = 8,
        agents_max: int = 1000,
        reward: Reward = late_and_large,
    ) -> None:
        self._course = Course(scenario, set, reward)
        self._encoding = Encoding(whole("neighbours", neighbours, 1))
        self._moment: Moment | None = None
        self.agents: list[str] = []
        self.possible_agents = possible_agents(agents_max)
        self._observations = self._encoding.observation_space()
        self._actions = {agent: gymnasium.spaces.Discrete(self._encoding.actions) for agent in self.possible_agents}
        self.render_mode = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The observation space of an agent."""
        check_possible(agent, self._actions)
        return self._observations

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The action space of an agent."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Starts a new run. ``seed`` replaces the seed of the scenario."""
        self._seed, self._joined = whole("seed", seed), 0
        self.agents = []
        self._moment = self._course.start(self._seed, together=True)
        self._join(self._moment)
        return self._seen(self._moment)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """All agents act. Returns observations, rewards, terminations, truncations and infos by agent."""
        self._course.running()
        if self._moment is None or not self.agents:
            raise RuntimeError("the run is over: call reset")
        moment = self._moment = self._course.decide(self._answers(self._moment, actions))
        self._join(moment)
        observations, infos = self._seen(moment)
        rewards = {agent: moment.rewards.get(agent, 0.0) for agent in self.agents}
        terminations = {agent: agent in moment.gone for agent in self.agents}
        truncations = {agent: moment.is_over and agent not in moment.gone for agent in self.agents}
        self.agents = [agent for agent in self.agents if not (terminations[agent] or truncations[agent])]
        return observations, rewards, terminations, truncations, infos

    def action(self, facts: Facts, proposal: tuple[str, Constant] | None) -> int:
        """The number of the action for a proposal of the agent with these facts; ``None`` means to do nothing."""
        return self._encoding.action(facts, proposal)

    def close(self) -> None:
        """Ends the run, complete or not."""
        self._course.close()

    def _answers(self, moment: Moment, actions: Mapping[str, Any]) -> list[list[tuple[str, Constant]]]:
        """What the actions mean for the agents that are due. The actions of all are checked before any is taken."""
        unknown = [str(agent) for agent in actions if agent not in self.agents]
        missing = [agent for agent in self.agents if agent not in actions]
        if unknown or missing:
            whom = ", ".join((unknown or missing)[:5])
            raise ValueError(f"there are actions for agents that are not there: {whom}" if unknown else f"no action for {whom}")
        checked = {agent: self._encoding.checked(agent, action) for agent, action in actions.items()}
        return [
            self._encoding.proposals(facts, checked[agent]) if self._encoding.is_allowed(facts, checked[agent]) else []
            for agent, facts in moment.asked.items()
        ]

    def _join(self, moment: Moment) -> None:
        for agent in moment.asked:
            if agent in self.agents:
                continue
            check_possible(agent, self._actions)
            self.agents.append(agent)
            self._joined += 1
            if self._seed is not None:
                # The samples of its actions depend only on the seed.
                self._actions[agent].seed(self._seed + self._joined)

    def _seen(self, moment: Moment) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        observations, infos = {}, {}
        for agent in self.agents:
            facts = self._course.facts[agent]
            observations[agent] = self._encoding.observation(facts)
            if agent in moment.news:
                infos[agent] = moment.info(agent, facts)
            else:
                infos[agent] = {"facts": facts, "news": {}, "time": moment.time}
            if agent not in moment.asked:
                observations[agent]["action_mask"][1:] = 0
        return observations, infos
