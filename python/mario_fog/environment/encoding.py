"""Facts and proposals of an agent as arrays and numbers, for learners."""

from __future__ import annotations

import math
import operator
from typing import Any

import gymnasium
import numpy

from ..facts import Constant, Facts
from ..operations import TO_NODES

#: How many numbers of an observation describe the agent itself, and each neighbour.
OWN, OF_NEIGHBOUR = 6, 2 + len(TO_NODES)

Observation = dict[str, numpy.ndarray]


class Encoding:
    """What an agent observes as an array, and what it may do as numbers.

    Actions: 0 does nothing, 1 undeploys the instance, 2 + i migrates it to the i-th neighbour, and 2 + ``neighbours`` + i
    replicates it there: the operations of ``TO_NODES``, in this order. Neighbours beyond ``neighbours`` cannot be targets.
    """

    def __init__(self, neighbours: int) -> None:
        self.neighbours = neighbours
        self.length = OWN + OF_NEIGHBOUR * neighbours
        self.actions = 2 + len(TO_NODES) * neighbours

    def observation_space(self) -> gymnasium.spaces.Dict:
        """The space of observations of one agent."""
        return gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(-1.0, numpy.inf, (self.length,), numpy.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (self.actions,), numpy.int8),
            }
        )

    def observation(self, facts: Facts | None) -> Observation:
        """What an agent with these facts observes, and the mask of its actions. Without facts, only action 0 is allowed."""
        observation = numpy.zeros(self.length, numpy.float32)
        mask = numpy.zeros(self.actions, numpy.int8)
        mask[0] = 1
        if facts is not None:
            self._fill(facts, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def _fill(self, facts: Facts, observation: numpy.ndarray, mask: numpy.ndarray) -> None:
        mask[1] = 1
        seen = {node: (rate, latency) for node, rate, latency in facts.requests}
        own_rate, own_latency = seen.get("self", (0.0, 0.0))
        # Infinite values, such as unbounded hardware, become -1: a learner cannot use infinity.
        numbers = [facts.free, facts.hardware, facts.max_rate, facts.max_latency, own_rate, own_latency]
        observation[:OWN] = [-1.0 if math.isinf(number) else number for number in numbers]
        for place, node in enumerate(facts.neighbours[: self.neighbours]):
            rate, latency = seen.get(node, (0.0, 0.0))
            was_inhibited = [float((operation, node) in facts.inhibited) for operation in TO_NODES]
            start = OWN + OF_NEIGHBOUR * place
            observation[start : start + OF_NEIGHBOUR] = [rate, latency, *was_inhibited]
            mask[2 + place :: self.neighbours] = 1

    def action(self, facts: Facts, proposal: tuple[str, Constant] | None) -> int:
        """The number of the action for a proposal of the agent with these facts; ``None`` means to do nothing."""
        if proposal is None:
            return 0
        operation, target = proposal
        if operation == "undeploy":
            return 1
        if operation not in TO_NODES:
            raise ValueError(f"an action is undeploy, {', '.join(TO_NODES[:-1])} or {TO_NODES[-1]}, and not {operation}")
        places = [str(node) for node in facts.neighbours[: self.neighbours]]
        if str(target) not in places:
            raise ValueError(f"{target!r} is not among the neighbours that are targets: {', '.join(places)}")
        return 2 + TO_NODES.index(operation) * self.neighbours + places.index(str(target))

    def checked(self, agent: str, action: Any) -> int:
        """The action as an ``int``. Raises ``ValueError`` if there is no such action."""
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < self.actions:
            raise ValueError(f"{agent} does one of 0 to {self.actions - 1}, and not {action!r}")
        return number

    def is_allowed(self, facts: Facts, action: int) -> bool:
        """Whether the mask of an agent with these facts allows an action."""
        return action < 2 or (action - 2) % self.neighbours < len(facts.neighbours)

    def proposals(self, facts: Facts, action: int) -> list[tuple[str, Constant]]:
        """What the agent proposes with an action that the mask allows."""
        if action == 0:
            return []
        if action == 1:
            return [("undeploy", "self")]
        operation, place = divmod(action - 2, self.neighbours)
        return [(TO_NODES[operation], facts.neighbours[place])]
