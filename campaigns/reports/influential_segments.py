"""The causes of the difference of two systems: segments with marked words, and n-grams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from campaigns.reports.limits import LETTERS
from campaigns.reports.template import language, rendered
from steelyard.inspection.marks import Mark, Run, compare
from steelyard.tables.formatting import TYPESET, digits, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from steelyard.inspection.influential_segments import InfluentialSegment, InfluentialSegments
    from steelyard.inspection.ngrams import NgramDifference
    from steelyard.resampling.paired import PairedResult


@dataclass(frozen=True)
class SegmentTexts:
    """The texts of one segment."""

    document: str = ""
    source: str | None = None
    references: Sequence[tuple[str, str]] = ()
    """Label and text; empty if they must not be shown."""
    first: str | None = None
    """The outputs of the two systems; None if no text may be shown."""
    second: str | None = None


@dataclass(frozen=True)
class ExplainedPair:
    """Two systems and the causes of their difference."""

    link: str
    """A unique id."""
    first: str
    second: str
    metric: str
    scale: float
    higher_is_better: bool
    drivers: InfluentialSegments
    texts: dict[int, SegmentTexts] = field(default_factory=dict)
    """Segment -> its texts; empty if no text may be shown."""
    ngrams: Sequence[tuple[str, Sequence[NgramDifference]]] = ()
    """System -> n-grams that it gets right more often than the other."""
    test: PairedResult | None = None
    same: bool = False
    """Whether both outputs are identical."""


def influential_segments_body(
    pairs: Sequence[ExplainedPair], *, segments: int, source_language: str = "", target_language: str = ""
) -> Markup:
    """Render the pairs, the first one open."""
    shown = [text for pair in pairs for text in pair.texts.values()]
    texts = "none" if not shown else "references" if any(text.references for text in shown) else "outputs"
    return rendered(
        "drivers",
        pairs=[_pair(pair) for pair in pairs],
        segments=segments,
        texts=texts,
        source_language=language(source_language),
        target_language=language(target_language),
    )


def _pair(pair: ExplainedPair) -> dict[str, Any]:
    places = digits(pair.scale)
    # The advantage of the first, in the direction of the metric.
    sign = -1.0 if pair.higher_is_better else 1.0
    ahead = sign * pair.drivers.difference
    interval = None
    if pair.test and pair.test.interval:
        low, high = sorted(sign * end for end in pair.test.interval)
        interval = (low, high) if (pair.test.difference > 0) == (pair.drivers.difference > 0) else (-high, -low)
    return {
        "link": pair.link,
        "first": pair.first,
        "second": pair.second,
        "metric": pair.metric.removesuffix(" ↓"),
        "advantage": TYPESET.number(ahead, places + 1, sign=True),
        "ahead": ahead > 0,
        "level": ahead == 0,
        "distance": TYPESET.number(abs(ahead), places + 1),
        "ends": TYPESET.interval(interval, places + 1),
        "p": p_value(pair.test.p_corrected) if pair.test else "",
        "same": pair.same,
        "identical": pair.drivers.identical,
        "sides": [
            (pair.first, [_segment(pair, each) for each in pair.drivers.for_first]),
            (pair.second, [_segment(pair, each) for each in pair.drivers.for_second]),
        ],
        "ngrams": pair.ngrams,
    }


def _segment(pair: ExplainedPair, driver: InfluentialSegment) -> dict[str, Any]:
    texts = pair.texts.get(driver.segment, SegmentTexts())
    places = digits(pair.scale)
    outputs = []
    for name, score, text, other in (
        (pair.first, driver.first, texts.first, texts.second),
        (pair.second, driver.second, texts.second, texts.first),
    ):
        shown = f"{pair.metric.removesuffix(' ↓')} {TYPESET.number(score, places)}"
        if text is None or other is None:
            runs = [Run("not shown", Mark.UNMARKED)]
            outputs.append({"name": name, "score": shown, "runs": runs, "missing": [], "closest": ""})
            continue
        against = [reference[:LETTERS] for _, reference in texts.references] or [other[:LETTERS]]
        marked = compare(text[:LETTERS], against)
        labels = [label for label, _ in texts.references]
        closest = labels[marked.chosen] if len(labels) > 1 else ""
        missing = [run.text.strip() for run in marked.reference if run.mark is Mark.ALONE]
        runs = [*marked.hypothesis, *_rest(text)]
        outputs.append({"name": name, "score": shown, "runs": runs, "missing": missing, "closest": closest})
    return {
        "number": driver.segment + 1,
        "document": texts.document,
        "influence": TYPESET.number(abs(driver.influence), places + 2),
        "source": None if texts.source is None else _cut(texts.source),
        "references": [(label, _cut(reference)) for label, reference in texts.references],
        "outputs": outputs,
    }


def _cut(text: str) -> str:
    return text[:LETTERS] + "".join(run.text for run in _rest(text))


def _rest(text: str) -> list[Run]:
    """Return what replaces the end of a long text."""
    more = len(text) - LETTERS
    return [Run(f" … ({more:,} more characters)", Mark.UNMARKED)] if more > 0 else []
