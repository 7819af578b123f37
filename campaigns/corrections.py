"""Corrected references: a new version of a test set takes the place of the old one, and all is measured anew.

The old test set stays with all its scores, so that both can be looked at side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from campaigns.errors import BadRequest, NotThere, Taken
from campaigns.inspection.judgments import note_added
from campaigns.measures import KnownMeasure, adopt_protocols, protocols_on
from campaigns.permissions import Sight
from campaigns.short_text import short_text
from campaigns.test_sets import KnownTestSet, audit, called
from metrics import parse_metric
from metrics.text.pairing import check_pairing
from metrics.text.plain import Text, check_same_length
from metrics.titles import told_apart
from models.corpus.judgments import carry_judgments
from models.results.leaderboard import LeaderboardRow, ranked, read_leaderboard
from models.schema.campaigns import CampaignTestSet, Correction, Declaration, Diagnosis, SubmissionRequest, called_there
from models.schema.corpus import Document, LayerBlock, Reference, Submission, TestSet, TextBlock
from models.schema.queue import Evaluation
from models.schema.states import OPEN
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewTestSet, store_protocols, store_test_set

LONGEST_REASON = 2_000


@dataclass(frozen=True, slots=True)
class KnownCorrection:
    """A test set of a campaign that was replaced by one with corrected references."""

    id: int
    old_test_set_id: int
    new_test_set_id: int
    test_set: str
    old_version: str
    new_version: str
    reason: str
    made_at: float


@dataclass(frozen=True, slots=True)
class Beside:
    """A system's score by one metric, before the correction and after it."""

    team: str
    system: str
    submission_id: int
    """The one on the new test set."""
    old: float | None
    new: float | None
    """None where there is no score (yet)."""
    ranked: bool
    """Whether it is ranked now (`models.results.entries`).

    Ranks before the correction are those among the same systems.
    """
    old_rank: int | None
    new_rank: int | None

    @property
    def difference(self) -> float | None:
        """New minus old."""
        return None if self.old is None or self.new is None else self.new - self.old

    @property
    def risen(self) -> int | None:
        """Ranks won (positive) or lost."""
        return None if self.old_rank is None or self.new_rank is None else self.old_rank - self.new_rank


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """A metric against a list of references, before and after."""

    references: tuple[str, ...]
    specification: str
    title: str
    higher_is_better: bool
    rows: tuple[Beside, ...]
    """By the new rank."""


def correct(
    connection: Connection,
    settings: Settings,
    sight: Sight,
    test_set: KnownTestSet,
    references: Mapping[str, Text],
    reason: str,
) -> int:
    """Replace references of a test set of a campaign (`to_change`) and queue all that stands on it; the correction.

    Everything in this transaction: either there are a new version, measures and submissions on it, or nothing has
    changed. What the correction does not touch is not measured again (`scheduler.enqueue.reuse`). Human judgments come
    along, since source and segments are the same. Raises BadRequest, Taken, BadText and BadIntake.
    """
    reason = short_text(reason, "The reason", LONGEST_REASON, lines=True)
    if not reason:
        raise BadRequest(f"Say in up to {LONGEST_REASON:,} characters why the references were corrected.")
    if test_set.replaced_by is not None:
        raise Taken(f"The test set {test_set.title} was replaced already. Correct the one that stands for it.")
    old = _stored(connection, test_set)
    new = _with(old, references, test_set)
    new_id = store_test_set(connection, sight.campaign_id, new)
    if new_id == test_set.id:
        raise BadRequest("These references are the very ones that the test set has.")
    if new_id in sight.test_sets:
        raise Taken("The campaign has a test set with this very content.")
    _put_in_place(connection, sight, test_set, new_id)
    _carry_over(connection, sight, test_set.id, new_id)
    old_measures = protocols_on(connection, sight.campaign_id, test_set.id)
    protocols = store_protocols(connection, new_id, [_again(each) for each in old_measures])
    queued = adopt_protocols(connection, settings, sight, new_id, protocols)
    row = {
        "campaign_id": sight.campaign_id,
        "old_test_set_id": test_set.id,
        "new_test_set_id": new_id,
        "reason": reason,
    }
    carried = carry_judgments(connection, sight.campaign_id, test_set.id, new_id)
    correction = int(connection.execute(insert(Correction).values(**row).returning(Correction.id)).scalar_one())
    details = {"corrected": sorted(references), "new_test_set": new_id, "submissions": queued, "reason": row["reason"]}
    details["judgments"] = len(carried)
    audit(connection, sight, "test_set.correct", test_set.id, **details)
    corrected = called(connection, sight, new_id)
    for each in carried:
        note_added(connection, sight.principal, each, corrected, sight.campaign_id, carried=True)
    return correction


