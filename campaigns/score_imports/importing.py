"""Importing scores into a campaign: read files in, statistics and columns out, all in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from campaigns.errors import BadRequest
from campaigns.measures import add_protocols
from campaigns.score_imports.columns import change_columns, with_column
from campaigns.score_imports.placement import place
from campaigns.score_imports.scored import ScoredSystems
from campaigns.score_imports.targets import Target, create_targets, find_targets
from campaigns.score_imports.versions import ImportedColumn, ScoreFile, store_version
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.text.findings import quoted
from steelyard.text.language_pairs import NoSuchPair, pairs_called
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from runtime.settings import Settings
    from steelyard.formats.scores.score_tables import MetricTable, PairScores
    from steelyard.metrics.metric import Metric

MAX_NAME = 89
"""With what titles have behind it a title's 100 characters."""
MAX_COLUMNS = 50
"""Metrics of one test set in one import."""


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """What to import."""

    scores: Sequence[PairScores]
    files: Sequence[ScoreFile]
    test_set: str = ""
    """The test set of the campaign; by default that of each pair's name or languages, or the only one."""
    pairs: Sequence[str] = ()
    """Only these; by default all."""
    metric: str = ""
    """NAME or NAME@VERSION: a metric in the files, or the name to give to their only one."""
    create: bool = False
    """Create test sets of document names and numbers of segments alone for pairs that the campaign lacks."""
    replicates: int = 1000
    seed: int = 12345


@dataclass(slots=True)
class ImportResult:
    """What was imported."""

    columns: list[ImportedColumn] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What is missing or was left out, a sentence each."""


def import_scores(
    connection: Connection, settings: Settings, access: CampaignAccess, request: ScoreRequest
) -> ImportResult:
    """Import scores into a locked campaign (`lock_for_change`), as columns of its leaderboards.

    The same scores again change nothing. Other scores of the same metric are another version, which takes the place of
    the earlier one on leaderboards; the earlier one stays stored.

    Raises
    ------
    BadRequest
        For scores that fit no test set or none of its systems, and for bad names; nothing is stored.
    Conflict
        For a version that exists with other scores.
    """
    name, _, version = request.metric.partition("@")
    result = ImportResult()
    chosen = [replace(each, metrics=_named(each, name)) for each in _of_pairs(request)]
    targets = find_targets(connection, access, chosen, request.test_set)
    if request.create:
        targets |= create_targets(connection, access, [each for each in chosen if each.pair not in targets])
    unknown = [each.pair for each in chosen if each.pair not in targets]
    if unknown:
        result.notices.append(f"Left out, for the campaign has no test set of these pairs: {listed(unknown)}.")
    for each in chosen:
        if each.pair in targets:
            title = targets[each.pair].test_set.title
            if each.pair not in ("", title, title.partition("@")[0]):
                result.notices.append(f"Scores of {each.pair} are taken for the test set {title}.")
            found = _import_pair(connection, settings, access, each, targets[each.pair], version, request)
            result.columns += found.columns
            result.notices += found.notices
    access.principal.audit(
        connection,
        "scores.import",
        f"campaign {access.name}",
        campaign_id=access.campaign_id,
        files=[{"name": each.name, "sha256": each.sha256} for each in request.files],
        columns=[f"{each.test_set}: {each.name}@{each.version}" for each in result.columns if each.new],
    )
    return result


def _of_pairs(request: ScoreRequest) -> list[PairScores]:
    try:
        pairs = pairs_called(request.pairs, [each.pair for each in request.scores], "The scores")
    except NoSuchPair as error:
        raise BadRequest(str(error)) from error
    return [each for each in request.scores if each.pair in pairs]


def _named(scores: PairScores, name: str) -> tuple[MetricTable, ...]:
    found = scores.metrics
    if name:
        found = tuple(each for each in scores.metrics if each.name == name)
        if not found and len(scores.metrics) > 1:
            have = listed([each.name for each in scores.metrics])
            raise BadRequest(f"{scores.pair}: there is no metric {quoted(name)}. Metrics: {have}.")
        found = found or (replace(scores.metrics[0], name=name),)
    if len(found) > MAX_COLUMNS:
        raise BadRequest(f"{scores.pair}: there are {len(found)} metrics. At most {MAX_COLUMNS} are imported together.")
    for each in found:
        if not 0 < len(each.name) <= MAX_NAME or not each.name.isprintable() or "@" in each.name:
            raise BadRequest(
                f"{quoted(each.name[:100])} cannot be the name of a metric: give 1 to {MAX_NAME} printable characters "
                "without @, by --metric NAME."
            )
    return found


def _import_pair(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    scores: PairScores,
    target: Target,
    version: str,
    request: ScoreRequest,
) -> ImportResult:
    title = target.test_set.title
    rows = {target.systems[name]: number for number, name in enumerate(scores.systems) if name in target.systems}
    unknown = [each for each in scores.systems if each not in target.systems]
    if not rows:
        raise BadRequest(
            f"None of the systems in the scores is one of those on {title}: {listed(unknown)}. "
            f"Systems there: {listed(sorted(target.submissions))}."
        )
    notices = []
    if unknown:
        notices.append(f"{title}: left out, for they are no systems of the campaign: {listed(unknown)}.")
    if missing := sorted(set(target.submissions) - set(rows)):
        notices.append(f"{title}: no scores of {listed(missing)}.")
    found = ImportResult(notices=notices)
    columns = []
    for table in scores.metrics:
        placed = place(table, target.test_set)
        own = [*notices, *table.notices, *placed.notices]
        column, metric = store_version(
            connection, access, target, ScoredSystems(table, placed.places, rows), version, request.files, own
        )
        found.columns.append(column)
        found.notices += [each for each in own if each not in found.notices]
        columns.append(metric)

    def changed(metrics: list[Metric]) -> list[Metric]:
        for column in columns:
            metrics = with_column(metrics, column)
        return metrics

    if target.measured:
        change_columns(connection, settings, access, target.id, changed)
    else:
        # Scores of systems alone have no replicates, and nothing else can be measured here.
        replicates = 0 if all(each.level == "system" for each in columns) else request.replicates
        new = NewProtocol((), columns, replicates, request.seed)
        add_protocols(connection, settings, access, target.id, store_protocols(connection, target.id, [new]))
    return found
