"""Runs from Python leave the same bytes as runs of the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import mario_fog as mario
import pytest
from conftest import SHORT


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["paper"], {}),
        (
            ["paper", "--policy", "latency-aware", "--messages", "--seed", "7"],
            {"policy": "latency-aware", "messages": True, "seed": 7},
        ),
        (
            ["paper", "--policy", "app1=workload-aware", "--trace", "summary"],
            {"policy": {"app1": "workload-aware"}, "trace": "summary"},
        ),
        (
            ["paper", "--set", "topology.size=4", "--regret", "--threads", "3"],
            {"set": {"topology.size": 4}, "regret": True, "threads": 3},
        ),
        (["paper", "--set", "measures.applications=true"], {"set": {"measures.applications": True}}),
        (
            ["prototype", "--policy", "workload-and-latency-aware-with-memory"],
            {"policy": "workload-and-latency-aware-with-memory"},
        ),
    ],
)
def test_a_run_leaves_the_same_bytes_as_the_command_line(arguments, options, command, tmp_path):
    changed = {**SHORT, **options.pop("set", {})}
    command("run", *arguments, "--set", "duration=4000", "--out", tmp_path / "typed")
    run = mario.run(arguments[0], set=changed, out=tmp_path / "called", **options)
    typed, called = files(tmp_path / "typed"), files(tmp_path / "called")
    assert typed.keys() == called.keys()
    for name, content in typed.items():
        assert called[name] == content, name
    assert run.summary == json.loads(typed["summary.json"])
    assert run.is_complete


def test_a_run_without_a_directory_is_removed_with_its_object():
    run = mario.run("paper", set=SHORT)
    directory = run.directory
    assert (directory / "summary.json").exists()
    del run
    assert not directory.exists()


def test_a_run_can_be_saved_and_opened_again(tmp_path):
    kept = mario.run("paper", set=SHORT).save(tmp_path / "kept")
    assert mario.Run(tmp_path / "kept").summary == kept.summary
    assert kept.settings["duration"] == 4000
    header = next(kept.records())
    assert "scenario" in json.dumps(header)


def test_measures_are_those_of_the_file(tmp_path):
    run = mario.run("paper", set={**SHORT, "measures.applications": True})
    assert run.measures == json.loads((run.directory / "measures.json").read_text())
    assert mario.run("paper", set=SHORT).measures is None


def test_the_audit_accepts_a_run_from_python(command, tmp_path):
    mario.run("paper", policy="workload-aware", set=SHORT, out=tmp_path / "run")
    command("audit", tmp_path / "run")


def test_scenarios_come_from_names_files_texts_dictionaries_and_pickles(command, tmp_path):
    text = command("scenario", "new")
    path = tmp_path / "world.toml"
    path.write_text(text)
    by_file = mario.run(path, set=SHORT).summary
    assert mario.run(mario.Scenario.from_text(text, path=path), set=SHORT).summary == by_file
    scenario = mario.Scenario({"preset": "paper", "duration": 4000, "mobility": {"users": 30}})
    assert scenario.settings()["mobility"]["users"] == 30
    run = mario.run(scenario)
    assert run.summary["users"] == 30
    again = pickle.loads(pickle.dumps(scenario.set({"seed": 3})))
    assert mario.run(again).summary["seed"] == 3
    assert "s" in scenario.cost() and isinstance(scenario.check(policy=lambda facts: None), list)


def test_a_scenario_comes_from_a_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.balanced_tree(2, 3)
    networkx.set_node_attributes(graph, {node: 1000 if node == 0 else 20 for node in graph}, "capacity")
    networkx.set_edge_attributes(graph, 3.0, "latency")
    for node in graph:
        graph.nodes[node].update(x=100.0 * node, y=50.0 * (node % 4))
    settings = {"preset": "paper", "duration": 2000, "reset": ["topology"], "topology": {"origin": [39.6, 2.9]}}
    scenario = mario.Scenario.from_networkx(graph, settings)
    assert mario.run(scenario, policy="latency-aware").summary["nodes"] == 15


def test_progress_reports_the_time_of_a_run():
    told = []
    mario.run("paper", set={"duration": 400_000}, progress=lambda done, total: told.append((done, total)))
    assert told and all(total == 400_000 and 0 < done <= total for done, total in told)
    assert told == sorted(told)
    runs = []
    mario.compare("paper", ["never-move", "latency-aware"], seeds=2, set=SHORT, progress=lambda *how: runs.append(how))
    assert runs[-1] == (4, 4)


def test_numpy_numbers_paths_and_iterators_are_accepted(tmp_path):
    numpy = pytest.importorskip("numpy")
    plain = mario.run("paper", seed=5, set={"duration": 2000, "workload.period": 20.5}).summary
    numbers = {"duration": numpy.float64(2000), "workload.period": numpy.array(20.5)}
    assert mario.run(Path("paper"), seed=numpy.uint64(5), set=numbers, out=tmp_path / "run").summary == plain
    swept = mario.sweep("paper", {"workload.period": numpy.linspace(20, 40, 2)}, iter(["cells"]), seeds=1, set=SHORT)
    assert swept.results == mario.sweep("paper", {"workload.period": [20.0, 40.0]}, ["cells"], seeds=1, set=SHORT).results
    facts = {"serviceInstance": [("s", "a", "n")], "requests": [("s", "m", numpy.float64(9.5), numpy.int64(30))]}
    policy = mario.Policy("operation(migrate, I, N) :- requests(I, N, 9.5, 30).")
    assert policy.decide(facts).first == ("migrate", "s", "m")
