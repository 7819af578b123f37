"""The scores of a nightly run, each with its possible baselines."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from analysis.nightly.baselines import candidates
from analysis.nightly.regression import BaselineScore, ScoreEntry, Subject
from models.nightly.scores import NightlyScore, read_measured_outputs, read_nightly_scores
from steelyard.tables.titles import with_distinct_titles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from analysis.nightly.baselines import RunHistory
    from models.nightly.schedules import ScheduleInfo


def apart(scores: Mapping[tuple[int, int], NightlyScore]) -> dict[tuple[int, int], NightlyScore]:
    """The scores with titles that are distinct among the metrics of each evaluation."""
    found: dict[tuple[int, int], NightlyScore] = {}
    for _, keys in groupby(sorted(scores), key=itemgetter(0)):
        of_one = list(keys)
        found.update(zip(of_one, with_distinct_titles([scores[key] for key in of_one]), strict=True))
    return found


def read_score_entries(connection: Connection, schedule: ScheduleInfo, history: RunHistory) -> list[ScoreEntry]:
    """Every system of the last run by every metric, in the order of test sets, systems and metrics."""
    nightly_run = history.nightly_runs[-1]
    members = history.members[nightly_run.id]
    rivals_of = {member: candidates(connection, schedule, history, member) for member in members}
    evaluations = {member.evaluation_id for member in members}
    evaluations |= {each.evaluation_id for rivals in rivals_of.values() for each in rivals}
    scores = apart(read_nightly_scores(connection, evaluations))
    texts = {key: each.text_id for key, each in read_measured_outputs(connection, evaluations).items()}
    entries = []
    for member in members:
        own = member.evaluation_id
        for metric in sorted(metric for evaluation, metric in scores if evaluation == own):
            score = scores[own, metric]
            rivals = [
                BaselineScore(
                    candidate,
                    scores[candidate.evaluation_id, metric],
                    same_output=texts[candidate.evaluation_id] == texts[own],
                    itself=candidate.evaluation_id == own and candidate.nightly_run_id == nightly_run.id,
                )
                for candidate in rivals_of[member]
                if (candidate.evaluation_id, metric) in scores
            ]
            subject = Subject(member.system, member.test_set, member.references, score.specification)
            entries.append(ScoreEntry(subject, own, member.protocol_id, metric, score, rivals))
    return entries
