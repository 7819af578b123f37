"""Taking in: all or nothing, nothing twice, and what is wrong is said."""

import hashlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, func, select

from models.database.session import reading, writing
from models.results.boards import list_boards
from models.schema.base import Base
from models.schema.campaigns import CampaignTestSet, is_campaign_test_set
from models.schema.corpus import Document, Protocol, Reference, Submission, System, TestSet, Text, TextBlock
from models.schema.queue import Compatibility, Evaluation, Shard, ShardEvaluation
from runtime.settings import Settings
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import (
    IngestResult,
    NewProtocol,
    NewSubmission,
    ingest_campaign,
    store_campaign,
    store_systems_without_texts,
)
from scheduler.ingest.test_sets import NewTestSet, link_test_set, store_test_set
from scheduler.ingest.texts import segment_count, text_blocks
from steelyard.formats.detection import read_text
from steelyard.formats.filed import FiledText
from steelyard.metrics.registry import parse_metric
from steelyard.text.limits import TextLimits
from tests.scheduler.jobs import one_block_shards, queue_job, some_text
from worker.computing.scoring import read_texts

REFERENCE = b"a b\n\nc"
GOOD = NewTestSet("set", {"A": REFERENCE, "B": b"x\ny\nz"}, source=b"1\n2\n3", source_language="en")
PROTOCOL = NewProtocol(["A"], [parse_metric("bleu")])


def take(engine: Engine, *submissions: NewSubmission, **others: object) -> IngestResult:
    arguments = {"campaign": "c", "test_set": GOOD, "protocols": [PROTOCOL], **others}
    settings = Settings(database_url=str(engine.url))
    return ingest_campaign(engine, settings, submissions=submissions, **arguments)


def counts(engine: Engine) -> dict[str, int]:
    with reading(engine) as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in Base.metadata.tables.items()
            if table is not Compatibility.__table__  # its row comes with the tables
        }


def place(job: IngestResult) -> tuple[int, int]:
    return job.campaign_id, job.test_set_id


def test_what_is_stored(engine: Engine) -> None:
    documents = [("news1", "news", ""), ("news1", "news", ""), ("talk", "speech", "accents")]
    job = take(
        engine,
        NewSubmission("s1", b"a\nb\nc", "t"),
        NewSubmission("s2", REFERENCE),
        test_set=NewTestSet("set", GOOD.references, GOOD.source, "en", "cs", documents),
    )
    with reading(engine) as connection:
        stored = connection.execute(select(TestSet)).one()
        assert (stored.id, stored.segments) == (job.test_set_id, 3)
        link = connection.execute(select(CampaignTestSet)).one()
        assert (link.campaign_id, link.test_set_id, link.name, link.version) == (*place(job), "set", "1")
        assert (stored.source_language, stored.target_language) == ("en", "cs")
        labels = select(Reference.label).order_by(Reference.position)
        assert list(connection.scalars(labels)) == ["A", "B"]
        runs = select(Document.first_segment, Document.segments, Document.name, Document.domain, Document.test_suite)
        assert [tuple(row) for row in connection.execute(runs.order_by(Document.first_segment))] == [
            (0, 2, "news1", "news", ""),
            (2, 1, "talk", "speech", "accents"),
        ]
        # The hash is that of the text file, and a text that is there twice is stored once.
        digest = hashlib.sha256(REFERENCE + b"\n").hexdigest()
        text = connection.execute(select(Text).where(Text.sha256 == digest)).one()
        assert (text.segments, text.bytes) == (3, 6)
        assert connection.scalar(select(TextBlock.content).where(TextBlock.text_id == text.id)) == REFERENCE
    assert counts(engine)["text"] == 4


def test_the_same_twice_gives_what_is_there(engine: Engine) -> None:
    submissions = (NewSubmission("s1", b"a\nb\nc"), NewSubmission("s2", b"d\ne\nf"))
    first = take(engine, *submissions)
    before = counts(engine)
    assert take(engine, *submissions) == first
    reverse = take(engine, *reversed(submissions))
    assert reverse.submissions == first.submissions[::-1]
    assert reverse.evaluations[0] == first.evaluations[0][::-1]
    assert counts(engine) == before
    # The same outputs on the same test set of another campaign are its own submissions.
    other = take(engine, *submissions, campaign="d")
    assert not {*other.submissions} & {*first.submissions}
    for campaign, known in (("c", first), ("d", other)):
        assert take(engine, *submissions, campaign=campaign).submissions == known.submissions


