"""What tables of campaigns say, from their documents alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from steelyard.commands.errors import CommandError
from steelyard.tables.table import Estimate
from steelyard_client.commands import backend
from steelyard_client.commands.accounts.user import _state as state_of_account
from steelyard_client.commands.campaigns import output, quota
from steelyard_client.commands.campaigns.metrics_task import print_metrics_task
from steelyard_client.commands.submissions import evaluations, submission, submit_output
from steelyard_client.commands.submissions.submit import _told_failures
from steelyard_client.commands.submissions.submit_pairs import _test_sets as offered_test_sets
from steelyard_client.documents.accounts.accounts import AccountResponse
from steelyard_client.documents.campaigns import test_sets
from steelyard_client.documents.campaigns.campaigns import CampaignResponse
from steelyard_client.documents.campaigns.phases import PhaseResponse
from steelyard_client.documents.campaigns.quotas import QuotaUsageResponse, RefundResponse, TeamQuotasResponse
from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse
from steelyard_client.documents.submissions.evaluations import (
    EvaluationResponse,
    EvaluationsChangeResponse,
    EvaluationSelection,
    SelectedEvaluation,
    StoredScore,
)
from steelyard_client.documents.submissions.submissions import (
    FeedbackResponse,
    ProgressResponse,
    ScoreResponse,
    SubmissionWithScoresResponse,
)
from steelyard_client.vocabulary import DeclaredKind, EvaluationState

if TYPE_CHECKING:
    from steelyard_client import Client

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def submitted(**changed: Any) -> SubmissionWithScoresResponse:
    values = {
        "id": 7, "campaign": "wmt", "team": "harbour", "system": "mast", "run": "", "test_set": "news@1",
        "created_at": NOON, "kind": "primary", "constrained": None, "description": "", "phase": "Test",
        "late_seconds": 0.0, "withdrawn_at": None, "evaluations": [], "feedback": [],
        "progress": ProgressResponse.model_construct(state="done"),
    }  # fmt: skip
    return SubmissionWithScoresResponse.model_construct(**values | changed)


def facts(**changed: Any) -> dict[str, str]:
    return {row[0]: row[1] for row in submission._facts(submitted(**changed)).rows}


def test_a_submission_is_told_with_what_was_declared() -> None:
    plain = facts()
    assert plain["Submitted"].startswith("30 November 2026, 12:00")
    assert facts(late_seconds=90.4)["Submitted"] == plain["Submitted"] + ", 90 s late"
    assert (plain["System"], facts(run="2")["System"], facts(team="")["System"]) == (
        *("harbour/mast", "harbour/mast/2", "mast"),
    )
    assert [facts(constrained=each)["Declared"] for each in (None, True, False)] == [
        *("primary", "primary, constrained", "primary, unconstrained"),
    ]
    assert (facts(kind="")["Declared"], facts(phase="")["Phase"], plain["Description"]) == ("-", "-", "-")
    assert (plain["State"], facts(withdrawn_at=NOON)["State"]) == ("done", "withdrawn")
    failed = [EvaluationResponse.model_construct(references=["A", "B"], reason=each) for each in ("full", None)]
    assert facts(evaluations=failed)["Failed: A, B"] == "full"


def test_scores_have_their_intervals_only_where_both_ends_are_told() -> None:
    def score(value: float | None, low: float | None, high: float | None) -> ScoreResponse:
        return ScoreResponse.model_construct(title="BLEU", score=value, low=low, high=high)

    given = [score(30.0, 28.0, 33.0), score(30.0, None, 33.0), score(30.0, 28.0, None), score(None, 28.0, 33.0)]
    feedback = FeedbackResponse.model_construct(references=["A"], words="rounded", scores=given)
    (table,) = submission._scores(submitted(feedback=[feedback]))
    assert [row[1] for row in table.rows] == [
        *(Estimate(30.0, (28.0, 33.0)), Estimate(30.0, None), Estimate(30.0, None), None),
    ]
    assert (table.title, list(table.notes)) == ("Against A", ["rounded"])


def usage(**changed: Any) -> QuotaUsageResponse:
    values = {
        "kind": "per_day", "of_what": "submissions of 30 November", "used": 2, "amount": 2, "full": True,
        "free_at": None, "time_zone": "Asia/Tokyo",
    }  # fmt: skip
    return QuotaUsageResponse.model_construct(**values | changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"full": False}, "now"),
        ({"full": False, "amount": None}, "now"),
        ({"free_at": NOON}, "30 November 2026, 21:00 (Asia/Tokyo)"),
        ({"amount": 0}, "never"),
        ({"kind": "in_flight"}, "when one has ended"),
        ({"kind": "per_phase"}, "in another phase"),
    ],
)
def test_when_the_next_submission_is_possible(changed: dict[str, Any], said: str) -> None:
    assert quota._next(usage(**changed)) == said


@pytest.mark.parametrize(("count", "notes"), [(0, 0), (1, 1), (2, 3)])
def test_what_does_not_count_is_told_with_its_reason(count: int, notes: int) -> None:
    back = [RefundResponse(submission=number, reason=["full", None][number]) for number in range(count)]
    found = TeamQuotasResponse.model_construct(campaign="wmt", phase="Test", usage=[usage()], given_back=back)
    table = quota._usage(found, "harbour")
    assert table.title == 'Team harbour in wmt, phase "Test"'
    assert len(table.notes) == notes
    assert [each in " ".join(table.notes) for each in ("count: full", "it was cancelled", "2 submissions in all")] == [
        *(count > 0, count > 1, count > 1),
    ]


def phase(name: str, hours: float, **changed: Any) -> PhaseResponse:
    values = {
        "id": 1, "name": name, "kind": "blind", "starts_at": NOON + timedelta(hours=hours), "ends_at": None,
        "grace_seconds": 0.0, "feedback": "full", "now": False,
    }  # fmt: skip
    return PhaseResponse.model_construct(**values | changed)


def test_of_several_phases_one_is_now() -> None:
    phases = [phase("Dev", -2), phase("Test", -1, now=True, grace_seconds=5400.0), phase("Final", 1, kind="open")]
    table = output.phase_table(phases, "UTC")
    assert [row[0] for row in table.rows] == ["", "*", ""]
    assert [row[5] for row in table.rows] == ["rejected", "accepted for 1.5 h", "rejected"]
    assert [row[6] for row in table.rows] == ["full", "full", None]

    def takes(phases: list[PhaseResponse], **changed: Any) -> str:
        known = {"frozen_at": None, "phase": "Test", "takes_submissions": True}
        return output._takes(CampaignResponse.model_construct(**known | changed), phases)

    assert takes(phases) == 'yes, the phase is "Test"'
    assert takes(phases, takes_submissions=False) == 'no, the phase is "Test"'
    assert takes([phases[0], phases[2]]) == 'no, the phase "Test" is over'
    assert takes(phases, frozen_at=NOON) == "no, it is frozen"
    assert takes(phases[2:], phase=None) == "no, its first phase has not begun"
    assert takes([], phase=None) == "yes, it has no phases"


def test_a_test_set_that_was_corrected_names_the_one_that_counts() -> None:
    def known(**changed: Any) -> test_sets.TestSetResponse:
        values = {
            "id": 1, "name": "news", "version": "1", "segments": 3, "source_language": "", "target_language": "cs",
            "phase": "", "references": ["A"], "released_at": None, "replaced_by": None,
        }  # fmt: skip
        return test_sets.TestSetResponse.model_construct(**values | changed)

    table = output.test_set_table(
        [known(id=2, version="2"), known(released_at=NOON, replaced_by=2), known(replaced_by=9)]
    )
    assert [(row[0], row[5]) for row in table.rows] == [
        *(("news@2", "hidden"), ("news", "replaced by news@2"), ("news", "replaced by another one")),
    ]
    assert output.test_set_table([known(released_at=NOON)]).rows[0][2:] == ["?-cs", None, ["A"], "released"]


def test_outputs_of_a_folder_are_for_the_versions_that_count() -> None:
    """By its name; with the version where several of one name take outputs, each with its own references."""

    def known(number: int, name: str, version: str, replaced_by: int | None = None, source: str = "en") -> Any:
        return test_sets.TestSetResponse.model_construct(
            id=number, name=name, version=version, source_language=source, target_language="cs", replaced_by=replaced_by
        )

    class Offering:
        def __init__(self, *there: Any) -> None:
            self.there = there

        def list_test_sets(self, campaign: str) -> Any:
            return self.there if campaign == "wmt" else ()

    def offered(*there: Any) -> dict[str, str]:
        return offered_test_sets(cast("Client", Offering(*there)), "wmt")

    corrected = known(1, "news", "1", replaced_by=2)
    assert offered(corrected, known(2, "news", "2"), known(3, "talks", "1", source="")) == {
        "news": "en-cs",
        "talks": "",
    }
    assert offered(known(1, "news", "1"), known(2, "news", "2")) == {"news@1": "en-cs", "news@2": "en-cs"}


def test_what_keeps_somebody_from_signing_in_is_told() -> None:
    def said(**changed: Any) -> str:
        values = {"has_password": True, "verified_at": NOON, "disabled_at": None}
        return state_of_account(AccountResponse.model_construct(**values | changed))

    assert said() == "good"
    assert said(disabled_at=NOON) == "disabled"
    assert said(has_password=False, verified_at=None) == "no password, not confirmed"


@pytest.mark.parametrize("verb", ["retry", "recompute"])
def test_only_what_was_shown_is_queued_again(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever else matches the selection by the time that somebody has said yes."""
    asked: list[tuple[Any, bool]] = []

    def change(selection: EvaluationSelection, *, dry_run: bool = False) -> EvaluationsChangeResponse:
        asked.append((selection, dry_run))
        there = [EvaluationResponse.model_construct(id=number) for number in ((3, 5) if dry_run else (3,))]
        return EvaluationsChangeResponse.model_construct(evaluations=there)

    monkeypatch.setattr(evaluations, "planned", lambda *_: "")
    evaluations._queued_again(verb, change, {"campaign": "wmt", "states": ("failed",), "team": ""}, yes=True)
    assert asked == [
        (EvaluationSelection(campaign="wmt", states=["failed"]), True),
        (EvaluationSelection(evaluations=[3, 5]), False),
    ]
    assert "1 was queued again by somebody else" in capsys.readouterr().err


