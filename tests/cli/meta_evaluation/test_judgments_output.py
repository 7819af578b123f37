"""What tables of human judgments say, from their documents alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard_client.commands import backend
from steelyard_client.commands.human.output import listing, segments, systems
from steelyard_client.documents.leaderboards.judgments import (
    AnnotatorAgreement,
    AnnotatorReliability,
    HumanScoresDetails,
    JudgedSegment,
    JudgedSystem,
    JudgingAnnotator,
)


def judged(**changed: Any) -> HumanScoresDetails:
    values = {
        "campaign": "wmt", "name": "esa", "version": 2, "test_set": "news", "kind": "ratings", "method": {},
        "test": None, "annotators": None, "agreement": None, "reliability": None, "by_annotator": [], "systems": [],
        "references": [], "unknown": [], "not_judged": [],
    }  # fmt: skip
    return HumanScoresDetails.model_construct(**values | changed)


def system(name: str, **changed: Any) -> JudgedSystem:
    values = dict.fromkeys(JudgedSystem.model_fields) | {"system": name, "score": 1.0}
    return JudgedSystem.model_construct(**values | changed)


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_where_systems_have_no_scores_their_segments_and_judgments_are_counted() -> None:
    rows = [
        JudgedSegment(system=name, segment=number, score=1.0, raw=None, n_judgments=judgments)
        for name, number, judgments in (("mast", 0, 3), ("mast", 4, 2), ("keel", 0, None), ("keel", 1, None))
    ]
    text = systems(judged(), rows, "text", 2)
    assert ["mast", "2", "5"] in lines(text)
    assert ["keel", "2", "n/a"] in lines(text)
    assert "Systems have no scores: see --granularity segment." in text


def test_clusters_are_parted_after_their_last_system() -> None:
    placed = [system(name, rank=rank, cluster=cluster) for name, rank, cluster in
              (("mast", 1, 1), ("keel", 2, 1), ("raft", 3, 2), ("tug", 4, 3))]  # fmt: skip
    text = systems(judged(systems=placed), [], "text", 2)
    shown = [(line[1] if len(line) > 1 else "") if line and line[0].isdigit() else "" for line in lines(text)]
    order = list(shown[shown.index("mast") : shown.index("tug") + 1])
    assert order == ["mast", "keel", "", "raft", "", "tug"]
    assert "A line separates clusters (WMT's rule, from the published numbers of wins)." in text
    tested = systems(judged(systems=placed, test="sign test"), [], "text", 2)
    assert "A line separates clusters (WMT's rule: sign test, p < 0.05)." in tested
    plain = systems(judged(systems=[system("mast", rank=1), system("keel", rank=2)]), [], "text", 2)
    assert "A line separates" not in plain


@pytest.mark.parametrize(
    ("missing", "columns"),
    [
        ({"rank_low", "rank_high", "wins", "raw", "n_segments", "n_judgments"}, "Rank System Score"),
        ({"rank_high"}, "Rank System Score Wins Raw Segments Judgments"),
        ({"rank_low"}, "Rank System Score Wins Raw Segments Judgments"),
        (set(), "Rank Range System Score Wins Raw Segments Judgments"),
    ],
)
def test_columns_of_which_there_is_nothing_to_say_are_left_out(missing: set[str], columns: str) -> None:
    given = {"rank": 1, "rank_low": 1, "rank_high": 2, "wins": 0, "raw": 4.5, "n_segments": 0, "n_judgments": 7}
    placed = [system("mast", **{name: None if name in missing else value for name, value in given.items()})]
    assert columns.split() in lines(systems(judged(systems=placed), [], "text", 2))


def test_who_judged_and_how_far_they_agree() -> None:
    annotators = [
        JudgingAnnotator(number=1, judgments=5, outputs=4, mean=50.0, deviation=None, shared=0, z=None, seconds=None),
        JudgingAnnotator(number=2, judgments=3, outputs=0, mean=60.0, deviation=2.5, shared=0, z=None, seconds=7.25),
    ]
    told = {"systems": [system("mast", rank=1)], "annotators": 2, "by_annotator": annotators}
    text = systems(judged(**told), [], "text", 2)
    assert "2 annotators, no pair of systems compared by two of them." in text
    assert ["Annotator", "Judgments", "Outputs", "Mean", "Deviation", "Seconds"] in lines(text)
    assert ["1", "5", "4", "50.000", "n/a", "n/a"] in lines(text)
    assert "Seconds: the median of a judgment." in text
    assert "z: mean difference" not in text
    agreement = AnnotatorAgreement(comparisons=1, share=0.125, kappa=None)
    reliability = AnnotatorReliability(alpha=0.5, outputs=1)
    text = systems(judged(**told, agreement=agreement, reliability=reliability), [], "text", 2)
    assert "2 annotators; two of them agree on a pair of systems in 12.5 % of 1 comparison." in text
    assert "Krippendorff's alpha 0.500, on 1 output judged by several." in text
    agreement = AnnotatorAgreement(comparisons=9, share=1.0, kappa=-0.25)
    text = systems(judged(**told, agreement=agreement), [], "text", 2)
    assert "in 100.0 % of 9 comparisons (kappa -0.250)." in text


def test_segments_are_listed_as_they_were_judged() -> None:
    rows = [JudgedSegment(system="mast", segment=7, score=0.5, raw=62.5, n_judgments=2)]
    assert ["mast", "7", "0.500", "62.500", "2"] in lines(segments(judged(), rows, "text", 3))


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ({}, "scores of systems: as published"),
        ({"standardised": True, "system_scores": "wins"},
         "standardised by annotator; scores of systems: share of comparisons won, ties left out"),
        ({"standardised": False, "weights": {"minor": 1.0, "major": 5.0}, "system_scores": "means"},
         "not standardised; weights major=5 minor=1; scores of systems: means over segments"),
        ({"system_scores": "else"}, "scores of systems: else"),
    ],
)  # fmt: skip
def test_how_scores_were_made(method: dict[str, Any], says: str) -> None:
    ((*_, title, kind, told),) = listing([judged(method=method)]).rows
    assert (title, kind, told) == ("esa@2", "ratings", says)


def test_segments_are_listed_by_system_and_in_their_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the order in which a server lists them; those of the version that is shown."""
    rows = [("mast", 10), ("keel", 2), ("mast", 2), ("keel", 10), ("keel", 0)]
    asked: list[tuple[str, str, str]] = []

    def list_judged_segments(campaign: str, name: str, *, test_set: str) -> Iterator[JudgedSegment]:
        asked.append((campaign, name, test_set))
        return (JudgedSegment(system=each, segment=at, score=1.0, raw=None, n_judgments=1) for each, at in rows)

    client = SimpleNamespace(
        list_test_sets=lambda _: [SimpleNamespace(id=1, name="news", version="3")],
        read_human_scores=lambda *_, **__: judged(systems=[system("mast", rank=1)]),
        list_judged_segments=list_judged_segments,
    )

    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield client

    monkeypatch.setattr(backend, "connected", connected)
    words = ["judgments", "show", "esa", "--campaign", "wmt", "--granularity", "segment", "-f", "csv"]
    assert main(words) == 0
    shown = [tuple(line.split(",")[:2]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert shown == [("keel", "0"), ("keel", "2"), ("keel", "10"), ("mast", "2"), ("mast", "10")]
    assert asked == [("wmt", "esa@2", "news@3")]
