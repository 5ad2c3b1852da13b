"""Agents that act one after another: the AEC interface of PettingZoo."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from ..scenario import ScenarioLike, Settings
from .agents import Agents
from .course import Moment, Reward, late_and_large
from .encoding import Observation


class Environment(Agents, AECEnv):
    """A run of a scenario in which the caller chooses the actions of one agent after another.

    Actions are numbers: 0 does nothing, 1 undeploys the instance, 2 + i migrates it to the i-th neighbour, and
    2 + ``neighbours`` + i replicates it there. Neighbours beyond ``neighbours`` cannot be targets. An observation has the
    array ``observation`` and the ``action_mask`` of allowed actions; any other action raises an exception.

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
        super().__init__(scenario, set, neighbours, agents_max, reward)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a new run. ``seed`` replaces the seed of the scenario."""
        checked = self._begin(seed)
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._skip_agent_selection = None
        self._turn(self._course.start(checked, together=False))

    def observe(self, agent: str) -> Observation:
        """The observation of an agent at its last turn."""
        return self._encoding.observation(self._course.facts.get(agent))

    def step(self, action: int | None) -> None:
        """Performs an action of the agent whose turn it is."""
        self._course.running()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number, facts = self._encoding.checked(agent, action), self._course.facts[agent]
        if not self._encoding.is_allowed(facts, number):
            raise ValueError(f"{agent} has {len(facts.neighbours)} neighbours: action {number} is masked")
        moment = self._course.decide([self._encoding.proposals(facts, number)])
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._turn(moment)
        self._accumulate_rewards()
        self._deads_step_first()

    def _turn(self, moment: Moment) -> None:
        """Advances to the next turn of an agent, or to the end of the run."""
        for agent in moment.gone:
            self.terminations[agent] = True
        for agent in moment.asked:
            if self._join(agent):
                self.rewards[agent] = self._cumulative_rewards[agent] = 0.0
                self.terminations[agent] = self.truncations[agent] = False
            self.agent_selection = agent
        for agent in (*moment.gone, *moment.asked):
            self.infos[agent] = moment.info(agent, self._course.facts[agent])
        self.rewards.update(moment.rewards)
        if moment.is_over:
            for agent in self.agents:
                self.truncations[agent] = not self.terminations[agent]
            if self.agents:
                self.agent_selection = self.agents[0]
