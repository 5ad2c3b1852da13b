"""The common base of the environments for PettingZoo."""

from __future__ import annotations

import gymnasium

from ..arguments import whole
from ..facts import Constant, Facts
from ..scenario import ScenarioLike, Settings
from .course import Course, Reward
from .encoding import Encoding


class Agents:
    """A run of a scenario, the encoding of observations and actions, and the spaces of each agent."""

    def __init__(
        self, scenario: ScenarioLike, changed: Settings | None, neighbours: int, agents_max: int, reward: Reward
    ) -> None:
        self._course = Course(scenario, changed, reward)
        self._encoding = Encoding(whole("neighbours", neighbours, 1))
        # Instances are numbered from 1 on.
        self.possible_agents = [f"agent_{number}" for number in range(1, whole("agents_max", agents_max, 1) + 1)]
        space = self._encoding.observation_space()
        self.observation_spaces = {agent: space for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(self._encoding.actions) for agent in self.possible_agents}
        self.agents: list[str] = []
        self.render_mode = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The action space of an agent."""
        return self.action_spaces[agent]

    def action(self, facts: Facts, proposal: tuple[str, Constant] | None) -> int:
        """The number of the action for a proposal of the agent with these facts; ``None`` means to do nothing."""
        return self._encoding.action(facts, proposal)

    def close(self) -> None:
        """Ends the run, complete or not."""
        self._course.close()

    def _begin(self, seed: int | None) -> int | None:
        """Forgets the agents of the former run. Returns the checked seed."""
        self._seed, self._joined = whole("seed", seed), 0
        self.agents = []
        return self._seed

    def _join(self, agent: str) -> bool:
        """Adds an agent, and returns whether it is new."""
        if agent in self.agents:
            return False
        if agent not in self.action_spaces:
            raise RuntimeError(f"there are more agents than `agents_max`: {agent} is one too many")
        self.agents.append(agent)
        self._joined += 1
        if self._seed is not None:
            # The samples of its actions depend only on the seed and on the order in which agents join.
            self.action_spaces[agent].seed(self._seed + self._joined)
        return True
