"""Small campaigns that went through the whole pipeline into a database, with all texts known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager

from analysis.leaderboard.board import Board, read_board
from models.database.session import make_engine, reading
from models.results.boards import list_boards
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards, work_off

REFERENCES = {
    "A": ["the ship came in at noon", "a gull cried", "all hands on deck , said the mate", "the rope was wet", "fog"],
    "B": [
        "the boat arrived at noon",
        "a gull screamed",
        "everyone on deck , said the mate",
        "the rope was damp",
        "mist",
    ],
}
SYSTEMS = {
    "tug": ["the ship came in at noon", "a gull cried", "all hands on deck said the mate", "the rope is wet", "fog"],
    "barge": ["the ship arrived at noon", "gull a cried", "all hands , said mate", "rope was the wet", ""],
    "raft": ["ship noon", "a bird", "they were on deck , said the mate", "the rope was damp", "the fog"],
}
DOCUMENTS = [
    ("quay", "news", ""),
    ("quay", "news", ""),
    ("deck", "talk", ""),
    ("deck", "talk", ""),
    ("deck", "talk", ""),
]


def store(
    url: str,
    *,
    references: Mapping[str, Sequence[str]] = REFERENCES,
    systems: Mapping[str, Sequence[str]] = SYSTEMS,
    metrics: Sequence[str] = ("bleu:order=1,2", "ter"),
    replicates: int = 60,
    documents: Sequence[tuple[str, str, str]] = DOCUMENTS,
    source: Sequence[str] | None = None,
    selections: Sequence[Sequence[str]] = (("A", "B"),),
    languages: tuple[str, str] = ("en", "cs"),
    variable_references: bool = False,
    scored: bool = True,
    seed: int = 12345,
    campaign: str = "port",
) -> None:
    """Take in a campaign and score it. A system "NAME@RUN" is one of several runs of NAME."""
    engine, settings = make_engine(url), one_block_shards(url)
    ingest_campaign(
        engine,
        settings,
        campaign=campaign,
        test_set=NewTestSet(
            "port",
            {label: joined(lines) for label, lines in references.items()},
            source=None if source is None else joined(source),
            source_language=languages[0],
            target_language=languages[1],
            documents=documents,
            variable_references=variable_references,
        ),
        submissions=[
            NewSubmission(name.partition("@")[0], joined(lines), run=name.partition("@")[2])
            for name, lines in systems.items()
        ],
        protocols=[
            NewProtocol(list(labels), [parse_metric(each) for each in metrics], replicates, seed)
            for labels in selections
        ],
    )
    if scored:
        work_off(settings)


def joined(lines: Sequence[str]) -> bytes:
    return "\n".join(lines).encode()


@contextmanager
def opened(url: str, sort: str | None = None):
    """A connection, and the boards that are there."""
    with reading(make_engine(url)) as connection:
        boards: list[Board] = [read_board(connection, each, 0.95, sort) for each in list_boards(connection)]
        yield connection, boards
