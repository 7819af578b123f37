"""What people said of outputs: errors that they marked, and scores of segments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import exists, select

from analysis.meta_evaluation.human import display_names
from campaigns.reports.limits import LETTERS
from models.corpus.judgments import (
    StoredJudgments,
    find_judgments,
    list_annotators,
    list_judgments,
    read_segments,
    read_spans,
)
from models.corpus.test_sets import SubmittedSystem
from models.schema.corpus import Submission, System
from models.schema.human import ErrorSpan, Judgments

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.inspection.visible import VisibleOutput
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import SpanRow

SEVERITIES = ("critical", "major", "minor")
"""The worst first; others come after them."""


@dataclass(frozen=True, slots=True)
class MarkedError:
    """An error that an annotator marked in a segment."""

    number: int
    """From 1, in the order of the output."""
    annotator: int
    """From 1: names of annotators are shown nowhere."""
    severity: str
    category: str
    begins: int
    """In code points of the output, or of the source."""
    ends: int
    """The first code point behind it."""
    missing: bool
    """Something is missing from the output: there is no position."""
    in_source: bool


@dataclass(frozen=True, slots=True)
class ErrorRun:
    """Consecutive characters of an output with the same errors."""

    text: str
    errors: Sequence[MarkedError] = ()
    """That reach over them."""
    ended: Sequence[MarkedError] = ()
    """That end with them."""

    @property
    def severity(self) -> str:
        """The worst of them: `critical`, `major`, `minor` or `other`; "" without any."""
        said = {each.severity for each in self.errors}
        return next((each for each in SEVERITIES if each in said), "other") if said else ""


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """What people said of an output of a segment."""

    score: float | None
    """None if they gave none."""
    errors: Sequence[MarkedError] = ()

    def runs(self, text: str) -> list[ErrorRun]:
        """Cut a text where errors begin and end; long texts are cut off."""
        shown = text[:LETTERS]
        placed = [each for each in self.errors if not each.missing and not each.in_source and each.begins < len(shown)]
        ends = {each: min(each.ends, len(shown)) for each in placed}
        cuts = sorted({0, len(shown), *(each.begins for each in placed), *ends.values()})
        runs = [
            ErrorRun(
                shown[begin:end],
                [each for each in placed if each.begins <= begin and end <= ends[each]],
                [each for each in placed if ends[each] == end],
            )
            for begin, end in pairwise(cuts)
        ]
        more = len(text) - LETTERS
        return [*runs, ErrorRun(f" … ({more:,} more characters)")] if more > 0 else runs


@dataclass(frozen=True, slots=True)
class SegmentJudgments:
    """Human judgments of some segments."""

    chosen: StoredJudgments | None = None
    """None if there are none with marked errors."""
    names: Sequence[str] = ()
    """Of all judgments with marked errors."""
    annotators: int = 0
    """Who marked errors."""
    outputs: Mapping[tuple[int, int], JudgedOutput] = field(default_factory=dict)
    """By submission and segment, from 0."""


def read_segment_judgments(
    connection: Connection,
    access: CampaignAccess,
    test_set_id: int,
    human: str,
    outputs: Sequence[VisibleOutput],
    segments: Collection[int],
) -> SegmentJudgments:
    """Return errors marked in some segments of some outputs, by the newest judgments or those called `human`.

    Nothing is returned while the leaderboard is hidden, nor of an output that replaced the one that people judged.

    Raises
    ------
    NotFound
        If there are no judgments of that name.
    """
    if not access.sees_board:
        return SegmentJudgments()
    newest = {each.name: each for each in reversed(list_judgments(connection, access.campaign_id, test_set_id))}
    marked = exists().where(ErrorSpan.judgments_id == Judgments.id)
    ids = [each.id for each in newest.values()]
    have = set(connection.scalars(select(Judgments.id).where(Judgments.id.in_(ids), marked)))
    with_errors = [each for each in newest.values() if each.id in have]
    if not human and not with_errors:
        return SegmentJudgments()
    chosen = (
        find_judgments(connection, access.campaign_id, test_set_id, human)
        if human
        else max(with_errors, key=lambda each: (each.created_at, each.id))
    )
    judged = _judged_outputs(connection, access.campaign_id, test_set_id, chosen, outputs)
    systems = list(judged)
    places = {name: place for place, name in enumerate(list_annotators(connection, chosen.id), 1)}
    errors: dict[tuple[str, int], list[SpanRow]] = {}
    for span in read_spans(connection, chosen.id, segments, systems):
        errors.setdefault((span.system, span.segment), []).append(span)
    rows = read_segments(connection, chosen.id, segments=segments, systems=systems)
    scores = {(row.system, row.segment): row.score for row in rows}
    found = {
        (judged[key[0]], key[1]): JudgedOutput(scores.get(key), _numbered(errors.get(key, ()), places))
        for key in {**scores, **errors}
    }
    return SegmentJudgments(chosen, sorted(each.name for each in with_errors), len(places), found)


def _judged_outputs(
    connection: Connection,
    campaign_id: int,
    test_set_id: int,
    judged: StoredJudgments,
    outputs: Sequence[VisibleOutput],
) -> dict[str, int]:
    """Return the submission of each system in the judgments, as far as its output is the one that people saw."""
    rows = connection.execute(
        select(System.team, System.name, Submission.text_id, Submission.created_at)
        .join(Submission, Submission.system_id == System.id)
        .where(Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id)
        .order_by(Submission.id)
    ).all()
    names = display_names(dict.fromkeys(SubmittedSystem(row.team, row.name) for row in rows))
    # As they were placed when they were stored: in the newest output of the time.
    seen: dict[str, int] = {}
    for row in rows:
        name = names[SubmittedSystem(row.team, row.name)]
        if row.created_at <= judged.created_at or name not in seen:
            seen[name] = row.text_id
    called = {(row.team, row.name): names[SubmittedSystem(row.team, row.name)] for row in rows}
    return {
        name: each.submission
        for each in outputs
        if seen.get(name := called.get((each.team, each.system), "")) == each.text
    }


def _numbered(spans: Sequence[SpanRow], annotators: Mapping[str, int]) -> list[MarkedError]:
    """Return errors in the order of the output; those in the source and omissions come last."""
    ordered = sorted(spans, key=lambda each: (each.in_source, each.missing, each.begins, each.ends))
    return [
        MarkedError(
            *(number, annotators.get(each.annotator, 0), each.severity.casefold(), each.category),
            *(each.begins, each.ends, each.missing, each.in_source),
        )
        for number, each in enumerate(ordered, 1)
    ]
