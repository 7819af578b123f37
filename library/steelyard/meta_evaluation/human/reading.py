"""Reads files of judgments and makes scores of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from steelyard.meta_evaluation.human.assessed import opened_assessments, read_assessed
from steelyard.meta_evaluation.human.assessment_formats.assessment import CODE_POINTS
from steelyard.meta_evaluation.human.cells import Cells, places
from steelyard.meta_evaluation.human.judged_pairs import pair_of_table
from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan, Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.kinds import ERRORS, KINDS, RANKINGS, RATINGS, SCORES, kind_of, read_judgment_table
from steelyard.meta_evaluation.human.marked_errors import marked_errors
from steelyard.meta_evaluation.human.rankings import BETTER_OR_EQUAL, WINS, ranked_segments, ranked_systems
from steelyard.meta_evaluation.human.readers import read_errors, read_rankings, read_ratings, read_scores
from steelyard.meta_evaluation.human.scoring import penalties, segment_scores, standardised, system_scores
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.meta_evaluation.human.weights import Weights
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.formats.input.contents import Contents, Source
    from steelyard.meta_evaluation.human.cells import Places

AUTO, MEANS, NONE = "auto", "means", "none"
SYSTEM_SCORES = (AUTO, MEANS, WINS, BETTER_OR_EQUAL, NONE)

GIVEN = "given"
"""Scores of systems that a file has, instead of means over segments."""

_AGREES = 1e-4

MOST_TOGETHER = 200
"""Systems that one annotator judges in one segment, or ranks together; campaigns show ten at most."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files of judgments are read, and what scores are made of them."""

    segments: int
    """Of the test set."""
    documents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The segments of each document, in order."""
    kind: str | None = None
    """One of KINDS; None: as the columns say."""
    pair: str | None = None
    """Which language pair of a file that has several."""
    languages: str = ""
    """Those of the test set, by which one of several pairs is chosen in files of assessments."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """What systems are called here, by how the files call them."""
    by_document: bool = False
    """Segments by their number in their document, where a file has both."""
    first_segment: int | None = None
    """The number of the first segment; None: what is usual for the column."""
    weights: Weights = field(default_factory=Weights)
    """Of errors."""
    standardise: bool | None = None
    """Whether by annotator; None: ratings in tables are, errors and what annotation tools export are not."""
    system_scores: str = AUTO
    """One of SYSTEM_SCORES. `auto`: of rankings the share of wins; else the means over segments, unless some systems
    were judged on no segment in common."""


def read_judgments(sources: Sequence[Source], reading: Reading) -> Judged:
    """Read files that belong together: several parts of the same kind of judgments, or scores of segments and systems.

    Parameters
    ----------
    sources : sequence of path or bytes
    reading : Reading

    Returns
    -------
    Judged

    Raises
    ------
    BadText
        Naming files and lines, with all that is wrong with a file.
    """
    if reading.kind not in (None, *KINDS):
        raise BadTable(f"{reading.kind!r} is no kind of judgments. There are: {', '.join(KINDS)}.")
    collected = _Collected(reading)
    for source in sources:
        collected.read(source)
    return collected.judged()


@dataclass(slots=True)
class _Collected:
    """What the files hold."""

    reading: Reading
    kind: str | None = None
    systems: dict[str, SystemScore] = field(default_factory=dict)
    segments: dict[tuple[str, int], SegmentScore] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    renamed: set[str] = field(default_factory=set)
    """Systems that were called otherwise in the files."""
    spans: list[JudgedSpan] = field(default_factory=list)
    units: str = CODE_POINTS
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    anonymous: dict[str, str] = field(default_factory=dict)
    """Notices without the names of annotators, by notices with them."""
    raw: bool = False
    """Whether ratings are on a scale that is common to all annotators, as in what annotation tools export."""

    def read(self, source: Source) -> None:
        """Add what a file holds."""
        contents, assessments = opened_assessments(source)
        if assessments:
            self._read_assessments(contents)
            return
        table = read_judgment_table(contents)
        kind = self.reading.kind or kind_of(table)
        self._begin(table.name, kind)
        cells = Cells(table)
        pair = pair_of_table(table, self.reading.pair, self.reading.languages)
        where = places(
            cells,
            self.reading.segments,
            self.reading.documents,
            by_document=self.reading.by_document,
            first=self.reading.first_segment,
        )
        if kind == SCORES:
            self._read_scores(cells, where, pair)
        elif where is None:
            raise BadTable(f"{table.name}, line 1: {kind} need a column 'segment', or doc_id and seg_in_doc.")
        else:
            self.judgments += self._read_judgments(kind, cells, where, pair)
            if kind == ERRORS:
                marked = marked_errors(cells, where, pair)
                self.spans += [each._replace(system=self._name(each.system)) for each in marked]
            self._check_pairs(table.name)
        cells.findings.raise_if_any()
        if not (self.systems or self.segments or self.judgments):
            raise BadTable(f"{table.name}: holds no judgment of {'this pair' if pair else 'anything'}.")
        if where is not None and where.first != 0 and where.document is None:
            self.notices.append(f"{table.name}: segments counted from {where.first}, as the column {where.title} does.")
        self.notices += cells.findings.all_notices()

    def _begin(self, name: str, kind: str) -> None:
        """A file of this kind."""
        if self.kind not in (None, kind):
            raise BadTable(
                f"{name}: holds {kind}, but {self.names[0]} {self.kind}. Import different kinds under different names."
            )
        self.kind = kind
        self.names.append(name)

    def _read_assessments(self, contents: Contents) -> None:
        """Add what a file of an annotation tool or of a shared task holds."""
        reading = self.reading
        found = read_assessed(
            contents,
            len(self.names),
            reading.segments,
            reading.documents,
            pair=reading.pair,
            languages=reading.languages,
        )
        self._begin(contents.name, found.kind)
        self.raw = True
        if found.spans:
            self.units = found.units
        for each in found.judgments:
            name = self._name(each.system)
            if found.kind == SCORES:
                if (name, each.segment) in self.segments:
                    raise BadTable(f"{contents.name}: {quoted(name)} has scores already. Remove one file.")
                self.segments[name, each.segment] = SegmentScore(name, each.segment, each.value)
            else:
                self.judgments.append(each._replace(system=name))
        self.spans += [each._replace(system=self._name(each.system)) for each in found.spans]
        self.texts.update({(self._name(system), segment): text for (system, segment), text in found.texts.items()})
        self.notices += found.notices
        self._check_pairs(contents.name)

    def _read_judgments(self, kind: str, cells: Cells, where: Places, pair: str | None) -> list[Judgment]:
        if kind == RATINGS:
            found = read_ratings(cells, where, pair)
        elif kind == ERRORS:
            found = read_errors(cells, where, pair, self.reading.weights)
        else:
            found = read_rankings(cells, where, pair)
        return [each._replace(system=self._name(each.system)) for each in found]

    def _check_pairs(self, name: str) -> None:
        """Raise BadTable for more systems than any campaign has: all that stand together are compared in pairs."""
        together: dict[tuple[str, int, str], set[str]] = {}
        for each in self.judgments:
            together.setdefault((each.annotator, each.segment, each.label if self.kind == RANKINGS else ""), set()).add(
                each.system
            )
        for (annotator, segment, _), systems in together.items():
            if len(systems) > MOST_TOGETHER:
                raise BadTable(
                    f"{name}: {quoted(annotator)} judged {number_of(len(systems), 'system')} in segment {segment}, "
                    f"counted from 0; {MOST_TOGETHER} are the most. Is the column of systems right?"
                )

    def _name(self, system: str) -> str:
        """What a system is called here."""
        if system in self.reading.rename:
            self.renamed.add(system)
        return self.reading.rename.get(system, system)

    def _read_scores(self, cells: Cells, where: Places | None, pair: str | None) -> None:
        systems, segments = read_scores(cells, where, pair)
        for line, system in systems:
            name = self._name(system.system)
            if name in self.systems:
                cells.findings.problem(f"{quoted(name)} has a score already. Remove one of them.", line)
            self.systems[name] = system._replace(system=name)
        for line, segment in segments:
            name = self._name(segment.system)
            if (name, segment.segment) in self.segments:
                cells.findings.problem(
                    f"segment {segment.segment} of {quoted(name)} has a score already. Remove one of them.", line
                )
            self.segments[name, segment.segment] = segment._replace(system=name)

    def judged(self) -> Judged:
        """The scores that all of it makes."""
        if self.kind == SCORES:
            return self._judged_scores()
        method: dict[str, Any] = {}
        if self.kind == RANKINGS:
            segments = ranked_segments(self.judgments)
        else:
            rated = self.judgments
            if self.kind == ERRORS:
                rated = penalties(self.judgments)
                method["weights"] = dict(self.reading.weights.by_path)
            standardise = self.reading.standardise
            method["standardised"] = self.kind == RATINGS and not self.raw if standardise is None else standardise
            sign = -1.0 if self.kind == ERRORS else 1.0
            values = standardised(rated) if method["standardised"] else [judgment.value for judgment in rated]
            segments = segment_scores(rated, [sign * value + 0.0 for value in values])
            self._notice_left_out(rated, values)
        systems, how = self._system_scores(segments)
        method["system_scores"] = how
        return self._checked(Judged(self.kind or "", method, systems, segments, self.judgments))

    def _judged_scores(self) -> Judged:
        segments = sorted(self.segments.values())
        if self.systems:
            systems, how = sorted(self.systems.values(), key=lambda score: score.system), GIVEN
            self._notice_other_means(segments)
        else:
            systems, how = self._system_scores(segments)
        return self._checked(Judged(SCORES, {"system_scores": how}, systems, segments))

    def _system_scores(self, segments: Sequence[SegmentScore]) -> tuple[list[SystemScore], str]:
        """The scores of systems, and how they were made."""
        how = self.reading.system_scores
        if self.kind == RANKINGS and how != NONE:
            if how == MEANS:
                raise BadTable("Scores of systems from rankings are shares of comparisons, not means. Choose another.")
            how = WINS if how == AUTO else how
            return ranked_systems(self.judgments, how), how
        if how in (WINS, BETTER_OR_EQUAL):
            raise BadTable(f"Scores of systems from {self.kind} are means, not shares of comparisons. Choose another.")
        if how == AUTO:
            apart = _apart(segments)
            how = NONE if apart else MEANS
            if apart:
                self.notices.append(
                    f"{self.names[0]}: {quoted(apart[0])} and {quoted(apart[1])} were judged on no segment in common, "
                    "so systems get no scores; segments do. `steelyard judgments import --system-scores "
                    "means` makes them of different segments."
                )
        return (system_scores(segments), how) if how == MEANS else ([], how)

    def _notice_left_out(self, rated: Sequence[Judgment], values: Sequence[float]) -> None:
        left_out = sorted({each.annotator for each, value in zip(rated, values, strict=True) if math.isnan(value)})
        if left_out:
            sentence = (
                f"{self.names[0]}: left out of all scores: {number_of(len(left_out), 'annotator')} with one judgment, "
                "or always the same"
            )
            self.notices.append(f"{sentence} ({listed(left_out)}).")
            self.anonymous[self.notices[-1]] = f"{sentence}."

    def _notice_other_means(self, segments: Sequence[SegmentScore]) -> None:
        means = {score.system: score.score for score in system_scores(segments)}
        other = [name for name, mean in means.items() if name in self.systems and
                 abs(self.systems[name].score - mean) > _AGREES]  # fmt: skip
        without = sorted(means.keys() - self.systems.keys())
        if other:
            self.notices.append(
                f"{self.names[0]}: the given scores of {number_of(len(other), 'system')} are not the means of their "
                f"segments ({listed(sorted(other))}); the given ones are kept."
            )
        if without:
            self.notices.append(f"{self.names[0]}: judged in segments only, not ranked: {listed(without)}.")

    def _checked(self, judged: Judged) -> Judged:
        """With all notices; raises BadTable where nothing is left, or nothing was to be renamed."""
        missing = [quoted(old) for old in self.reading.rename if old not in self.renamed]
        if missing:
            raise BadTable(f"{', '.join(self.names)}: no system {listed(missing)} to rename.")
        if not judged.systems and not judged.segments:
            raise BadTable(f"{', '.join(self.names)}: no judgment is left to make scores of.")
        waves = {wave: number for number, wave in enumerate(sorted({each.wave for each in judged.judgments}))}
        return Judged(
            judged.kind, judged.method, judged.systems, judged.segments,
            [each._replace(wave=waves[each.wave]) for each in judged.judgments], tuple(self.notices),
            tuple(self.anonymous.get(each, each) for each in self.notices),
            [each._replace(wave=waves.get(each.wave, 0)) for each in self.spans], self.units, self.texts,
        )  # fmt: skip


def _apart(segments: Sequence[SegmentScore]) -> tuple[str, str] | None:
    """Two systems that were judged on no segment in common."""
    judged: dict[str, set[int]] = {}
    for score in segments:
        judged.setdefault(score.system, set()).add(score.segment)
    for first, second in combinations(sorted(judged), 2):
        if judged[first].isdisjoint(judged[second]):
            return first, second
    return None