def list_corrections(
    connection: Connection, sight: Sight, *, before: int | None = None, limit: int | None = None
) -> list[KnownCorrection]:
    """Those corrections that somebody may know of, the newest first: all, or `limit` with ids below `before`."""
    older = () if before is None else (Correction.id < before,)
    rows = connection.execute(
        select(Correction)
        .where(Correction.campaign_id == sight.campaign_id, *older)
        .where(Correction.old_test_set_id.not_in(sight.hidden_test_sets))
        .where(Correction.new_test_set_id.not_in(sight.hidden_test_sets))
        .order_by(Correction.id.desc())
        .limit(limit)
    ).all()
    return [
        KnownCorrection(
            id=row.id,
            old_test_set_id=row.old_test_set_id,
            new_test_set_id=row.new_test_set_id,
            test_set=sight.test_sets[row.old_test_set_id].name,
            old_version=sight.test_sets[row.old_test_set_id].version,
            new_version=sight.test_sets[row.new_test_set_id].version,
            reason=row.reason,
            made_at=row.made_at,
        )
        for row in rows
    ]


def find_correction(connection: Connection, sight: Sight, correction: int) -> KnownCorrection:
    """The correction of that number. Raises NotThere."""
    for known in list_corrections(connection, sight):
        if known.id == correction:
            return known
    raise NotThere(f"The campaign has no correction {correction}.")


