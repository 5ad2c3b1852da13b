"""One controller that acts for all agents: the interface of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy

from ..arguments import whole
from ..facts import Constant, Facts
from ..scenario import ScenarioLike, Settings
from .course import Course, Moment, Reward, late_and_large
from .encoding import Encoding, Observation


class Controller(gymnasium.Env):
    """A run of a scenario in which one learner decides for all agents that are due at one time.

    It sees what all agents together see, which no single agent does: its result is a bound for agents, not a policy. There are
    ``instances`` rows. An agent takes the first free row when it is first asked, and frees it when its instance is gone;
    while there are more agents than rows, those without one do nothing. An observation has a row of :class:`Environment` for
    each: the array ``observation``, and the ``action_mask``. An action has a number for each row; one that the mask forbids
    does nothing. The reward is the sum of the agents' rewards.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
        instances: int = 32,
        neighbours: int = 8,
        reward: Reward = late_and_large,
    ) -> None:
        self._course = Course(scenario, set, reward)
        self._encoding = Encoding(whole("neighbours", neighbours, 1))
        #: The agent of each row.
        self._rows: list[str | None] = [None] * whole("instances", instances, 1)
        self._living: dict[str, None] = {}
        self._moment: Moment | None = None
        count, encoding = len(self._rows), self._encoding
        self.observation_space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(-1.0, numpy.inf, (count, encoding.length), numpy.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (count, encoding.actions), numpy.int8),
            }
        )
        self.action_space = gymnasium.spaces.MultiDiscrete([encoding.actions] * count)
        self.render_mode = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Starts a new run. The first without a seed has that of the scenario; later ones draw theirs from ``np_random``."""
        seed = whole("seed", seed)
        is_first = self._np_random is None
        if seed is None and is_first:
            super().reset(seed=self._course.seed(), options=options)
        else:
            super().reset(seed=seed, options=options)
            seed = int(self.np_random.integers(2**63)) if seed is None else seed
        self._rows = [None] * len(self._rows)
        self._living = {}
        self._moment = self._course.start(seed, together=True)
        self._follow(self._moment)
        return self._observation(self._moment), self._info(self._moment)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """All agents with a row act. Returns observation, reward, whether no agent is left, whether the run is over, and info."""
        self._course.running()
        if self._moment is None or self._moment.is_over:
            raise RuntimeError("the run is over: call reset")
        numbers = numpy.asarray(action)
        if numbers.shape != (len(self._rows),) or not numpy.issubdtype(numbers.dtype, numpy.integer):
            raise ValueError(f"an action is an array of {len(self._rows)} whole numbers, and not {action!r}")
        chosen = {agent: self._encoding.checked(f"row {row}", numbers[row]) for row, agent in enumerate(self._rows)}
        moment = self._moment = self._course.decide(
            self._proposals(facts, chosen.get(agent, 0)) for agent, facts in self._moment.asked.items()
        )
        self._follow(moment)
        reward = float(sum(moment.rewards.values()))
        is_empty = moment.is_over and not self._living
        return self._observation(moment), reward, is_empty, moment.is_over and not is_empty, self._info(moment)

    def action_masks(self) -> numpy.ndarray:
        """The masks of all rows, one after another, for learners that ask for masks in this way."""
        if self._moment is None:
            raise RuntimeError("the environment has no run: call reset first")
        return self._observation(self._moment)["action_mask"].astype(bool).ravel()

    def action(self, facts: Facts, proposal: tuple[str, Constant] | None) -> int:
        """The number of the action for a proposal of the agent with these facts; ``None`` means to do nothing."""
        return self._encoding.action(facts, proposal)

    def close(self) -> None:
        """Ends the run, complete or not."""
        self._course.close()

    def _proposals(self, facts: Facts, action: int) -> list[tuple[str, Constant]]:
        return self._encoding.proposals(facts, action) if self._encoding.is_allowed(facts, action) else []

    def _follow(self, moment: Moment) -> None:
        """Gives rows to agents, and takes them from those that are gone."""
        for agent in moment.gone:
            self._living.pop(agent, None)
        self._rows = [agent if agent in self._living else None for agent in self._rows]
        for agent in moment.asked:
            self._living[agent] = None
            if agent not in self._rows and None in self._rows:
                self._rows[self._rows.index(None)] = agent

    def _observation(self, moment: Moment) -> Observation:
        rows = [self._encoding.observation(self._course.facts.get(agent or "")) for agent in self._rows]
        for agent, row in zip(self._rows, rows, strict=True):
            if agent not in moment.asked:
                row["action_mask"][1:] = 0
        return {name: numpy.stack([row[name] for row in rows]) for name in ("observation", "action_mask")}

    def _info(self, moment: Moment) -> dict[str, Any]:
        """The time, the agent of each row, and of the agents that are asked or gone now, their facts, news and rewards."""
        return {
            "time": moment.time,
            "agents": list(self._rows),
            "facts": dict(moment.asked),
            "news": moment.news,
            "rewards": moment.rewards,
        }
