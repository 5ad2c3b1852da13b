"""Comparisons and sweeps leave the same bytes as those of the command line."""

from __future__ import annotations

import json

import mario_fog as mario
import pytest

SET = {"duration": 3000}


def test_a_comparison_leaves_the_same_bytes(command, tmp_path):
    policies = ["latency-aware", "workload-aware@memory.cycles=3"]
    typed = [word for policy in policies for word in ("--policy", policy)]
    command("compare", "paper", *typed, "--seeds", 3, "--set", "duration=3000", "--out", tmp_path / "typed")
    made = mario.compare(
        "paper", ["latency-aware", ("workload-aware", {"memory.cycles": 3})], seeds=3, set=SET, out=tmp_path / "called"
    )
    for name in ("comparison.json", "comparison.csv", "runs.csv", "runs.jsonl", "study.json"):
        assert (tmp_path / "called" / name).read_bytes() == (tmp_path / "typed" / name).read_bytes(), name
    assert made.results == json.loads((tmp_path / "typed" / "comparison.json").read_text())
    assert str(made) == command("compare", "paper", *typed, "--seeds", 3, "--set", "duration=3000")
    assert made.missing == 0 and len(made.runs) == 6


def test_declared_outcomes_are_those_of_the_command_line(command, tmp_path):
    policies = ["latency-aware", "workload-aware"]
    typed = [word for policy in policies for word in ("--policy", policy)]
    figures = ["LS.response", "all.migrate"]
    declared = [word for figure in figures for word in ("--figure", figure)]
    command("compare", "paper", *typed, *declared, "--seeds", 2, "--set", "duration=3000", "--out", tmp_path / "typed")
    made = mario.compare("paper", policies, seeds=2, set=SET, figures=figures, out=tmp_path / "called")
    for name in ("comparison.json", "comparison.csv", "study.json"):
        assert (tmp_path / "called" / name).read_bytes() == (tmp_path / "typed" / name).read_bytes(), name
    primary = [row["figure"]["name"] for row in made.results["figures"] if row["figure"]["outcome"] == "primary"]
    assert primary == figures
    with pytest.raises(TypeError, match="`figures` is a list"):
        mario.compare("paper", policies, seeds=2, set=SET, figures="lost")
    with pytest.raises(mario.InputError, match="no figure `LS.colour`"):
        mario.compare("paper", policies, seeds=2, set=SET, figures=["LS.colour"])


def test_merged_shards_equal_the_sweep_of_one_machine(command, tmp_path):
    keys = {"workload.period": [20, 40], "memory.cycles": [2]}
    whole = mario.sweep("paper", keys, ["latency-aware", "cells"], seeds=2, set=SET, out=tmp_path / "whole")
    for part in (1, 2, 3):
        mario.sweep(
            "paper",
            keys,
            ["latency-aware", "cells"],
            seeds=2,
            set=SET,
            shard=f"{part}/3",
            out=tmp_path / f"part-{part}",
        )
    merged = mario.merge([tmp_path / "part-1", tmp_path / "part-2", tmp_path / "part-3"], out=tmp_path / "all")
    command(
        "sweep",
        "paper",
        "--key",
        "workload.period=20,40",
        "--key",
        "memory.cycles=2",
        "--policy",
        "latency-aware",
        "--policy",
        "cells",
        "--seeds",
        2,
        "--set",
        "duration=3000",
        "--out",
        tmp_path / "typed",
    )
    for name in ("sweep.json", "sweep.csv", "runs.csv"):
        content = (tmp_path / "typed" / name).read_bytes()
        assert (tmp_path / "whole" / name).read_bytes() == content, name
        assert (tmp_path / "all" / name).read_bytes() == content, name
    assert merged.missing == 0 and isinstance(merged, mario.Sweep) and merged.results == whole.results
    alone = mario.merge([tmp_path / "part-1"])
    assert alone.missing > 0


def test_tables_are_read_by_pandas_polars_and_pyarrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    run = mario.run("paper", policy="latency-aware", set=SET, messages=True)
    for name in ("operations", "moves", "handovers", "messages"):
        table = run.table(name)
        by_file = pandas.read_csv(run.directory / f"{name}.csv", keep_default_na=False)
        arrow = pyarrow.record_batch(table)
        arrow.validate(full=True)
        assert arrow.column_names == list(by_file.columns) == table.column_names
        assert arrow.num_rows == len(by_file) == len(table) == table.num_rows
        frame = pandas.DataFrame.from_arrow(table) if hasattr(pandas.DataFrame, "from_arrow") else arrow.to_pandas()
        for column in by_file.columns:
            assert list(frame[column].astype(str)) == list(by_file[column].astype(frame[column].dtype).astype(str)), column
        assert polars.DataFrame(table).to_dicts() == arrow.to_pylist()


def test_a_table_is_a_data_frame_and_shows_itself_in_a_notebook(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "table.csv"
    path.write_text('name,count,mean\n"<b>, ""x""",3,0.5\né,,\n')
    table = mario.Table.read_csv(path, ["name"], ["count"])
    rows = [{"name": '<b>, "x"', "count": 3, "mean": 0.5}, {"name": "é", "count": None, "mean": None}]
    assert list(table) == rows and table.to_dict() == {name: [row[name] for row in rows] for name in rows[0]}
    assert table._repr_html_().count("<tr>") == 3 and "&lt;b&gt;" in table._repr_html_()
    run = mario.run("paper", policy="latency-aware", set=SET)
    frame = run.moves.to_pandas()
    assert frame.equals(pandas.DataFrame(run.moves)) and list(frame.columns) == run.moves.column_names
    assert f"10 of {len(frame)} rows" in run.moves._repr_html_()


def test_runs_and_studies_show_their_figures_in_a_notebook():
    run = mario.run("paper", policy="latency-aware", set=SET)
    shown = run._repr_html_()
    assert all(f"<td>{group['group']}</td>" in shown for group in run.summary["groups"])
    assert f"<td>{run.summary['groups'][0]['response']:.4g}</td>" in shown
    swept = mario.sweep("paper", {"workload.period": [20]}, ["latency-aware"], seeds=2, set=SET)
    assert repr(swept) == "<mario_fog.Sweep of 2 runs>"
    assert swept._repr_html_().startswith("<pre>") and "latency-aware" in swept._repr_html_()


def test_columns_outlive_the_table_that_they_came_from():
    pyarrow = pytest.importorskip("pyarrow")
    columns = pyarrow.record_batch(mario.run("paper", set=SET).operations)
    assert columns.column("time")[0].as_py() == 300.0


def test_missing_numbers_are_null():
    pyarrow = pytest.importorskip("pyarrow")
    made = mario.sweep("paper", {"workload.period": [20]}, ["latency-aware"], seeds=1, set=SET)
    rows = pyarrow.record_batch(made.table).to_pylist()
    assert rows[0]["seeds"] == 1 and rows[0]["mean"] is not None
    assert all(row["low"] is None for row in rows if row["seeds"] == 1)
