"""Bad input raises an exception that says what and where, as the command line does, and loses no results."""

from __future__ import annotations

import inspect
import math
import pickle
import re

import mario_fog as mario
import pytest
from conftest import SHORT
from mario_fog import _mario


def same_text(error: BaseException, printed: str) -> None:
    assert str(error).strip() == printed.strip()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["nowhere"], {}),
        (["nowhere.toml"], {}),
        (["paper", "--policy", "no-such-policy"], {"policy": "no-such-policy"}),
        (["paper", "--policy", "missing.pl"], {"policy": "missing.pl"}),
        (["paper", "--policy", "app9=latency-aware"], {"policy": {"app9": "latency-aware"}}),
        (["paper", "--set", "topology.sise=4"], {"set": {"topology.sise": 4}}),
        (["paper", "--set", "duration=-1"], {"set": {"duration": -1}}),
        (["paper", "--set", "workload.period=often"], {"set": {"workload.period": "often"}}),
    ],
)
def test_a_mistake_is_reported_in_the_words_of_the_command_line(arguments, options, command, tmp_path):
    printed = command("run", *arguments, "--out", "run", code=2, cwd=tmp_path)
    with pytest.raises(mario.InputError) as caught:
        mario.run(arguments[0], out=tmp_path / "run", **options)
    same_text(caught.value, printed)
    assert caught.value.diagnostics[0]["title"] in printed
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_a_file_has_its_place(command, tmp_path):
    path = tmp_path / "wrong.pl"
    path.write_text("operation(undeploy, I, self) :- true.\noperation(migrate, I, N :- requests(I, N, _, _).\n")
    printed = command("run", "paper", "--policy", path, "--out", tmp_path / "run", code=2)
    with pytest.raises(mario.InputError) as caught:
        mario.run("paper", policy=path, out=tmp_path / "run")
    same_text(caught.value, printed)
    (problem,) = caught.value.diagnostics
    assert (problem["file"], problem["line"], problem["column"]) == (str(path), 2, 25)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.diagnostics == caught.value.diagnostics


def test_a_policy_that_raises_in_prolog_is_reported_as_by_the_command_line(command, tmp_path):
    text = "operation(migrate, I, N) :- requests(I, N, R, _), X is foo + R, X > 0.\n"
    (tmp_path / "policy.pl").write_text(text)
    facts = "serviceInstance(s1, video, n1).\nrequests(s1, n2, 3, 4).\n"
    (tmp_path / "facts").write_text(facts)
    printed = command("policy", "decide", "--policy", "policy.pl", "--facts", "facts", code=2, cwd=tmp_path)
    with pytest.raises(mario.InputError) as caught:
        mario.Policy(text).decide(facts)
    assert str(caught.value) in printed


