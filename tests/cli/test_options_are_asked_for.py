"""Whatever an option says is in what a command asks for: none is forgotten, and none is taken for another."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from pydantic import BaseModel

from cli.main import main
from steelyard_client.commands import backend
from steelyard_client.commands.verbs import VERBS
from steelyard_client.operations import Operations

ELSEWHERE = {
    *("login", "verify", "status", "campaign export"),
    # Of the server, which adds them to the noun of the client.
    *("schedule create", "schedule run", "schedule delete"),
}
"""Commands whose options say what happens here, or that choose a client by themselves."""
NOT_ASKED = {"server", "database", "account", "format", "width", "yes", "wait", "report", "help"}
"""Options of how a command talks to people, and to whom."""
HERE = {
    "testset create": {"pair"},
    "testset update": {"released"},
    "submit": {"processes", "level"},
    "user create": {"set_password"},
    "user password": {"link"},
    "quota delete": {"in_flight", "per_day", "per_phase"},
    "team update": {"remove"},
    "leaderboard": {"name", "references", "resample"},
    "compare": {"name", "references", "resample", "test"},
    "campaign correlate": {"name", "references", "leave_out", "plot"},
    "schedule show": {"output"},
}
"""Options that choose among what was read here, ask for a password, or are given to all others of the command."""
EVALUATION = SimpleNamespace(
    id=1, team="", system="mast", run="", campaign="wmt", test_set="news", references=["A"], state="failed"
)
ANSWERS: Mapping[str, Any] = {
    "drawing": False,
    "progress": None,
    "superseded": False,
    "amount": 3,
    "skipped": {},
    "evaluations": [EVALUATION],
}
"""What commands wait for, or count."""
ANOTHER = {
    ("testset create", "create_test_set", "references"),
    # Trials do not depend on what intervals are shown.
    *(("compare", "request_comparisons", each) for each in ("level", "interval")),
    # It says which systems there are.
    *(("compare", "read_leaderboard", each) for each in ("level", "interval", "trials", "correction", "alpha")),
}
"""Of a command, an operation and an option: not the same thing, though they have one name. `name` is many things."""
NUMBERS = {"id", "account", "account_id", "submission", "board", "evaluation"}
NEEDED = {
    "phase create": ["--starts", "2026-11-01T00:00"],
    "submit": ["--no-wait"],
    "submission cancel": ["1"],
    "submission retry": ["1"],
    "submission recompute": ["1"],
    "invitation create": ["--team", "harbour", "--campaign", "wmt"],
    "quota update": ["--campaign", "wmt", "--in-flight", "2"],
    "quota delete": ["--campaign", "wmt"],
    "campaign update": ["--add-team", "guests"],
    "phase update": ["--kind", "blind"],
    "testset update": ["--release"],
    "testset measure": ["-m", "ter"],
    "submission update": ["--description", "theirs"],
    "user update": ["--role", "viewer"],
    "user password": ["--link"],
    "team update": ["--affiliation", "a college"],
    "system update": ["--url", "https://example.org"],
    "notice update": ["--webhook", "https://example.org"],
    "compare": ["--test", "randomization"],
}
"""What else is given, that the others can be."""


class Anything(str):
    """What a server answers to anything: one of whatever is looked for."""

    def __new__(cls) -> Anything:
        return super().__new__(cls, "anything")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "items":
            return [Anything(), Anything()]
        return ANSWERS[name] if name in ANSWERS else 1 if name in NUMBERS else Anything()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter([self])

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Asked:
    """A client that remembers what it was asked: operations with their arguments by name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        takes = inspect.signature(inspect.getattr_static(Operations, name).steps)

        def call(*values: Any, **named: Any) -> Anything:
            given = takes.bind(self, *values, **named).arguments
            del given["self"]
            for each in (*given.values(),):
                if isinstance(each, BaseModel):
                    given |= {field: getattr(each, field) for field in each.model_fields_set}
            self.calls.append((name, given))
            return Anything()

        return call


def commands() -> Iterator[tuple[str, click.Command]]:
    """The verbs that are written once, by their words."""
    for name, verb in VERBS.items():
        command = verb.load()
        verbs = command.commands.values() if isinstance(command, click.Group) else [command]
        words = (" ".join(dict.fromkeys([name, str(each.name)])) for each in verbs)
        yield from (found for found in zip(words, verbs, strict=True) if found[0] not in ELSEWHERE)


