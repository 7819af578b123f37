"""The visible test sets of a campaign, with their visible outputs and references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from campaigns.errors import NotFound
from campaigns.permissions import CampaignAccess
from campaigns.visibility import VisibleSubmission, read_visible_submissions
from models.corpus.test_sets import match_test_set, titled_test_set
from models.schema.corpus import Reference, Submission, TestSet


class NoTestSet(NotFound):
    """There is no test set here yet."""


@dataclass(frozen=True, slots=True)
class VisibleTestSet:
    """A test set of a campaign."""

    id: int
    name: str
    version: str
    segments: int
    source_language: str
    target_language: str
    variable_references: bool
    source_text: int | None
    """None if there is none."""
    references: Sequence[tuple[str, int]]
    """Labels and text ids; empty if they are not visible."""
    replaced: bool
    """Whether it was replaced by one with corrected references."""

    @property
    def title(self) -> str:
        """Its name, with its version if that is not the first."""
        return titled_test_set(self.name, self.version)


@dataclass(frozen=True, slots=True)
class VisibleOutput:
    """A visible output."""

    submission: int
    text: int
    team: str
    """The real name: must never be shown."""
    system: str
    """The real name: must never be shown."""
    name: str
    """As it may be shown."""
    own: bool
    short: str = ""
    """The system alone, where that tells it from the others here; else its name."""
    beside: str = ""
    """The team, where the short name lacks it and says something else."""


def visible_test_sets(connection: Connection, access: CampaignAccess) -> list[VisibleTestSet]:
    """Return all visible test sets, replaced ones last."""
    rows = connection.execute(select(TestSet).where(TestSet.id.in_(access.test_sets)))
    order = {key: place for place, key in enumerate(access.test_sets)}
    references: dict[int, list[tuple[str, int]]] = {}
    for each in connection.execute(
        select(Reference.test_set_id, Reference.label, Reference.text_id)
        .where(Reference.test_set_id.in_(key for key in order if access.sees_references(key)))
        .order_by(Reference.test_set_id, Reference.position)
    ):
        references.setdefault(each.test_set_id, []).append((each.label, each.text_id))
    found = []
    for row in sorted(rows, key=lambda row: order[row.id]):
        seen = access.test_sets[row.id]
        if not access.sees_source(row.id):
            continue
        found.append(
            VisibleTestSet(
                id=row.id,
                name=seen.name,
                version=seen.version,
                segments=row.segments,
                source_language=row.source_language,
                target_language=row.target_language,
                variable_references=row.variable_references,
                source_text=row.source_text_id,
                references=references.get(row.id, ()),
                replaced=seen.replaced_by is not None,
            )
        )
    return sorted(found, key=lambda each: each.replaced)


def find_test_set(test_sets: Sequence[VisibleTestSet], wanted: str) -> VisibleTestSet:
    """Return the test set of that name (`match_test_set`); by default the first.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    """
    found = match_test_set(test_sets, wanted) if wanted else next(iter(test_sets), None)
    if found is not None:
        return found
    if not test_sets:
        raise NoTestSet
    known = ", ".join(f'"{each.title}"' for each in test_sets[:20])
    raise NotFound(f"This campaign has no test set {wanted[:200]!r} that you may see. There are: {known}.")


def visible_outputs(connection: Connection, access: CampaignAccess, test_set_id: int) -> list[VisibleOutput]:
    """Return the last visible output of each system and run that is not withdrawn, by name."""
    return _last_outputs(access, read_visible_submissions(connection, access, Submission.test_set_id == test_set_id))


def outputs_by_test_set(connection: Connection, access: CampaignAccess) -> dict[int, list[VisibleOutput]]:
    """Return the same of all test sets, by their ids; those without outputs are not there."""
    of_test_set: dict[int, list[VisibleSubmission]] = {}
    for each in read_visible_submissions(connection, access):
        of_test_set.setdefault(each.row.test_set_id, []).append(each)
    named = {key: _last_outputs(access, shown) for key, shown in of_test_set.items()}
    return {key: outputs for key, outputs in named.items() if outputs}


def _last_outputs(access: CampaignAccess, shown: Sequence[VisibleSubmission]) -> list[VisibleOutput]:
    last = {
        (each.real_team, each.row.name, each.row.run): each
        for each in shown
        if each.output and each.row.withdrawn_at is None
    }
    found, own_teams = [], access.own_teams
    alone = Counter((each.system, each.run) for each in last.values())
    for each in last.values():
        name = "/".join(part for part in (each.team if each.real_team else "", each.system) if part)
        name += f", run {each.run}" if each.run else ""
        is_short = bool(each.system) and alone[each.system, each.run] == 1
        short = each.system + (f", run {each.run}" if each.run else "") if is_short else name
        says_more = is_short and each.real_team and each.team.casefold() != each.system.casefold()
        found.append(
            VisibleOutput(
                *(each.id, each.text_id, each.real_team, each.row.name, name),
                own=each.real_team in own_teams,
                short=short,
                beside=each.team if says_more else "",
            )
        )
    # Systems of an anonymous team would all have the name "Team 7".
    called = Counter(each.name for each in found)
    found = [
        each
        if called[each.name] == 1
        else replace(each, name=f"{each.name} ({each.submission})", short=f"{each.short} ({each.submission})")
        for each in found
    ]
    return sorted(found, key=lambda each: (each.name.casefold(), each.submission))


def choose_outputs(outputs: Sequence[VisibleOutput], wanted: Sequence[str]) -> list[VisibleOutput]:
    """Return the outputs with these names or submission ids, in that order.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    """
    by_name = {key: each for each in outputs for key in (str(each.submission), each.name)}
    if missing := [each for each in wanted if each not in by_name]:
        raise NotFound(
            f"There is no output of {missing[0][:200]!r} for this test set that you may see. Name systems as this page "
            "does, or by the numbers of their submissions."
        )
    return list(dict.fromkeys(by_name[each] for each in wanted))
