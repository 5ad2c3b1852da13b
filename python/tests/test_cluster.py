"""More than one machine: a real Dask cluster, and the files for other engines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import mario
import pytest
from conftest import ROOT

CLUSTER = ROOT / "docs" / "cluster"
SET = {"duration": 3000}
KEYS = {"workload.period": [20, 40]}
POLICIES = ["latency-aware", "cells"]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def same_bytes(one: Path, other: Path, names: tuple[str, ...]) -> None:
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_sweep_on_dask_equals_that_of_one_machine(client, tmp_path):
    import mario.distributed

    whole = mario.sweep("paper", KEYS, POLICIES, seeds=3, set=SET, out=tmp_path / "whole")
    made = mario.distributed.sweep(client, "paper", KEYS, POLICIES, seeds=3, set=SET, shards=5, out=tmp_path / "made")
    same_bytes(tmp_path / "made", tmp_path / "whole", ("runs.csv", "sweep.csv", "sweep.json"))
    assert made.results == whole.results and made.missing == 0
    assert not (tmp_path / "made.parts").exists()


def test_a_comparison_on_dask_takes_functions_texts_and_metrics_along(client, tmp_path):
    import mario.distributed

    def still(facts):
        return None

    policies = [mario.Policy("operation(undeploy, I, self) :- \\+ requests(I, _, _, _).", name="shy.pl"), still]
    options = {"seeds": 4, "set": SET, "metrics": {"hops": lambda run: run.summary["hops"]}}
    mario.compare("paper", policies, out=tmp_path / "whole", **options)
    mario.distributed.compare(client, "paper", policies, shards=3, out=tmp_path / "made", **options)
    same_bytes(tmp_path / "made", tmp_path / "whole", ("runs.csv", "comparison.csv", "comparison.json"))


def test_a_shard_whose_worker_dies_is_retried_on_another(client, tmp_path):
    import mario.distributed

    marker = tmp_path / "died"

    def dies_once(run: mario.Run) -> float:
        if not marker.exists():
            marker.touch()
            os._exit(9)
        return 1.0

    made = mario.distributed.sweep(client, "paper", KEYS, ["cells"], seeds=2, set=SET, shards=2, metrics={"m": dies_once})
    assert marker.exists() and made.missing == 0 and len(made.runs) == 4


def test_a_failed_shard_is_named_and_the_others_are_kept(client, tmp_path):
    import mario.distributed

    allowed = tmp_path / "allowed"

    def sometimes(run: mario.Run) -> float:
        if run.summary["seed"] == 2 and not allowed.exists():
            raise RuntimeError("not this seed")
        return 1.0

    def study():
        options = {"seed": 1, "seeds": 3, "set": SET, "shards": 6, "metrics": {"m": sometimes}, "retries": 0}
        return mario.distributed.sweep(client, "paper", KEYS, ["cells"], out=tmp_path / "made", **options)

    with pytest.raises(mario.ShardError, match="parts could not be made") as caught:
        study()
    assert caught.value.failed and all("not this seed" in str(error) for error in caught.value.failed.values())
    kept = sorted(path.name for path in (tmp_path / "made.parts").iterdir())
    assert len(kept) + len(caught.value.failed) == 6 and len(kept) >= 3
    times = {name: (tmp_path / "made.parts" / name / "runs.jsonl").stat().st_mtime_ns for name in kept}
    allowed.touch()
    assert times and study().missing == 0


def test_bad_input_on_dask_raises_the_same_exception_as_on_one_machine(client):
    import mario.distributed

    with pytest.raises(mario.ShardError, match="there is no policy `no-such-policy`") as caught:
        mario.distributed.sweep(client, "paper", KEYS, ["no-such-policy"], seeds=1, shards=2)
    assert isinstance(caught.value.__cause__, mario.InputError)
    with pytest.raises(ValueError, match="`shards` is a whole number"):
        mario.distributed.sweep(client, "paper", KEYS, ["cells"], shards=0)


@pytest.mark.parametrize("name", ["sweep.yaml", "merge.yaml"])
@pytest.mark.parametrize("version", ["1.31", "1.34"])
def test_manifests_are_valid_for_kubernetes(name, version):
    validator = pytest.importorskip("kubernetes_validate")
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all((CLUSTER / name).read_text()))
    assert documents
    for document in documents:
        validator.validate(document, version, strict=True)
        broken = {**document, "spec": {**document["spec"], "no_such_field": 1}}
        with pytest.raises(validator.ValidationError):
            validator.validate(broken, version, strict=True)


def test_the_image_is_built_from_existing_files():
    lines = (CLUSTER / "Dockerfile").read_text()
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert f"FROM rust:{toolchain}-" in lines
    assert (ROOT / "crates" / "cli" / "Cargo.toml").exists() and "--path crates/cli" in lines
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    version = manifest["workspace"]["package"]["version"]
    for name in ("sweep.yaml", "merge.yaml", "Dockerfile"):
        assert f"registry.example/mario:{version}" in (CLUSTER / name).read_text(), name
    beside = Path(sys.executable).with_name("hadolint")
    hadolint = str(beside) if beside.exists() else shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, CLUSTER / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
