"""What the comparison of metrics shows to whom, and segment scores, which come with an evaluation's end."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import BadRequest, Forbidden, NotFound, NotSignedIn
from campaigns.inspection.judgments import rename_judgments
from campaigns.inspection.metrics_and_human import read_metrics
from campaigns.inspection.segment_scores import find_measure, read_measures, segment_scores
from campaigns.permissions import read_access
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind, SiteRole, TeamRole
from models.schema.states import EvaluationState, JudgmentKind
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.inspected_campaign import REFERENCES, Looked, look_at
from tests.service.service import DAY, Service


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


def access_of(bay: Looked, principal: Principal = COMMAND_LINE):
    with reading(bay.service.engine) as connection:
        return read_access(connection, principal, "bay")


def member_of(bay: Looked) -> Principal:
    return Principal(bay.gull, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={"gulls": TeamRole.MEMBER})


def shown(bay: Looked, principal: Principal, **asked: object) -> list[str]:
    view = read_metrics(bay.service.app.state.steelyard.boards, access_of(bay, principal), **asked)
    assert view.board is not None
    return [row.system for row in view.board.rows]


def test_the_order_of_anonymous_systems_tells_nothing_of_them(bay: Looked) -> None:
    """Neither their scores, nor their names, which break ties."""
    best = "\n".join(REFERENCES["A"]).encode() + b"\n"
    submit_output(bay.service.engine, "bay", "terns", "best", best, test_set="bay")
    work_off(bay.service.settings)
    bay.service.campaign("bay", anonymous=True)
    bay.service.phase(bay.campaign, "open", PhaseKind.OPEN)
    assert shown(bay, COMMAND_LINE)[0] == "best"
    assert shown(bay, NOBODY)[-1] == "best", "as they came"


def test_who_leaves_systems_out_and_sees_what_is_equal(bay: Looked) -> None:
    dive = bay.submissions["dive"]
    member = member_of(bay)
    assert shown(bay, member, without={dive, 999}) == ["soar"]
    with pytest.raises(NotSignedIn):
        shown(bay, NOBODY, without={dive})
    with writing(bay.service.engine) as connection:
        text = select(Submission.text_id).where(Submission.id == dive).scalar_subquery()
        connection.execute(update(Submission).values(text_id=text))
    for principal, told in ((COMMAND_LINE, True), (member, False), (NOBODY, False)):
        view = read_metrics(bay.service.app.state.steelyard.boards, access_of(bay, principal))
        assert bool(view.equals) is told
        assert view.left_out == frozenset()
    view = read_metrics(bay.service.app.state.steelyard.boards, access_of(bay), without={dive})
    assert (view.left_out, [row.system for row in view.systems].count("dive")) == (frozenset({dive}), 1)
    with pytest.raises(NotFound, match="A\\+C"):
        shown(bay, COMMAND_LINE, references="C,A")
    bay.service.phase(bay.campaign, "week", PhaseKind.BLIND, ends=DAY)
    with pytest.raises(Forbidden):
        shown(bay, member)


def test_the_newest_version_of_the_first_judgments_is_chosen(bay: Looked) -> None:
    with writing(bay.service.engine) as connection:
        for name, score in (("b", 1.0), ("a", 1.0), ("b", 2.0)):
            judged = NewJudgments(name, JudgmentKind.SCORES, {}, [SystemRow("dive", score), SystemRow("soar", 3.0)])
            store_judgments(connection, bay.campaign, bay.test_set, judged)
    view = read_metrics(bay.service.app.state.steelyard.boards, access_of(bay))
    assert [each.title for each in view.judgments] == ["a@1", "b@2"]
    assert view.chosen is not None
    assert view.chosen.title == "a@1"
    for wanted, title in (("b", "b@2"), ("b@1", "b@1")):
        asked = read_metrics(bay.service.app.state.steelyard.boards, access_of(bay), human=wanted)
        assert asked.chosen is not None
        assert asked.chosen.title == title


@pytest.mark.parametrize("state", [each for each in EvaluationState if each is not EvaluationState.DONE])
def test_segments_have_scores_once_the_evaluation_is_done(bay: Looked, state: EvaluationState) -> None:
    dive, soar = bay.submissions["dive"], bay.submissions["soar"]
    with writing(bay.service.engine) as connection:
        (measure, *_) = read_measures(connection, bay.campaign, bay.test_set)
        assert set(segment_scores(connection, measure, [dive, soar])) == {dive, soar}
        assert set(segment_scores(connection, measure, [soar])) == {soar}
        connection.execute(update(Evaluation).where(Evaluation.submission_id == dive).values(state=state))
        assert set(segment_scores(connection, measure, [dive, soar])) == {soar}
        assert read_measures(connection, bay.campaign + 1, bay.test_set) == []


def test_measures_are_found_as_people_call_them(bay: Looked) -> None:
    with reading(bay.service.engine) as connection:
        bleu, ter = read_measures(connection, bay.campaign, bay.test_set)
    for wanted in ("ter", "TER", ter.specification, ter.key):
        assert find_measure([bleu, ter], wanted) is ter
    assert find_measure([bleu, ter], "", "B,A") is bleu
    assert find_measure([], "ter", "C") is None
    for wanted, references in (("chrf", ""), ("ter", "A"), ("", "A,B,C")):
        with pytest.raises(NotFound, match="TER against A\\+B"):
            find_measure([bleu, ter], wanted, references)


def test_judgments_that_rank_go_by_their_new_name_once_no_test_set_has_the_old_one(bay: Looked) -> None:
    engine = bay.service.engine
    with_test_set(engine, "bay", given(b"x\ny\nz\n"), name="talks")
    judged = NewJudgments("esa", JudgmentKind.SCORES, {}, [SystemRow("dive", 1.0)])
    other = bay.service.campaign("other")
    with writing(engine) as connection:
        talks = connection.scalar(select(CampaignTestSet.test_set_id).where(CampaignTestSet.name == "talks"))
        for campaign, test_set in ((bay.campaign, bay.test_set), (bay.campaign, talks), (other, bay.test_set)):
            store_judgments(connection, campaign, test_set, judged)
        connection.execute(update(Campaign).values(human_judgments="esa@1"))

    def renamed(test_set: str, name: str, to: str) -> list[str]:
        with writing(engine) as connection:
            rename_judgments(connection, read_access(connection, COMMAND_LINE, "bay"), test_set, name, to)
            ranked = select(Campaign.human_judgments).order_by(Campaign.id)
            return [each or "" for each in connection.scalars(ranked)]

    assert renamed("talks", "esa", "people") == ["esa@1", "esa@1"], "the other test set has them still"
    assert renamed("bay", "esa", "people") == ["people@1", "esa@1"]
    assert renamed("talks", "people", "again") == ["people@1", "esa@1"]
    with reading(engine) as connection:
        told = select(AuditEntry.subject, AuditEntry.details, AuditEntry.campaign_id).where(
            AuditEntry.action == "human-scores.rename"
        )
        entry = connection.execute(told.order_by(AuditEntry.id)).first()
    assert entry is not None
    assert (entry.subject, entry.details["name"]) == ("human scores esa of test set talks@1", ["esa", "people"])
    assert entry.campaign_id == bay.campaign
    with pytest.raises(Forbidden), writing(engine) as connection:
        rename_judgments(connection, read_access(connection, member_of(bay), "bay"), "", "people", "x")


def test_a_leaderboard_is_read_again_when_it_has_changed(bay: Looked) -> None:
    boards = bay.service.app.state.steelyard.boards
    first = read_metrics(boards, access_of(bay)).board
    assert first is not None
    assert read_metrics(boards, access_of(bay)).board is first
    submit_output(bay.service.engine, "bay", "terns", "late", b"a\nb\nc\nd\n", test_set="bay")
    waiting = read_metrics(boards, access_of(bay)).board
    assert waiting is not None
    assert (len(waiting.rows), [bool(row.scores) for row in waiting.rows][-1]) == (len(first.rows) + 1, False)
    work_off(bay.service.settings)
    done = read_metrics(boards, access_of(bay)).board
    assert done is not None
    assert all(row.scores for row in done.rows)


def test_judgments_are_renamed_to_a_name_that_is_free_and_can_be_one(bay: Looked) -> None:
    engine = bay.service.engine
    with writing(engine) as connection:
        for name in ("da", "esa"):
            judged = NewJudgments(name, JudgmentKind.SCORES, {}, [SystemRow("dive", 1.0)])
            store_judgments(connection, bay.campaign, bay.test_set, judged)
    for name, to, error, says in (
        ("esa", "da", BadRequest, "There are human judgments 'da' of this test set already. Choose another name."),
        ("mqm", "x", NotFound, "There are no human judgments 'mqm' of this test set. There are: da, esa."),
    ):
        with pytest.raises(error) as refused, writing(engine) as connection:
            rename_judgments(connection, read_access(connection, COMMAND_LINE, "bay"), "", name, to)
        assert str(refused.value) == says
    with reading(engine) as connection:
        assert not connection.scalars(select(AuditEntry.id).where(AuditEntry.action == "human-scores.rename")).all()
