"""What a team sees of its own scores, and that it sees no more."""

import math
from dataclasses import asdict, replace

import pytest
from sqlalchemy import event, insert, select, update

from campaigns.accounts.principal import principal_of_token
from campaigns.leaderboards.feedback import EvaluationFeedback, ScoreFeedback, read_feedback
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import make_engine, reading, writing
from models.schema.campaigns import LadderStep
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import Feedback, PhaseKind
from models.schema.states import EvaluationState
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.registry import parse_metric
from tests.service.scored_campaigns import Scored
from tests.service.service import Service


@pytest.fixture
def scored(service: Service) -> Scored:
    """Harbour (zoe) and lighthouse (eve) in mary's campaign; nobody has submitted anything."""
    found = Scored(service)
    found.add("", "baseline", 20.0)
    accounts = {name: service.account(name) for name in ("mary", "zoe", "eve", "sam")}
    teams = service.team("harbour", accounts["zoe"]), service.team("lighthouse", accounts["eve"])
    service.campaign("port", organisers=(accounts["mary"],), teams=teams)
    service.people = accounts  # type: ignore[attr-defined]
    return found


def blind(scored: Scored, feedback: Feedback, step: float = 1.0, kind: PhaseKind = PhaseKind.BLIND) -> None:
    scored.service.phase(scored.campaign_id, feedback.value + kind, kind, feedback=feedback, feedback_step=step)


def access_of(scored: Scored, name: str) -> CampaignAccess:
    client = scored.service.program(scored.service.people[name])  # type: ignore[attr-defined]
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    with reading(scored.service.engine) as connection:
        return read_access(connection, principal_of_token(connection, secret), "port")


def told(scored: Scored, name: str, *submissions: int) -> list[EvaluationFeedback]:
    found = read_feedback(scored.service.engine, access_of(scored, name), submissions)
    return [each for submission in submissions for each in found[submission]]


def bleu(scored: Scored, name: str, submission: int) -> ScoreFeedback:
    return told(scored, name, submission)[0].scores[0]


@pytest.mark.parametrize("kind", [PhaseKind.BLIND, PhaseKind.OPEN])
@pytest.mark.parametrize("feedback", Feedback)
def test_all_that_is_reported(scored: Scored, feedback: Feedback, kind: PhaseKind) -> None:
    """Every field: nothing is disclosed beside what the rule allows."""
    blind(scored, feedback, 2.0, kind)
    ours = scored.add("harbour", "mast", 31.2345, ter=None)
    (board,) = told(scored, "zoe", ours)
    (other,) = told(scored, "mary", ours)
    full = other.scores[0]
    assert full.low is not None
    assert full.high is not None
    of_rule: dict[Feedback, dict[str, object]] = {
        Feedback.FULL: {"score": 31.2345, "low": full.low, "high": full.high, "details": {"BP": 0.987}},
        Feedback.ROUNDED: {"score": 32.0},
        Feedback.INTERVAL: {"low": math.floor(full.low / 2) * 2, "high": math.ceil(full.high / 2) * 2},
        Feedback.LADDER: {"score": 32.0, "improved": True},
        Feedback.NONE: {},
    }
    rule = Feedback.FULL if kind == PhaseKind.OPEN else feedback
    shown = rule != Feedback.NONE
    assert board.scores == (
        ScoreFeedback("bleu", "BLEU", "bleu|version:1", True, 100.0, shown, **of_rule[rule]),  # type: ignore[arg-type]
        ScoreFeedback(
            "ter", "TER", "ter|version:1", False, 100.0, shown, improved=False if rule == Feedback.LADDER else None
        ),
    )
    assert replace(board, scores=()) == EvaluationFeedback(
        *(
            ours,
            scored.evaluations[ours],
            scored.protocol,
            ("A",),
            EvaluationState.DONE,
            None,
            rule,
            2.0,
            False,
            0.95,
            (),
        )
    )
    # Of what is withheld another level would show more: it is for what is shown in full.
    at_half = read_feedback(scored.service.engine, access_of(scored, "zoe"), [ours], 0.5)[ours][0]
    if rule == Feedback.FULL:
        assert at_half.level == 0.5
        assert full.low < at_half.scores[0].low < at_half.scores[0].high < full.high  # type: ignore[operator]
    else:
        assert at_half == board
    assert full.score == 31.2345
    assert other.feedback == Feedback.FULL


