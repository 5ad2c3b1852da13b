"""Sweeps and comparisons on a real cluster, by the Python package.

The cluster is one of Dask here. `on_ray.py` runs the same tests with another `client`.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from pathlib import Path

import mario_fog as mario
import mario_fog.distributed
import pytest

SET = {"duration": 3000}
KEYS = {"workload.period": [20, 40]}
POLICIES = ["latency-aware", "cells"]


@pytest.fixture(scope="module")
def client():
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    # Workers that die are started again, which takes long where the machine is busy; a task may end two of them.
    patient = {"distributed.comm.timeouts.connect": "300s", "distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, death_timeout=300
        ) as cluster,
    ):
        with distributed.Client(cluster) as client:
            yield client


def same_bytes(one: Path, other: Path, names: tuple[str, ...]) -> None:
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_sweep_on_a_cluster_is_that_of_one_machine(client, tmp_path):
    whole = mario.sweep("paper", KEYS, POLICIES, seeds=3, set=SET, out=tmp_path / "whole")
    keys = {key: (value for value in values) for key, values in KEYS.items()}
    made = mario_fog.distributed.sweep(client, "paper", keys, iter(POLICIES), seeds=3, set=SET, shards=5, out=tmp_path / "made")
    same_bytes(tmp_path / "made", tmp_path / "whole", ("runs.csv", "sweep.csv", "sweep.json", "study.json"))
    assert made.results == whole.results and made.missing == 0
    assert not (tmp_path / "made.parts").exists()


def test_a_comparison_on_a_cluster_takes_functions_texts_and_metrics_along(client, tmp_path):
    # As a notebook defines them: no file that a worker could read has their sources.
    names: dict = {}
    exec("def still(facts):\n    return None\ndef hops(run):\n    return run.summary['hops']\n", names)
    policies = [
        mario.Policy("operation(undeploy, I, self) :- \\+ requests(I, _, _, _).", name="shy.pl"),
        names["still"],
        (lambda facts: None, {"memory.cycles": 2}),
    ]
    options = {"seeds": 4, "set": SET, "metrics": {"hops": names["hops"], "users": lambda run: run.summary["users"]}}
    with pytest.warns(mario.PolicyWarning, match="no agent proposed an operation in all 4 runs"):
        mario.compare("paper", policies, out=tmp_path / "whole", **options)
    mario_fog.distributed.compare(client, "paper", policies, shards=3, out=tmp_path / "made", **options)
    same_bytes(tmp_path / "made", tmp_path / "whole", ("runs.csv", "comparison.csv", "comparison.json", "study.json"))


def test_a_shard_whose_worker_dies_is_retried_with_the_same_bytes(client, tmp_path):
    marker = tmp_path / "died"

    def dies_once(run: mario.Run) -> float:
        if not marker.exists():
            marker.touch()
            os._exit(9)
        return 1.0

    options = {"seeds": 2, "set": SET, "metrics": {"m": dies_once}}
    made = mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], shards=2, out=tmp_path / "made", **options)
    assert marker.exists() and made.missing == 0 and len(made.runs) == 4
    mario.sweep("paper", KEYS, ["cells"], out=tmp_path / "whole", **options)
    same_bytes(tmp_path / "made", tmp_path / "whole", ("runs.csv", "sweep.csv", "sweep.json"))


def test_a_shard_that_fails_is_named_and_the_others_are_kept(client, tmp_path):
    allowed = tmp_path / "allowed"

    def sometimes(run: mario.Run) -> float:
        if run.summary["seed"] == 2 and not allowed.exists():
            raise RuntimeError("not this seed")
        return 1.0

    def study():
        options = {"seed": 1, "seeds": 3, "set": SET, "shards": 6, "metrics": {"m": sometimes}, "retries": 0}
        return mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], out=tmp_path / "made", **options)

    with pytest.raises(mario.ShardError, match="shards failed") as caught:
        study()
    assert caught.value.failed and all("not this seed" in str(error) for error in caught.value.failed.values())
    assert isinstance(caught.value.__cause__, RuntimeError)
    kept = sorted(path.name for path in (tmp_path / "made.parts").iterdir())
    assert len(kept) + len(caught.value.failed) == 6 and len(kept) >= 3
    allowed.touch()
    assert study().missing == 0


def test_a_worker_that_always_dies_is_an_exception_that_names_the_shard(client, tmp_path):
    def dies(run: mario.Run) -> float:
        if run.summary["seed"] == 2:
            os._exit(9)
        return 1.0

    options = {"seed": 1, "seeds": 2, "set": SET, "shards": 2, "metrics": {"m": dies}, "retries": 1}
    with pytest.raises(mario.ShardError, match="of 2 shards failed, the first of them"):
        mario_fog.distributed.sweep(client, "paper", {"workload.period": [20]}, ["cells"], **options)


def test_bad_input_on_a_cluster_is_the_exception_of_one_machine(client):
    with pytest.raises(mario.ShardError, match="there is no policy `no-such-policy`") as caught:
        mario_fog.distributed.sweep(client, "paper", KEYS, ["no-such-policy"], seeds=1, shards=2)
    assert isinstance(caught.value.__cause__, mario.InputError)
    for wrong, options in [
        ("`shards` is a whole number", {"shards": 0}),
        ("`retries` is a whole number", {"retries": -1}),
        ("`worker_timeout` is a positive number", {"worker_timeout": 0}),
        ("`shard` is not for clusters", {"shard": "1/2"}),
        ("`keep_runs` is not for clusters", {"keep_runs": [1]}),
    ]:
        with pytest.raises((TypeError, ValueError), match=wrong):
            mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], **options)
    with pytest.raises(TypeError, match="`policies` is a list"):
        mario_fog.distributed.sweep(client, "paper", KEYS, "cells")
    with pytest.raises(TypeError, match="`client` is a Dask client or the module ray, and not 3"):
        mario_fog.distributed.sweep(3, "paper", KEYS, ["cells"])


def test_ctrl_c_leaves_no_task_and_the_cluster_works(client, tmp_path):
    begun = tmp_path / "begun"

    def slow(run: mario.Run) -> float:
        begun.touch()
        time.sleep(1)
        return 1.0

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=20, set=SET, shards=10, metrics={"m": slow})
    watcher.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    begun_again = time.monotonic()
    assert mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=1, set=SET, shards=2).missing == 0
    # Forty runs of a second each on two workers would take twenty.
    assert time.monotonic() - begun_again < 15


def test_ctrl_c_stops_the_runs_on_the_workers(client, tmp_path):
    # Each run would take minutes.
    threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=1, set={"duration": 100_000_000}, shards=2)
    begun = time.monotonic()
    assert mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=1, set=SET, shards=2).missing == 0
    assert time.monotonic() - begun < 30


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_in_a_callback_of_the_garbage_collector_is_not_lost(client):
    sent = []

    def interrupt(phase: str, _: dict) -> None:
        if not sent and len(done) > 1:
            sent.append(phase)
            os.kill(os.getpid(), signal.SIGINT)

    done = []

    def progress(count: float, _: float) -> None:
        done.append(count)
        gc.collect()

    gc.callbacks.append(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=4, set=SET, shards=8, progress=progress)
    finally:
        gc.callbacks.remove(interrupt)
    assert sent and len(done) < 8


def test_progress_counts_shards(client):
    told = []
    options = {"seeds": 2, "set": SET, "shards": 3, "progress": lambda *counts: told.append(counts)}
    mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], **options)
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_cluster_without_workers_is_an_exception_that_says_so():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(mario.EnvironmentError, match="no worker for 1.5 s\nhint: start workers") as caught,
    ):
        mario_fog.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=1, set=SET, worker_timeout=1.5)
    assert isinstance(caught.value, OSError)
