"""Human judgments of a test set: aligned with its segments, ranked, and matched with submissions by name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from models.corpus.judgments import find_judgments, read_ratings, read_segments, read_systems
from models.errors import NotFound
from models.schema.corpus import Reference, TestSet
from models.schema.states import JudgmentKind
from steelyard.meta_evaluation.human.agreement import agreement
from steelyard.meta_evaluation.human.annotators import describe_annotators, reliability
from steelyard.meta_evaluation.human.judgments import Judged, Judgment
from steelyard.meta_evaluation.human.rankings import comparisons
from steelyard.meta_evaluation.human.scoring import penalties
from steelyard.ranking.human_ranks import HumanRank, human_ranks, human_ranks_by_wins
from steelyard.ranking.human_significance import ALPHA, mann_whitney, sign_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from models.corpus.judgments import SegmentRow, StoredJudgments, SystemRow
    from models.corpus.test_sets import SubmittedSystem
    from steelyard.meta_evaluation.human.agreement import Agreement
    from steelyard.meta_evaluation.human.annotators import Annotator, Reliability

_REFERENCE = re.compile(r"(?i:human|translator|_?ref)(?:[-_.][\w-]+)?(?:\.0)?|ref[A-Z]")
"""Names of human translations among the systems: HUMAN-B, Human-A.0, refA, ref-A, ref.A, translator-B, _ref."""


@dataclass(frozen=True, slots=True)
class Matched:
    """How judged names match submitted systems; each list is sorted."""

    systems: tuple[str, ...]
    """Judged and submitted."""
    references: tuple[str, ...]
    """Judged human translations, which metrics cannot score: they would compare a reference with itself."""
    unknown: tuple[str, ...]
    """Judged, but neither submitted nor a human translation."""
    not_judged: tuple[str, ...]
    """Submitted, but not judged."""


@dataclass(frozen=True, eq=False)
class HumanScores:
    """Human scores of the systems of a test set; higher is better."""

    stored: StoredJudgments
    n_segments: int
    rows: Mapping[str, SystemRow]
    """By system, best first; empty where only segments were scored."""
    segment_rows: Sequence[SegmentRow]
    """By system and segment."""
    segments: Mapping[str, NDArray[np.float64]]
    """Scores of each judged system: (n_segments,), NaN where not judged; systems sorted."""
    raw_segments: Mapping[str, NDArray[np.float64]]
    """Scores on the annotators' own scale (errors: their weights; rankings: ranks; for both lower is better)."""
    labels: frozenset[str]
    """Labels of the test set's references."""
    judgments: tuple[Judgment, ...] = ()
    """Judgments of rankings, on which tests between two systems are based; empty for other kinds."""

    @property
    def name(self) -> str:
        """The name of the judgments."""
        return self.stored.name

    @property
    def version(self) -> int:
        """From 1."""
        return self.stored.version

    @property
    def kind(self) -> JudgmentKind:
        """The kind of judgments."""
        return self.stored.kind

    @property
    def method(self) -> Mapping[str, Any]:
        """How the scores were computed from the judgments."""
        return self.stored.method

    @property
    def title(self) -> str:
        """`NAME@VERSION`, as `read_human` understands it."""
        return self.stored.title

    @cached_property
    def systems(self) -> Mapping[str, float]:
        """Scores by system, best first; empty where only segments were scored."""
        return {system: row.score for system, row in self.rows.items()}

    @property
    def judged(self) -> list[str]:
        """All judged names, sorted: some may have scores of segments only."""
        return sorted({*self.rows, *self.segments})

    def is_reference(self, system: str) -> bool:
        """Whether the name is that of a human translation by WMT's or Google's conventions, or a reference's label."""
        return is_reference(system) or system in self.labels

    def matched(self, systems: Iterable[str]) -> Matched:
        """Which of the judged names are among these systems, by exact name."""
        ours, judged = set(systems), set(self.judged)
        references = {name for name in judged if self.is_reference(name)} - ours
        return Matched(
            tuple(sorted(judged & ours)),
            tuple(sorted(references)),
            tuple(sorted(judged - ours - references)),
            tuple(sorted(ours - judged)),
        )

    def test(self, *, shared: bool = False) -> str | None:
        """The test that `ranks` uses to compare two systems; None where the data allow none."""
        if self.judgments:
            return "one-sided sign test on direct comparisons"
        if self.segments and self.rows.keys() <= self.segments.keys():
            return "one-sided Mann-Whitney test on " + (
                "the segments judged of both" if shared else "all judged segments"
            )
        return None

    def ranks(self, *, shared: bool = False, alpha: float = ALPHA) -> dict[str, HumanRank]:
        """The rank of every system with a score, best first.

        Systems are tested on their segments, of rankings on their direct comparisons; with `shared` on the segments
        only that both systems have. Where neither is stored, published numbers of wins give clusters but no rank
        ranges; without them there are ranks only.
        """
        systems = list(self.rows)
        scores = [row.score for row in self.rows.values()]
        if self.test() is None:
            found = human_ranks_by_wins(scores, [row.wins for row in self.rows.values()])
        elif self.judgments:
            found = human_ranks(scores, sign_test(systems, comparisons(self.judgments)) < alpha)
        else:
            p = mann_whitney([self.segments[system] for system in systems], shared=shared)
            found = human_ranks(scores, p < alpha)
        return dict(zip(systems, found, strict=True))