@pytest.mark.parametrize(
    ("call", "exception", "words"),
    [
        (lambda: mario.run(3), TypeError, "a scenario is a name, a path, a dict or a graph, and not int"),
        (lambda: mario.run("paper", policy=3), TypeError, "and not int: 3"),
        (lambda: mario.run("paper", set=[1]), TypeError, "`set` is a dict of keys and values, and not list"),
        (lambda: mario.run("paper", set={"duration": object()}), TypeError, "a value is a number"),
        (lambda: mario.run("paper", seed="x"), TypeError, "`seed` is a whole number, and not 'x'"),
        (lambda: mario.run("paper", seed=-1), ValueError, "`seed` is a whole number from 0"),
        (lambda: mario.run("paper", trace="much"), ValueError, "trace is `full`, `operations` or `summary`"),
        (lambda: mario.run("paper", checkpoint_every="often"), ValueError, "checkpoint_every is a number of seconds"),
        (lambda: mario.run("paper", progress=3), TypeError, "progress is True, False or a function"),
        (lambda: mario.Scenario({"duration": None}), ValueError, "`duration` is None"),
        (lambda: mario.Scenario({"duration": float("nan")}), ValueError, ""),
        (lambda: mario.Scenario({3: 4}), TypeError, "a key of a scenario is a str"),
        (lambda: mario.Scenario({"no_such_key": 1}).settings(), mario.InputError, "no_such_key"),
        (lambda: mario.Policy(3), TypeError, "a policy is a text of Prolog, and not int"),
        (lambda: mario.Policy("x :- y."), mario.InputError, "has no clause of operation/3"),
        (lambda: mario.Policy.open("nowhere.pl"), mario.InputError, "cannot read `nowhere.pl`"),
        (lambda: mario.Policy.open("latency-aware").decide(3), TypeError, "facts are a dict of tuples or a text"),
        (lambda: mario.Policy.open("latency-aware").decide({"nodes": []}), ValueError, "there are no facts `nodes`"),
        (
            lambda: mario.Policy.open("latency-aware").decide({"node": [("n", 1, [], 2)]}),
            ValueError,
            "has 2 or 3 values",
        ),
        (lambda: mario.Policy.open("latency-aware").decide({"node": [(True, 1)]}), TypeError, "and not True"),
        (lambda: mario.Policy.open("latency-aware").decide("node(a"), mario.InputError, "facts:1:"),
        (lambda: mario.Policy.open("latency-aware").decide({}), mario.InputError, "cannot tell for which instance"),
        (lambda: mario.compare("paper", ["latency-aware"]), mario.InputError, "nothing to be compared with"),
        (lambda: mario.compare("paper", "latency-aware"), TypeError, "`policies` is a list"),
        (lambda: mario.compare("paper", ["never-move"] * 2), mario.InputError, "is there twice"),
        (
            lambda: mario.compare("paper", ["never-move", "cells"], seeds=0),
            ValueError,
            "`seeds` is a whole number from 1",
        ),
        (lambda: mario.compare("paper", ["never-move", "cells"], metrics={"a.b": len}), ValueError, "name of a metric"),
        (lambda: mario.sweep("paper", {"workload.period": 20}, ["cells"]), TypeError, "are a list, and not 20"),
        (lambda: mario.sweep("paper", {"workload.period": [20]}, ["cells"], shard="9/8"), ValueError, "I/N"),
        (
            lambda: mario.sweep("paper", {"workload.period": [20]}, ["cells"], shard="1/8"),
            mario.InputError,
            "kept nowhere",
        ),
        (lambda: mario.sweep("paper", {"seed": [1]}, ["cells"]), mario.InputError, "seed"),
        (lambda: mario.Run("nowhere"), mario.InputError, "`nowhere` holds no run"),
        (lambda: mario.resume("nowhere"), mario.InputError, "cannot resume the run"),
        (lambda: mario.merge("nowhere"), TypeError, "`directories` is a list"),
        (lambda: mario.run("paper", seed=2**63), ValueError, "`seed` is a whole number from 0 to 2^63 - 1"),
        (lambda: mario.run("paper", seed=True), TypeError, "`seed` is a whole number, and not True"),
        (lambda: mario.run("paper", threads=10**9), ValueError, "`threads` is a whole number from 1 to 1024"),
        (lambda: mario.run("paper", set={"duration": math.nan}), mario.InputError, "a finite number, not NaN"),
        (lambda: mario.run("paper", set={"duration": math.inf}), mario.InputError, "a finite number, not inf"),
        (lambda: mario.run("paper", set={"duration": None}), TypeError, "a value is a number"),
        (lambda: mario.run("paper", set={"duration=3": 4}), TypeError, "a key of `set` is a path"),
        (lambda: mario.run("paper", set={3: 4}), TypeError, "a key of `set` is a path"),
        (lambda: mario.run("paper", out=b"bytes"), TypeError, "bytes"),
        (lambda: mario.run("paper", policy=lambda: None), TypeError, "positional argument"),
        (lambda: mario.policy(len, requests=1.5), TypeError, "`requests` is a whole number"),
        (lambda: mario.Policy.open("cells").decide({"node": None}), TypeError, "the facts of `node` are a list"),
        (lambda: mario.Policy.open("cells").decide({"node": [("n", math.nan)]}), ValueError, "finite numbers"),
        (lambda: mario.compare("paper", ["cells", ("never-move",)]), TypeError, "is a tuple (policy, dict)"),
        (lambda: mario.compare("paper", {"cells": 1}), TypeError, "`policies` is a list"),
        (lambda: mario.compare("paper", ["cells", "never-move"], jobs=10**9), ValueError, "`jobs` is a whole number"),
        (lambda: mario.compare("paper", ["cells", "never-move"], metrics=[len]), TypeError, "`metrics` is a dict"),
        (lambda: mario.compare("paper", ["cells", "never-move"], metrics={3: len}), TypeError, "the name of a metric is a str"),
        (lambda: mario.compare("paper", ["cells", "never-move"], shard=3), TypeError, "`shard` is a text"),
        (lambda: mario.compare("paper", ["cells", "never-move"], keep_runs=3), TypeError, "`keep_runs` is a list"),
        (lambda: mario.sweep("paper", {}, ["cells"]), ValueError, "`keys` is empty"),
        (lambda: mario.sweep("paper", {"workload.period": []}, ["cells"]), mario.InputError, "an empty value"),
        (lambda: mario.merge([]), ValueError, "there is nothing to merge"),
        (lambda: mario.merge(["nowhere"]), mario.InputError, "nowhere"),
    ],
)
def test_wrong_types_and_values_are_exceptions_that_say_what(call, exception, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(exception) as caught:
        call()
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("answer", "exception", "words"),
    [
        (lambda facts: 1 / 0, ZeroDivisionError, "division by zero"),
        (lambda facts: "migrate", TypeError, "a proposal is a tuple (operation, target)"),
        (lambda facts: 3, TypeError, "it returns None, a tuple (operation, target) or a list"),
        (lambda facts: [3], TypeError, "a proposal is a tuple (operation, target), and not 3"),
        (lambda facts: ("migrate", None), TypeError, "a target is a str or an int, and not None"),
        (lambda facts: ("migrate", ""), TypeError, ""),
        (lambda facts: facts["no_such_fact"], KeyError, "no_such_fact"),
    ],
)
def test_a_policy_that_raises_ends_the_run_with_its_exception(answer, exception, words, tmp_path):
    with pytest.raises(exception) as caught:
        mario.run("paper", policy=mario.policy(answer, name="wrong"), out=tmp_path / "run")
    assert words in str(caught.value)
    notes = getattr(caught.value, "__notes__", ["in the policy `wrong`, asked about instance 1"])
    assert notes == ["in the policy `wrong`, asked about instance 1"]
    # The run up to then is stored, and marked as partial.
    assert (tmp_path / "run" / "PARTIAL").exists() and not mario.Run(tmp_path / "run").is_complete


