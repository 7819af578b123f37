"""A corrected reference: everything anew on a new version, the old one beside it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.comparison import CorrectedScore, compare_correction
from campaigns.corrections.corrections import correct_test_set, find_correction, list_corrections
from campaigns.declarations import DeclarationUpdate, declare_submission, reinstate, why_locked, withdraw
from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.permissions import read_access
from campaigns.test_sets.files import NamedContent
from campaigns.test_sets.stored import find_campaign_test_set, list_campaign_test_sets, remove_test_set
from models.corpus.campaign_protocols import find_test_set_protocols
from models.corpus.judgments import (
    NewJudgments,
    RatingRow,
    SegmentRow,
    SystemRow,
    delete_judgments,
    list_judgments,
    read_ratings,
    read_segments,
    read_systems,
    store_judgments,
)
from models.database.session import make_engine, reading, writing
from models.errors import NotFound as RecordNotFound
from models.schema.campaigns import Campaign, CampaignTestSet, Correction, Declaration, Phase, SubmissionFindings
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Shard
from models.schema.roles import DeclaredKind
from models.schema.states import JudgmentKind
from runtime.settings import Settings
from steelyard.errors import BadText
from steelyard.formats.plain import Text
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set

OLD = b"the small cat sleeps here now\na dog runs over the hill\nwe see a house\n"
NEW = b"the small cat sleeps here now\na dog runs up the hill\nwe see a house\n"


def text(lines: bytes, name: str = "A.txt") -> Text:
    return Text(name, lines.rstrip(b"\n"), lines.count(b"\n"))


def correct_it(engine: Engine, lines: bytes = NEW, label: str = "A", reason: str = "A typing error") -> int:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        test_set = find_campaign_test_set(connection, access, "news")
        return correct_test_set(connection, Settings(), access, test_set, {label: text(lines)}, reason)


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=database_url)


def add_campaign(engine: Engine, name: str) -> None:
    found(engine, name)
    other = NamedContent("B.txt", b"x one\ny two\nz three\n")
    with_test_set(
        engine,
        name,
        given(
            references=[NamedContent("A.txt", OLD), other],
            documents=NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta\n1\ta\n2\tb\n"),
        ),
        metrics=("bleu", "ter"),
        replicates=10,
    )


@pytest.fixture
def engine(database_url: str) -> Engine:
    engine = make_engine(database_url)
    add_campaign(engine, "wmt")
    submit_output(engine, "wmt", "harbour", "mast", OLD, declared=DeclaredKind.PRIMARY)
    submit_output(engine, "wmt", "guests", "tent", NEW, description="best of all")
    submit_output(engine, "wmt", "guests", "bag", b"nothing\nof\nit\n")
    with writing(engine) as connection:
        withdraw(connection, COMMAND_LINE, 3)
    return engine


def test_standing_submissions_are_rescored_and_the_old_scores_stay(engine: Engine, settings: Settings) -> None:
    work_off(settings)
    number = correct_it(engine)
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        new, old = list_campaign_test_sets(connection, access)
        assert (new.title, old.title, old.replaced_by) == ("news@2", "news", new.id)
        assert new.references == ("A", "B")
        assert find_test_set_protocols(connection, "wmt").test_set.id == new.id
        with pytest.raises(RecordNotFound, match="There are: news@2"):
            find_test_set_protocols(connection, "wmt", "news@1")
        # Against B alone nothing is different: what is there is taken over, and no text is measured again.
        shards = list(connection.scalars(select(Shard.id).where(Shard.state == "pending")))
        assert len(shards) == 2, "against A, and against A and B"
    work_off(settings)
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        correction = find_correction(connection, access, number)
        bleu, ter, *others = compare_correction(connection, access, correction)
        rows = connection.execute(select(Submission).order_by(Submission.id)).all()
        declared = {row.submission_id: row for row in connection.execute(select(Declaration))}
        measured = set(connection.scalars(select(Evaluation.submission_id)))
    assert (correction.test_set, correction.old_version, correction.new_version) == ("news", "1", "2")
    assert correction.reason == "A typing error"
    assert (bleu.references, bleu.title, ter.title) == (("A",), "BLEU", "TER")
    assert [(row.system, row.old_rank, row.new_rank, row.risen) for row in bleu.rows] == [
        ("tent", 2, 1, 1),
        ("mast", 1, 2, -1),
    ]
    tent, mast = bleu.rows
    assert (tent.new, mast.old) == (pytest.approx(100), pytest.approx(100))
    assert tent.old is not None
    assert tent.difference == pytest.approx(100 - tent.old)
    assert [(row.system, row.new_rank) for row in ter.rows] == [("tent", 1), ("mast", 2)]
    alone = next(each for each in others if each.references == ("B",))
    assert all(row.difference == 0 for row in alone.rows)
    # The submissions themselves, in their order, with their times and all that was said of them.
    assert [(row.system_id, row.text_id, row.created_at) for row in rows[:3]] == [
        (row.system_id, row.text_id, row.created_at) for row in rows[3:]
    ]
    assert declared[4].kind == DeclaredKind.PRIMARY
    assert declared[5].description == "best of all"
    assert declared[6].withdrawn_at == declared[3].withdrawn_at
    assert measured == {1, 2, 3, 4, 5}


def test_submissions_to_another_campaign_with_the_test_set_stay_there(engine: Engine) -> None:
    add_campaign(engine, "other")
    submit_output(engine, "other", "guests", "raft", NEW)
    with reading(engine) as connection:
        both = select(Submission.test_set_id).distinct()
        assert len(connection.scalars(both).all()) == 1
    correct_it(engine)
    with reading(engine) as connection:
        there = select(Campaign.name, func.count()).join(Submission).group_by(Campaign.name)
        assert dict(connection.execute(there).all()) == {"wmt": 6, "other": 1}


def test_what_checks_have_found_comes_along(engine: Engine) -> None:
    findings = [{"code": "empty", "segments": [1]}]
    with writing(engine) as connection:
        connection.execute(insert(SubmissionFindings).values(submission_id=2, findings=findings))
    correct_it(engine)
    with reading(engine) as connection:
        rows = connection.execute(
            select(SubmissionFindings.submission_id, SubmissionFindings.findings).order_by(
                SubmissionFindings.submission_id
            )
        )
        assert [tuple(row) for row in rows] == [(2, findings), (5, findings)]


def test_references_that_are_out_stay_out_and_the_place_is_kept(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=77.0, position=5))
    correct_it(engine)
    with reading(engine) as connection:
        rows = connection.execute(select(CampaignTestSet.references_released_at, CampaignTestSet.position))
        assert [tuple(row) for row in rows] == [(77.0, 5)] * 2


def test_corrected_references_belong_together(engine: Engine) -> None:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        test_set = find_campaign_test_set(connection, access, "news")
        references = {label: replace(text(NEW, label), language=each) for label, each in (("A", "cs"), ("B", "de"))}
        with pytest.raises(BadText, match="must be in one language"):
            correct_test_set(connection, Settings(), access, test_set, references, "A typing error")


def test_what_was_withdrawn_is_measured_once_it_stands_again(engine: Engine) -> None:
    correct_it(engine)
    measured = select(func.count()).select_from(Evaluation).where(Evaluation.submission_id == 6)
    with writing(engine) as connection:
        assert connection.execute(measured).scalar_one() == 0
        reinstate(connection, Settings(), COMMAND_LINE, 6)
        assert (
            declare_submission(connection, COMMAND_LINE, 6, DeclarationUpdate(kind=DeclaredKind.PRIMARY)).kind
            == DeclaredKind.PRIMARY
        )
        assert connection.execute(measured).scalar_one() == 3


def test_a_request_that_is_sent_again_finds_what_stands_now(engine: Engine) -> None:
    first = submit_output(engine, "wmt", "guests", "flag", NEW, request_key="k")
    correct_it(engine)
    again = submit_output(engine, "wmt", "guests", "flag", NEW, request_key="k")
    assert (first.submission, again.submission, again.stored, again.queued) == (4, 8, False, False)


def test_what_comes_in_while_references_are_corrected_is_for_the_new_test_set(engine: Engine) -> None:
    with ThreadPoolExecutor(1) as pool:
        with writing(engine) as connection:
            access = lock_for_change(connection, COMMAND_LINE, "wmt")
            test_set = find_campaign_test_set(connection, access, "news")
            correct_test_set(connection, Settings(), access, test_set, {"A": text(NEW)}, "why")
            coming = pool.submit(submit_output, engine, "wmt", "guests", "flag", NEW)
            # It waits for us, and has not looked yet which test set there is.
            with pytest.raises(TimeoutError):
                coming.result(0.3)
        assert coming.result().measures.test_set.version == "2"


def test_teams_declare_what_stands_on_the_new_test_set(engine: Engine) -> None:
    correct_it(engine)
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        old, new = min(access.test_sets), max(access.test_sets)
        assert "were corrected" in why_locked(access, old)
        assert why_locked(access, new) == ""


def test_a_correction_is_corrected_again(engine: Engine) -> None:
    correct_it(engine)
    correct_it(engine, b"the tiny cat sleeps here now\na dog runs up the hill\nwe see a house\n")
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        assert find_test_set_protocols(connection, "wmt").test_set.version == "3"
        assert [each.version for each in list_campaign_test_sets(connection, access)] == ["3", "1", "2"]
        assert [(each.old_version, each.new_version) for each in list_corrections(connection, access)] == [
            ("2", "3"),
            ("1", "2"),
        ]
        with pytest.raises(NotFound):
            find_correction(connection, access, 99)


def test_all_but_the_references_that_are_corrected_stays_as_it_is(database_url: str) -> None:
    """Else they would not be those of the first test set again. In more blocks than one."""
    engine, rest, times = make_engine(database_url), "\t_" * 7, range(100)
    words = "".join(f"1\t{word}{n}\t{word[:3]}{n}{rest}\n\n" for n in times for word in ("kočka", "psa", "domu"))
    documents = "".join(f"{3 * n}\ta{n}\tsea\t\n{3 * n + 1}\ta{n}\tsea\t\n{3 * n + 2}\tb{n}\t\tx\n" for n in times)
    lines = b"".join(b"cat %d\n\nhouse %d\n" % (n, n) for n in times)
    found(engine, "wmt")
    with_test_set(
        engine,
        "wmt",
        given(
            source="".join(f"{n}\n" for n in range(300)).encode(),
            references=[NamedContent("A.txt", lines), NamedContent("B.conllu", words.encode())],
            documents=NamedContent("docs.tsv", f"segment\tdoc_id\tdomain\ttest_suite\n{documents}".encode()),
            variable_references=True,
        ),
    )
    correct_it(engine, lines.replace(b"cat", b"cats"))
    with pytest.raises(Conflict, match="identical content"):
        correct_it(engine, lines)


def test_what_stands_for_a_test_set_is_not_removed(database_url: str) -> None:
    """Nobody has submitted anything; but the one before would lead nowhere."""
    engine = make_engine(database_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt", given(references=[NamedContent("A.txt", OLD)]))
    correct_it(engine)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        with pytest.raises(Conflict, match="news@2"):
            remove_test_set(connection, access, find_campaign_test_set(connection, access, "news@2"))


@pytest.mark.parametrize(
    ("lines", "label", "reason", "message"),
    [
        (OLD, "A", "why", "identical to those"),
        (NEW, "C", "why", "references A, B.*unknown: C"),
        (NEW, "A", " ", "reason for the correction"),
    ],
)
def test_what_is_no_correction_is_refused(engine: Engine, lines: bytes, label: str, reason: str, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        correct_it(engine, lines, label, reason)


def test_the_newest_version_alone_is_corrected(engine: Engine) -> None:
    correct_it(engine, NEW)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        old = find_campaign_test_set(connection, access, "news@1")
        with pytest.raises(Conflict) as refused:
            correct_test_set(connection, Settings(), access, old, {"A": text(NEW)}, "why")
    assert str(refused.value) == "The test set news has already been replaced. Correct its newest version."


def test_a_correction_that_fails_changes_nothing(engine: Engine) -> None:
    with pytest.raises(BadText, match="2 lines, 1 fewer"):
        correct_it(engine, b"a\nb\n")
    with reading(engine) as connection:
        assert connection.execute(select(func.count()).select_from(Correction)).scalar_one() == 0
        assert connection.execute(select(func.count()).select_from(Submission)).scalar_one() == 3
        assert find_test_set_protocols(connection, "wmt").test_set.version == "1"
        assert connection.execute(select(func.count()).select_from(Campaign)).scalar_one() == 1


def test_the_list_of_corrections_comes_in_pages_and_of_one_campaign(engine: Engine) -> None:
    found(engine, "other")
    with_test_set(engine, "other", given(b"hrad\nzub\nles\n"), name="other")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "other")
        test_set = find_campaign_test_set(connection, access, "other")
        other = correct_test_set(connection, Settings(), access, test_set, {"A": text(b"hrad\nzub\nlesy\n")}, "why")
    texts = (NEW, NEW.replace(b"dog", b"bitch"), NEW.replace(b"dog", b"fox"))
    first, second, third = (correct_it(engine, lines, reason=str(number)) for number, lines in enumerate(texts, 1))
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        everything = list_corrections(connection, access)
        page = list_corrections(connection, access, before=third, limit=1)
        with pytest.raises(NotFound):
            find_correction(connection, access, other)
    assert [(each.id, each.old_version, each.new_version, each.reason) for each in everything] == [
        *((third, "3", "4", "3"), (second, "2", "3", "2"), (first, "1", "2", "1")),
    ]
    assert page == everything[1:2]


@pytest.mark.parametrize("hidden", ["old_test_set_id", "new_test_set_id"])
def test_a_correction_is_hidden_with_either_of_its_test_sets(engine: Engine, hidden: str) -> None:
    number = correct_it(engine)
    with writing(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        known = find_correction(connection, access, number)
        later = {"campaign_id": access.campaign_id, "name": "later", "kind": "open", "starts_at": access.at + 3600}
        phase = connection.execute(insert(Phase).values(**later).returning(Phase.id)).scalar_one()
        bound = CampaignTestSet.test_set_id == getattr(known, hidden)
        connection.execute(update(CampaignTestSet).where(bound).values(phase_id=phase))
        access = replace(read_access(connection, COMMAND_LINE, "wmt"), organises=False)
        assert list_corrections(connection, access) == []
        with pytest.raises(NotFound):
            find_correction(connection, access, number)


def test_systems_are_compared_that_were_there_before_and_ranked_as_far_as_they_are(
    engine: Engine, settings: Settings
) -> None:
    submit_output(engine, "wmt", "guests", "bag", b"the small cat\na dog runs\nwe see\n", declared=DeclaredKind.PRIMARY)
    submit_output(engine, "wmt", "crew", "oar", NEW)
    work_off(settings)
    number = correct_it(engine)
    submit_output(engine, "wmt", "late", "sail", NEW)
    with reading(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        waiting, *_ = compare_correction(connection, access, find_correction(connection, access, number))
    work_off(settings)
    with reading(engine) as connection:
        bleu, ter, *_ = compare_correction(connection, access, find_correction(connection, access, number))
    seen = [(row.team, row.system, row.submission_id, row.ranked, row.old_rank, row.new_rank) for row in bleu.rows]
    # The guests have a primary: their other system has scores, and no rank.
    assert seen == [
        *(("crew", "oar", 10, True, 2, 1), ("harbour", "mast", 6, True, 1, 2), ("guests", "bag", 9, True, 3, 3)),
        ("guests", "tent", 7, False, None, None),
    ]
    assert [each.system for each in ter.rows] == ["oar", "mast", "bag", "tent"]
    assert (ter.higher_is_better, bleu.higher_is_better) == (False, True)
    assert all(row.old is not None and row.new is not None for row in (*bleu.rows, *ter.rows))
    assert [(row.system, row.new, row.new_rank) for row in waiting.rows] == [
        *(("mast", None, None), ("tent", None, None), ("bag", None, None), ("oar", None, None)),
    ]
    assert {row.system: row.old_rank for row in waiting.rows} == {"oar": 2, "mast": 1, "bag": 3, "tent": None}
    assert all(row.difference is None for row in waiting.rows)


def test_ranks_that_are_unknown_say_nothing() -> None:
    row = CorrectedScore("a", "b", 1, None, 3.0, True, None, 1)
    assert (row.difference, row.risen) == (None, None)


def test_human_judgments_come_along(engine: Engine) -> None:
    """They are of the outputs and the source, which are the same."""
    with writing(engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        campaign, (test_set,) = access.campaign_id, access.test_sets
        rows = [SystemRow("mast", 1.5), SystemRow("tent", 0.5)]
        segments, ratings = [SegmentRow("mast", 0, 2.0)], [RatingRow("eva", "mast", 0, 90.0)]
        for name in ("da", "mqm"):
            store_judgments(
                connection,
                campaign,
                test_set,
                NewJudgments(name, JudgmentKind.RATINGS, {"z": True}, rows, segments, ratings),
            )
    correct_it(engine)
    with reading(engine) as connection:
        new = max(read_access(connection, COMMAND_LINE, "wmt").test_sets)
        assert new != test_set
        before, after = list_judgments(connection, campaign, test_set), list_judgments(connection, campaign, new)
        assert [each.title for each in after] == [each.title for each in before] == ["da@1", "mqm@1"]
        assert {each.id for each in before} & {each.id for each in after} == set()
        for each in after:
            assert read_systems(connection, each.id) == rows
            assert read_segments(connection, each.id) == segments
            assert read_ratings(connection, each.id) == ratings
            assert (each.kind, each.method) == (JudgmentKind.RATINGS, {"z": True})
    with writing(engine) as connection:
        again = NewJudgments("da", JudgmentKind.RATINGS, {"z": True}, rows, segments, ratings)
        assert store_judgments(connection, campaign, new, again)[1] is False, "the same content is known there, too"
        delete_judgments(connection, after[0].id)
        assert [each.title for each in list_judgments(connection, campaign, new)] == ["mqm@1"]
        assert [each.title for each in list_judgments(connection, campaign, test_set)] == ["da@1", "mqm@1"]
