"""Policies: decisions, explanations, checks, and Python functions as policies."""

from __future__ import annotations

import json
import math
import pickle
import re
import subprocess

import mario_fog as mario
import pytest
from conftest import SHORT

FACTS = {
    "service": [("video", 5, 100, 20)],
    "node": [("n42", 10, ["n41", "n43"])],
    "serviceInstance": [("s1", "video", "n42")],
    "requests": [("s1", "n43", 90, 30.5), ("s1", "self", 2, 0)],
}


@pytest.mark.parametrize("policy", mario.policy_names())
@pytest.mark.parametrize("facts", ["late.pl", "video.pl"])
def test_decisions_and_reasons_are_those_of_the_command_line(policy, facts, command, root):
    path = root / "examples" / facts
    typed = json.loads(command("policy", "decide", "--policy", policy, "--facts", path, "--all", "--format", "json"))
    asked = mario.Policy.open(policy).decide(path.read_text())
    assert [list(operation) for operation in asked.operations] == typed["ops"]
    assert asked.clauses == typed["clauses"] and asked.inferences == typed["inferences"]
    explained = json.loads(command("policy", "explain", "--policy", policy, "--facts", path, "--format", "json"))
    assert mario.Policy.open(policy).explain(path.read_text()) == explained


def test_facts_are_dictionaries_of_tuples():
    policy = mario.Policy.open("latency-aware")
    assert policy.decide(FACTS).first == ("replicate", "s1", "n43")
    near = {**FACTS, "requests": [("s1", "self", 2, 0)]}
    assert policy.decide(near).first is None
    facts = mario.Facts(FACTS)
    assert (facts.instance, facts.node, facts.free, facts.neighbours) == ("s1", "n42", 10, ["n41", "n43"])
    assert facts.requests == [("n43", 90, 30.5), ("self", 2, 0)] and facts.max_latency == 20


def test_odd_names_and_numbers_reach_the_policy_unchanged():
    policy = mario.Policy("operation(migrate, I, N) :- requests(I, N, R, L), R < L.")
    for node in ["it's", "a\\b", "Ünï", "x y", "new\nline", 7]:
        for rate, latency in [(1e-7, 1e22), (0.5, math.inf), (3, 4)]:
            facts = {"serviceInstance": [("s", "a", "n")], "requests": [("s", node, rate, latency)]}
            assert policy.decide(facts).operations == [("migrate", "s", str(node))], (node, rate, latency)


def test_a_check_reports_findings(mario_command, tmp_path):
    text = "operation(migrate, I, N) :- requestz(I, N, _, _).\n"
    (tmp_path / "wrong.pl").write_text(text)
    arguments = [mario_command, "policy", "check", "wrong.pl", "--format", "json"]
    typed = json.loads(subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path).stdout)
    report = mario.Policy(text, name="wrong.pl").check()
    assert report == typed["files"][0]
    assert report["findings"][0]["line"] == 1 and "requestz" in report["findings"][0]["message"]
    assert mario.Policy.open("latency-aware").check()["findings"] == []


def test_a_policy_text_produces_the_same_run_as_its_file(tmp_path):
    text = mario.Policy.open("latency-aware").text
    by_text = mario.run("paper", policy=mario.Policy(text, name="mine.pl"), set=SHORT)
    by_name = mario.run("paper", policy="latency-aware", set=SHORT)
    assert (by_text.directory / "moves.csv").read_bytes() == (by_name.directory / "moves.csv").read_bytes()
    assert by_text.summary["policies"] == ["mine.pl"]
    assert pickle.loads(pickle.dumps(mario.Policy(text, name="mine.pl"))).text == text


# A policy that migrates to the neighbour with the most requests, in both languages.
PROLOG = """
operation(migrate, I, N) :-
    findall(R-N1, (requests(I, N1, R, _), N1 \\== self), All), All \\== [],
    \\+ (requests(I, self, Own, _), \\+ (member(R-_, All), R > Own)),
    busiest(All, N).
busiest([R-N|Rest], Busiest) :- busiest(Rest, R, N, Busiest).
busiest([], _, N, N).
busiest([R1-N1|Rest], R, N, Busiest) :- ( R1 > R -> busiest(Rest, R1, N1, Busiest) ; busiest(Rest, R, N, Busiest) ).
"""


@mario.policy
def busiest(facts: mario.Facts):
    others = [(rate, node) for node, rate, _ in facts.requests if node != "self"]
    own = [rate for node, rate, _ in facts.requests if node == "self"]
    if not others or any(all(rate <= mine for rate, _ in others) for mine in own):
        return None
    most = max(rate for rate, _ in others)
    return "migrate", next(node for rate, node in others if rate == most)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("reuse", [True, False])
