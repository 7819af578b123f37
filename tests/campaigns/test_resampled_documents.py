"""A campaign that resamples documents does so still after its metrics, references or imported scores have changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select

import worker.computing.scoring
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.comparison import compare_correction
from campaigns.corrections.corrections import correct_test_set, list_corrections
from campaigns.measures import MeasureRequest, add_measures, protocols_on
from campaigns.test_sets.files import NamedContent
from campaigns.test_sets.stored import find_campaign_test_set
from models.corpus.campaign_protocols import find_test_set_protocols
from models.database.session import make_engine, reading, writing
from models.results.boards import list_boards, superseded_boards
from models.schema.campaigns import CampaignTestSet
from models.schema.results import ReplicatePart, Score
from models.schema.states import ResamplingUnit
from models.storage.arrays import unpack
from runtime.settings import Settings
from steelyard.formats.plain import Text
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.documents import Documents
from tests.campaigns.score_imports.scores import comet, take_in
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text, work_off
from tests.service.campaigns import found, given, submit_output, with_test_set

DOCUMENTS = NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta\n1\ta\n2\tb\n")
SEGMENT, DOCUMENT = ResamplingUnit.SEGMENT, ResamplingUnit.DOCUMENT


@pytest.fixture
def engine(sqlite_url: str, rows_backwards: None) -> Engine:
    """One test set by one reference: first by segment, then by document."""
    engine = make_engine(sqlite_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt", given(documents=DOCUMENTS), metrics=("chrf",), replicates=7)
    submit_output(engine, "wmt", "fleet", "ant", b"a\nb\nc\n")
    measure(engine, "chrf", resample=DOCUMENT)
    return engine


def settings_of(engine: Engine) -> Settings:
    return Settings(database_url=engine.url.render_as_string(hide_password=False))


def measure(engine: Engine, *metrics: str, resample: ResamplingUnit | None = None, replicates: int = 7) -> None:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        test_set = find_campaign_test_set(connection, access, "news").id
        asked = MeasureRequest(metrics, [["A"]], replicates, resample=resample)
        add_measures(connection, settings_of(engine), access, test_set, asked)
    work_off(settings_of(engine))


def measures(engine: Engine, name: str = "news") -> list[tuple[tuple[str, ...], str]]:
    with reading(engine) as connection:
        title = CampaignTestSet.name + "@" + CampaignTestSet.version
        number = connection.execute(select(CampaignTestSet.test_set_id).where(title == name)).scalar_one()
        on_it = protocols_on(connection, 1, number)
    return [(tuple(metric.partition(":")[0] for metric in each.metrics), each.resample) for each in on_it]


def test_what_is_added_draws_what_was_drawn_unless_it_is_said(engine: Engine) -> None:
    assert measures(engine, "news@1") == [(("chrf",), SEGMENT), (("chrf",), DOCUMENT)]
    measure(engine, "ter")
    assert measures(engine, "news@1")[-1] == (("chrf", "ter"), DOCUMENT)
    measure(engine, "wer", resample=SEGMENT)
    assert measures(engine, "news@1")[-1] == (("chrf", "ter", "wer"), SEGMENT)
    measure(engine, "per")
    assert measures(engine, "news@1")[-1] == (("chrf", "ter", "wer", "per"), SEGMENT)


def test_what_is_measured_first_draws_what_is_said(engine: Engine) -> None:
    for name, resample in (("talks", DOCUMENT), ("books", SEGMENT), ("posts", None)):
        files = given(source=f"{name}\nb\nc\n".encode(), documents=DOCUMENTS)
        with_test_set(engine, "wmt", files, metrics=("chrf",), name=name, resample=resample)
        assert measures(engine, f"{name}@1") == [(("chrf",), resample or SEGMENT)]


def test_what_draws_segments_takes_no_place_of_what_draws_documents(engine: Engine) -> None:
    def standing() -> list[tuple[tuple[str, ...], str]]:
        with reading(engine) as connection:
            boards = list_boards(connection)
            kept = [each for each in boards if each not in superseded_boards(connection, boards)]
            protocols = find_test_set_protocols(connection, "wmt").protocols
            assert {each.protocol_id for each in kept} == {each.id for each in protocols}
            return [(each.metrics, each.resample) for each in kept]

    assert standing() == [(("chrf",), DOCUMENT)], "documents take the place of segments"
    measure(engine, "ter", resample=SEGMENT)
    assert standing() == [(("chrf",), DOCUMENT), (("chrf", "ter"), SEGMENT)]
    measure(engine, "wer", resample=DOCUMENT)
    assert standing() == [(("chrf", "ter", "wer"), DOCUMENT)]


def test_imported_columns_and_corrected_references_change_nothing_of_it(engine: Engine, tmp_path: Path) -> None:
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1.0, 2.0, 4.0]}))
    assert measures(engine, "news@1")[-1] == (("chrf", "imported"), DOCUMENT)
    with reading(engine) as connection:
        [score] = connection.execute(select(Score).where(Score.title == "COMET (imported)")).all()
    # Both documents, or one of them twice.
    drawn = unpack(score.replicate_scores)[:, 0]
    assert set(drawn.round(6)) <= {round(7 / 3, 6), 1.5, 4.0}
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        old = find_campaign_test_set(connection, access, "news")
        text = Text("A.txt", b"kocka\npes\ndomy", 3)
        correct_test_set(connection, settings_of(engine), access, old, {"A": text}, "a typing error")
    work_off(settings_of(engine))
    assert measures(engine, "news@2") == measures(engine, "news@1")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        [correction] = list_corrections(connection, access)
        compared = compare_correction(connection, access, correction)
    assert len(compared) == sum(len(metrics) for metrics, _ in measures(engine, "news@1"))


def test_parts_of_replicates_are_of_the_documents_of_one_test_set(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same texts with other documents: statistics are taken over, and what was drawn is drawn anew."""
    monkeypatch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0)
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    names = [[f"d{number // length}" for number in range(30)] for length in (3, 10)]
    jobs = []
    for number, own in enumerate(names):
        jobs.append(
            queue_job(
                *(engine, settings), segments=30, systems=1, metrics=["bleu"], replicates=20, campaign=f"c{number}",
                documents=own, resample=DOCUMENT,
            )
        )  # fmt: skip
        work_off(settings)
    assert jobs[1].measured_before == ((1,),)
    reference = some_text(30, 1)
    texts = Segments(references=[reference], hypotheses=[similar_text(reference, 1000)])
    with reading(engine) as connection:
        made = set(connection.scalars(select(ReplicatePart.evaluation_id)))
        for job, own in zip(jobs, names, strict=True):
            [evaluation] = job.all_evaluations
            row = connection.execute(select(Score).where(Score.evaluation_id == evaluation)).one()
            (expected,) = score_systems(
                texts, [parse_metric("bleu")], replicates=20, documents=Documents.from_names(own)
            )
            np.testing.assert_array_equal(unpack(row.replicate_scores)[:, 0], expected.replicate_scores[0])
    assert made == {jobs[0].all_evaluations[0]}
