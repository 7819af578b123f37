"""Error spans of judgments as positions in the stored outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from analysis.meta_evaluation.human import display_names
from models.corpus.judgments import BadJudgments, SpanRow
from models.corpus.test_sets import SubmittedSystem
from models.schema.campaigns import CampaignTestSet
from models.schema.corpus import Reference, Submission, System, TestSet
from steelyard.meta_evaluation.human.assessment_formats.assessment import TRIMMED_UTF16, ErrorSpan
from steelyard.meta_evaluation.human.assessment_formats.spans import BadSpan, in_code_points
from steelyard.text.blocks import block_count
from steelyard.text.findings import quoted
from steelyard.text.wording import number_of
from worker.computing.scoring import read_texts

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan

MOST_TOLD = 5


def placed_spans(
    connection: Connection, campaign_id: int, test_set_id: int, judged: Judged
) -> tuple[list[SpanRow], list[str]]:
    """The error spans, in code points of the outputs that the campaign has; and what was left out.

    Where the files say what was judged, and the campaign has another output, the spans of the segment are left out:
    they would mark other words. Spans in the source stay as they are.

    Raises
    ------
    BadJudgments
        For spans that begin behind the text.
    """
    if not judged.spans:
        return [], []
    texts = _texts(connection, campaign_id, test_set_id, {each.system for each in judged.spans})
    found: list[SpanRow] = []
    other: set[tuple[str, int]] = set()
    without: dict[str, int] = {}
    beyond: list[str] = []
    for each in judged.spans:
        cell = each.system, each.segment
        lines = texts.get(each.system)
        text = lines[each.segment] if lines is not None else judged.texts.get(cell)
        if text is None:
            without[each.system] = without.get(each.system, 0) + 1
        elif judged.texts.get(cell, text) != text:
            other.add(cell)
        else:
            row = _row(each, text, judged.units)
            if isinstance(row, SpanRow):
                found.append(row)
            else:
                beyond.append(f"Segment {each.segment + 1} of {quoted(each.system)}: {row}")
    if beyond:
        more = f" And {len(beyond) - MOST_TOLD:,} more." if len(beyond) > MOST_TOLD else ""
        there = CampaignTestSet.campaign_id == campaign_id, CampaignTestSet.test_set_id == test_set_id
        where = connection.scalar(select(CampaignTestSet.name).where(*there)) or ""
        told = " ".join(beyond[:MOST_TOLD])
        raise BadJudgments(f"{where}: errors are marked where there is no text. {told}{more}".removeprefix(": "))
    notices = []
    if other:
        system, segment = min(other)
        notices.append(
            f"Error spans left out: {number_of(len(other), 'judged segment')} had another text than the output here, "
            f"such as segment {segment + 1} of {quoted(system)}."
        )
    if without:
        notices.append(
            f"Error spans left out, for there is no output to mark them in: {sum(without.values()):,} of "
            f"{number_of(len(without), 'system')}."
        )
    return found, notices


def _row(span: JudgedSpan, text: str, units: str) -> SpanRow | str:
    """The span in code points, or what is wrong with it."""
    start, end, missing = span.start, span.end, span.missing
    if not missing and not span.in_source:
        if units == TRIMMED_UTF16:
            try:
                (moved,) = in_code_points([ErrorSpan(start, end, span.severity)], text)
            except BadSpan as error:
                return str(error)
            start, end = moved.start, moved.end
        elif start >= len(text):
            return f"an error is marked from position {start:,}, but the translation has {len(text):,}."
        end = min(end, len(text))
    return SpanRow(
        span.annotator, span.system, span.segment, start, end, span.severity, span.category, missing, span.in_source,
        span.wave,
    )  # fmt: skip


def _texts(
    connection: Connection, campaign_id: int, test_set_id: int, systems: Collection[str]
) -> dict[str, list[str]]:
    """The newest outputs of these systems, and references by their labels, as lines."""
    submitted = connection.execute(
        select(System.team, System.name, Submission.text_id)
        .join(Submission, Submission.system_id == System.id)
        .where(Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id)
        .order_by(Submission.id)
    ).all()
    names = display_names(dict.fromkeys(SubmittedSystem(row.team, row.name) for row in submitted))
    references = select(Reference.label, Reference.text_id).where(Reference.test_set_id == test_set_id)
    ids = {label: text for label, text in connection.execute(references) if label in systems}
    for row in submitted:
        name = names[SubmittedSystem(row.team, row.name)]
        if name in systems:
            ids[name] = row.text_id
    if not ids:
        return {}
    segments = connection.scalars(select(TestSet.segments).where(TestSet.id == test_set_id)).one()
    contents = read_texts(connection, list(ids.values()), 0, block_count(segments))
    return {name: content.decode().split("\n") for name, content in zip(ids, contents, strict=True)}
