"""Test sets by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection, func, select

from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Document, LayerBlock, Reference, Submission, System, TestSet


def titled_test_set(name: str, version: str) -> str:
    """The name, with the version if it is not the first: for people."""
    return name if version == "1" else f"{name} (version {version})"


def titled_board(campaign: str, test_set: str, version: str) -> str:
    """Campaign and test set; each is named only if it adds information."""
    title = titled_test_set(test_set, version)
    return title if campaign == test_set else f"{campaign}: {title}"


def short_address(name: str, version: str) -> str:
    """The name, with the version if it is not the first: as `match_test_set` accepts it."""
    return name if version == "1" else f"{name}@{version}"


@dataclass(frozen=True, slots=True)
class StoredTestSet:
    """One version of a test set, under its name in a campaign."""

    id: int
    name: str
    version: str
    segments: int

    @property
    def title(self) -> str:
        """The name, with the version if it is not the first; `find_test_set` accepts it."""
        return short_address(self.name, self.version)


class NamedTestSet(Protocol):
    """A test set in any representation."""

    @property
    def id(self) -> int:
        """The id."""

    @property
    def name(self) -> str:
        """The name, shared by all versions."""

    @property
    def version(self) -> str:
        """The version."""


AnyTestSet = TypeVar("AnyTestSet", bound=NamedTestSet)


def match_test_set(test_sets: Sequence[AnyTestSet], wanted: str) -> AnyTestSet | None:
    """Find a test set by id, NAME@VERSION, "NAME (version VERSION)" or NAME.

    A bare name means the first match: put replaced test sets last.
    """
    exact = (each for each in test_sets if is_exact_name(each, wanted))
    return next(exact, None) or next((each for each in test_sets if each.name == wanted), None)


def is_exact_name(test_set: NamedTestSet, wanted: str) -> bool:
    """Whether the text identifies exactly this version of the test set."""
    name, version = test_set.name, test_set.version
    return wanted in (str(test_set.id), f"{name}@{version}", f"{name} (version {version})")


@dataclass(frozen=True, slots=True)
class References:
    """The references of a test set."""

    labels: tuple[str, ...]
    """Labels, in order."""
    language: str
    """The target language, if known."""
    layers: frozenset[str]
    """The linguistic layers that all references have."""


def list_test_sets(connection: Connection, campaign_id: int | None = None) -> list[StoredTestSet]:
    """The test sets of a campaign, or of all campaigns, in order of creation: one for each name."""
    named = {each: None for campaign, each in _named(connection) if campaign_id in (None, campaign[0])}
    return list(named)


def find_test_set(connection: Connection, name: str | None = None, campaign: str | None = None) -> StoredTestSet:
    """The test set with this name, `NAME` or `NAME@VERSION`; without a name, the only one.

    If campaigns use the name for different test sets, `campaign` decides, or the prefix of `CAMPAIGN: NAME`, as on
    leaderboards.

    Raises
    ------
    NotFound
        If it does not exist, listing what exists, also if the name has several versions.
    """
    rows = _named(connection)
    if not rows:
        raise NotFound("The database has no test set. `steelyard evaluate` stores them.")
    exact = [row for row in rows if name in _exact_names(*row)]
    found = exact or [row for row in rows if name is None or name in _names(*row)]
    own = [row for row in found if row[0][1] == campaign] or found
    known = list(dict.fromkeys(each for _, each in own))
    if len(known) == 1:
        return known[0]
    known = known or list(dict.fromkeys(each for _, each in rows))
    several = len({each.name for each in known}) < len(known)
    there = ", ".join(dict.fromkeys(f"{each.name}@{each.version}" if several else each.title for each in known))
    if not found:
        raise NotFound(f"There is no test set {name!r}. There are: {there}.")
    if len({(each.name, each.version) for each in known}) == 1:
        there = ", ".join(dict.fromkeys(f"{called}: {each.title}" for (_, called), each in own))
        raise NotFound(f"Several campaigns have a test set {known[0].title!r}, and not the same: {there}. Name one.")
    raise NotFound(f"There are several test sets: {there}. Choose one with --test-set.")


_Campaign = tuple[int, str]
"""Id and name."""


def _named(connection: Connection) -> list[tuple[_Campaign, StoredTestSet]]:
    rows = connection.execute(
        select(CampaignTestSet.campaign_id, Campaign.name.label("campaign"))
        .add_columns(TestSet.id, CampaignTestSet.name, CampaignTestSet.version, TestSet.segments)
        .join(Campaign, Campaign.id == CampaignTestSet.campaign_id)
        .join(TestSet, TestSet.id == CampaignTestSet.test_set_id)
        .order_by(TestSet.id, CampaignTestSet.campaign_id)
    )
    return [((row.campaign_id, row.campaign), StoredTestSet(*row[2:])) for row in rows]


def _exact_names(campaign: _Campaign, each: StoredTestSet) -> tuple[str, ...]:
    exact = f"{each.name}@{each.version}"
    return exact, f"{campaign[1]}: {exact}"


def _names(campaign: _Campaign, each: StoredTestSet) -> tuple[str, ...]:
    return each.name, f"{campaign[1]}: {each.name}"


def read_references(connection: Connection, test_set_id: int) -> References:
    """The references of a test set."""
    found = connection.execute(
        select(Reference.label, Reference.text_id, TestSet.target_language)
        .select_from(TestSet)
        .outerjoin(Reference, Reference.test_set_id == TestSet.id)
        .where(TestSet.id == test_set_id)
        .order_by(Reference.position)
    ).all()
    # Without any reference there is one row, of the test set alone.
    rows = [row for row in found if row.label is not None]
    layers = common_layers(connection, [row.text_id for row in rows])
    return References(tuple(row.label for row in rows), found[0].target_language, layers)


@dataclass(frozen=True, slots=True)
class DocumentSegments:
    """The segments of a document, in order; it may have several pieces."""

    positions: list[int]
    """In the test set, from 0."""
    ids: list[str] | None
    """None where they are not known."""


def document_segments(connection: Connection, test_set_id: int) -> dict[str, DocumentSegments]:
    """The segments of each document of a test set, by the document's name."""
    rows = connection.execute(
        select(Document.name, Document.first_segment, Document.segments, Document.segment_ids)
        .where(Document.test_set_id == test_set_id)
        .order_by(Document.first_segment)
    )
    found: dict[str, DocumentSegments] = {}
    for name, first, segments, ids in rows:
        before = found.get(name, DocumentSegments([], []))
        together = None if before.ids is None or ids is None else [*before.ids, *ids]
        found[name] = DocumentSegments([*before.positions, *range(first, first + segments)], together)
    return found


