from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str

_Path = str | PathLike[str]
_Snapshot = tuple[str, list[str], bool]
_Told = tuple[str, str, str, str, int, list[str]]

class ScenarioText:
    @staticmethod
    def open(name: _Path) -> ScenarioText: ...
    @staticmethod
    def read(path: _Path, text: str) -> ScenarioText: ...
    @staticmethod
    def toml(settings: str) -> str: ...
    def resolved(
        self, overrides: Sequence[str], policies: Sequence[str], seed: int | None, files: Mapping[str, str]
    ) -> tuple[str, list[str], str]: ...
    def check(
        self,
        overrides: Sequence[str],
        policies: Sequence[str],
        files: Mapping[str, str],
        functions: Mapping[str, Callable[..., Any]] | None,
    ) -> list[str]: ...

class LoadedPolicy:
    def __new__(cls, name: str, text: str | None, budget: int | None) -> LoadedPolicy: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    def decide(self, facts: str, name: str, instance: str | None, all: bool) -> str: ...
    def explain(self, facts: str, name: str, instance: str | None) -> str: ...
    def check(self, budget: int | None) -> str: ...

class Table:
    """A table of Arrow columns that implements the Arrow PyCapsule interface."""

    @staticmethod
    def read_csv(path: _Path, texts: Sequence[str], integers: Sequence[str]) -> Table: ...
    @staticmethod
    def parse_csv(text: str, texts: Sequence[str], integers: Sequence[str]) -> Table: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, str | int | float | None]]: ...
    def to_dict(self) -> dict[str, list[str | int | float | None]]: ...
    def to_pandas(self) -> Any: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Session:
    def __new__(
        cls,
        scenario: ScenarioText,
        function: str,
        *,
        overrides: Sequence[str],
        choices: Sequence[str],
        seed: int | None,
        files: Mapping[str, str],
        together: bool,
    ) -> Session: ...
    def next_questions(self) -> list[tuple[str | int, dict[str, list[tuple[Any, ...]]]]] | None: ...
    def answer(self, answers: Iterable[Sequence[tuple[str, str | int | float]]]) -> None: ...
    @property
    def now(self) -> float: ...
    def news(self, instance: str) -> dict[str, Any]: ...
    def gone(self) -> list[str]: ...
    def close(self) -> None: ...

def policy_names() -> list[str]: ...
def hints() -> list[tuple[str, str]]: ...
def fact_predicates() -> dict[str, tuple[int, ...]]: ...
def preset_names() -> list[str]: ...
def run(
    scenario: ScenarioText,
    out: _Path,
    *,
    overrides: Sequence[str],
    choices: Sequence[str],
    seed: int | None,
    budget: int | None,
    attachments: _Path | None,
    files: Mapping[str, str],
    functions: Mapping[str, Callable[..., Any]] | None,
    force: bool,
    trace: str,
    messages: bool,
    threads: int,
    reuse: bool,
    regret: bool,
    checkpoint_every: str,
    progress: Callable[[float, float], Any] | None,
) -> list[str]: ...
def resume(
    directory: _Path, *, threads: int, checkpoint_every: str, progress: Callable[[float, float], Any] | None
) -> list[str]: ...
def snapshot(run: _Path, at: float) -> _Snapshot: ...
def replay(
    run: _Path,
    until: float,
    out: _Path,
    *,
    choices: Sequence[str],
    files: Mapping[str, str],
    functions: Mapping[str, Callable[..., Any]] | None,
    force: bool,
    progress: Callable[[float, float], Any] | None,
) -> tuple[_Snapshot, str, str]: ...
def study(
    scenario: ScenarioText,
    *,
    contenders: Sequence[str],
    keys: Sequence[str] | None,
    seeds: int,
    seed: int | None,
    overrides: Sequence[str],
    attachments: _Path | None,
    files: Mapping[str, str],
    functions: Mapping[str, Callable[..., Any]] | None,
    metrics: Sequence[tuple[str, Any, str]],
    metric_timeout: float,
    figures: Sequence[str],
    keep_runs: Sequence[int],
    jobs: int,
    shard: str | None,
    out: _Path | None,
    progress: Callable[[float, float], Any] | None,
) -> _Told: ...
def merge(directories: Sequence[_Path], out: _Path | None) -> _Told: ...