def match_system_names(judged: Judged, submitted: Sequence[SubmittedSystem]) -> tuple[Judged, Matched]:
    """The judgments with systems renamed to their submissions, and the match.

    A judged name matches a system by its name, by team and name (`TEAM/SYSTEM`, `TEAM-SYSTEM`), or by the team alone
    where that has one system; case and punctuation are ignored. Ambiguous names and human translations stay unchanged.
    """
    called = display_names(submitted)
    of_team = Counter(team for team, _ in {(each.team, each.system) for each in submitted})
    meant: dict[str, set[str]] = {}
    for each, name in called.items():
        teams = {each.team, each.publication_name} - {""}
        words = {each.system, *(f"{team}/{each.system}" for team in teams)}
        for word in words | (teams if of_team[each.team] == 1 else set()):
            meant.setdefault(_folded(word), set()).add(name)
    ours = set(called.values())
    given = {row.system for rows in (judged.systems, judged.segments, judged.judgments) for row in rows}
    rename = {}
    for name in given - ours:
        found = meant.get(_folded(name), set())
        if len(found) == 1 and not found & given and not is_reference(name):
            rename[name] = next(iter(found))
    # Two names for one system would give it two scores.
    count = Counter(rename.values())
    rename = {name: found for name, found in rename.items() if count[found] == 1}
    judged = replace(
        judged,
        systems=[row._replace(system=rename.get(row.system, row.system)) for row in judged.systems],
        segments=[row._replace(system=rename.get(row.system, row.system)) for row in judged.segments],
        judgments=[row._replace(system=rename.get(row.system, row.system)) for row in judged.judgments],
        spans=[row._replace(system=rename.get(row.system, row.system)) for row in judged.spans],
        texts={(rename.get(system, system), segment): text for (system, segment), text in judged.texts.items()},
    )
    found_names = {rename.get(name, name) for name in given}
    references = {name for name in found_names if is_reference(name)} - ours
    return judged, Matched(
        tuple(sorted(found_names & ours)),
        tuple(sorted(references)),
        tuple(sorted(found_names - ours - references)),
        tuple(sorted(ours - found_names)),
    )


def display_names(submitted: Iterable[SubmittedSystem]) -> dict[SubmittedSystem, str]:
    """The names of systems beside judgments: `TEAM/SYSTEM` where several teams have a system of that name."""
    submitted = list(submitted)
    names = Counter(each.system for each in submitted)
    return {each: each.system if names[each.system] == 1 else f"{each.team}/{each.system}" for each in submitted}


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def is_reference(system: str) -> bool:
    """Whether the name is that of a human translation by the conventions of WMT or Google."""
    return _REFERENCE.fullmatch(system) is not None


def read_human(connection: Connection, campaign_id: int, test_set_id: int, name: str | None = None) -> HumanScores:
    """Human judgments of a test set: `NAME` in its newest version, or `NAME@VERSION`.

    Without a name the only ones.

    Raises
    ------
    NotFound
        If it does not exist, listing the stored ones.
    """
    test_set = connection.execute(select(TestSet.segments).where(TestSet.id == test_set_id)).one_or_none()
    if test_set is None:
        raise NotFound(f"There is no test set {test_set_id}.")
    stored = find_judgments(connection, campaign_id, test_set_id, name)
    labels = connection.scalars(select(Reference.label).where(Reference.test_set_id == test_set_id))
    segments: dict[str, NDArray[np.float64]] = {}
    raw_segments: dict[str, NDArray[np.float64]] = {}
    segment_rows = read_segments(connection, stored.id)
    for row in segment_rows:
        for arrays, value in ((segments, row.score), (raw_segments, row.raw)):
            if row.system not in arrays:
                arrays[row.system] = np.full(test_set.segments, np.nan)
            arrays[row.system][row.segment] = np.nan if value is None else value
    ratings = read_ratings(connection, stored.id) if stored.kind == JudgmentKind.RANKINGS else ()
    return HumanScores(
        stored,
        test_set.segments,
        {row.system: row for row in read_systems(connection, stored.id)},
        segment_rows,
        segments,
        raw_segments,
        frozenset(labels),
        tuple(Judgment(*rating) for rating in ratings),
    )


@dataclass(frozen=True, slots=True)
class Annotation:
    """What annotators did."""

    agreement: Agreement
    """On which of two systems is better."""
    reliability: Reliability | None
    """Of the values that they gave; None for rankings, which have none."""
    annotators: Sequence[Annotator]
    """By name."""


def read_annotation(connection: Connection, stored: StoredJudgments) -> Annotation | None:
    """How far annotators agree, and what each of them did; None where only scores are stored."""
    judgments = [Judgment(*rating) for rating in read_ratings(connection, stored.id)]
    if not judgments:
        return None
    if stored.kind == JudgmentKind.RANKINGS:
        return Annotation(agreement(judgments, ranked=True), None, describe_annotators([], judgments))
    values = judgments
    if stored.kind == JudgmentKind.ERRORS:
        values = [each._replace(value=-each.value) for each in penalties(judgments)]
    return Annotation(agreement(values, ranked=False), reliability(values), describe_annotators(values, judgments))