def count_open(connection: Connection, campaign_id: int, test_set_id: int) -> int:
    """Evaluations on a test set of a campaign that are still to be done."""
    rows = connection.scalars(
        select(Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(
            Submission.campaign_id == campaign_id,
            Submission.test_set_id == test_set_id,
            Evaluation.state.in_(OPEN),
        )
    )
    return len(list(rows))


def compare(connection: Connection, sight: Sight, correction: KnownCorrection) -> list[ComparedMetric]:
    """Scores and ranks before a correction and after it: of each metric, of every system that was not withdrawn."""
    measured_now = protocols_on(connection, sight.campaign_id, correction.new_test_set_id)
    new_of = {_described(each): each for each in measured_now}
    compared = []
    for old in protocols_on(connection, sight.campaign_id, correction.old_test_set_id):
        new = new_of.get(_described(old))
        if new is None:
            continue
        before, after = _board(connection, sight, old), _board(connection, sight, new)
        compared += [_compared(old, place, before, after) for place in range(len(old.metrics))]
    return compared


Key = tuple[str, str, int]
"""Team, system, and which of its submissions that stand it is."""


def _board(connection: Connection, sight: Sight, measure: KnownMeasure) -> dict[Key, LeaderboardRow]:
    rows = read_leaderboard(connection, measure.id, campaign_id=sight.campaign_id)
    found: dict[Key, LeaderboardRow] = {}
    for row in sorted(rows, key=lambda row: max(row.submissions)):
        number = sum(key[:2] == (row.team, row.system) for key in found) if row.twice else 0
        found[row.team, row.system, number] = row
    return found


def _compared(
    measure: KnownMeasure, place: int, before: Mapping[Key, LeaderboardRow], after: Mapping[Key, LeaderboardRow]
) -> ComparedMetric:
    metric = parse_metric(measure.metrics[place])
    titles = told_apart([parse_metric(each).title for each in measure.metrics], measure.metrics)
    both = [key for key in after if key in before]
    old, new = _scores(before, both, place), _scores(after, both, place)
    ranks = [
        ranked(
            {key: score for key, score in zip(both, scores, strict=True) if score is not None and after[key].ranked},
            metric.higher_is_better,
        )
        for scores in (old, new)
    ]
    rows = [
        Beside(
            team=key[0],
            system=key[1],
            submission_id=after[key].submissions[-1],
            old=old[number],
            new=new[number],
            ranked=after[key].ranked,
            old_rank=ranks[0].get(key),
            new_rank=ranks[1].get(key),
        )
        for number, key in enumerate(both)
    ]
    return ComparedMetric(
        references=measure.references,
        specification=measure.metrics[place],
        title=titles[place],
        higher_is_better=metric.higher_is_better,
        # Among equals those first that came first: by their names would tell who anonymous teams are.
        rows=tuple(sorted(rows, key=lambda row: (row.new_rank or len(rows) + 1, row.submission_id))),
    )


def _scores(board: Mapping[Key, LeaderboardRow], keys: Sequence[Key], place: int) -> list[float | None]:
    return [board[key].scores[place].score if board[key].scores else None for key in keys]


def _described(measure: KnownMeasure) -> tuple[Any, ...]:
    return (measure.references, measure.metrics, measure.replicates, measure.seed)


def _again(measure: KnownMeasure) -> NewProtocol:
    metrics = [parse_metric(each) for each in measure.metrics]
    return NewProtocol(measure.references, metrics, measure.replicates, measure.seed)


def _stored(connection: Connection, test_set: KnownTestSet) -> NewTestSet:
    """A test set as it was taken in."""
    row = connection.execute(select(TestSet).where(TestSet.id == test_set.id)).one()
    labelled = connection.execute(
        select(Reference.label, Reference.text_id)
        .where(Reference.test_set_id == test_set.id)
        .order_by(Reference.position)
    ).all()
    documents = connection.execute(
        select(Document).where(Document.test_set_id == test_set.id).order_by(Document.first_segment)
    )
    return NewTestSet(
        test_set.name,
        {each.label: _text(connection, each.text_id) for each in labelled},
        source=None if row.source_text_id is None else _text(connection, row.source_text_id),
        source_language=row.source_language,
        target_language=row.target_language,
        documents=[(each.name, each.domain, each.test_suite) for each in documents for _ in range(each.segments)],
        variable_references=row.variable_references,
        layers={each.label: _layers(connection, each.text_id) for each in labelled},
    )


def _with(old: NewTestSet, references: Mapping[str, Text], test_set: KnownTestSet) -> NewTestSet:
    """The same test set with other references. Raises BadRequest and BadText."""
    strangers = sorted(references.keys() - old.references.keys())
    if strangers or not references:
        raise BadRequest(
            f"The test set {test_set.title} has the references {', '.join(old.references)}. Name each file like the "
            f"reference that it corrects{'; unknown: ' + ', '.join(strangers) if strangers else ''}."
        )
    stands = Text(f"the test set {test_set.title}", b"", test_set.segments, unit="segment")
    check_same_length(stands, list(references.values()))
    check_pairing(list(references.values()))
    layers = {
        label: dict(references[label].layers) if label in references else old.layers[label] for label in old.references
    }
    return replace(old, references={**old.references, **references}, layers=layers)


def _text(connection: Connection, text_id: int) -> bytes:
    blocks = connection.scalars(select(TextBlock.content).where(TextBlock.text_id == text_id).order_by(TextBlock.block))
    return b"\n".join(blocks)


def _layers(connection: Connection, text_id: int) -> dict[str, bytes]:
    layers: dict[str, list[bytes]] = {}
    for row in connection.execute(
        select(LayerBlock.layer, LayerBlock.content)
        .where(LayerBlock.text_id == text_id)
        .order_by(LayerBlock.layer, LayerBlock.block)
    ):
        layers.setdefault(row.layer, []).append(row.content)
    return {layer: b"\n".join(blocks) for layer, blocks in layers.items()}


def _put_in_place(connection: Connection, sight: Sight, test_set: KnownTestSet, new_id: int) -> None:
    place = (CampaignTestSet.position, CampaignTestSet.phase_id, CampaignTestSet.references_released_at)
    where = called_there(sight.campaign_id, test_set.id)
    old = connection.execute(select(*place).where(where)).one()._asdict()
    new = called_there(sight.campaign_id, new_id)
    connection.execute(update(CampaignTestSet).where(new).values(**old))
    connection.execute(update(CampaignTestSet).where(where).values(replaced_by=new_id))


def _carry_over(connection: Connection, sight: Sight, old_id: int, new_id: int) -> None:
    """Let all submissions be there on the new test set, too, with what their teams say of them.

    In the order in which they came, and when they came: the last one of a system stays its last one. Those that were
    withdrawn come along, since their teams may change their minds; they are not measured.
    """
    columns = ("system_id", "run", "text_id", "created_at")
    old = connection.execute(
        select(Submission)
        .where(Submission.campaign_id == sight.campaign_id, Submission.test_set_id == old_id)
        .order_by(Submission.id)
    ).all()
    if not old:
        return
    common = {"campaign_id": sight.campaign_id, "test_set_id": new_id}
    new_ids = connection.scalars(
        insert(Submission).returning(Submission.id, sort_by_parameter_order=True),
        [{**common, **{name: getattr(row, name) for name in columns}} for row in old],
    ).all()
    new_of = {row.id: new for row, new in zip(old, new_ids, strict=True)}
    # A request that is sent again finds the submission that stands now. The ledger stays: the attempt was the old one.
    moved_requests = update(SubmissionRequest).where(SubmissionRequest.submission_id == bindparam("old_id"))
    connection.execute(
        moved_requests.values(submission_id=bindparam("new_id")),
        [{"old_id": before, "new_id": after} for before, after in new_of.items()],
    )
    for table in (Declaration, Diagnosis):
        rows = connection.execute(select(table).where(table.submission_id.in_(list(new_of)))).all()
        moved = {} if table is Diagnosis else {"test_set_id": new_id}
        copies = [{**row._asdict(), **moved, "submission_id": new_of[row.submission_id]} for row in rows]
        if copies:
            connection.execute(insert(table), copies)
