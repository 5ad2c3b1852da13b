"""The tests of `test_distributed.py` on a real cluster of Ray: docs/cluster/test-ray runs this."""

from __future__ import annotations

import os
from pathlib import Path

import mario_fog.distributed
import pytest
import ray
from test_distributed import (
    test_a_comparison_on_a_cluster_takes_functions_texts_and_metrics_along,
    test_a_shard_that_fails_is_named_and_the_others_are_kept,
    test_a_shard_whose_worker_dies_is_retried_with_the_same_bytes,
    test_a_sweep_on_a_cluster_is_that_of_one_machine,
    test_a_worker_that_always_dies_is_an_exception_that_names_the_shard,
    test_bad_input_on_a_cluster_is_the_exception_of_one_machine,
    test_ctrl_c_leaves_no_task_and_the_cluster_works,
)

__all__ = [
    "test_a_comparison_on_a_cluster_takes_functions_texts_and_metrics_along",
    "test_a_shard_that_fails_is_named_and_the_others_are_kept",
    "test_a_shard_whose_worker_dies_is_retried_with_the_same_bytes",
    "test_a_sweep_on_a_cluster_is_that_of_one_machine",
    "test_a_worker_that_always_dies_is_an_exception_that_names_the_shard",
    "test_bad_input_on_a_cluster_is_the_exception_of_one_machine",
    "test_ctrl_c_leaves_no_task_and_the_cluster_works",
]

#: Where Ray keeps sockets and logs; its processes have it among their arguments.
PLACE = os.environ["MARIO_RAY_PLACE"]


@pytest.fixture(scope="module")
def client():
    # Two workers, and as little memory as Ray takes.
    ray.init(num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, log_to_driver=False, _temp_dir=PLACE)
    yield ray
    ray.shutdown()


def test_the_cluster_leaves_no_process_and_is_missed(client):
    def alive() -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = process.read_bytes().decode(errors="replace")
            except OSError:
                continue
            if PLACE in words:
                found.append(words.replace("\0", " ")[:200])
        return found

    assert alive()
    client.shutdown()
    assert alive() == []
    with pytest.raises(ValueError, match="call ray.init first"):
        mario_fog.distributed.sweep(client, "paper", {"workload.period": [20]}, ["cells"])
