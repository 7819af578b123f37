"""Judgments of a test set from files of assessments: those of annotation tools and shared tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.formats.input.contents import opened
from steelyard.meta_evaluation.human.assessment_formats.assessment import CODE_POINTS
from steelyard.meta_evaluation.human.assessment_formats.mt_metrics_eval import is_ratings, is_score_file
from steelyard.meta_evaluation.human.assessment_formats.placing import place
from steelyard.meta_evaluation.human.assessment_formats.reading import LIMITS, AssessmentFiles
from steelyard.meta_evaluation.human.assessment_formats.tables import columns_of_appraise
from steelyard.meta_evaluation.human.assessments import latest
from steelyard.meta_evaluation.human.judged_pairs import pair_meant
from steelyard.meta_evaluation.human.judgments import JudgedSpan, Judgment
from steelyard.meta_evaluation.human.kinds import ERRORS, RATINGS, SCORES
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.formats.input.contents import Contents, Source
    from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment


@dataclass(slots=True)
class AssessedSegments:
    """What files of assessments say about a test set."""

    kind: str
    judgments: list[Judgment] = field(default_factory=list)
    spans: list[JudgedSpan] = field(default_factory=list)
    units: str = CODE_POINTS
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def opened_assessments(source: Source) -> tuple[Contents, bool]:
    """A file, and whether it is one of assessments and not a table of judgments.

    Parameters
    ----------
    source : path, bytes or Contents

    Returns
    -------
    contents : Contents
        Not read yet.
    assessments : bool
    """
    contents = opened(source, limits=LIMITS)
    head = contents.text_head
    first = head.partition(b"\n")[0]
    scores = is_score_file(head) and b"\t" in first and len(first.split(b"\t")) == 2
    return contents, head.lstrip().startswith(b"{") or is_ratings(head) or scores or bool(columns_of_appraise(first))


def read_assessed(
    contents: Contents,
    wave: int,
    segments: int,
    documents: Mapping[str, Sequence[int]],
    *,
    pair: str | None = None,
    languages: str = "",
) -> AssessedSegments:
    """Read one file of assessments.

    Parameters
    ----------
    contents : Contents
    wave : int
        Of the file.
    segments : int
        Of the test set.
    documents : mapping of str to sequence of int
        The segments of each document, in order.
    pair : str, optional
        The language pair to read, in any spelling.
    languages : str
        Those of the test set, by which one of several pairs is chosen.

    Returns
    -------
    AssessedSegments

    Raises
    ------
    BadText
        Naming what is wrong, and where.
    """
    files = AssessmentFiles()
    files.read_one(contents, wave)
    if not files.assessments:
        raise BadTable(f"{contents.name}: holds no judgment of a translation.")
    kept = _of_pair(files.assessments, contents.name, pair, languages)
    placed = place(kept, segments, documents)
    kinds = {_kind(each) for each in kept}
    found = AssessedSegments(kinds.pop() if len(kinds) == 1 else RATINGS)
    found.notices = [*files.notices, *placed.notices]
    counted = [(each, at) for each, at in zip(kept, placed.segments, strict=True) if at is not None]
    last = latest([each for each, _ in counted])
    if len(last) < len(counted):
        found.notices.append(f"{contents.name}: {len(counted) - len(last):,} judgments replaced by a later one.")
    current = set(map(id, last))
    found.units = next((each.units for each in kept if each.spans), CODE_POINTS)
    for each, segment in counted:
        if id(each) not in current:
            continue
        value = -each.score + 0.0 if each.by_errors else each.score
        found.judgments.append(Judgment(each.annotator, each.system, segment, value, "", each.wave, each.seconds))
        found.spans += [
            JudgedSpan(each.annotator, each.system, segment, one.start, one.end, one.severity, one.category,
                       one.missing, one.in_source, each.wave)
            for one in each.spans
        ]  # fmt: skip
        if each.text is not None and found.texts.setdefault((each.system, segment), each.text) != each.text:
            raise BadTable(
                f"{contents.name}: two translations of segment {segment + 1} by {quoted(each.system)} were judged."
            )
    return found


def _kind(assessment: Assessment) -> str:
    if assessment.by_errors:
        return ERRORS
    return RATINGS if assessment.annotator or assessment.spans else SCORES


def _of_pair(found: Sequence[Assessment], name: str, pair: str | None, languages: str) -> Sequence[Assessment]:
    chosen = pair_meant(list(dict.fromkeys(each.pair for each in found)), pair, languages, name)
    return [each for each in found if each.pair == chosen]
