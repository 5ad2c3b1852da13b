"""Environments for learning agents, with the interfaces of PettingZoo and Gymnasium.

A turn is one evaluation of an agent in the simulator. What the agent observes is what its policy would see at that moment,
and what it does is judged by the managers of the nodes as every proposal is. Agents come and go: a replica is a new agent.

:class:`Environment` asks one agent after another, :class:`ParallelEnvironment` all that are due at one time, and
:class:`Controller` is one learner that acts for all, also as ``gymnasium.make("mario/Controller-v0", scenario=…)``.
"""

from __future__ import annotations

try:
    import gymnasium
    import numpy  # noqa: F401 - so that a missing package is reported here
    import pettingzoo  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError("mario_fog.environment needs PettingZoo: pip install 'mario-fog[environment]'") from error

from .controller import Controller
from .course import Reward, late_and_large
from .encoding import Encoding
from .parallel import ParallelEnvironment
from .turns import Environment

__all__ = ["Controller", "Encoding", "Environment", "ParallelEnvironment", "Reward", "late_and_large"]

gymnasium.register(id="mario/Controller-v0", entry_point="mario_fog.environment:Controller")