@pytest.mark.parametrize("rule", Feedback)
def test_a_list_without_intervals_shows_the_same_of_all_else(scored: Scored, rule: Feedback) -> None:
    blind(scored, rule)
    ours = scored.add("harbour", "mast", 31.2345)
    access = access_of(scored, "zoe")
    (known,) = read_feedback(scored.service.engine, access, [ours])[ours]
    (listed,) = read_feedback(scored.service.engine, access, [ours], intervals=False)[ours]
    if rule == Feedback.FULL:
        known = replace(known, scores=tuple(replace(each, low=None, high=None) for each in known.scores))
    assert listed == known


def test_a_list_without_intervals_reads_no_replicates(scored: Scored) -> None:
    ours = scored.add("harbour", "mast", 31.2345)
    asked: list[str] = []
    event.listen(scored.service.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    read_feedback(scored.service.engine, access_of(scored, "zoe"), [ours], intervals=False)
    assert any("specification" in each for each in asked)
    assert not any("replicate_scores" in each for each in asked)


def test_full(scored: Scored) -> None:
    blind(scored, Feedback.FULL)
    ours = scored.add("harbour", "mast", 31.2345)
    score = bleu(scored, "zoe", ours)
    assert (score.score, score.disclosed, score.details) == (31.2345, True, {"BP": 0.987})
    assert score.low is not None
    assert score.high is not None
    assert score.low < 31.2345 < score.high


def test_rounded(scored: Scored) -> None:
    blind(scored, Feedback.ROUNDED, 0.5)
    ours = scored.add("harbour", "mast", 31.2345, ter=None)
    (board,) = told(scored, "zoe", ours)
    first, second = board.scores
    assert (first.score, first.low, first.high, first.details) == (31.0, None, None, None)
    assert (second.disclosed, second.score) == (True, None), "undefined"
    assert "0.5 points" in board.words


@pytest.mark.parametrize("feedback", [Feedback.ROUNDED, Feedback.LADDER])
def test_a_step_is_a_share_of_the_scale(scored: Scored, feedback: Feedback) -> None:
    """Two points of a hundred are 0.2 where scores go to 10."""
    blind(scored, feedback, 2.0)
    ours = scored.add("harbour", "mast", 3.1234)
    with writing(scored.service.engine) as connection:
        connection.execute(update(Score).values(scale=10.0))
    assert bleu(scored, "zoe", ours).score == 3.2


def test_interval_only(scored: Scored) -> None:
    ours = scored.add("harbour", "mast", 31.2345)
    full = bleu(scored, "mary", ours)
    blind(scored, Feedback.INTERVAL, 2.0)
    score = bleu(scored, "zoe", ours)
    assert (score.score, score.details) == (None, None)
    assert full.low is not None
    assert full.high is not None
    assert (score.low, score.high) == (math.floor(full.low / 2) * 2, math.ceil(full.high / 2) * 2)


def test_an_interval_that_is_not_there_is_not_made_up_for_by_the_score(service: Service, scored: Scored) -> None:
    bare = Scored(service, references=("B",), version="2", replicates=0)
    ours = bare.add("harbour", "mast", 31.2345)
    blind(scored, Feedback.INTERVAL)
    (board,) = told(scored, "zoe", ours)
    assert [(each.disclosed, each.score, each.low) for each in board.scores] == [(False, None, None)] * 2


def test_nothing(scored: Scored) -> None:
    blind(scored, Feedback.NONE)
    ours = scored.add("harbour", "mast", 31.2345)
    (board,) = told(scored, "zoe", ours)
    assert board.scores[0].signature == "bleu|version:1"
    assert "31.2" not in str(asdict(board))
    assert "0.987" not in str(asdict(board))
    assert not any(each.disclosed for each in board.scores)


@pytest.mark.parametrize("feedback", Feedback)
def test_others_see_nothing_and_organisers_all(scored: Scored, feedback: Feedback) -> None:
    blind(scored, feedback)
    ours = scored.add("harbour", "mast", 31.2345)
    for stranger in ("eve", "sam"):
        (board,) = told(scored, stranger, ours)
        assert not any(each.disclosed for each in board.scores)
        assert "31." not in str(asdict(board))
    assert bleu(scored, "mary", ours).score == 31.2345


@pytest.mark.parametrize("kind", [PhaseKind.OPEN, PhaseKind.PUBLISHED])
def test_all_see_all_where_the_board_is_shown(scored: Scored, kind: PhaseKind) -> None:
    blind(scored, Feedback.NONE, kind=kind)
    assert bleu(scored, "eve", scored.add("harbour", "mast", 31.2345)).score == 31.2345


def test_a_closed_phase_tells_no_more_than_the_one_before(scored: Scored) -> None:
    ours = scored.add("harbour", "mast", 31.2345)
    blind(scored, Feedback.ROUNDED, 5.0)
    scored.service.phase(scored.campaign_id, "shut", PhaseKind.CLOSED, begins=-10)
    assert bleu(scored, "zoe", ours).score == 30.0, "in the steps of the phase before, too"


def test_the_ladder_tells_the_best_until_it_is_beaten_by_a_step(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    scores = (30.2, 30.9, 29.0, 31.1, 32.0, None, 35.0)
    ours = [scored.add("harbour", f"mast{number}", score) for number, score in enumerate(scores)]
    found = [each.scores[0] for each in told(scored, "zoe", *ours)]
    assert [(each.score, each.improved) for each in found] == [
        *((30.0, True), (30.0, False), (30.0, False), (31.0, True), (31.0, False), (None, False), (35.0, True))
    ]
    assert [each.low for each in found] == [None] * 7
    assert bleu(scored, "zoe", ours[0]).score == 30.0, "what was disclosed stays so"
    ter = [each.scores[1] for each in told(scored, "zoe", *ours)]
    assert [(each.score, each.improved) for each in ter[:2]] == [(50.0, True), (50.0, False)]


def test_the_ladder_goes_by_the_order_of_submission_not_by_who_is_done_first(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    first = scored.add("harbour", "slow", None, state="running")
    second = scored.add("harbour", "quick", 40.0)
    (board,) = told(scored, "zoe", second)
    assert (board.waiting, board.scores) == (True, ())
    scored.finish(first, 45.0)
    assert bleu(scored, "zoe", second).score == 45.0
    assert bleu(scored, "zoe", first).improved


def test_each_way_of_measuring_has_a_ladder_of_its_own(service: Service, scored: Scored) -> None:
    other = Scored(service, references=("A", "B"), version="2")
    blind(scored, Feedback.LADDER)
    ours = [scored.add("harbour", name, score) for name, score in (("mast", 40.0), ("sail", 39.0))]
    theirs = [
        other.add("harbour", name, score, ter=ter)
        for name, score, ter in (("mast", 20.0, 70.0), ("hull", 23.0, 66.0), ("keel", 22.0, 68.0))
    ]
    found = [[(each.score, each.improved) for each in board.scores] for board in told(scored, "zoe", *ours, *theirs)]
    assert found == [
        [(40.0, True), (50.0, True)],
        [(40.0, False), (50.0, False)],
        [(20.0, True), (70.0, True)],
        [(23.0, True), (66.0, True)],
        [(23.0, False), (66.0, False)],
    ]


def test_an_output_that_is_measured_in_two_ways_is_on_two_ladders(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    ours = [scored.add("harbour", name, score) for name, score in (("mast", 40.0), ("sail", 45.0))]
    assert [bleu(scored, "zoe", each).score for each in ours] == [40.0, 45.0]
    with writing(scored.service.engine) as connection:
        new = NewProtocol(["A"], [parse_metric(each) for each in scored.metrics], 7)
        (protocol,) = store_protocols(connection, scored.test_set, [new])
        # The later output was queued first there.
        for submission, value in ((ours[1], 20.0), (ours[0], 30.0)):
            row = {"submission_id": submission, "protocol_id": protocol, "state": EvaluationState.DONE}
            evaluation = connection.execute(insert(Evaluation).values(**row).returning(Evaluation.id)).scalar_one()
            known = connection.execute(select(Score).where(Score.evaluation_id == scored.evaluations[submission])).all()
            connection.execute(
                insert(Score), [{**each._mapping, "evaluation_id": evaluation, "score": value} for each in known]
            )
    found = [(each.protocol_id, each.scores[0].score, each.scores[0].improved) for each in told(scored, "zoe", *ours)]
    assert found == [
        *((scored.protocol, 40.0, True), (protocol, 30.0, True)),
        *((scored.protocol, 45.0, True), (protocol, 30.0, False)),
    ]


def test_submissions_to_another_campaign_are_on_no_ladder_here(scored: Scored) -> None:
    """Also where the other campaign measures in the very same way."""
    other = Scored(scored.service, name="other")
    other.add("harbour", "mast", 60.0)
    assert other.protocol == scored.protocol
    blind(scored, Feedback.LADDER)
    ours = scored.add("harbour", "mast", 40.0)
    other.add("harbour", "mast", None, state="running")
    later = scored.add("harbour", "sail", 45.0)
    scores = [each.scores[0] for each in told(scored, "zoe", ours, later)]
    assert [(each.score, each.improved) for each in scores] == [(40.0, True), (45.0, True)]
    with reading(scored.service.engine) as connection:
        assert set(connection.scalars(select(LadderStep.submission_id))) == {ours, later}


def test_what_failed_holds_nobody_up_and_withdrawing_gives_no_new_try(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    scored.add("harbour", "broken", None, state="failed")
    best = scored.add("harbour", "best", 40.0)
    assert bleu(scored, "zoe", best).score == 40.0
    scored.withdraw(best)
    assert bleu(scored, "zoe", scored.add("harbour", "next", 35.0)).score == 40.0


def test_an_undefined_score_is_no_step_and_what_comes_after_is_told(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    undefined = scored.add("harbour", "undefined", None)
    assert bleu(scored, "zoe", undefined).score is None
    first = scored.add("harbour", "first", 30.4)
    assert bleu(scored, "zoe", first).score == 30.0
    assert bleu(scored, "zoe", scored.add("harbour", "again", None)).score is None
    assert bleu(scored, "zoe", scored.add("harbour", "worse", 20.0)).score == 30.0
    with reading(scored.service.engine) as connection:
        steps = select(LadderStep.disclosed, LadderStep.improved).where(LadderStep.metric == 0)
        rows = connection.execute(steps.order_by(LadderStep.submission_id)).all()
    assert [tuple(each) for each in rows] == [(None, False), (30.0, True), (None, False), (30.0, False)]


def test_each_team_climbs_its_own_ladder(scored: Scored) -> None:
    blind(scored, Feedback.LADDER)
    scored.add("harbour", "mast", 60.0)
    assert bleu(scored, "eve", scored.add("lighthouse", "lamp", 20.4)).score == 20.0


def test_submissions_of_other_campaigns_are_not_disclosed(scored: Scored) -> None:
    other = Scored(scored.service, name="other")
    theirs = other.add("harbour", "mast", 31.0)
    assert read_feedback(scored.service.engine, access_of(scored, "mary"), [theirs]) == {theirs: []}


def test_the_ladder_is_climbed_once_on_both_databases(database_url: str, service: Service) -> None:
    """The steps are written under a lock that both databases have."""
    service.engine = make_engine(database_url)
    service.settings = service.settings.model_copy(update={"database_url": database_url})
    scored = Scored(service)
    account = service.account("zoe")
    ours = [scored.add("harbour", f"mast{score}", score) for score in (30.0, 30.5, 33.0)]
    service.campaign("port", teams=(service.team("harbour", account),))
    service.people = {"zoe": account}  # type: ignore[attr-defined]
    blind(scored, Feedback.LADDER)
    for _ in range(2):
        assert [each.scores[0].score for each in told(scored, "zoe", *ours)] == [30.0, 30.0, 33.0]


@pytest.mark.parametrize(
    ("feedback", "step", "words"),
    [
        (Feedback.FULL, 1.0, ""),
        (Feedback.NONE, 1.0, "Scores are not shown while the phase is blind."),
        (Feedback.ROUNDED, 1.0, "Scores are rounded to whole points while the phase is blind."),
        (Feedback.ROUNDED, 0.5, "Scores are rounded to 0.5 points while the phase is blind."),
        (Feedback.INTERVAL, 1.0, "(95 %, its ends rounded outwards to whole points)."),
        (Feedback.LADDER, 1.0, "improves on your best by more than 1 point; otherwise"),
        (Feedback.LADDER, 2.0, "improves on your best by more than 2 points; otherwise"),
    ],
)
def test_what_people_read_about_it(scored: Scored, feedback: Feedback, step: float, words: str) -> None:
    blind(scored, feedback, step)
    (board,) = told(scored, "zoe", scored.add("harbour", "mast", 31.2))
    assert (board.feedback, board.step) == (feedback, step)
    assert words in board.words
    assert bool(board.words) == (feedback != Feedback.FULL)


def test_a_phase_without_a_step_that_can_be_used_tells_whole_points(scored: Scored) -> None:
    blind(scored, Feedback.ROUNDED, 0.0)
    (board,) = told(scored, "zoe", scored.add("harbour", "mast", 31.2))
    assert (board.step, board.scores[0].score) == (1.0, 31.0)
    assert "rounded to whole points" in board.words


@pytest.mark.parametrize("feedback", Feedback)
@pytest.mark.parametrize("state", ["queued", "running", "reducing", "failed", "cancelled"])
def test_scores_of_what_is_measured_again_are_not_disclosed(scored: Scored, feedback: Feedback, state: str) -> None:
    """The rows of the last time may still be there."""
    blind(scored, feedback)
    ours = scored.add("harbour", "mast", 31.2345)
    with writing(scored.service.engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.submission_id == ours).values(state=state))
    for name in ("zoe", "mary"):
        (board,) = told(scored, name, ours)
        assert (board.state, board.scores, board.waiting) == (state, (), False)


@pytest.mark.parametrize("feedback", Feedback)
def test_the_ladder_is_climbed_under_its_own_rule_alone(scored: Scored, feedback: Feedback) -> None:
    """Else a step that nobody saw would hold back what is disclosed later."""
    blind(scored, feedback)
    ours = [scored.add("harbour", f"mast{score}", score) for score in (40.0, 30.0)]
    scored.add("lighthouse", "lamp", 35.0)
    for name in ("mary", "eve", "sam"):
        told(scored, name, *ours)
    told(scored, "zoe", *ours)
    with reading(scored.service.engine) as connection:
        steps = connection.execute(select(LadderStep.team, LadderStep.submission_id).distinct()).all()
    expected = {("harbour", each) for each in ours} if feedback == Feedback.LADDER else set()
    assert {tuple(each) for each in steps} == expected


def test_a_sweep_of_a_parameter_is_not_disclosed(scored: Scored) -> None:
    ours = scored.add("harbour", "mast", 31.2345)
    with writing(scored.service.engine) as connection:
        connection.execute(update(Protocol).values(sweep=True))
    assert told(scored, "mary", ours) == []


def test_submissions_come_back_in_the_order_of_the_question_with_all_their_protocols(
    service: Service, scored: Scored
) -> None:
    first, second = (scored.add("harbour", name, score) for name, score in (("mast", 31.0), ("sail", 32.0)))
    other = Scored(service, references=("A", "B"), version="2")
    third = other.add("harbour", "hull", 33.0)
    found = read_feedback(service.engine, access_of(scored, "mary"), [third, first, second, first])
    assert list(found) == [third, first, second]
    assert [[each.scores[0].score for each in told] for told in found.values()] == [[33.0], [31.0], [32.0]]
    assert found[third][0].references == ("A", "B")
