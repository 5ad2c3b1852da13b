"""Agents that act at the same time: the parallel interface of PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from ..facts import Constant
from ..scenario import ScenarioLike, Settings
from .agents import Agents
from .course import Moment, Reward, late_and_large
from .encoding import Observation


class ParallelEnvironment(Agents, ParallelEnv):
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
        super().__init__(scenario, set, neighbours, agents_max, reward)
        self._moment: Moment | None = None

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Starts a new run. ``seed`` replaces the seed of the scenario."""
        self._moment = self._course.start(self._begin(seed), together=True)
        self._join_all(self._moment)
        return self._seen(self._moment)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """All agents act. Returns observations, rewards, terminations, truncations and infos by agent."""
        self._course.running()
        if self._moment is None or not self.agents:
            raise RuntimeError("the run is over: call reset")
        moment = self._moment = self._course.decide(self._answers(self._moment, actions))
        self._join_all(moment)
        observations, infos = self._seen(moment)
        rewards = {agent: moment.rewards.get(agent, 0.0) for agent in self.agents}
        terminations = {agent: agent in moment.gone for agent in self.agents}
        truncations = {agent: moment.is_over and agent not in moment.gone for agent in self.agents}
        self.agents = [agent for agent in self.agents if not (terminations[agent] or truncations[agent])]
        return observations, rewards, terminations, truncations, infos

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

    def _join_all(self, moment: Moment) -> None:
        for agent in moment.asked:
            self._join(agent)

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