def test_an_invalid_proposal_counts_as_a_failed_evaluation(tmp_path):
    wild = mario.policy(lambda facts: ("teleport", "moon"), name="wild")
    with pytest.warns(mario.PolicyWarning, match=r"operation\(teleport, 1, moon\) is not an operation"):
        run = mario.run("paper", policy=wild, set=SHORT)
    assert "a policy proposes undeploy, migrate" in run.trace.read_text()
    assert run.summary["groups"][0]["operations"]["migrate"] == 0


def test_failing_metrics_are_reported_and_completed_runs_are_kept(tmp_path):
    def sometimes(run: mario.Run) -> float:
        if run.summary["seed"] == 3:
            raise RuntimeError("the third is bad")
        return 1.0

    def study(metric):
        return mario.compare(
            "paper",
            ["never-move", "latency-aware"],
            seed=1,
            seeds=4,
            set=SHORT,
            jobs=1,
            metrics={"m": metric},
            out=tmp_path / "study",
        )

    with pytest.raises(RuntimeError, match="the third is bad"):
        study(sometimes)
    kept = (tmp_path / "study" / "runs.jsonl").read_text().splitlines()
    assert len(kept) >= 4, "the runs before the bad one are kept"
    for wrong in ("many", None, math.nan, True, [1]):
        with pytest.raises(TypeError, match="where one number is expected"):
            mario.compare("paper", ["never-move", "cells"], seeds=1, set=SHORT, metrics={"m": lambda run, wrong=wrong: wrong})


def test_an_existing_output_directory_is_refused_and_left_unchanged(tmp_path):
    mario.run("paper", set=SHORT, out=tmp_path / "run")
    before = (tmp_path / "run" / "summary.json").read_bytes()
    with pytest.raises(mario.InputError, match="is there already and not empty"):
        mario.run("paper", policy="cells", set=SHORT, out=tmp_path / "run")
    assert (tmp_path / "run" / "summary.json").read_bytes() == before
    mario.run("paper", policy="cells", set=SHORT, out=tmp_path / "run", force=True)
    assert (tmp_path / "run" / "summary.json").read_bytes() != before


def test_missing_tables_say_why(tmp_path):
    run = mario.run("paper", set=SHORT, trace="summary", out=tmp_path / "run")
    with pytest.raises(mario.InputError, match="it is written with `messages=True`"):
        _ = run.messages
    with pytest.raises(mario.InputError, match="it is missing with `trace"):
        _ = run.moves
    with pytest.raises(KeyError, match="there is no table `x`"):
        run.table("x")


