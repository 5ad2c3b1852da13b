"""The files for engines that run the command line: manifests and an image."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

CLUSTER = ROOT / "docs" / "cluster"


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
