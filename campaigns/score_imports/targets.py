"""The test sets and systems of a campaign that imported scores are of; or new ones, which have no texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from campaigns.errors import BadRequest
from campaigns.measures import protocols_on, standing_submissions
from campaigns.score_imports.placement import Segmented
from campaigns.test_sets.stored import CampaignTestSetInfo, find_campaign_test_set, list_campaign_test_sets
from models.corpus.test_sets import document_segments
from models.schema.corpus import Submission, System
from scheduler.ingest.campaigns import store_systems_without_texts
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.text.language_pairs import fitting_pairs, of_other_languages
from steelyard.text.names import fault_of_name
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from steelyard.formats.scores.score_tables import PairScores


@dataclass(frozen=True)
class Target:
    """A test set of the campaign with its systems."""

    id: int
    test_set: Segmented
    systems: Mapping[str, str]
    """What a file may call a system -> the system: SYSTEM where only one team has it, and TEAM/SYSTEM."""
    submissions: Mapping[str, int]
    """System -> its last standing submission."""
    measured: bool
    """Whether there is a leaderboard of it."""


def find_targets(
    connection: Connection, access: CampaignAccess, scores: Sequence[PairScores], test_set: str
) -> dict[str, Target]:
    """The test set of each pair: the named one, else by its name or languages; of a single pair the only one.

    Raises
    ------
    BadRequest
        If several pairs have scores for the named test set, or no pair has a test set.
    NotFound
        If there is no test set of that name.
    """
    if test_set:
        if len(scores) > 1:
            pairs = listed([each.pair for each in scores])
            raise BadRequest(f"The scores are of several pairs: {pairs}. Choose the one of {test_set} with --pair.")
        chosen = find_campaign_test_set(connection, access, test_set)
        if of_other_languages(scores[0].pair, _languages(chosen)):
            raise BadRequest(f"The scores are of {scores[0].pair}, but {chosen.title} is of {_languages(chosen)}.")
        return {scores[0].pair: _target(connection, access, chosen)}
    known = [each for each in list_campaign_test_sets(connection, access) if each.replaced_by is None]
    names, pairs_there = {one.name for one in known}, {_languages(one) for one in known}
    found: dict[str, CampaignTestSetInfo] = {}
    for each in scores:
        fitting = [one for one in known if one.name in fitting_pairs(each.pair, names)] or [
            one for one in known if _languages(one) in fitting_pairs(each.pair, pairs_there)
        ]
        if not fitting and len(scores) == len(known) == 1 and (not each.pair or not known[0].source_language):
            fitting = known
        if len(fitting) > 1:
            titles = listed([one.title for one in fitting])
            raise BadRequest(f"Several test sets are of {each.pair}: {titles}. Name one with --test-set.")
        if fitting:
            other = next((pair for pair, one in found.items() if one.id == fitting[0].id), None)
            if other is not None:
                raise BadRequest(
                    f"The scores of {other} and of {each.pair} are both of the test set {fitting[0].title}. Choose one "
                    "with --pair."
                )
            found[each.pair] = fitting[0]
    return {pair: _target(connection, access, one) for pair, one in found.items()}


def _languages(test_set: CampaignTestSetInfo) -> str:
    return f"{test_set.source_language or ''}-{test_set.target_language or ''}"


def create_targets(connection: Connection, access: CampaignAccess, scores: Sequence[PairScores]) -> dict[str, Target]:
    """Create a test set for each pair, of the documents that its scores name, with the systems that have scores."""
    found = {}
    for each in scores:
        name = each.pair or "scores"
        if fault := fault_of_name(name):
            raise BadRequest(f"{name[:50]!r} cannot be the name of a test set: {fault}.")
        test_set_id = store_test_set(connection, access.campaign_id, _new_test_set(name, each))
        store_systems_without_texts(connection, access.campaign_id, test_set_id, each.systems)
        documents = document_segments(connection, test_set_id)
        segments = sum(len(document.positions) for document in documents.values()) or _units(each)
        found[each.pair] = _with_systems(connection, access, test_set_id, Segmented(name, segments, documents))
    return found


def _units(scores: PairScores) -> int:
    return max(int(each.scores.shape[1]) for each in scores.metrics)


def _new_test_set(name: str, scores: PairScores) -> NewTestSet:
    finest = min(scores.metrics, key=lambda each: ("segment", "document", "system").index(each.level))
    source, _, target = scores.pair.partition("-")
    documents: list[tuple[str, str, str]] = []
    ids: list[str] = []
    for each in finest.documents if finest.level == "segment" else ():
        if each.name:
            documents += [(each.name, each.domain, "")] * each.size
            ids += each.ids or ()
    if finest.level == "document":
        # Documents of one segment each, by name where the file names them.
        documents = [(each, "", "") for each in finest.documents[0].ids or ()]
    size = finest.scores.shape[1]
    return NewTestSet(
        name,
        {},
        source_language=source,
        target_language=target,
        documents=documents if len(documents) == size else (),
        segment_ids=ids if len(ids) == size else (),
        segments=size,
    )


def _target(connection: Connection, access: CampaignAccess, info: CampaignTestSetInfo) -> Target:
    documents = document_segments(connection, info.id)
    return _with_systems(connection, access, info.id, Segmented(info.title, info.segments, documents))


def _with_systems(connection: Connection, access: CampaignAccess, test_set_id: int, test_set: Segmented) -> Target:
    standing = standing_submissions(connection, access.campaign_id, test_set_id)
    rows = connection.execute(
        select(System.team, System.name, Submission.id)
        .join(System, System.id == Submission.system_id)
        .where(Submission.id.in_(standing))
        .order_by(Submission.id)
    )
    last = {(row.team, row.name): row.id for row in rows}
    shared = Counter(name for _, name in last)
    submissions = {f"{team}/{name}" if team else name: submission for (team, name), submission in last.items()}
    systems = {full: full for full in submissions}
    for team, name in last:
        if shared[name] == 1:
            systems.setdefault(name, f"{team}/{name}" if team else name)
    measured = bool(protocols_on(connection, access.campaign_id, test_set_id))
    return Target(test_set_id, test_set, systems, submissions, measured)
