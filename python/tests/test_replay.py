"""Snapshots and replays from Python are those of the command line."""

from __future__ import annotations

import math
import signal
import threading
import time
from pathlib import Path

import mario_fog as mario
import pytest
from conftest import SHORT

WORLD = {**SHORT, "topology.size": 4}


def records(run: mario.Run) -> list[str]:
    return run.trace.read_text().splitlines()[1:]


@pytest.fixture
def recorded(tmp_path: Path) -> mario.Run:
    return mario.run("paper", policy="workload-aware", set=WORLD, out=tmp_path / "recorded")


def test_a_snapshot_is_the_file_of_the_command_line(recorded, command, tmp_path):
    taken = mario.snapshot(recorded, at=2000)
    command("snapshot", recorded.directory, "--at", 2000, "--out", tmp_path / "typed.toml")
    assert taken.save(tmp_path / "called.toml").read_bytes() == (tmp_path / "typed.toml").read_bytes()
    assert taken.is_exact and taken.about[0] == f"Time 2000 of {recorded.trace}."
    assert mario.snapshot(str(recorded.trace), at=2000) == taken, "a trace with its directory is enough"


def test_a_run_from_a_snapshot_continues_as_recorded(recorded):
    assert records(mario.run(mario.snapshot(recorded, at=1500).scenario)) == records(recorded)


def test_a_trace_without_its_directory_has_an_inexact_snapshot(recorded, tmp_path):
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(recorded.trace.read_bytes())
    taken = mario.snapshot(alone, at=2000)
    assert not taken.is_exact and any("users" in line for line in taken.about)
    assert mario.run(taken.scenario, policy="never-move").summary["nodes"] == recorded.summary["nodes"]


def test_a_replay_is_that_of_the_command_line(recorded, command, tmp_path):
    printed = command("replay", recorded.directory, "--until", 2000, "--policy", "never-move", "--out", tmp_path / "typed")
    replay = mario.replay(recorded, until=2000, policy="never-move", out=tmp_path / "called")
    assert str(replay) == printed and replay.snapshot.is_exact
    for path in (tmp_path / "typed").iterdir():
        assert (tmp_path / "called" / path.name).read_bytes() == path.read_bytes(), path.name
    assert replay.replayed["migrate"] == replay.replayed["replicate"] == 0 < replay.recorded["evaluations"]
    assert replay.recorded["mean_response"] > 0 and replay.recorded["time"] == pytest.approx(2000, abs=100)
    with pytest.raises(mario.InputError, match="is there already and not empty"):
        mario.replay(recorded, until=2000, policy="never-move", out=tmp_path / "called")
    mario.replay(recorded, until=2000, policy="cells", out=tmp_path / "called", force=True)


def test_a_function_takes_over_in_a_replay(recorded):
    asked = []
    replay = mario.replay(recorded, until=2000, policy=lambda facts: asked.append(facts.instance))
    assert asked and replay.replayed["migrate"] + replay.replayed["inhibited"] == 0
    before = [record for record in recorded.records() if isinstance(record, list) and record[1] < 2000]
    again = [record for record in replay.run.records() if isinstance(record, list) and record[1] < 2000]
    assert before == again

    def wrong(facts: mario.Facts) -> None:
        raise ZeroDivisionError("never")

    with pytest.raises(ZeroDivisionError, match="never"):
        mario.replay(recorded, until=2000, policy=wrong)


def test_the_directory_of_a_replay_is_removed_with_its_run(recorded):
    replay = mario.replay(recorded, until=2000, policy="never-move")
    directory = replay.run.directory
    kept = replay.run.save(recorded.directory.parent / "kept")
    assert directory.exists() and "never-move" in kept.trace.read_text()
    del replay
    assert not directory.exists()


def test_a_time_without_a_state_is_refused_as_by_the_command_line(recorded, command):
    printed = command("snapshot", recorded.directory, "--at", 9000, code=2)
    with pytest.raises(mario.InputError) as caught:
        mario.snapshot(recorded, at=9000)
    assert str(caught.value).strip() == printed.strip()
    for call in (
        lambda: mario.snapshot(recorded, at=0),
        lambda: mario.replay(recorded, until=9000, policy="cells"),
        lambda: mario.replay(recorded, until=2000, policy="no-such-policy"),
        lambda: mario.snapshot("nowhere", at=1),
    ):
        with pytest.raises(mario.InputError):
            call()


@pytest.mark.parametrize(
    ("call", "exception", "words"),
    [
        (lambda run: mario.snapshot(run, at="2000"), TypeError, "`at` is a time in milliseconds"),
        (lambda run: mario.snapshot(run, at=True), TypeError, "`at` is a time in milliseconds"),
        (lambda run: mario.snapshot(run, at=math.nan), ValueError, "`at` is a finite time"),
        (lambda run: mario.snapshot(run, at=-1), ValueError, "`at` is a finite time"),
        (lambda run: mario.snapshot(3, at=1), TypeError, "a stored run is a Run or a path"),
        (lambda run: mario.replay(run, until=math.inf, policy="cells"), ValueError, "`until` is a finite time"),
        (lambda run: mario.replay(run, until=2000, policy=3), TypeError, "and not int: 3"),
        (lambda run: mario.replay(run, until=2000, policy="cells", progress=3), TypeError, "progress is True"),
    ],
)
def test_wrong_types_and_values_are_exceptions_that_say_what(call, exception, words, recorded):
    with pytest.raises(exception) as caught:
        call(recorded)
    assert words in str(caught.value), caught.value


def test_ctrl_c_ends_a_snapshot_while_the_past_is_simulated(tmp_path):
    long = mario.run("paper", policy="latency-aware", set={"duration": 400_000}, out=tmp_path / "long")
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        while True:
            mario.snapshot(long, at=399_000)
    assert time.monotonic() - begun < 60
