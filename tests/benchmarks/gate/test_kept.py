"""Kept counts and new ones: what passes, what fails, what is written."""

import json
import math

import pytest

from benchmarks.gate import __main__ as gate
from benchmarks.gate import kept
from benchmarks.gate.counting import YARDSTICK, Counted
from benchmarks.gate.kept import ELSEWHERE, TOLERANCE, judge, read, write

VERSIONS = {"Python": "3.11", "kernels": "clang 20"}


def counted(ter=1000, python=100, yardstick=5000, versions=None, **others):
    workloads = {"ter": {"kernels": ter, "Python": python}, YARDSTICK: {"Python": yardstick}}
    workloads |= {name: {"rest": count} for name, count in others.items()}
    return Counted(workloads, versions or VERSIONS)


def words(before, now):
    return {verdict.name: verdict.word for verdict in judge(before, now)}


def test_the_same_counts_pass():
    assert words(counted(), counted()) == {"ter": ""}
    assert words(counted(), counted(ter=int(1000 * (1 + TOLERANCE)))) == {"ter": ""}


def test_more_than_what_is_tolerated_is_more():
    assert words(counted(wer=100), counted(ter=1100, wer=100)) == {"ter": "MORE", "wer": ""}


def test_what_takes_less_is_reported():
    assert words(counted(), counted(ter=900)) == {"ter": "less"}


def test_what_is_not_kept_is_new():
    (verdict,) = judge(Counted(versions=VERSIONS), counted())
    assert verdict.word == "new"
    assert math.isnan(verdict.change)


def test_with_other_versions_pythons_part_is_expected_to_follow_the_yardstick():
    other = {**VERSIONS, "Python": "3.13"}
    before = counted(ter=0, python=1000)
    assert words(before, counted(ter=0, python=2000, yardstick=10000, versions=other)) == {"ter": ""}
    assert words(before, counted(ter=0, python=2000, yardstick=5000, versions=other)) == {"ter": "MORE"}
    assert words(before, counted(ter=0, python=1000, yardstick=2000, versions=other)) == {"ter": "MORE"}


def test_with_other_versions_the_rest_may_vary_much():
    other = {**VERSIONS, "kernels": "gcc 12"}
    assert words(counted(), counted(ter=1200, versions=other)) == {"ter": ""}
    assert words(counted(), counted(ter=int(1200 * (1 + ELSEWHERE)), versions=other)) == {"ter": "MORE"}


def test_counts_are_written_and_read_again(tmp_path):
    file = tmp_path / "instructions.json"
    assert read(file) == Counted()
    write(counted(wer=7), file)
    assert read(file) == counted(wer=7)


def test_what_was_not_counted_now_is_kept(tmp_path):
    file = tmp_path / "instructions.json"
    write(counted(wer=7), file)
    write(counted(ter=900), file)
    assert read(file) == counted(ter=900, wer=7)


def test_counts_of_other_versions_are_not_put_beside_those_kept(tmp_path):
    file = tmp_path / "instructions.json"
    write(counted(wer=7), file)
    with pytest.raises(ValueError, match="count everything again"):
        write(counted(versions={"Python": "3.13"}), file)
    write(counted(wer=8, versions={"Python": "3.13"}), file)
    assert json.loads(file.read_text())["versions"] == {"Python": "3.13"}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """The command with these counts: its exit status and what it prints."""
    file = tmp_path / "instructions.json"
    monkeypatch.setattr(kept, "FILE", file)
    monkeypatch.delenv("CI", raising=False)

    def run(now, *arguments, unavailable=None):
        monkeypatch.setattr(gate, "unavailable", lambda: unavailable)
        monkeypatch.setattr(gate, "count", lambda names: now)
        monkeypatch.setattr("sys.argv", ["gate", *arguments])
        with pytest.raises(SystemExit) as ended:
            gate.main()
        return ended.value.code, capsys.readouterr().out

    return run


def test_the_command_fails_where_something_takes_more(run):
    assert run(counted())[0] == 1, "nothing was kept"
    assert run(counted(), "--update")[0] == 0
    status, text = run(counted())
    assert status == 0
    assert "| ter | 0.00 | 0.00 | +0.0% | | kernels 91%, Python 9% |" in text
    status, text = run(counted(ter=2000))
    assert status == 1
    assert "MORE" in text
    assert run(counted(ter=2000), "ter", "--update")[0] == 0
    assert run(counted(ter=2000))[0] == 0
    status, text = run(counted(ter=500))
    assert status == 0
    assert "UPDATE=1" in text


def test_the_command_says_which_versions_differ(run):
    run(counted(), "--update")
    status, text = run(counted(versions={**VERSIONS, "kernels": "gcc 12"}))
    assert status == 0
    assert "kernels: kept with clang 20, now gcc 12" in text


def test_without_valgrind_it_passes_at_home_and_fails_where_ci_is_set(run, monkeypatch):
    status, text = run(counted(), unavailable="there is no valgrind")
    assert status == 0
    assert text == "Nothing was counted: there is no valgrind.\n"
    monkeypatch.setenv("CI", "true")
    assert run(counted(), unavailable="there is no valgrind")[0] == 1


def test_a_workload_that_is_not_there_is_wrong_usage(run):
    assert run(counted(), "bleurt")[0] == 2
