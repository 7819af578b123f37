"""Mutants are drawn by a seed, tried in a copy, and known again where somebody has explained them."""

from pathlib import Path

import pytest

from tests.mutants.drawing import Candidate, candidates, drawn, source_of
from tests.mutants.equivalents import FILE, add_equivalent, key_of, read_equivalents
from tests.mutants.mutant import Mutant
from tests.mutants.python_operators import python_mutants
from tests.mutants.target import ROOT
from tests.mutants.trial import BrokenTests, Copy, Fate

PHASES = "models/corpus/phases.py"
TESTS = ("tests/models/corpus/test_phases.py::test_without_a_deadline_it_never_closes",)


def mutant(path: str, before: bytes, after: bytes) -> Mutant:
    source = (ROOT / path).read_bytes()
    start = source.index(before)
    return Mutant(path, "by hand", start, start + len(before), after)


def test_a_fault_is_found_in_a_copy_and_gone_afterwards(tmp_path: Path) -> None:
    source = (ROOT / PHASES).read_bytes()
    copy = Copy(tmp_path, {})
    try:
        for before, after, fate in (
            (b"self.closes_at is None or", b"", Fate.KILLED),
            (b"at < self.closes_at", b"at <= self.closes_at", Fate.SURVIVED),
            (b"from dataclasses", b"from nowhere", Fate.KILLED),
            (b"from dataclasses", b"from data classes", Fate.NOT_COMPILED),
            (
                b"        return self.kind in",
                b"        while True:\n            pass\n        return self.kind in",
                None,
            ),
        ):
            if fate is None:
                # It never ends: as if all the time that tests without a fault take were over.
                copy._seconds[TESTS] = -5.0
                fate = Fate.TIMED_OUT
            tried = copy.attempt(mutant(PHASES, before, after), TESTS)
            assert tried.fate == fate
            assert (tmp_path / PHASES).read_bytes() == source
            assert (ROOT / PHASES).read_bytes() == source
        with pytest.raises(BrokenTests, match="fail without any fault"):
            copy.attempt(
                mutant(PHASES, b"TAKING", b"TAKEN"), ("tests/models/corpus/test_phases.py::there_is_no_such_test",)
            )
    finally:
        copy.close()


def test_the_copy_is_what_is_tested(tmp_path: Path) -> None:
    """Not the tree that the environment installs."""
    copy = Copy(tmp_path, {})
    try:
        test = tmp_path / "tests/test_place.py"
        names = ("steelyard", "models", "runtime", "scheduler", "web", "worker", "tests.conftest")
        lines = [f"import {name}\nassert {name}.__file__.startswith({str(tmp_path)!r})" for name in names]
        test.write_text("\n".join([*lines, "def test_it():\n    pass\n"]))
        tried = copy.attempt(mutant(PHASES, b"at < self", b"at <= self"), ("tests/test_place.py",))
        assert tried.fate == Fate.SURVIVED
    finally:
        copy.close()


def test_the_first_ones_of_a_seed_stay_the_same_and_areas_take_turns() -> None:
    source = b"def f(a, b):\n    return a < b and a > 3 or f(a, b) + 1\n"
    found = [Candidate(area, each, ()) for area in "xyz" for each in python_mutants(f"{area}.py", source)]
    some, more, all_of_them = (drawn(found, 7, count) for count in (6, 12, 0))
    assert some == more[:6] == all_of_them[:6]
    assert sorted(map(repr, all_of_them)) == sorted(map(repr, found))
    assert sorted(each.area for each in some) == sorted("xyz" * 2)
    assert drawn(found, 8, 6) != some


def test_what_was_explained_is_known_by_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "equivalents.toml"
    file.write_text("# Why.\n")
    source = b'def f(x):\n    return x < 1 or x == "\\\\ \xc3\xa1"\n'
    first, *_ = mutants = python_mutants("a.py", source)
    for each in reversed(mutants):
        add_equivalent(each, source, 'It says "á".', file)
    known = read_equivalents(file)
    assert known.keys() == {key_of(each, source) for each in mutants}
    assert known[key_of(first, source)].why == 'It says "á".'
    assert file.read_text().startswith("# Why.\n\n[[equivalent]]\n")


def test_every_explanation_is_one_of_a_mutant_that_there_is() -> None:
    known = read_equivalents(FILE)
    found = [each.mutant for path in {each.path for each in known.values()} for each in candidates(file=path)]
    there = {key_of(each, source_of(each.path)) for each in found}
    gone = [each for key, each in known.items() if key not in there]
    assert not gone, "their lines have changed: remove them, or explain them again"
    assert all(each.why for each in known.values())
