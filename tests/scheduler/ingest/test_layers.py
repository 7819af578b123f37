"""Linguistic layers on their way through the database."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sqlalchemy import Engine, select

from models.database.session import make_engine, reading, writing
from models.results.leaderboard import read_leaderboard
from models.schema.corpus import LayerBlock, Submission, Text, TextBlock
from models.schema.results import Score
from models.storage.arrays import unpack
from runtime.settings import Settings
from scheduler.embedded.processes import Embedded
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.ingest.test_sets import test_set_hash as hash_of
from scheduler.ingest.texts import NewText, store_texts, text_hash
from steelyard import SemPOS
from steelyard.metrics.alignment.sempos import TYPES
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.jobs import one_block_shards, run_until_done, similar_text, some_text, work_off

LINES = b"dogs bark\ncats"
LEMMAS = b"dog bark\ncat"


def annotated(text: bytes, seed: int) -> bytes:
    """A `sempos` layer: about every third word gets a type, always the same for the same word and seed."""
    draw = random.Random(seed)
    types = {word: draw.choice([*TYPES, *[""] * 40]) for word in sorted(set(text.decode().split()))}
    lines = text.decode().split("\n")
    return "\n".join(" ".join(f"{w}/{types[w]}" for w in line.split() if types[w]) for line in lines).encode()


def test_a_text_without_layers_is_known_by_its_lines_as_ever() -> None:
    assert NewText(LINES).sha256 == text_hash(LINES) == NewText(LINES, {}).sha256


def test_layers_make_another_text() -> None:
    texts = [
        NewText(LINES),
        NewText(LINES, {"lemma": LEMMAS}),
        NewText(LINES, {"lemma": LEMMAS.upper()}),
        NewText(LINES, {"sempos": LEMMAS}),
        NewText(LINES, {"lemma": LEMMAS, "sempos": b"\n"}),
        NewText(LINES, {"lemma": b"\n", "sempos": LEMMAS}),
        NewText(LINES.upper(), {"lemma": LEMMAS}),
    ]
    assert len({text.sha256 for text in texts}) == len(texts)
    both = {"lemma": LEMMAS, "sempos": b"\n"}
    assert NewText(LINES, both).sha256 == NewText(LINES, dict(reversed(both.items()))).sha256


def test_test_sets_are_distinguished_by_the_layers_of_their_references() -> None:
    plain = NewTestSet("t", {"A": LINES, "B": LINES})
    with_layers = [NewTestSet("t", plain.references, layers={label: {"lemma": LEMMAS}}) for label in "AB"]
    assert len({hash_of(each) for each in (plain, *with_layers)}) == 3
    assert hash_of(NewTestSet("t", plain.references, layers={"A": {}})) == hash_of(plain)


def test_what_is_stored(engine: Engine) -> None:
    long = b"\n".join(b"word%d" % number for number in range(600))
    with writing(engine) as connection:
        ids = store_texts(
            connection,
            [NewText(long), NewText(long, {"lemma": long.upper(), "sempos": b"\n" * 599}), NewText(long)],
        )
        assert store_texts(connection, [NewText(long, {"lemma": long.upper(), "sempos": b"\n" * 599})]) == ids[1:2]
    assert ids[0] == ids[2] != ids[1]
    with reading(engine) as connection:
        assert sorted(connection.scalars(select(Text.id))) == sorted(ids[:2])
        blocks = connection.scalars(select(TextBlock.content).where(TextBlock.text_id == ids[1]).order_by("block"))
        assert b"\n".join(blocks) == long
        for layer, content in (("lemma", long.upper()), ("sempos", b"\n" * 599)):
            wanted = select(LayerBlock.text_id, LayerBlock.content).where(LayerBlock.layer == layer).order_by("block")
            rows = connection.execute(wanted).all()
            assert {row.text_id for row in rows} == {ids[1]}
            assert [row.content.count(b"\n") for row in rows] == [255, 255, 87]
            assert b"\n".join(row.content for row in rows) == content


@pytest.mark.parametrize(
    ("layers", "fault"),
    [
        ({"lemma": b"one line"}, "has 2 lines, but 1 in its layer 'lemma'"),
        ({"sound": LEMMAS}, "has the layer 'sound', which is not known here. Known: lemma, sempos"),
    ],
)
def test_layers_that_do_not_fit(engine: Engine, layers: dict[str, bytes], fault: str) -> None:
    with pytest.raises(BadIngest, match=f"Reference 'A' of test set 't' {fault}"), writing(engine) as connection:
        store_test_set(connection, 1, NewTestSet("t", {"A": LINES}, layers={"A": layers}))
    with pytest.raises(BadIngest, match="layers of references that do not exist: B"), writing(engine) as connection:
        store_test_set(connection, 1, NewTestSet("t", {"A": LINES}, layers={"B": {"lemma": LEMMAS}}))
    with pytest.raises(BadIngest, match=f"The text of system 's' {fault}"):
        ingest_campaign(
            engine,
            Settings(database_url=str(engine.url)),
            campaign="c",
            test_set=NewTestSet("t", {"A": LINES}),
            submissions=[NewSubmission("s", LINES, layers=layers)],
            protocols=[NewProtocol(["A"], [parse_metric("bleu")])],
        )
    with reading(engine) as connection:
        assert connection.scalars(select(Text.id)).all() == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_scores_are_those_of_one_process_to_the_bit(database_url: str) -> None:
    """In shards of one block, with two references, one system whose forms another has with other annotation."""
    settings = one_block_shards(database_url)
    references = {"A": some_text(700, 1), "B": some_text(700, 2)}
    texts = [similar_text(references["A"], 3), similar_text(references["B"], 4), similar_text(references["A"], 3)]
    layers = [annotated(text, seed) for text, seed in zip([*references.values(), *texts], (1, 1, 1, 1, 2), strict=True)]
    metrics = [SemPOS(), SemPOS(variant="cap-micro"), parse_metric("bleu")]
    expected = score_systems(
        Segments(references=list(references.values()), hypotheses=texts, layers={"sempos": layers}),
        metrics,
        replicates=50,
        seed=7,
    )
    names = ["first", "second", "again"]
    with Embedded(settings, concurrency=2) as embedded:
        intake = ingest_campaign(
            embedded.engine,
            settings,
            campaign="layered",
            test_set=NewTestSet(
                "t", references, layers={label: {"sempos": layer} for label, layer in zip("AB", layers, strict=False)}
            ),
            submissions=[
                NewSubmission(name, text, layers={"sempos": layer})
                for name, text, layer in zip(names, texts, layers[2:], strict=True)
            ],
            protocols=[NewProtocol(["A", "B"], metrics, 50, 7)],
        )
        progress = run_until_done(embedded, intake.all_evaluations, lambda _: None)
        embedded.finish()
        assert (progress.done, progress.failed) == (3, 0)
        with reading(embedded.engine) as connection:
            rows = connection.execute(select(Score)).all()
            outputs = connection.scalars(select(Submission.text_id)).all()
    assert len(set(outputs)) == 3
    assert len(rows) == 9
    for row in rows:
        system = intake.evaluations[0].index(row.evaluation_id)
        measured = expected[row.metric]
        assert row.score == measured.scores[system]
        assert np.array_equal(unpack(row.sums)[0], measured.sums[system])
        assert np.array_equal(unpack(row.replicate_scores)[:, 0], measured.replicate_scores[system])
        assert row.details == measured.metric.details(measured.sums[system])
    sempos = expected[0].scores
    assert len(set(sempos)) == 3, "layers that made no difference would prove nothing"
    assert expected[2].scores[0] == expected[2].scores[2]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_stored_text_without_the_layer_fails_its_evaluation_with_a_reason(sqlite_url: str) -> None:
    settings = one_block_shards(sqlite_url, max_attempts=1)
    with Embedded(settings, concurrency=1) as embedded:
        intake = ingest_campaign(
            embedded.engine,
            settings,
            campaign="c",
            test_set=NewTestSet("t", {"A": LINES}, layers={"A": {"sempos": b"bark/v\n"}}),
            submissions=[NewSubmission("bare", LINES), NewSubmission("full", LINES, layers={"sempos": b"bark/v\n"})],
            protocols=[NewProtocol(["A"], [SemPOS()], 10)],
        )
        progress = run_until_done(embedded, intake.all_evaluations, lambda _: None)
        embedded.finish()
        with reading(embedded.engine) as connection:
            bare, full = sorted(read_leaderboard(connection, intake.protocols[0]), key=lambda row: row.system)
    assert (progress.done, progress.failed) == (1, 1)
    assert 'lacks the layer "sempos"' in bare.reason
    assert full.scores[0].score == 100


def test_an_output_given_twice_takes_no_layers_from_the_next_one(sqlite_url: str) -> None:
    """Each has the score that it has alone, whichever of them come before it."""
    settings, reference = one_block_shards(sqlite_url), some_text(200, 1)
    outputs = [similar_text(reference, seed) for seed in (3, 4, 5)]
    layered = [{"sempos": annotated(text, 1)} for text in (reference, *outputs)]
    alone = [
        score_systems(
            Segments(
                references=[reference],
                hypotheses=[text],
                layers={"sempos": [layered[0]["sempos"], layer["sempos"]]},
            ),
            [SemPOS()],
            replicates=0,
            seed=7,
        )[0].scores[0]
        for text, layer in zip(outputs, layered[1:], strict=True)
    ]
    assert len(set(alone)) == 3
    order = (0, 0, 1, 0, 2, 1)
    engine = make_engine(sqlite_url)
    job = ingest_campaign(
        engine,
        settings,
        campaign="c",
        test_set=NewTestSet("t", {"A": reference}, layers={"A": layered[0]}),
        submissions=[
            NewSubmission(f"s{number}", outputs[which], layers=layered[which + 1]) for number, which in enumerate(order)
        ],
        protocols=[NewProtocol(["A"], [SemPOS()], 0)],
    )
    work_off(settings)
    with reading(engine) as connection:
        scores = dict(tuple(row) for row in connection.execute(select(Score.evaluation_id, Score.score)))
    assert [scores[evaluation] for evaluation in job.evaluations[0]] == [alone[which] for which in order]
    engine.dispose()