def segments_of_documents(connection: Connection, test_set_id: int) -> dict[str, list[int]]:
    """The segments of each document, in order."""
    return {name: each.positions for name, each in document_segments(connection, test_set_id).items()}


@dataclass(frozen=True, slots=True)
class SubmittedSystem:
    """A system with a submission in a campaign, under its public name."""

    team: str
    system: str
    publication_name: str = ""
    """The name of its team."""


def submitted_systems(connection: Connection, campaign_id: int, test_set_id: int) -> Sequence[SubmittedSystem]:
    """All systems with a submission for the test set in a campaign."""
    chosen = (
        select(System.team, System.name, func.coalesce(Team.publication_name, ""))
        .join(Submission, Submission.system_id == System.id)
        .outerjoin(Team, Team.name == System.team)
        .where(Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id)
        .distinct()
        .order_by(System.team, System.name)
    )
    return [SubmittedSystem(*row) for row in connection.execute(chosen)]


def common_layers(connection: Connection, texts: Sequence[int]) -> frozenset[str]:
    """The linguistic layers that all of these stored texts have."""
    rows = connection.execute(
        select(LayerBlock.text_id, LayerBlock.layer).where(LayerBlock.text_id.in_(texts), LayerBlock.block == 0)
    )
    layers: dict[int, set[str]] = {text: set() for text in texts}
    for row in rows:
        layers[row.text_id].add(row.layer)
    return frozenset(set.intersection(*layers.values())) if layers else frozenset()
