"""Scores of metrics as files of mt-metrics-eval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, select

from campaigns.exports.names import RESERVED, GivenNames, word
from campaigns.inspection.segment_scores import Measure, read_measures, segment_scores
from campaigns.visibility import read_visible_submissions
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.results import Score
from steelyard.metrics.without_texts.imported import Imported, plain_name
from steelyard.ranking.autorank_column import AutoRank
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from campaigns.exports.pair import Pair
    from campaigns.permissions import CampaignAccess
    from steelyard.metrics.metric import Metric


@dataclass
class MetricFiles:
    """The files of all metrics of a pair."""

    files: list[tuple[str, list[bytes]]] = field(default_factory=list)
    described: dict[str, dict[str, str | bool]] = field(default_factory=dict)
    """Name -> what it is, and whether its sign was changed so that higher is better."""
    left_out: list[str] = field(default_factory=list)


def metric_files(connection: Connection, access: CampaignAccess, pair: Pair, humans: Sequence[str]) -> MetricFiles:
    """Return `metric-scores/PAIR/METRIC-REF.LEVEL.score` of all metrics, for segments and systems.

    Every system has a line, references that were judged too (`humans`): its reader wants them, and takes `nan` for
    missing. Scores of which lower is better have their sign changed, as in the files of the metrics tasks.
    """
    found = MetricFiles()
    names: dict[str, GivenNames] = defaultdict(GivenNames)
    imported: set[str] = set()
    visible = read_visible_submissions(connection, access, Submission.test_set_id == pair.test_set.id)
    shown = {each.id for each in visible if each.scores}
    for measure in read_measures(connection, access.campaign_id, pair.test_set.id):
        metric = cached_metric(measure.specification)
        if isinstance(metric, AutoRank):
            found.left_out.append(f"{measure.title}: a rank of the systems, no score of theirs.")
            continue
        if isinstance(metric, Imported):
            # It stands on the leaderboard of each list of references, which it does not depend on.
            if measure.specification in imported:
                continue
            imported.add(measure.specification)
        base, used = _name_and_references(measure, metric, pair)
        name = f"{names[used].give(base)}-{used}"
        sign = 1.0 if measure.higher_is_better else -1.0
        submissions = [submission for _, submission, _ in pair.systems.values() if submission in shown]
        of_segments = segment_scores(connection, measure, submissions)
        of_systems = system_scores(connection, measure, submissions)
        own = _references_used(used, pair)
        for level, scores, units in (("seg", of_segments, pair.test_set.segments), ("sys", of_systems, 1)):
            if not any(not np.isnan(each).all() for each in scores.values()):
                continue
            lines = [_lines(system, None, units, sign) for system in humans if system not in own]
            for system, (_, submission, _) in pair.systems.items():
                lines.append(_lines(system, scores.get(submission), units, sign))
            found.files.append((f"metric-scores/{pair.name}/{name}.{level}.score", lines))
        found.described[name] = {
            "metric": measure.specification, "references": ",".join(measure.references), "negated": sign < 0,
        }  # fmt: skip
    return found


def system_scores(
    connection: Connection, measure: Measure, submissions: Sequence[int]
) -> Mapping[int, NDArray[np.float64]]:
    """Return submission -> its score, (1,); of submissions that have one."""
    rows = connection.execute(
        select(Evaluation.submission_id, Score.score)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(
            Evaluation.protocol_id == measure.protocol,
            Evaluation.submission_id.in_(submissions),
            Score.metric == measure.position,
        )
    )
    return {row.submission_id: np.array([np.nan if row.score is None else row.score]) for row in rows}


def _name_and_references(measure: Measure, metric: Metric, pair: Pair) -> tuple[str, str]:
    """What stands before the last hyphen of the metric's name, and the references that stand behind it."""
    if isinstance(metric, Imported):
        version = "" if metric.ver == "1" else f"_{word(plain_name(metric.ver))}"
        name, _, used = word(plain_name(metric.metric)).rpartition("-")
        if name and {*used.split(".")} <= {*pair.references, *RESERVED}:
            return f"{name}{version}", used
        return f"{word(plain_name(metric.metric))}{version}", "src"
    called = {label: name for name, (label, _) in pair.references.items()}
    return word(measure.title), ".".join(called[label] for label in measure.references if label in called) or "src"


def _references_used(used: str, pair: Pair) -> set[str]:
    return set(pair.references) if used == "all" else {*used.split(".")}


def _lines(system: str, scores: NDArray[np.float64] | None, units: int, sign: float) -> bytes:
    values = np.full(units, np.nan) if scores is None else sign * scores + 0.0
    return "".join(f"{system}\t{value!r}\n" for value in values.tolist()).encode()