def test_only_what_is_new_is_queued(engine: Engine) -> None:
    first = take(engine, NewSubmission("s1", b"a\nb\nc"))
    more = NewProtocol(["A", "B"], [parse_metric("bleu")])
    second = take(engine, NewSubmission("s1", b"a\nb\nc"), NewSubmission("s2", b"a\nb\nd"), protocols=[PROTOCOL, more])
    assert second.evaluations[0][0] == first.evaluations[0][0]
    with reading(engine) as connection:
        members = connection.execute(select(ShardEvaluation.shard_id, ShardEvaluation.evaluation_id)).all()
    shards: dict[int, set[int]] = {}
    for shard, evaluation in members:
        shards.setdefault(shard, set()).add(evaluation)
    assert sorted(map(sorted, shards.values())) == sorted(
        [[first.evaluations[0][0]], [second.evaluations[0][1]], sorted(second.evaluations[1])]
    )


def test_protocols_are_the_same_by_content(engine: Engine) -> None:
    ways = [
        NewProtocol(["A"], [parse_metric("bleu:order=1-4")]),
        NewProtocol(["B"], [parse_metric("bleu")]),
        NewProtocol(["A", "B"], [parse_metric("bleu")]),
        NewProtocol(["B", "A"], [parse_metric("bleu")]),
        NewProtocol(["A"], [parse_metric("bleu")], replicates=10),
        NewProtocol(["A"], [parse_metric("bleu")], seed=1),
        NewProtocol(["A"], [parse_metric("bleu"), parse_metric("wer")]),
    ]
    job = take(engine, NewSubmission("s", b"a\nb\nc"), protocols=[PROTOCOL, *ways])
    assert job.protocols[1] == job.protocols[0], "order=1-4 is the default"
    assert len(set(job.protocols)) == 7
    assert counts(engine)["protocol"] == 7
    with reading(engine) as connection:
        assert connection.scalar(select(Protocol.metrics).where(Protocol.id == job.protocols[0])) == ["bleu"]


def test_test_sets_have_versions(engine: Engine) -> None:
    def store(
        content: bytes, name: str = "set", version: str | None = None, campaign: str = "c"
    ) -> tuple[int, str | None]:
        with writing(engine) as connection:
            campaign_id = store_campaign(connection, campaign)
            key = store_test_set(connection, campaign_id, NewTestSet(name, {"A": content}, version=version))
            return key, connection.scalar(select(CampaignTestSet.version).where(is_campaign_test_set(campaign_id, key)))

    first = store(b"one")
    assert first[1] == "1"
    assert store(b"one") == first
    assert store(b"two")[1] == "2"
    assert store(b"three", version="fixed")[1] == "fixed"
    with pytest.raises(BadIngest, match="version 'fixed' with different content"):
        store(b"four", version="fixed")
    # Known by content: the same under another name is the same.
    assert store(b"one", name="other") == first
    # What other campaigns have, and how they call it, shows in nothing.
    assert store(b"five", campaign="d")[1] == "1"
    assert store(b"one", name="other", campaign="d") == (first[0], "1")
    assert store(b"one", campaign="e") == first


