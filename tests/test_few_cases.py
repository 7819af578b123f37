"""What the default suite leaves to `make test-thorough`."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import pytest_collection_modifyitems

ROOT = Path(__file__).parents[1]


@dataclass
class Item:
    """As much of a test as is looked at."""

    nodeid: str
    few: pytest.MarkDecorator | None = None
    fixturenames: tuple[str, ...] = ()
    marked: list[str] = field(default_factory=list)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.few.mark if self.few and name == "few" else None

    def add_marker(self, name: str) -> None:
        self.marked.append(name)


def drawn(names: list[str], few: pytest.MarkDecorator | None) -> set[str]:
    items = [Item(name, few) for name in names]
    pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert {mark for item in items for mark in item.marked} <= {"thorough"}
    return {item.nodeid for item in items if not item.marked}


CASES = [f"test_a.py::test_it[{number}]" for number in range(50)]


def test_so_many_cases_stay_the_same_ones_in_any_order() -> None:
    kept = drawn(CASES, pytest.mark.few(7))
    assert len(kept) == 7
    assert drawn(CASES[::-1], pytest.mark.few(7)) == kept
    # They are no row of neighbours, and more of them hold the few.
    assert kept != set(CASES[:7])
    assert kept < drawn(CASES, pytest.mark.few(8))


def test_each_test_has_cases_of_its_own() -> None:
    others = [name.replace("test_it", "test_that") for name in CASES]
    kept = drawn(CASES + others, pytest.mark.few(3))
    assert kept == drawn(CASES, pytest.mark.few(3)) | drawn(others, pytest.mark.few(3))


def test_one_of_two_databases_is_drawn_but_where_the_statements_are() -> None:
    names = [f"test_a.py::test_it[{number}-{kind}]" for number in range(20) for kind in ("sqlite", "postgres")]
    for folder, each in (("tests/scheduler", 1), ("tests/models", 2)):
        items = [Item(f"{folder}/{name}", fixturenames=("tmp_path", "database_url")) for name in names]
        pytest_collection_modifyitems(items)  # type: ignore[arg-type]
        kept = [item.nodeid for item in items if not item.marked]
        assert Counter(name.partition("[")[2].partition("-")[0] for name in kept) == dict.fromkeys(
            map(str, range(20)), each
        )
        assert {name.partition("-")[2] for name in kept} == {"sqlite]", "postgres]"}


def test_what_is_not_marked_stays_and_who_asks_for_one_case_gets_it() -> None:
    assert drawn(CASES, None) == set(CASES)
    assert drawn(CASES[20:21], pytest.mark.few(3)) == {CASES[20]}


def test_ci_runs_what_is_left_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert "not thorough" in settings["addopts"]
    assert "\nmake test\nmake test-thorough\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "-m 'thorough and not long' " in (ROOT / "Makefile").read_text(encoding="utf-8")