@pytest.mark.parametrize(
    ("change", "exception", "words"),
    [
        (lambda nx, graph: graph.clear(), mario.InputError, "the graph has no node"),
        (lambda nx, graph: nx.relabel_nodes(graph, {0: (0, 0)}, copy=False), mario.InputError, "expected a name or an integer"),
        (lambda nx, graph: nx.relabel_nodes(graph, {0: 0.5}, copy=False), mario.InputError, "a name or an integer"),
        (lambda nx, graph: nx.relabel_nodes(graph, {0: "1"}, copy=False), mario.InputError, "there are two nodes `1`"),
        (lambda nx, graph: nx.relabel_nodes(graph, {0: "self"}, copy=False), mario.InputError, "cannot be the id of a node"),
        (lambda nx, graph: nx.relabel_nodes(graph, {0: object()}, copy=False), TypeError, "scenarios and graphs have numbers"),
        (lambda nx, graph: graph.add_edge(0, 0), mario.InputError, "from a node to itself"),
        (lambda nx, graph: graph.remove_edge(1, 2), mario.InputError, "cannot be reached"),
        (lambda nx, graph: nx.set_edge_attributes(graph, math.nan, "latency"), ValueError, "an attribute of the graph"),
    ],
)
def test_odd_graphs_raise_exceptions_that_say_what(change, exception, words):
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(4)
    for node in graph:
        graph.nodes[node].update(capacity=100, x=10.0 * node, y=5.0 * node)
    settings = {"preset": "paper", "duration": 1000, "reset": ["topology"], "topology": {"origin": [39.6, 2.9]}}
    assert mario.run(mario.Scenario.from_networkx(graph, settings)).summary["nodes"] == 4
    change(networkx, graph)
    with pytest.raises(exception) as caught:
        mario.run(mario.Scenario.from_networkx(graph, settings))
    assert words in str(caught.value), caught.value
    with pytest.raises(TypeError, match="a graph of networkx is wanted"):
        mario.Scenario.from_networkx(3)


def public_functions() -> dict[str, set[str]]:
    """The public functions and methods of the package, and the names of their arguments."""
    functions = {name: getattr(mario, name) for name in mario.__all__ if inspect.isroutine(getattr(mario, name))}
    for name in ("Policy", "Run", "Scenario"):
        functions[name] = getattr(mario, name)
        functions |= {f"{name}.{key}": value for key, value in inspect.getmembers(getattr(mario, name), inspect.isroutine)}
    known = {}
    for name, function in functions.items():
        try:
            known[name] = set(inspect.signature(function).parameters)
        except ValueError:
            known[name] = set()
    return known


@pytest.mark.parametrize(("kind", "text"), _mario.hints())
def test_hints_name_functions_and_arguments_of_the_package(kind, text):
    functions = public_functions()
    arguments = set().union(*functions.values())
    here, _, typed = text.partition("on the command line")
    assert "--" not in here and "`mario " not in here and "mario run" not in text, f"{kind}: {text}"
    assert not typed or re.search(r"(`|: )mario [a-z]", typed), f"{kind}: {text}"
    for name in re.findall(r"`mario\.([A-Za-z_.]+)", text):
        assert name in functions, f"{kind} names mario.{name}: {text}"
    for name in re.findall(r"([a-z_]+)=", here):
        assert name in arguments, f"{kind} names {name}=: {text}"


def test_each_hint_has_words_of_its_own():
    texts = [text for _, text in _mario.hints()]
    assert len(texts) >= 30 and len(set(texts)) == len(texts)
    assert "resume it: `mario.resume('runs/paper 1')`" in texts


def test_an_interrupted_run_says_how_to_resume_it_from_python(tmp_path):
    def stop(done: float, total: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(mario.Interrupted) as caught:
        mario.run("paper", set={"duration": 4_000_000}, out=tmp_path / "run", progress=stop)
    assert f"hint: resume it: `mario.resume('{tmp_path / 'run'}')`" in str(caught.value)
    mario.run("paper", set=SHORT, out=tmp_path / "other")
    with pytest.raises(mario.InputError, match="replace the run in it with `force=True`"):
        mario.run("paper", set=SHORT, out=tmp_path / "other")
    with pytest.raises(mario.InputError, match=r"`mario\.Run\('.*'\)` opens it"):
        mario.resume(tmp_path / "other")
