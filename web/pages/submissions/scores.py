"""The scores of a submission as one table: metrics as rows, references as columns, and how the best one before did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.leaderboard.board import position_of_metric
from campaigns.leaderboards.feedback import EvaluationFeedback, ScoreFeedback
from campaigns.leaderboards.rounding import step_of
from models.schema.roles import Feedback
from steelyard.tables.formatting import TYPESET, digits


@dataclass(frozen=True, slots=True)
class Cell:
    """A score against some references."""

    score: str = ""
    """"" where the feedback tells none; "n/a" where the metric is undefined."""
    interval: str = ""
    improved: bool | None = None
    """By the Ladder rule, whether it beat the team's best; None by other rules."""


@dataclass(frozen=True, slots=True)
class Row:
    """A metric."""

    title: str
    higher_is_better: bool
    cells: Sequence[Cell]
    before: str = ""
    """The best score of the system's other submissions, against the first references; "" if there is none."""
    change: str = ""
    """How much the score is above or below that, with a sign."""
    better: bool | None = None
    """Whether that is an improvement; None if equal, or unknown."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of a submission."""

    references: Sequence[tuple[str, ...]]
    """Of each column, most references first."""
    rows: Sequence[Row]
    words: Sequence[str]
    """How the numbers are coarsened."""
    signatures: Sequence[tuple[str, str]]
    """Title and signature of each metric against each list of references, each once."""

    @property
    def compared(self) -> bool:
        """Whether there is a submission to compare with."""
        return any(row.before for row in self.rows)


def score_table(feedback: Sequence[EvaluationFeedback], others: Sequence[Sequence[EvaluationFeedback]]) -> ScoreTable:
    """Return the table of a submission; `others` are those of the other submissions of its system."""
    told = sorted(
        (each for each in feedback if each.scores and each.feedback != Feedback.NONE),
        key=lambda each: -len(each.references),
    )
    comparable = told and told[0].feedback in (Feedback.FULL, Feedback.ROUNDED)
    best = _best(told[0].protocol_id, others) if comparable else {}
    rows: dict[str, list[ScoreFeedback | None]] = {}
    for place, each in enumerate(told):
        for score in each.scores:
            rows.setdefault(score.metric, [None] * len(told))[place] = score
    signatures: dict[str, str] = {}
    for each in told:
        for score in each.scores:
            against = f", {' + '.join(each.references)}" if len(told) > 1 else ""
            signatures.setdefault(score.signature, f"{score.title}{against}")
    return ScoreTable(
        [each.references for each in told],
        [_row(scores, told, best.get(metric)) for metric, scores in rows.items()],
        list(dict.fromkeys(each.words for each in feedback if each.words)),
        [(title, signature) for signature, title in signatures.items()],
    )


def _places(scale: float, feedback: EvaluationFeedback) -> int:
    """Return the digits to show: of rounded scores no more than their step has, since others would look exact."""
    most = digits(scale)
    if feedback.feedback not in (Feedback.ROUNDED, Feedback.INTERVAL):
        return most
    step = step_of(feedback.step, scale)
    return next((places for places in range(most) if (step * 10**places).denominator == 1), most)


class Headline(NamedTuple):
    """The one score of a submission that lists show."""

    metric: str
    """Its title; "" without a score."""
    score: str

    @property
    def text(self) -> str:
        """Both, such as "BLEU 45.6"."""
        return f"{self.metric} {self.score}".strip()


def headline(feedback: Sequence[EvaluationFeedback], ranked_by: str) -> Headline:
    """Return the score for a list: by the ranking metric, against most references."""
    told = [each for each in feedback if each.scores and each.feedback != Feedback.NONE]
    if not told:
        return Headline("", "")
    against_most = max(told, key=lambda each: len(each.references))
    place = position_of_metric([each.metric for each in against_most.scores], ranked_by or None)
    score = against_most.scores[place or 0]
    places = _places(score.scale, against_most)
    if score.score is not None:
        return Headline(score.title, TYPESET.number(score.score, places))
    return Headline(score.title, _interval(score, places)) if score.low is not None else Headline("", "")


def column_of(scores: Mapping[int, Headline]) -> tuple[str, dict[int, str]]:
    """Return head and cells of a column of headlines: a metric that all have is said in the head alone."""
    metrics = {each.metric for each in scores.values() if each.metric}
    if len(metrics) == 1:
        return metrics.pop(), {key: each.score for key, each in scores.items()}
    return "Score", {key: each.text for key, each in scores.items()}


def _row(scores: Sequence[ScoreFeedback | None], told: Sequence[EvaluationFeedback], best: float | None) -> Row:
    known = next(score for score in scores if score is not None)
    cells = [_cell(score, each) for score, each in zip(scores, told, strict=True)]
    first, places = scores[0], _places(known.scale, told[0])
    row = Row(known.title, known.higher_is_better, cells)
    if best is None or first is None or first.score is None:
        return row
    change = first.score - best
    better = None if change == 0 else (change > 0) == known.higher_is_better
    return Row(
        known.title,
        known.higher_is_better,
        cells,
        TYPESET.number(best, places),
        TYPESET.number(change, places, sign=True),
        better,
    )


def _cell(score: ScoreFeedback | None, feedback: EvaluationFeedback) -> Cell:
    if score is None:
        return Cell("–")
    places = _places(score.scale, feedback)
    shown = "" if feedback.feedback == Feedback.INTERVAL else TYPESET.number(score.score, places)
    return Cell(shown, _interval(score, places), score.improved)


def _interval(score: ScoreFeedback, places: int) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{TYPESET.number(score.low, places)} to {TYPESET.number(score.high, places)}"


def _best(protocol_id: int, others: Sequence[Sequence[EvaluationFeedback]]) -> Mapping[str, float]:
    """Return the best score of other submissions under a protocol, by metric."""
    found: dict[str, float] = {}
    for each in (one for feedback in others for one in feedback if one.protocol_id == protocol_id):
        for score in each.scores:
            if score.score is not None:
                known = found.get(score.metric)
                better = known is None or (score.score > known) == score.higher_is_better
                found[score.metric] = score.score if better else known  # type: ignore[assignment]
    return found
