"""Declarative, decentralised application management: the same policy in a notebook, on a cluster and on live nodes.

>>> import mario_fog as mario
>>> run = mario.run("paper", policy="latency-aware", set={"duration": 4000})
>>> run.summary["nodes"]
85
"""

from ._mario import Table, __version__, policy_names, preset_names
from .errors import EnvironmentError, Error, InputError, Interrupted, PolicyWarning, ShardError
from .facts import Facts
from .policy import Decision, FunctionPolicy, Policy, policy
from .replay import Replay, Snapshot, replay, snapshot
from .run import Run, resume, run
from .scenario import Scenario
from .study import Comparison, Study, Sweep, compare, merge, sweep

__all__ = [
    "Comparison",
    "Decision",
    "EnvironmentError",
    "Error",
    "Facts",
    "FunctionPolicy",
    "InputError",
    "Interrupted",
    "Policy",
    "PolicyWarning",
    "Replay",
    "Run",
    "Scenario",
    "ShardError",
    "Snapshot",
    "Study",
    "Sweep",
    "Table",
    "__version__",
    "compare",
    "merge",
    "policy",
    "policy_names",
    "preset_names",
    "replay",
    "resume",
    "run",
    "snapshot",
    "sweep",
]
