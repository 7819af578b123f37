"""Which test sets there are, by the names that people call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection, func, select

from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Document, LayerBlock, Reference, Submission, System, TestSet


@dataclass(frozen=True, slots=True)
class StoredTestSet:
    """A test set in one version, as a campaign calls it."""

    id: int
    name: str
    version: str
    segments: int

    @property
    def title(self) -> str:
        """Its name, with the version where that is not the first; `find_test_set` understands it."""
        return self.name if self.version == "1" else f"{self.name}@{self.version}"


class NamedTestSet(Protocol):
    """A test set in any view of it."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def name(self) -> str:
        """Its name, which all its versions have."""

    @property
    def version(self) -> str:
        """The version."""


AnyTestSet = TypeVar("AnyTestSet", bound=NamedTestSet)


def match_test_set(test_sets: Sequence[AnyTestSet], wanted: str) -> AnyTestSet | None:
    """The test set that somebody means: by its number, NAME@VERSION, "NAME (version VERSION)" or NAME.

    A name alone means the first version of that name: put those that were replaced last.
    """
    exact = (each for each in test_sets if is_exact_name(each, wanted))
    return next(exact, None) or next((each for each in test_sets if each.name == wanted), None)


def is_exact_name(test_set: NamedTestSet, wanted: str) -> bool:
    """Whether these words mean this version of the test set and no other one."""
    name, version = test_set.name, test_set.version
    return wanted in (str(test_set.id), f"{name}@{version}", f"{name} (version {version})")


@dataclass(frozen=True, slots=True)
class References:
    """What outputs for a test set are measured against."""

    labels: tuple[str, ...]
    """In their order."""
    language: str
    """The target language, where it is known."""
    layers: frozenset[str]
    """The linguistic layers that all of them have."""


def list_test_sets(connection: Connection, campaign_id: int | None = None) -> list[StoredTestSet]:
    """The test sets of a campaign, or of all, in the order in which they came: one for each name that it has."""
    named = {each: None for campaign, each in _named(connection) if campaign_id in (None, campaign[0])}
    return list(named)


def find_test_set(connection: Connection, name: str | None = None, campaign: str | None = None) -> StoredTestSet:
    """The test set of that name, `NAME` or `NAME@VERSION`; without a name the only one.

    Where campaigns call different ones so, the one of the `campaign`, or of that which comes first in the name, as on
    leaderboards: `CAMPAIGN: NAME`. Raises NotFound with what there is, also where the name has several versions.
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
    rows = connection.execute(
        select(Reference.label, Reference.text_id, TestSet.target_language)
        .join(TestSet, TestSet.id == Reference.test_set_id)
        .where(TestSet.id == test_set_id)
        .order_by(Reference.position)
    ).all()
    layers = common_layers(connection, [row.text_id for row in rows])
    return References(tuple(row.label for row in rows), rows[0].target_language, layers)


def segments_of_documents(connection: Connection, test_set_id: int) -> dict[str, list[int]]:
    """The segments of each document, in order, also of one in several pieces."""
    rows = connection.execute(
        select(Document.name, Document.first_segment, Document.segments)
        .where(Document.test_set_id == test_set_id)
        .order_by(Document.first_segment)
    )
    found: dict[str, list[int]] = {}
    for name, first, segments in rows:
        found.setdefault(name, []).extend(range(first, first + segments))
    return found


@dataclass(frozen=True, slots=True)
class SubmittedSystem:
    """A system with a submission in a campaign, as people may know it."""

    team: str
    system: str
    publication_name: str = ""
    """Of its team."""


def submitted_systems(connection: Connection, campaign_id: int, test_set_id: int) -> Sequence[SubmittedSystem]:
    """All systems of a campaign with a submission for the test set."""
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