def words_of(parameter: click.Parameter) -> tuple[list[str], Any]:
    """An option or argument with a value that is not its default, and that value."""
    mark = {"weights": "major=10", "parameters": "7B"}.get(str(parameter.name), f"mark-{parameter.name}")
    flag = next((each for each in parameter.opts if each.startswith("--")), parameter.opts[0])
    begin = [] if isinstance(parameter, click.Argument) else [flag]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        turned = parameter.default is True and parameter.secondary_opts
        return [parameter.secondary_opts[0] if turned else flag], not turned
    if isinstance(parameter.type, click.Choice):
        value = next(each for each in parameter.type.choices if each != parameter.default)
        return [*begin, value], value
    if isinstance(parameter.type, click.IntRange):
        return [*begin, "3"], 3
    # Of an option that takes several words the type of each.
    kind = getattr(parameter.type, "word", parameter.type)
    for text in (mark, "4711", "0.75", "old=new", "2h", "tsv", "failed"):
        with suppress(click.BadParameter, TypeError):
            kind.convert(text, None, None)
            return [*begin, text], text
    raise AssertionError(f"no value for {parameter.name}")


def asked(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """What a command asks for."""
    client = Asked()

    @contextmanager
    def connected(*_: Any) -> Iterator[Asked]:
        yield client

    monkeypatch.setattr(backend, "connected", connected)
    # What is answered is no document, so that not everything can be shown.
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        main(words)
    return client.calls


def prepare_files(here: Path) -> None:
    """What the values of options name."""
    for name in ("file", "files", "path"):
        (here / f"mark-{name}").write_text("system\tsegment\tscore\nmast\t1\t2\n")
    folder = here / "mark-paths"
    (folder / "refs").mkdir(parents=True)
    for name in ("source.txt", "refs/A.txt"):
        (folder / name).write_text("a\nb\n")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare_files(tmp_path)


@pytest.mark.parametrize(("name", "command"), [pytest.param(*each, id=each[0]) for each in commands()])
def test_what_is_said_is_asked_for(name: str, command: click.Command, monkeypatch: pytest.MonkeyPatch) -> None:
    base = name.split()
    for each in command.params:
        if each.required:
            base += words_of(each)[0]
    base += NEEDED.get(name, [])
    base += ["--yes"] * any(each.name == "yes" for each in command.params)
    plain = asked(monkeypatch, base)
    assert plain, "it asks for nothing"
    for each in command.params:
        if each.required or each.name in NOT_ASKED | HERE.get(name, set()):
            continue
        words, value = words_of(each)
        said = asked(monkeypatch, [*base, *words])
        assert repr(said) != repr(plain), f"{each.opts[0]} changes nothing"
        for operation, given in said:
            takes = inspect.signature(inspect.getattr_static(Operations, operation).steps).parameters
            if each.name in takes and each.name != "name" and (name, operation, each.name) not in ANOTHER:
                for part in str(value).split("="):
                    assert part in str(given.get(str(each.name))), f"{operation} is not asked by {each.opts[0]}"


@pytest.mark.parametrize("verb", ["cancel", "retry", "recompute"])
def test_only_what_was_shown_is_changed(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    more = ["--reason", "wrong", "--counts"] if verb == "cancel" else ["--no-wait"]
    words = ["submission", verb, "--campaign", "wmt", "--state", "failed", *more, "--yes"]
    (shown, plan), (done, change) = asked(monkeypatch, words)[:2]
    assert shown == done == f"{verb}_evaluations"
    assert (plan["dry_run"], plan["campaign"], plan["states"]) == (True, "wmt", ["failed"])
    assert change.pop("selection").evaluations == [1]
    # Not what else may match by now.
    assert change == {"evaluations": [1], **({"reason": "wrong", "counts": True} if verb == "cancel" else {})}


def test_why_comparisons_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["submission", "cancel", "--comparison", "7", "8", "7", "--campaign", "wmt", "--reason", "wrong", "--yes"]
    asked_for = [{"campaign": "wmt", "comparison": number, "reason": "wrong"} for number in (7, 8)]
    assert asked(monkeypatch, words) == [("cancel_comparison", each) for each in asked_for]
