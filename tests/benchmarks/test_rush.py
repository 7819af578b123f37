"""The rush before a deadline: what is sent, and what is said meanwhile."""

import argparse
from concurrent.futures import Future
from pathlib import Path

import pytest

from benchmarks.rush import BASES, Handed, make_outputs, tell


def test_all_texts_differ_and_each_team_has_its_systems(tmp_path: Path) -> None:
    outputs = make_outputs(tmp_path, argparse.Namespace(uploads=2 * BASES + 5, segments=30, teams=7))
    assert len({each.text for each in outputs}) == len(outputs) == 2 * BASES + 5
    assert len({(each.team, each.system) for each in outputs}) == len(outputs)
    assert {each.team for each in outputs} == {f"team {number}" for number in range(1, 8)}
    assert {each.text.count(b"\n") for each in outputs} == {29}


def test_it_tells_how_far_it_is_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    answered, refused, waiting = Future[Handed](), Future[Handed](), Future[Handed]()
    answered.set_result(Handed("s", 0.0, 0.25, 1))
    refused.set_exception(ValueError())
    futures = [answered, answered, refused, waiting]
    told = tell(0.0, 0.0, 4, futures)
    assert told > 0
    assert "4 sent, 2 answered, p50 0.250 s" in capsys.readouterr().err
    assert tell(told, 0.0, 4, futures) == told
    assert capsys.readouterr().err == ""
