"""What `submit` asks for and shows of several outputs and evaluations, from documents alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard_client.commands import backend
from steelyard_client.commands.submissions.submit_output import rendered
from steelyard_client.documents.submissions.evaluations import EvaluationResponse
from steelyard_client.documents.submissions.submissions import (
    FeedbackResponse,
    ScoreResponse,
    SubmissionWithScoresResponse,
)


def scored(number: int, test_set: str, *evaluations: tuple[int, str, str, float | None]) -> Any:
    """A submission with evaluations: number, reference, what went wrong, and the score of the only metric."""
    return SubmissionWithScoresResponse.model_construct(
        id=number, test_set=test_set,
        evaluations=[
            EvaluationResponse.model_construct(id=each, state="failed" if reason else "done", reason=reason or None)
            for each, _, reason, _ in evaluations
        ],
        feedback=[
            FeedbackResponse.model_construct(
                evaluation=each, references=[reference], words="", level=0.95, remark="",
                scores=[] if score is None else [
                    ScoreResponse.model_construct(
                        metric="ter", title="TER", signature="s", higher_is_better=False, scale=100.0, disclosed=True,
                        score=score, low=None, high=None, rank=None, ranked=None,
                    )
                ],
            )
            # Not in the order of the evaluations.
            for each, reference, _, score in reversed(evaluations)
        ],
    )  # fmt: skip


SUBMISSIONS = [
    scored(7, "news@1", (1, "A", "", 30.5), (2, "B", "The disk is full.", None)),
    scored(8, "talks@2", (3, "A", "", 41.25)),
]


def test_all_outputs_have_their_scores_in_a_table_for_programs() -> None:
    rows = list(csv.DictReader(io.StringIO(rendered(SUBMISSIONS, {}, "csv", 1))))
    found = [(each["submission"], each["test_set"], each["references"], each["score"]) for each in rows]
    assert found == [("7", "news@1", "A", "30.5"), ("8", "talks@2", "A", "41.25")]


def test_what_went_wrong_stands_with_the_references_that_it_is_about() -> None:
    lines = rendered(SUBMISSIONS[:1], None, "text", 1).splitlines()
    (done,) = [line.split() for line in lines if line.startswith("A ")]
    (failed,) = [line for line in lines if line.startswith("B ")]
    assert done == ["A", "TER", "↓", "30.5"]
    assert failed.endswith("failed: The disk is full.")


@pytest.mark.parametrize(
    "more", [[], ["--origin", "baseline"], ["--override"], ["--run", "2", "--input-format", "plain"]]
)
def test_a_preview_asks_for_what_would_be_submitted(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out.txt").write_text("one\ntwo\n")
    asked: dict[str, dict[str, Any]] = {}

    def check_output(campaign: str, content: bytes, **fields: Any) -> Any:
        asked["check"] = {"campaign": campaign, "content": content, **fields}
        return SimpleNamespace(fatal=False, findings=[])

    def submit_output(campaign: str, content: bytes, **fields: Any) -> Any:
        asked["submit"] = {"campaign": campaign, "content": content, **fields}
        raise SystemExit

    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield SimpleNamespace(check_output=check_output, submit_output=submit_output)

    monkeypatch.setattr(backend, "connected", connected)
    words = ["submit", "out.txt", "--campaign", "wmt", "--system", "mast", "--team", "crew", *more]
    assert main([*words, "--preview"]) == 0
    with pytest.raises(SystemExit):
        main(words)
    assert asked["check"].items() <= asked["submit"].items()
    # What only a stored output has.
    left_out = {"key", "kind", "constrained", "description", "queue_class", "due_at"}
    assert asked["submit"].keys() - asked["check"].keys() <= left_out
