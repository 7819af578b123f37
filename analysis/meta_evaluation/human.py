"""Human judgments of a test set as other conclusions need them: aligned with its segments, ranked, matched by name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from metrics.human.agreement import agreement
from metrics.human.better import ALPHA, mann_whitney, sign_test
from metrics.human.judgments import Judged, Judgment
from metrics.human.rankings import comparisons
from metrics.human.scoring import penalties
from metrics.human.standing import Standing, standings, standings_by_wins
from models.corpus.judgments import find_judgments, read_ratings, read_segments, read_systems
from models.errors import NotFound
from models.schema.corpus import Reference, TestSet
from models.schema.states import JudgmentKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from metrics.human.agreement import Agreement
    from models.corpus.judgments import SegmentRow, StoredJudgments, SystemRow
    from models.corpus.test_sets import Submitted

_REFERENCE = re.compile(r"(?i:human|translator|_?ref)(?:[-_.][\w-]+)?(?:\.0)?|ref[A-Z]")
"""How human translations are called among the systems: HUMAN-B, Human-A.0, refA, ref-A, ref.A, translator-B, _ref."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Which judged names are systems of ours; each list sorted."""

    systems: tuple[str, ...]
    """Judged, and among ours."""
    references: tuple[str, ...]
    """Judged human translations: a metric would compare a reference with itself."""
    unknown: tuple[str, ...]
    """Judged, neither ours nor a human translation."""
    not_judged: tuple[str, ...]
    """Ours, but never judged."""


@dataclass(frozen=True, eq=False)
class HumanScores:
    """What people think of the systems of a test set; higher is better throughout."""

    stored: StoredJudgments
    n_segments: int
    rows: Mapping[str, SystemRow]
    """By system, best first; empty where only segments were scored."""
    segment_rows: Sequence[SegmentRow]
    """By system and segment."""
    segments: Mapping[str, NDArray[np.float64]]
    """Scores of each judged system: (n_segments,), NaN where not judged; systems sorted."""
    raw_segments: Mapping[str, NDArray[np.float64]]
    """On the annotators' own scale (of errors their weights, of rankings ranks: there less is better)."""
    labels: frozenset[str]
    """Of the test set's references."""
    judgments: tuple[Judgment, ...] = ()
    """Of rankings only: what the test between two systems counts."""

    @property
    def name(self) -> str:
        """What the judgments are called."""
        return self.stored.name

    @property
    def version(self) -> int:
        """From 1."""
        return self.stored.version

    @property
    def kind(self) -> JudgmentKind:
        """What people were asked for."""
        return self.stored.kind

    @property
    def method(self) -> Mapping[str, Any]:
        """How scores were made of the judgments."""
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
        """Whether this is a human translation: called as WMT and Google do, or like one of our references."""
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
        """How `places` tests whether one system is better than another; None where it cannot."""
        if self.judgments:
            return "one-sided sign test on direct comparisons"
        if self.segments and self.rows.keys() <= self.segments.keys():
            return "one-sided Mann-Whitney test on " + (
                "the segments judged of both" if shared else "all judged segments"
            )
        return None

    def places(self, *, shared: bool = False, alpha: float = ALPHA) -> dict[str, Standing]:
        """The standing of every system with a score, best first.

        Systems are tested on their segments, of rankings on their direct comparisons; with `shared` on the segments
        only that both systems have. Where neither is stored, published numbers of wins give clusters but no rank
        ranges; without them there are ranks only.
        """
        systems = list(self.rows)
        scores = [row.score for row in self.rows.values()]
        if self.test() is None:
            found = standings_by_wins(scores, [row.wins for row in self.rows.values()])
        elif self.judgments:
            found = standings(scores, sign_test(systems, comparisons(self.judgments)) < alpha)
        else:
            p = mann_whitney([self.segments[system] for system in systems], shared=shared)
            found = standings(scores, p < alpha)
        return dict(zip(systems, found, strict=True))


def called_as_submitted(judged: Judged, submitted: Sequence[Submitted]) -> tuple[Judged, Matched]:
    """The judgments with their systems called as their submissions are, and which of them that are.

    A judged system may be called by its name, by that of its team and its own (`TEAM/SYSTEM`, `TEAM-SYSTEM`), or by its
    team alone where that has one system, in any case, with whatever signs between the words. What could be two systems
    stays as it is, as human translations do.
    """
    called = called_here(submitted)
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
    # Two that mean the same would be one system with two scores.
    count = Counter(rename.values())
    rename = {name: found for name, found in rename.items() if count[found] == 1}
    judged = replace(
        judged,
        systems=[row._replace(system=rename.get(row.system, row.system)) for row in judged.systems],
        segments=[row._replace(system=rename.get(row.system, row.system)) for row in judged.segments],
        judgments=[row._replace(system=rename.get(row.system, row.system)) for row in judged.judgments],
    )
    found_names = {rename.get(name, name) for name in given}
    references = {name for name in found_names if is_reference(name)} - ours
    return judged, Matched(
        tuple(sorted(found_names & ours)),
        tuple(sorted(references)),
        tuple(sorted(found_names - ours - references)),
        tuple(sorted(ours - found_names)),
    )


def called_here(submitted: Iterable[Submitted]) -> dict[Submitted, str]:
    """The names of systems beside judgments: `TEAM/SYSTEM` where several teams have one so called."""
    submitted = list(submitted)
    names = Counter(each.system for each in submitted)
    return {each: each.system if names[each.system] == 1 else f"{each.team}/{each.system}" for each in submitted}


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def is_reference(system: str) -> bool:
    """Whether WMT or Google call human translations so among the systems."""
    return _REFERENCE.fullmatch(system) is not None


def read_human(connection: Connection, campaign_id: int, test_set_id: int, name: str | None = None) -> HumanScores:
    """Human judgments of a test set: those called `NAME` in their newest version, or `NAME@VERSION`.

    Without a name the only ones there are. Raises NotFound with what there is.
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


def annotator_agreement(connection: Connection, human: HumanScores) -> Agreement | None:
    """How far the annotators agree on which of two systems is better; None where only scores are stored."""
    if human.kind == JudgmentKind.SCORES:
        return None
    judgments: Sequence[Judgment] = human.judgments
    if human.kind != JudgmentKind.RANKINGS:
        judgments = [Judgment(*rating) for rating in read_ratings(connection, human.stored.id)]
    if human.kind == JudgmentKind.ERRORS:
        judgments = penalties(judgments)
    return agreement(judgments, ranked=human.kind == JudgmentKind.RANKINGS)
