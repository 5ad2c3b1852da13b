"""The operations of agents.

Generated from `agent_operations!`: UPDATE_DOCUMENTS=1 cargo test -p mario-domain operations
"""

from __future__ import annotations

#: All operations, in the order of their codes.
OPERATIONS = (
    "undeploy",
    "migrate",
    "replicate",
    "adapt",
    "sleep",
    "wake",
)

#: Those whose target is a node.
TO_NODES = (
    "migrate",
    "replicate",
)
