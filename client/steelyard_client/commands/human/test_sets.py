"""--test-set and --campaign: a test set of a campaign, where one of each may be the only one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.commands.errors import CommandError
from steelyard.commands.options import option, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.commands.options import Decorator
    from steelyard_client import Client


class Chosen(NamedTuple):
    """A test set of a campaign."""

    campaign: str
    name: str
    """NAME@VERSION."""
    title: str
    """For people: its name, with its version if that is not the first."""
    id: int


def test_set_options() -> Decorator:
    """--test-set and --campaign."""
    return together(
        option(
            "--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION (default: the only one there is)"
        ),
        option("--campaign", metavar="NAME", help="the campaign (default: the only one with the test set)"),
    )


def choose_test_set(client: Client, test_set: str | None, campaign: str | None) -> Chosen:
    """The test set that the options mean. Raises CommandError, saying what there is, where that is not one."""
    there = list(test_sets_of(client, campaign))
    if not there:
        raise CommandError("There is no test set yet. `steelyard evaluate` and `steelyard testset create` store them.")
    exact = [each for each in there if test_set in (each.name, f"{each.campaign}: {each.name}")]
    found = exact or [each for each in there if test_set is None or test_set in _names(each)]
    if not found:
        raise CommandError(f'There is no test set "{test_set}". There are: {_listed(there)}.')
    if len({each.id for each in found}) > 1 and len({each.name for each in found}) > 1:
        raise CommandError(f"There are several test sets: {_listed(found)}. Choose one with --test-set.")
    if len(found) > 1:
        campaigns = ", ".join(each.campaign for each in found)
        raise CommandError(
            f"Several campaigns have the test set {found[0].title}: {campaigns}. Choose one with --campaign."
        )
    return found[0]


def test_sets_of(client: Client, campaign: str | None) -> Iterator[Chosen]:
    """The test sets of a campaign, or of all, the oldest campaign first."""
    campaigns = [campaign] if campaign else [each.name for each in client.list_campaigns()][::-1]
    for name in campaigns:
        for each in client.list_test_sets(name):
            title = each.name if each.version == "1" else f"{each.name} (version {each.version})"
            yield Chosen(name, f"{each.name}@{each.version}", title, each.id)


def _names(each: Chosen) -> tuple[str, ...]:
    bare = each.name.rpartition("@")[0]
    return bare, f"{each.campaign}: {bare}"


def _listed(test_sets: list[Chosen]) -> str:
    bare = {each.name.rpartition("@")[0] for each in test_sets}
    several = len(bare) < len({each.name for each in test_sets})
    return ", ".join(dict.fromkeys(each.name if several else each.title for each in test_sets))