def test_a_function_produces_the_same_run_as_the_same_policy_in_prolog(threads, reuse):
    in_prolog = mario.run("paper", policy=mario.Policy(PROLOG), set=SHORT)
    in_python = mario.run("paper", policy=busiest, set=SHORT, threads=threads, reuse=reuse)
    for table in ("operations.csv", "moves.csv", "handovers.csv"):
        assert (in_python.directory / table).read_bytes() == (in_prolog.directory / table).read_bytes(), table
    one, other = in_python.summary, in_prolog.summary
    assert one.pop("policies") == ["python:busiest.pl"]
    assert other.pop("policies") == ["policy.pl"]
    assert one == other
    assert one["groups"][0]["operations"]["migrate"] > 0


def test_the_audit_reports_that_it_cannot_reproduce_decisions_of_a_function(command, tmp_path):
    run = mario.run("paper", policy=busiest, set=SHORT, out=tmp_path / "run")
    told = command("audit", tmp_path / "run")
    assert "python:busiest.pl" in told and "they are made by a function outside the trace" in told
    command("report", tmp_path / "run", "--out", tmp_path / "report.html")
    assert "decided_outside" in run.trace.read_text()


def test_the_command_line_refuses_a_policy_that_is_a_function(command, tmp_path):
    (tmp_path / "busiest.pl").write_text(busiest.text)
    told = command("run", "paper", "--policy", tmp_path / "busiest.pl", "--out", tmp_path / "run", code=2)
    assert "is decided by the function `busiest`, which is not here" in told
    assert "mario.run(" in told and not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore:warning. no agent proposed:mario_fog.errors.PolicyWarning")
def test_a_function_gets_the_history_random_numbers_and_hardware_kinds_that_it_declares():
    seen = []

    @mario.policy(requests=2, operations=3, random=True, hardware_kinds=True, age=True)
    def curious(facts):
        seen.append(facts)

    mario.run("paper", policy=curious, set=SHORT)
    last = seen[-1]
    assert last["earlier"] and last["age"] and last["free"]
    assert any(key == "random" for _, key, _ in last["fact"])
    assert {"service", "node", "serviceInstance", "requests"} <= last.keys()


def test_metrics_in_python_join_tables_and_tests(tmp_path):
    def hops(run: mario.Run) -> float:
        return run.summary["hops"]

    policies = ["never-move", "latency-aware"]
    made = mario.compare("paper", policies, seeds=2, set=SHORT, metrics={"hops": hops}, out=tmp_path / "study")
    rows = (tmp_path / "study" / "runs.csv").read_text().splitlines()
    column = rows[0].split(",").index("metric/hops")
    alone = mario.run("paper", policy="never-move", set=SHORT).summary["hops"]
    assert float(rows[1].split(",")[column]) == alone
    assert "hops" in made.text


@pytest.mark.filterwarnings("ignore:warning. no agent proposed:mario_fog.errors.PolicyWarning")
def test_every_predicate_and_operation_of_the_language_is_known_here():
    """Fails if a predicate or an operation is added to the language and not to the Python package."""
    from mario_fog.facts import _PREDICATES
    from mario_fog.run import _TABLES

    seen = []
    mario.run("paper", policy=mario.policy(seen.append, name="watched"), set=SHORT)
    assert set(seen[-1]) <= set(_PREDICATES), set(seen[-1]) - set(_PREDICATES)
    with pytest.raises(ValueError) as caught:
        mario.Policy.open("latency-aware").decide({"no_such": []})
    assert all(name in str(caught.value) for name in seen[-1])
    with pytest.raises(mario.InputError) as told:
        mario.Policy("operation(undeploy, _, self) :- true.").decide("no_such(a).")
    known = set(re.findall(r"(\w+)/\d", str(told.value))) - {"no_such"}
    assert known and known <= set(_PREDICATES), known - set(_PREDICATES)
    assert set(_TABLES) == {"operations", "moves", "handovers", "messages"}


def test_a_policy_that_fails_during_a_run_is_a_warning(tmp_path):
    misspelt = mario.Policy("operation(migrate, I, N) :- reqests(I, N, R, _), R > 3.", name="misspelt.pl")
    with pytest.warns(mario.PolicyWarning, match=r"times that a policy was asked, it gave no answer[^$]*misspelt.pl:1:29"):
        mario.run("paper", policy=misspelt, set=SHORT)
    with pytest.warns(mario.PolicyWarning, match="with `misspelt.pl`, the policy of an agent gave no answer"):
        compared = mario.compare("paper", [misspelt, "cells"], seeds=1, set=SHORT, out=tmp_path / "study")
    assert compared.missing == 0
