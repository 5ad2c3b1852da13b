"""The code in the documentation works as shown."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re

import mario_fog
import pytest


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_in_docstrings_are_true():
    names = [module.name for module in pkgutil.iter_modules(mario_fog.__path__) if module.name != "environment"]
    modules = [mario_fog, *(importlib.import_module(f"mario_fog.{name}") for name in names)]
    found = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in found) >= 10 and not any(result.failed for result in found)


def test_the_page_about_python_runs_from_top_to_bottom(root, tmp_path, monkeypatch, capsys):
    for module in ("pandas", "polars", "pyarrow", "networkx", "distributed", "pettingzoo"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    page = root / "docs" / "python.md"
    code = blocks(page.read_text())
    assert len(code) >= 10
    names: dict[str, object] = {"__name__": "page"}
    for place, block in enumerate(code):
        exec(compile(block, f"{page.name}, block {place + 1}", "exec"), names)
    printed = capsys.readouterr().out
    assert "expected `,` or `)`" in printed and "31 nodes" in printed


def test_the_notebook_reproduces_the_figures_of_the_paper(root):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("matplotlib")
    path = root / "docs" / "book" / "notebooks" / "paper.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 3
