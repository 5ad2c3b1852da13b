"""A run that asks for the decisions of its agents, and computes their rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import _mario
from ..arguments import whole
from ..facts import Constant, Facts
from ..policy import FunctionPolicy
from ..scenario import ScenarioLike, Settings, overrides, scenario_of

#: Computes a reward from what the agent sees now and what happened since its last turn: how many requests it ``served``, the
#: sum of their ``response`` times, the ``verdicts`` on its proposals, and whether its instance is ``gone``.
Reward = Callable[[Facts, Mapping[str, Any]], float]


def late_and_large(facts: Facts, news: Mapping[str, Any]) -> float:
    """The default reward: minus the share of requests with too high a latency, minus 0.1 for the cost of the instance.

    An agent that serves all its clients in time gets -0.1 per turn, and one whose clients are all too far away gets -1.1. The
    final reward is -10 if the instance ended while it had clients, and 0 if it had none or a migration was accepted.
    """
    if news["gone"]:
        has_moved = ("migrate", None) in news["verdicts"]
        return -10.0 if facts.requests and not has_moved else 0.0
    rate = sum(rate for _, rate, _ in facts.requests)
    late = sum(rate for _, rate, latency in facts.requests if latency > facts.max_latency)
    return -0.1 - (late / rate if rate > 0 else 0.0)


@dataclass
class Moment:
    """Agents that are to decide, and what happened before."""

    #: The time of the last event that concerned an agent.
    time: float
    #: The facts of the agents that are to decide, by their names, in the order of evaluation.
    asked: dict[str, Facts]
    #: Agents that have decided before and whose instances are gone now.
    gone: list[str]
    #: For each agent in ``asked`` or ``gone``, what happened since its last turn.
    news: dict[str, dict[str, Any]]
    #: The rewards of those agents that have decided before.
    rewards: dict[str, float]

    @property
    def is_over(self) -> bool:
        """Whether the run is at its end."""
        return not self.asked

    def info(self, agent: str, facts: Facts) -> dict[str, Any]:
        """What learners may want to know about an agent beside its observation."""
        return {"facts": facts, "news": self.news[agent], "time": self.time}


class Course:
    """Runs of a scenario, one after another."""

    def __init__(self, scenario: ScenarioLike, changed: Settings | None, reward: Reward) -> None:
        if not callable(reward):
            raise TypeError(f"`reward` is a function of facts and news, and not {reward!r}")
        self._scenario = scenario_of(scenario)
        self._overrides = [*self._scenario._overrides, *overrides(changed)]
        self._reward = reward
        self._session: _mario.Session | None = None
        #: What each agent saw when it was last asked.
        self.facts: dict[str, Facts] = {}

    def seed(self) -> int:
        """The seed of the scenario."""
        return self._scenario._restored(self._scenario._given, self._overrides).settings()["seed"]

    def start(self, seed: int | None, *, together: bool) -> Moment:
        """Starts a new run. With ``together``, all agents that are due at one time are asked at once, otherwise one by one."""
        self.close()
        asked = FunctionPolicy(lambda facts: None, name="environment")
        self._session = _mario.Session(
            self._scenario._loaded,
            asked.name,
            overrides=self._overrides,
            choices=[asked.file],
            seed=whole("seed", seed),
            files={asked.file: asked.text},
            together=together,
        )
        self.facts = {}
        return self._next(self._session)

    def decide(self, answers: Iterable[list[tuple[str, Constant]]]) -> Moment:
        """Sends the proposals of the agents that were asked last, in that order. Returns the next moment."""
        session = self.running()
        session.answer(answers)
        return self._next(session)

    def running(self) -> _mario.Session:
        """The current run. Raises an exception if there is none."""
        if self._session is None:
            raise RuntimeError("the environment has no run: call reset first")
        return self._session

    def close(self) -> None:
        """Ends the run, complete or not."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _next(self, session: _mario.Session) -> Moment:
        questions = session.next_questions()
        moment = Moment(session.now, {}, [], {}, {})
        for gone in session.gone():
            agent = f"agent_{gone}"
            if agent in self.facts:
                moment.gone.append(agent)
                moment.news[agent] = {**session.news(gone), "gone": True}
                moment.rewards[agent] = float(self._reward(self.facts[agent], moment.news[agent]))
        for instance, known in questions or ():
            agent = f"agent_{instance}"
            is_first = agent not in self.facts
            moment.asked[agent] = self.facts[agent] = facts = Facts(known, instance)
            moment.news[agent] = {**session.news(str(instance)), "gone": False}
            if not is_first:
                moment.rewards[agent] = float(self._reward(facts, moment.news[agent]))
        return moment