def test_the_progress_of_several_submissions_is_counted_on(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that have ended are not waited for."""

    def created(number: int, segments: int, *, ended: bool = False) -> Any:
        return SimpleNamespace(id=number, progress=SimpleNamespace(segments=segments, ended=ended))

    class Watched:
        def watch_submission(self, number: int) -> Any:
            return [SimpleNamespace(segments_done=done) for done in {1: (4, 10), 3: (0, 20, 30)}[number]]

    waiting = [created(1, 10), created(2, 500, ended=True), created(3, 30)]
    backend.finish_submissions(cast("Client", Watched()), cast("Any", waiting))
    assert capsys.readouterr().err.splitlines() == [f"segments {done} of 40" for done in (4, 10, 30, 40)]


def score(**changed: Any) -> ScoreResponse:
    values = {
        "metric": "bleu", "title": "BLEU", "signature": "s", "higher_is_better": True, "disclosed": True,
        "score": 30.25, "low": None, "high": None, "rank": None, "ranked": None, "scale": 100.0,
    }  # fmt: skip
    return ScoreResponse.model_construct(**values | changed)


def told_feedback(*scores: ScoreResponse, state: str = "done", reason: str | None = None) -> str:
    feedback = FeedbackResponse.model_construct(
        evaluation=4, references=["A"], words="", remark="", scores=list(scores), level=0.95
    )
    evaluation = EvaluationResponse.model_construct(id=4, state=state, reason=reason)
    return submit_output.rendered([submitted(feedback=[feedback], evaluations=[evaluation])], None, "text", 2)


@pytest.mark.parametrize(
    ("shown", "row"),
    [
        (score(), ["A", "BLEU", "30.25"]),
        (score(low=28.0, high=33.0), ["A", "BLEU", "30.25", "[28.00,", "33.00]"]),
        (score(disclosed=False, score=None), ["A", "BLEU", "hidden"]),
        (score(score=None, low=28.0, high=33.0), ["A", "BLEU", "[28.00,", "33.00]"]),
        (score(score=None), ["A", "BLEU", "n/a"]),
        (score(rank=2, ranked=5), ["A", "BLEU", "30.25", "2", "of", "5"]),
        (score(ranked=5), ["A", "BLEU", "30.25", "-"]),
    ],
)
def test_a_score_is_shown_as_far_as_the_phase_tells_it(shown: ScoreResponse, row: list[str]) -> None:
    assert told_feedback(shown).splitlines()[-1].split() == row


def test_an_evaluation_without_scores_says_why() -> None:
    assert told_feedback(state="failed", reason="The disk is full.").splitlines()[-1].split() == [
        "A", "n/a", "failed:", "The", "disk", "is", "full.",
    ]  # fmt: skip


def test_a_document_of_a_folder_has_what_was_refused_beside_what_was_stored() -> None:
    progress = ProgressResponse.model_construct(state=EvaluationState.DONE)
    stored = [submitted(id=number, kind=DeclaredKind.PRIMARY, progress=progress) for number in (7, 8)]
    both = json.loads(submit_output.rendered(stored, {"en-de.txt": "It is empty."}, "json", 1))
    assert [each["id"] for each in both["stored"]] == [7, 8]
    assert both["refused"] == [{"file": "en-de.txt", "reason": "It is empty."}]
    assert json.loads(submit_output.rendered(stored[:1], None, "json", 1))["id"] == 7


def test_what_has_no_scores_is_told_with_its_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    def ended(*states: str) -> SubmissionWithScoresResponse:
        return submitted(
            evaluations=[EvaluationResponse.model_construct(state=each, reason=f"It {each}.") for each in states]
        )

    assert not _told_failures([ended("done"), ended("done", "done")])
    assert capsys.readouterr().err == ""
    assert _told_failures([ended("done", "failed"), ended("cancelled", "cancelled")])
    assert capsys.readouterr().err == "steelyard: It failed.\nsteelyard: 2 evaluation(s) were cancelled.\n"
    assert _told_failures([ended("cancelled")])


def test_long_lists_of_evaluations_end_with_how_many_more_there_are() -> None:
    most = evaluations.MOST_ROWS
    many = [
        SelectedEvaluation.model_construct(
            id=number, campaign="wmt", test_set="news@1", references=["A"], team="", system="mast", run="",
            state="failed",
        )
        for number in range(1, most + 3)
    ]  # fmt: skip

    def plan(amount: int) -> str:
        selected = EvaluationsChangeResponse.model_construct(evaluations=many[:amount], skipped={"done": 1200})
        return evaluations.planned("retry", selected)

    assert plan(most + 2).endswith("and 2 more\nSkipped: 1,200 done.\n")
    assert "more" not in plan(most)

    def stored(value: float, digest: str = "") -> list[StoredScore]:
        return [
            StoredScore(
                evaluation=each.id, position=0, title="BLEU", signature="s", score=value, digest=digest or str(value)
            )
            for each in many
        ]

    changed, same = evaluations.compared(many, stored(1.0), stored(2.0))
    assert (changed.splitlines()[0], same) == (f"{most + 2} of {most + 2} scores differ from those before:", False)
    assert changed.splitlines()[-1] == "and 2 more"
    assert (
        "and 2 more\nWhere the score is the same, its" in evaluations.compared(many, stored(1.0), stored(1.0, "x"))[0]
    )
    assert evaluations.compared(many, stored(1.0), stored(1.0)) == (
        f"All {most + 2} scores are the same to the bit as before.\n", True,
    )  # fmt: skip
    assert evaluations.compared(many, [], stored(1.0)) == ("There were no scores before to compare with.\n", True)
    assert evaluations.compared(many, stored(1.0), []) == (
        "There are no new scores to compare with the old ones.\n", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"failures": ["comet: no model", "bleurt: killed"]},
            "wmt: nothing could be computed. comet: no model; bleurt",
        ),
        ({"evaluations_waiting": 1}, "wmt has judgments, and 1 evaluation of what was judged waits to be scored."),
        ({"evaluations_waiting": 2}, "wmt has judgments, and 2 evaluations of what was judged wait to be scored."),
        ({}, "wmt has no scores of the same segments by metrics and by people. Import judgments of segments: "),
    ],
)
def test_a_metrics_task_without_metrics_says_why(changed: dict[str, Any], says: str) -> None:
    values = {"campaign": "wmt", "metrics": [], "failures": [], "evaluations_waiting": 0}
    with pytest.raises(CommandError) as refused:
        print_metrics_task(MetricsTaskResponse.model_construct(**values | changed), "text")
    assert str(refused.value).startswith(says)