@pytest.mark.parametrize(
    ("submissions", "others", "message"),
    [
        ([("s", b"a\nb")], {}, "The text of system 's' has 2 lines, but the test set has 3 segments"),
        ([("s", b"a\nb\nc"), ("s", b"d\ne\nf")], {}, "The system 's' is given twice"),
        ([("", b"a\nb\nc")], {}, "cannot be the name of a system"),
        ([("s" * 201, b"a\nb\nc")], {}, "cannot be the name of a system"),
        ([("s\0", b"a\nb\nc")], {}, "cannot be the name of a system"),
        ([("s", b"a\nb\nc")], {"test_set": NewTestSet("t", {})}, "has no reference"),
        (
            [("s", b"a\nb\nc")],
            {"test_set": NewTestSet("t", {"A": b"1\n2", "B": b"1\n2\n3"})},
            "different numbers of segments .*'A': 2, reference 'B': 3",
        ),
        (
            [("s", b"a\nb\nc")],
            {"test_set": NewTestSet("t", {"A": b"1\n2"}, documents=[("d", "", "")])},
            "document list: 1",
        ),
        *(
            ([("s", b"a\nb\nc")], {"test_set": NewTestSet("t", {"A": b"1"}, documents=[document])}, message)
            for document, message in (
                (("", "", ""), "'' cannot be the name of a document"),
                (("d" * 501, "", ""), "cannot be the name of a document: give 1 to 500 characters"),
                (("d", "n" * 101, ""), "cannot be the name of a domain"),
                (("d", "", "s" * 201), "cannot be the name of a test suite"),
            )
        ),
        ([("s", b"a\nb\nc")], {"campaign": ""}, "cannot be the name of a campaign"),
        ([("s", b"a\nb\nc")], {"protocols": [NewProtocol(["C"], PROTOCOL.metrics)]}, "the test set has A, B"),
        ([("s", b"a\nb\nc")], {"protocols": [NewProtocol([], PROTOCOL.metrics)]}, "References .none."),
        ([("s", b"a\nb\nc")], {"protocols": [NewProtocol(["A", "A"], PROTOCOL.metrics)]}, "each once"),
        ([("s", b"a\nb\nc")], {"protocols": [NewProtocol(["A"], [])]}, "at least one metric"),
        ([("s", b"a\nb\nc")], {"protocols": [NewProtocol(["A"], PROTOCOL.metrics, seed=-1)]}, "a seed from 0"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(
    engine: Engine, submissions: list[tuple[str, bytes]], others: dict[str, object], message: str
) -> None:
    with pytest.raises(BadIngest, match=message):
        take(engine, *(NewSubmission(*each) for each in submissions), **others)
    assert set(counts(engine).values()) == {0}


@given(st.lists(st.binary(max_size=3).map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=600))
def test_blocks_are_the_text(lines: list[bytes]) -> None:
    text = b"\n".join(lines)
    blocks = list(text_blocks(text))
    assert b"\n".join(blocks) == text
    assert sum(segment_count(block) for block in blocks) == segment_count(text) == len(lines)
    assert all(segment_count(block) == 256 for block in blocks[:-1])


def test_zeros_and_odd_bytes_come_back(engine: Engine) -> None:
    text = "\0a\u2028b\r\n\nč".encode()
    take(engine, NewSubmission("s", text))
    with reading(engine) as connection:
        assert text in set(connection.scalars(select(TextBlock.content)))


def test_many_systems_are_spread_over_several_shards(engine: Engine) -> None:
    settings = one_block_shards(str(engine.url), largest_shard_bytes=2 * 256 * 4096)
    job = queue_job(engine, settings, segments=300, systems=5)
    with reading(engine) as connection:
        sizes = connection.execute(
            select(Shard.first_block, func.count().label("systems"))
            .join(ShardEvaluation, ShardEvaluation.shard_id == Shard.id)
            .group_by(Shard.id, Shard.first_block)
        ).all()
        assert sorted((row.first_block, row.systems) for row in sizes) == sorted(
            [(0, 2), (0, 2), (0, 1), (1, 2), (1, 2), (1, 1)]
        )
        assert set(connection.scalars(select(Evaluation.remaining))) == {2}
    assert len(job.all_evaluations) == 5


def test_a_long_text(engine: Engine) -> None:
    reference = some_text(3000, 1)
    with writing(engine) as connection:
        store_test_set(connection, store_campaign(connection, "c"), NewTestSet("long", {"A": reference}))
    with reading(engine) as connection:
        blocks = connection.scalars(select(TextBlock.content).order_by(TextBlock.block))
        assert b"\n".join(blocks) == reference


def test_texts_that_stay_in_their_files_are_stored_as_those_that_are_held(engine: Engine, tmp_path: Path) -> None:
    reference, output = some_text(20_000, 1), some_text(20_000, 2)
    files = [tmp_path / "A.txt", tmp_path / "s.txt"]
    for file, text in zip(files, (reference, output), strict=True):
        file.write_bytes(text + b"\n")
    filed = [read_text(file, limits=TextLimits(held_bytes=0)) for file in files]
    assert all(isinstance(text, FiledText) for text in filed)
    with writing(engine) as connection:
        campaign = store_campaign(connection, "c")
        first = store_test_set(connection, campaign, NewTestSet("filed", {"A": filed[0]}, source=filed[1]))
        assert store_test_set(connection, campaign, NewTestSet("held", {"A": reference}, source=output)) == first
        # Of what is there already, the file is not read again.
        files[0].unlink()
        assert store_test_set(connection, campaign, NewTestSet("filed", {"A": filed[0]}, source=filed[1])) == first
    with reading(engine) as connection:
        for row in connection.execute(select(Text.id, Text.segments, Text.bytes)):
            blocks = connection.scalars(
                select(TextBlock.content).where(TextBlock.text_id == row.id).order_by(TextBlock.block)
            )
            assert b"\n".join(blocks) in {reference, output}
            assert (row.segments, row.bytes) == (20_000, len(reference if row.id == 1 else output))


def test_what_was_a_sweep_becomes_a_leaderboard_and_stays_one(engine: Engine) -> None:
    swept = replace(PROTOCOL, sweep=True)
    for protocol, boards in ((swept, 0), (PROTOCOL, 1), (swept, 1)):
        take(engine, NewSubmission("mast", b"a\nb\nc"), protocols=[protocol])
        with reading(engine) as connection:
            assert len(list_boards(connection)) == boards


def test_the_same_text_is_another_submission_for_another_test_set_campaign_team_system_or_run(engine: Engine) -> None:
    other = NewTestSet("other", {"A": b"1\n2\n3"})
    found: dict[int, tuple[int, int, tuple[str, str, str]]] = {}
    for campaign, test_set, again in product(("c", "d"), (GOOD, other), range(2)):
        outputs = list(product(("", "harbour"), ("mast", "keel"), ("1", "2")))
        new = [NewSubmission(system, REFERENCE, team, run=run) for team, system, run in outputs]
        done = take(engine, *(reversed(new) if again else new), campaign=campaign, test_set=test_set)
        for key, output in zip(done.submissions, reversed(outputs) if again else outputs, strict=True):
            assert found.setdefault(key, (done.campaign_id, done.test_set_id, output)) == (
                *(done.campaign_id, done.test_set_id), output,
            )  # fmt: skip
    assert len(found) == 4 * 8
    with reading(engine) as connection:
        rows = connection.execute(
            select(
                Submission.id, Submission.campaign_id, Submission.test_set_id, Submission.run, System.team, System.name
            ).join(System, System.id == Submission.system_id)
        ).all()
    assert {row.id: (row.campaign_id, row.test_set_id, (row.team, row.name, row.run)) for row in rows} == found


def test_a_test_set_that_a_campaign_has_keeps_its_name_there(engine: Engine) -> None:
    with writing(engine) as connection:
        bay, port = (store_campaign(connection, name) for name in ("bay", "port"))
        first = store_test_set(connection, bay, NewTestSet("news", {"A": b"x"}))
        link_test_set(connection, bay, first, "talks", "7")
        link_test_set(connection, port, first, "talks", "7")
        with pytest.raises(BadIngest) as refused:
            store_test_set(connection, port, NewTestSet("talks", {"A": b"y"}, version="7"))
        assert str(refused.value) == (
            "Test set 'talks' already exists in version '7' with different content. Test sets never change: give the "
            "new content a new version."
        )
        named = select(CampaignTestSet.campaign_id, CampaignTestSet.name, CampaignTestSet.version)
        rows = connection.execute(named.order_by(CampaignTestSet.campaign_id)).all()
    assert [tuple(each) for each in rows] == [(bay, "news", "1"), (port, "talks", "7")]


@pytest.mark.parametrize(
    "other", ["CHŘEST 1", "chřest 1".upper(), "chr\u030cest 1", "chřest \uff11", "CHR\u030cEST \u2460"]
)
def test_a_campaign_that_looks_like_another_is_refused(engine: Engine, other: str) -> None:
    """Written in other letters, composed in another way, or with digits of another width: in whichever order."""
    for first, second in (("chřest 1", other), (f"{other} x", "chřest 1 x")):
        with writing(engine) as connection:
            assert store_campaign(connection, first) == store_campaign(connection, first)
            with pytest.raises(BadIngest) as error:
                store_campaign(connection, second)
        assert str(error.value).startswith(f'There is a campaign "{first}", which looks like "{second}". ')


def test_an_output_of_each_run_is_given_once(engine: Engine) -> None:
    outputs = [NewSubmission("s", b"a\nb\n%d" % number, run=run) for number, run in enumerate(("", "1", "2"))]
    assert len(set(take(engine, *outputs).submissions)) == 3
    before = counts(engine)
    for again in outputs:
        with pytest.raises(BadIngest, match=r"The system 's'.* is given twice"):
            take(engine, *outputs, replace(again, text=b"x\ny\nz"))
    assert counts(engine) == before


def test_a_new_test_set_stands_behind_all_others_of_its_campaign(engine: Engine) -> None:
    """Whatever was taken away before, and where its name has free versions between those that are there."""
    with writing(engine) as connection:
        campaign, other = store_campaign(connection, "c"), store_campaign(connection, "other")
        store_test_set(connection, other, NewTestSet("set", {"A": b"another"}))
        ids = [store_test_set(connection, campaign, NewTestSet("set", {"A": b"%d" % n})) for n in range(3)]
        connection.execute(delete(CampaignTestSet).where(CampaignTestSet.test_set_id == ids[1]))
        ids.append(store_test_set(connection, campaign, NewTestSet("set", {"A": b"3"})))
        ids.append(store_test_set(connection, campaign, NewTestSet("set", {"A": b"4"})))
        columns = CampaignTestSet.test_set_id, CampaignTestSet.version
        ours = select(*columns).where(CampaignTestSet.campaign_id == campaign).order_by(CampaignTestSet.position)
        found = [tuple(row) for row in connection.execute(ours)]
        positions = select(CampaignTestSet.position).where(CampaignTestSet.campaign_id == campaign)
        assert len(set(connection.scalars(positions))) == len(found)
    assert found == list(zip((ids[0], ids[2], ids[3], ids[4]), ("1", "3", "2", "4"), strict=True))


def test_single_references_come_first_whatever_is_given_first(engine: Engine) -> None:
    """Leaderboards are shown in the order of their protocols; the answer is in the order of the request."""
    bleu, ter = parse_metric("bleu"), parse_metric("ter")
    given_ones = [NewProtocol(labels, [metric]) for labels in ("AB", "B", "A") for metric in (ter, bleu)]
    job = take(engine, protocols=given_ones)
    with reading(engine) as connection:
        stored = select(Protocol.id, Protocol.reference_labels, Protocol.metrics).order_by(Protocol.id)
        rows = connection.execute(stored).all()
    assert ["".join(row.reference_labels) for row in rows] == ["A", "A", "B", "B", "AB", "AB"]
    described = {row.id: ("".join(row.reference_labels), tuple(row.metrics)) for row in rows}
    assert [described[protocol] for protocol in job.protocols] == [
        ("".join(each.references), (each.metrics[0].specification,)) for each in given_ones
    ]


@pytest.mark.parametrize("segments", [1, 255, 256, 257, 600])
def test_outputs_of_which_there_are_only_scores_read_as_empty_lines(engine: Engine, segments: int) -> None:
    """As many as the test set has segments, in each range of blocks."""
    with writing(engine) as connection:
        campaign = store_campaign(connection, "c")
        test_set = store_test_set(connection, campaign, NewTestSet("scores", {}, segments=segments))
        stored = store_systems_without_texts(connection, campaign, test_set, ["a", "b"])
        assert store_systems_without_texts(connection, campaign, test_set, ["b", "a"]) == stored[::-1]
        texts = list(connection.scalars(select(Submission.text_id).order_by(Submission.id)))
        blocks = -(-segments // 256)
        assert read_texts(connection, texts, 0, blocks) == [b"\n" * (segments - 1)] * 2
        parts = [read_texts(connection, texts[:1], block, block + 1)[0] for block in range(blocks)]
        assert b"\n".join(parts) == b"\n" * (segments - 1)
