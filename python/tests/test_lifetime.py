"""Interrupts, memory, threads and the interpreter's lock."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import mario_fog as mario
import pytest

#: Settings of a run of the paper's scenario that takes minutes.
LONG = {"duration": 100_000_000}

#: A command for a metric that takes minutes.
SLEEPS = "sh -c 'exec sleep 600' sh"


def test_ctrl_c_saves_the_run_and_it_can_be_resumed(tmp_path):
    whole = mario.run("paper", set={"duration": 2_000_000}, trace="summary", out=tmp_path / "whole")
    begun = []

    def interrupt_once(done: float, total: float) -> None:
        if not begun:
            begun.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(mario.Interrupted) as caught:
        mario.run("paper", set={"duration": 2_000_000}, trace="summary", out=tmp_path / "run", progress=interrupt_once)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert "interrupted at time" in str(caught.value) and "mario.resume(" in str(caught.value)
    assert not mario.Run(tmp_path / "run").is_complete
    resumed = mario.resume(tmp_path / "run")
    assert resumed.is_complete
    for name in ("trace.jsonl", "operations.csv", "summary.json"):
        assert (tmp_path / "run" / name).read_bytes() == (whole.directory / name).read_bytes(), name


def interrupted(call: str) -> str:
    """Runs a call in a process, sends it SIGINT during the run, and returns what it prints to standard error."""
    script = f"import mario_fog as mario\nprint('begins', flush=True)\n{call}\n"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(1.0)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    # It takes some tenths of a second; the bound is generous, because the machine may be busy.
    assert time.monotonic() - begun < 10, told
    assert process.returncode != 0
    return told


def test_ctrl_c_ends_a_long_run_at_once(tmp_path):
    told = interrupted(f"mario.run('paper', set={LONG!r}, trace='summary', out={str(tmp_path / 'run')!r})")
    assert "mario_fog.errors.Interrupted: error: interrupted at time " in told
    assert (tmp_path / "run" / "checkpoint").exists()


@pytest.mark.parametrize(
    "options",
    [
        f"set={LONG!r}",
        f"set={LONG!r}, keep_runs=[1]",
        f"set={{'duration': 3000}}, metrics={{'m': {SLEEPS!r}}}, metric_timeout=600",
    ],
    ids=["plain", "kept", "metric"],
)
def test_ctrl_c_ends_a_study_in_a_long_run_at_once(options, tmp_path):
    out = tmp_path / "study"
    told = interrupted(f"mario.compare('paper', ['cells', 'never-move'], seed=1, seeds=2, {options}, out={str(out)!r})")
    assert "mario_fog.errors.Interrupted: error: the runs were interrupted" in told
    assert "the same call makes the runs that are missing" in told
    assert (out / "runs.jsonl").read_text() == "", "a run that was stopped has no result"
    for run in out.glob("runs/*"):
        assert (run / "PARTIAL").exists() and not (run / "summary.json").exists()
    assert mario.merge([out]).missing == 4


def test_an_exception_ends_a_study_in_a_long_run_at_once():
    begun = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        mario.compare("paper", ["cells", lambda facts: 1 / 0], seeds=1, jobs=2, set=LONG)
    assert time.monotonic() - begun < 20


def test_ctrl_c_keeps_the_runs_of_a_study(tmp_path):
    def interrupt(done: float, total: float) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    def study(progress):
        return mario.compare(
            "paper",
            ["never-move", "latency-aware"],
            seeds=5,
            jobs=1,
            set={"duration": 60_000},
            out=tmp_path / "study",
            progress=progress,
        )

    with pytest.raises(mario.Interrupted, match="the same call makes the runs that are missing"):
        # Progress is reported only every tenth of a second, so the third run may be reported with the fourth.
        study(lambda done, total: interrupt(min(done, 3) if done >= 3 else done, total))
    kept = len((tmp_path / "study" / "runs.jsonl").read_text().splitlines())
    assert 3 <= kept < 10
    assert study(None).missing == 0


def test_other_threads_run_while_a_simulation_does():
    counted = 0
    is_over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_over.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    mario.run("paper", set={"duration": 400_000}, trace="summary", progress=False)
    is_over.set()
    counter.join()
    assert counted > 20


@pytest.mark.filterwarnings("ignore:warning. no agent proposed:mario_fog.errors.PolicyWarning")
def test_runs_in_several_threads_do_not_disturb_each_other():
    summaries = [None] * 4

    def make(place: int) -> None:
        summaries[place] = mario.run("paper", policy=lambda facts: None, set={"duration": 4000}, seed=7).summary

    threads = [threading.Thread(target=make, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert summaries[0] is not None and all(summary == summaries[0] for summary in summaries)


@pytest.mark.filterwarnings("ignore:warning. no agent proposed:mario_fog.errors.PolicyWarning")
@pytest.mark.parametrize("method", [one for one in ("fork", "spawn") if one in multiprocessing.get_all_start_methods()])
def test_processes_of_multiprocessing_produce_the_same_runs(method):
    expected = [summary_of(seed) for seed in (1, 2)]
    # Runs with threads, before the processes are forked.
    mario.compare("paper", ["cells", "never-move"], seeds=2, jobs=2, set={"duration": 2000})
    with warnings.catch_warnings():
        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map_async(summary_of, (1, 2)).get(timeout=120) == expected


def summary_of(seed: int) -> dict:
    return mario.run("paper", policy=nothing, set={"duration": 2000}, seed=seed, progress=False).summary


def nothing(facts: mario.Facts) -> None:
    return None


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_calls():
    policy = mario.Policy.open("latency-aware")
    facts = {
        "service": [("a", 1, 1, 1)],
        "node": [("n", 1, ["m"])],
        "serviceInstance": [(1, "a", "n")],
        "requests": [(1, "m", 3, 9)],
    }
    seen = []

    def watched(known: mario.Facts):
        seen.append(len(known.requests))
        seen.clear()
        return [("migrate", "nowhere"), ("teleport", 1)]

    def round_of_calls(number: int) -> None:
        with pytest.warns(mario.PolicyWarning, match="gave no answer"):
            run = mario.run("paper", policy=watched, set={"duration": 2000}, messages=True)
        for name in ("operations", "moves", "messages"):
            run.table(name).__arrow_c_array__()
        mario.compare("paper", ["cells", "never-move"], seeds=1, set={"duration": 1000}, metrics={"m": lambda run: 1.0})
        for step in range(50):
            # A name that no other call uses.
            policy.decide({**facts, "requests": [(1, f"m{number}-{step}", 3, 9)]})
        with pytest.raises(mario.InputError):
            mario.Policy("operation(migrate, I, N :- x.")
        with pytest.raises(ZeroDivisionError):
            mario.run("paper", policy=lambda known: 1 / 0)

    for number in range(20):
        round_of_calls(number)
    gc.collect()
    before = resident_bytes()
    for number in range(60):
        round_of_calls(1000 + number)
    gc.collect()
    grown = resident_bytes() - before
    assert grown < 8 << 20, f"{grown / 2**20:.1f} MiB in 60 rounds"
