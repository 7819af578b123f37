"""Which test sets there are, by the names that people call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection, func, select

from models.contests import common_layers
from models.errors import NotFound
from models.submission import Submission
from models.system import System
from models.team import Team
from models.test_set import Document, Reference, TestSet


@dataclass(frozen=True, slots=True)
class KnownTestSet:
    """A test set in one version."""

    id: int
    name: str
    version: str
    segments: int

    @property
    def title(self) -> str:
        """Its name, with the version where that is not the first; `find_test_set` understands it."""
        return self.name if self.version == "1" else f"{self.name}@{self.version}"


class Named(Protocol):
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


AnyTestSet = TypeVar("AnyTestSet", bound=Named)


def first_called(test_sets: Sequence[AnyTestSet], wanted: str) -> AnyTestSet | None:
    """The test set that somebody means: by its number, NAME@VERSION, "NAME (version VERSION)" or NAME.

    A name alone means the first version of that name: put those that were replaced last.
    """
    exact = (each for each in test_sets if is_exactly(each, wanted))
    return next(exact, None) or next((each for each in test_sets if each.name == wanted), None)


def is_exactly(test_set: Named, wanted: str) -> bool:
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


def list_test_sets(connection: Connection) -> list[KnownTestSet]:
    """All test sets in the order in which they came."""
    rows = connection.execute(select(TestSet.id, TestSet.name, TestSet.version, TestSet.segments).order_by(TestSet.id))
    return [KnownTestSet(*row) for row in rows]


def find_test_set(connection: Connection, name: str | None = None) -> KnownTestSet:
    """The test set of that name, `NAME` or `NAME@VERSION`; without a name the only one.

    Raises NotFound with what there is, also where the name has several versions.
    """
    known = list_test_sets(connection)
    if not known:
        raise NotFound("The database has no test set. `steelyard evaluate` stores them.")
    exact = [each for each in known if name == f"{each.name}@{each.version}"]
    found = exact or [each for each in known if name in (None, each.name)]
    if len(found) == 1:
        return found[0]
    several = len({each.name for each in found}) < len(found)
    there = ", ".join(f"{each.name}@{each.version}" if several else each.title for each in found or known)
    if not found:
        raise NotFound(f"There is no test set {name!r}. There are: {there}.")
    raise NotFound(f"There are several test sets: {there}. Choose one with --test-set.")


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
class Submitted:
    """A system with a submission in a campaign, as people may know it."""

    team: str
    system: str
    publication_name: str = ""
    """Of its team."""


def submitted_systems(connection: Connection, campaign_id: int, test_set_id: int) -> Sequence[Submitted]:
    """All systems of a campaign with a submission for the test set."""
    chosen = (
        select(System.team, System.name, func.coalesce(Team.publication_name, ""))
        .join(Submission, Submission.system_id == System.id)
        .outerjoin(Team, Team.name == System.team)
        .where(Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id)
        .distinct()
        .order_by(System.team, System.name)
    )
    return [Submitted(*row) for row in connection.execute(chosen)]
