"""Fixtures that several tests share."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Settings of a run of the paper's scenario that takes a few hundredths of a second.
SHORT = {"duration": 4000}


@pytest.fixture(scope="session", autouse=True)
def handles_ctrl_c() -> None:
    """Lets Ctrl-C work also if the tests are run by a shell in the background, which makes processes ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def mario_command() -> Path:
    """The command-line program of the same build, to compare with."""
    given = os.environ.get("MARIO_BINARY", str(ROOT / "target" / "debug" / "mario"))
    path = Path(given)
    assert path.exists(), f"{path} is not there: `cargo build` makes it, and MARIO_BINARY names another"
    return path


@pytest.fixture
def command(mario_command: Path):
    """Runs the command line, checks its exit code, and returns its output."""

    def call(*arguments: object, code: int = 0, **options) -> str:
        done = subprocess.run([mario_command, *map(str, arguments)], capture_output=True, text=True, **options)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return call


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT
