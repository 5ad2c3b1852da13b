"""Policies: texts, files, names of those that ship, and Python functions."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from . import _mario
from .arguments import whole
from .facts import Constant, Facts
from .facts import text as facts_text


@dataclass(frozen=True)
class Decision:
    """A decision of a policy."""

    #: Operation, instance and target of each proposal, in order of priority. Ids are strings.
    operations: list[tuple[str, str, str]]
    #: The clause that produced each proposal: its number from 1, its file and its line.
    clauses: list[dict[str, Any]]
    #: The number of inferences that the decision took.
    inferences: int
    #: Solutions that are not valid operations, each with the reason.
    invalid: list[dict[str, Any]] = field(default_factory=list)

    @property
    def first(self) -> tuple[str, str, str] | None:
        """The agent's proposal; ``None`` if it proposes nothing."""
        return self.operations[0] if self.operations else None


class Policy:
    """A loaded policy.

    ``Policy(text)`` takes Prolog text, ``Policy.open(name)`` the name of a policy that ships or the path of a file.
    """

    def __init__(self, text: str, *, name: str = "policy.pl", budget: int | None = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a policy is a text of Prolog, and not {type(text).__name__}; Policy.open reads files")
        if not name.endswith(".pl"):
            raise ValueError(f"the name of a text ends in `.pl`, and `{name}` does not")
        self._given: tuple[str, str | None, int | None] = (name, text, whole("budget", budget, 1))
        self._loaded = _mario.LoadedPolicy(*self._given)

    @classmethod
    def open(cls, name: str | os.PathLike[str], *, budget: int | None = None) -> Policy:
        """Opens a policy that ships, by its name, or a policy in a file, by its path."""
        policy = cls.__new__(cls)
        policy._given = (os.fspath(name), None, whole("budget", budget, 1))
        policy._loaded = _mario.LoadedPolicy(*policy._given)
        return policy

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._given,)

    def __repr__(self) -> str:
        return f"<mario_fog.Policy {self.name}>"

    @property
    def name(self) -> str:
        """The name of the policy in messages."""
        return self._loaded.name

    @property
    def text(self) -> str:
        """The text of the policy."""
        return self._loaded.text

    def decide(
        self,
        facts: str | Mapping[str, Iterable[tuple]],
        *,
        instance: Constant | None = None,
        all: bool = True,  # noqa: A002 - the name of the option of the command line
    ) -> Decision:
        """Returns what the agent of an instance proposes, given its facts: a dictionary of tuples, or Prolog text.

        ``instance`` is not needed if the facts name only one. With ``all=False``, the decision has only the first proposal,
        which is the one that the agent makes.
        """
        answer = json.loads(self._loaded.decide(facts_text(facts), "facts", _id(facts, instance), all))
        operations = [tuple(operation) for operation in answer["ops"]]
        return Decision(operations, answer["clauses"], answer["inferences"], answer.get("invalid", []))

    def explain(self, facts: str | Mapping[str, Iterable[tuple]], *, instance: Constant | None = None) -> dict[str, Any]:
        """Explains why the agent proposes an operation, and why no other.

        Returns what ``mario policy explain --format json`` prints.
        """
        return json.loads(self._loaded.explain(facts_text(facts), "facts", _id(facts, instance)))

    def check(self, *, budget: int | None = None) -> dict[str, Any]:
        """Finds problems in the policy, by static analysis and by model checking in small worlds.

        Returns what ``mario policy check --format json`` prints for a file; ``findings`` is empty if there are no problems.
        """
        return json.loads(self._loaded.check(whole("budget", budget, 1)))


def _restore(given: tuple[str, str | None, int | None]) -> Policy:
    name, text, budget = given
    return Policy.open(name, budget=budget) if text is None else Policy(text, name=name, budget=budget)


def _id(facts: object, instance: Constant | None) -> str | None:
    if instance is None and isinstance(facts, Facts):
        instance = facts.instance
    return None if instance is None else str(instance)


#: The result of a function: no proposal, one, or several in order of priority.
Proposals = Union[None, tuple[str, Constant], Iterable[tuple[str, Constant]]]


class FunctionPolicy:
    """A Python function as a policy: see :func:`policy`."""

    def __init__(
        self,
        function: Callable[[Facts], Proposals],
        *,
        name: str | None = None,
        requests: int = 0,
        operations: int = 0,
        inhibited: int | None = None,
        random: bool = False,
        hardware_kinds: bool = False,
        age: bool = False,
        adapts: bool = False,
        sleeps: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a policy in Python is a function of facts, and not {type(function).__name__}")
        self.function = function
        self.name = name or re.sub(r"\W", "_", getattr(function, "__name__", type(function).__name__))
        if not re.fullmatch(r"[A-Za-z_]\w*", self.name, re.ASCII):
            self.name = "function"
        given = {"requests": requests, "operations": operations, "inhibited": inhibited}
        remembered = {what: whole(what, count) for what, count in given.items()}
        self._declared = [f":- remembers({what}, {count:d})." for what, count in remembered.items() if count]
        self._reads = [
            clause
            for is_read, clause in (
                (random, "reads(Instance) :- fact(Instance, random, _)."),
                (hardware_kinds, "reads(Node) :- free(Node, _, _)."),
                (age, "reads(Instance) :- age(Instance, _)."),
                (adapts, "proposes(adapt)."),
                (sleeps, "proposes(sleep). proposes(wake)."),
            )
            if is_read
        ]
        # The source is read now, because the function may be run on a machine that does not have it.
        self._source = source(function) or "(its source is not known)\n"

    def __call__(self, facts: Facts) -> Proposals:
        return self.function(facts)

    @property
    def file(self) -> str:
        """The name of its text in scenarios and summaries."""
        return f"python:{self.name}.pl"

    @property
    def text(self) -> str:
        """The text that represents it in scenarios and traces: what it reads, and its source as a comment."""
        comment = "".join(f"% {line}\n" if line else "%\n" for line in self._source.splitlines())
        declared = "".join(f"{line}\n" for line in [f":- decided_outside('{self.name}').", *self._declared, *self._reads])
        return f"% A policy that is a Python function. Only a run from Python can ask it.\n{declared}%\n{comment}"

    def ask(self, facts: dict[str, list[tuple]], instance: Constant) -> list[tuple[str, Constant]]:
        """The proposals of the function, in the form that the simulator expects."""
        answer = self.function(Facts(facts, instance))
        if answer is None:
            return []
        if isinstance(answer, str):
            raise TypeError(f"the policy `{self.name}` returned {answer!r}: a proposal is a tuple (operation, target)")
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str):
            return [answer]
        try:
            return list(answer)
        except TypeError:
            raise TypeError(
                f"the policy `{self.name}` returned {answer!r}: it returns None, a tuple (operation, target) or a list of them"
            ) from None


def source(function: Callable[..., Any]) -> str | None:
    """The source of a function, if it is known."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return None


def policy(function: Callable[[Facts], Proposals] | None = None, **options: Any) -> Any:
    """Turns a Python function of :class:`Facts` into a policy; also a decorator.

    The function returns ``None``, a tuple ``(operation, target)``, or a list of them in order of priority. The operation is
    one of ``mario_fog.operations.OPERATIONS``, such as ``"migrate"``; the target is a neighbour, ``"self"``, or a flavour.

    **The function must be deterministic**: equal facts must yield equal results, because decisions are cached while the facts
    of an agent do not change. It is slow: each decision enters the interpreter, no decision is shared between agents, and
    threads wait for the GIL.

    Options declare what the function reads beside the facts that all agents see: ``requests``, ``operations`` and
    ``inhibited`` (for how many evaluations they are remembered), ``random=True`` (the fact ``random``),
    ``hardware_kinds=True`` (``free``) and ``age=True`` (``age``). ``adapts=True`` and ``sleeps=True`` declare that it may
    propose to adapt, or to sleep and wake.
    """
    if function is None:
        return lambda decorated: FunctionPolicy(decorated, **options)
    return FunctionPolicy(function, **options)


#: Every form in which a policy can be given.
PolicyLike = Union[str, "os.PathLike[str]", Policy, FunctionPolicy, Callable[[Facts], Proposals]]


class Choices:
    """Policies in the form that the Rust side expects: words, texts by file name, and functions by name."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.files: dict[str, str] = {}
        self.functions: dict[str, Callable[..., Any]] = {}

    def word(self, chosen: PolicyLike) -> str:
        """Returns the word for a policy, and records the text or the function that it stands for."""
        if isinstance(chosen, str):
            return chosen
        if isinstance(chosen, os.PathLike):
            return os.fspath(chosen)
        if isinstance(chosen, Policy):
            name, text, _ = chosen._given
            if text is not None:
                self._note(name, text)
            return name
        if isinstance(chosen, FunctionPolicy):
            self._note(chosen.file, chosen.text)
            self.functions[chosen.name] = chosen.ask
            return chosen.file
        if callable(chosen):
            return self.word(FunctionPolicy(chosen))
        raise TypeError(
            f"a policy is a name, a path, a mario.Policy or a function of facts, and not {type(chosen).__name__}: {chosen!r}"
        )

    def choose(self, chosen: PolicyLike | Mapping[str, PolicyLike] | None) -> None:
        """Sets the policy of all applications, or of each application in a mapping."""
        if chosen is None:
            return
        if isinstance(chosen, Mapping):
            self.words += [f"{application}={self.word(one)}" for application, one in chosen.items()]
        else:
            self.words.append(self.word(chosen))

    def _note(self, name: str, text: str) -> None:
        if self.files.setdefault(name, text) != text:
            raise ValueError(f"two policies are called `{name}`; give one of them another name")
