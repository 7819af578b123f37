"""`steelyard testset`: the test sets of campaigns, what they are measured by, and corrections of their references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.campaigns.changes import CAMPAIGN, changing, looking, print_campaign, to_change
from cli.campaigns.output import test_set_table
from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.stored import settings_for
from cli.terminal.prompts import confirm
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import MOST_REPLICATES, at_most, whole_number
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.measures import MeasureRequest
    from steelyard.commands.options import Decorator

testset = noun("testset", "Add test sets to campaigns, release or correct their references, and measure more on them.")
TEST_SET = click.argument("test_set", metavar="TEST-SET", help="NAME or NAME@VERSION")


def measure_options() -> Decorator:
    """What a test set is measured by."""
    return together(
        many(
            "-m",
            "--metrics",
            metavar="METRIC...",
            help="metrics as NAME[:key=value]... (default: those of the campaign so far, else bleu chrf ter)",
        ),
        many(
            "--references",
            metavar="A,B...",
            help="which references to measure against, e.g. A B A,B (default: each alone, then all together)",
        ),
        option(
            "--confidence",
            type=Value(at_most(MOST_REPLICATES)),
            metavar="N",
            help="replicates of the bootstrap (default: 1000)",
        ),
        option("--seed", type=Value(whole_number), metavar="N", help="seed of the resampling (default: 12345)"),
    )


@testset.command(
    "create",
    help="Add a test set to a campaign: a folder that `steelyard evaluate` reads, without systems, or marked-up files.",
    example="steelyard testset create wmt26 news data/wmt26.en-cs/ -m bleu chrf",
)
@CAMPAIGN
@click.argument("name", metavar="NAME", help="name of the test set")
@click.argument("paths", nargs=-1, required=True, metavar="DIR|FILE...", help="its source, references and documents")
@option("--pair", metavar="SRC-TRG", help="which language pair, where a WMT folder has several")
@option("--phase", default="", metavar="PHASE", help="accept submissions for it in this phase only")
@measure_options()
@database_option()
def create(
    campaign: str, name: str, paths: Sequence[str], pair: str | None, phase: str, database: str | None, **asked: Any
) -> int:
    """Add a test set."""
    from campaigns.test_sets import add_test_set
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.text.limits import STORING_LIMITS

    folder = read_any_campaign(list(paths), pair=pair, name=name, limits=STORING_LIMITS, without_systems=True)
    settings = settings_for(database)
    with changing(database) as connection:
        access = to_change(connection, campaign)
        _, notices = add_test_set(connection, settings, access, name, folder, _measuring(asked), phase=phase)
    if folder.systems or folder.runs:
        notices = [*notices, "System outputs in the folder are ignored; submit them with `steelyard submit`."]
    note(notices)
    return print_campaign(database, campaign)


@testset.command("list", help="List the test sets of a campaign.", example="steelyard testset list wmt26")
@CAMPAIGN
@format_option()
@database_option()
def list_(campaign: str, format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print the test sets."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import read_access

    with looking(database) as connection:
        table = test_set_table(connection, read_access(connection, COMMAND_LINE, campaign))
    print(render([table], format, f"Test sets of {campaign}"), end="")
    return 0


@testset.command(
    "update",
    help="Accept submissions for a test set in one phase only, or release its references, or hide them again.",
    example="steelyard testset update wmt26 news --release",
)
@CAMPAIGN
@TEST_SET
@option("--phase", metavar="PHASE", help='accept submissions for it in this phase only; "" for all')
@option("--release/--hide", "released", default=None, help="whether those who see the test set see its references")
@option("--early", is_flag=True, help="release although submissions are still open")
@database_option()
def update(
    campaign: str, test_set: str, phase: str | None, released: bool | None, early: bool, database: str | None
) -> int:
    """Change a test set."""
    from campaigns.test_sets import find_campaign_test_set, set_test_set

    if phase is None and released is None:
        raise UsageError("Say what to change: --phase, --release or --hide.")
    if early and not released:
        raise UsageError("--early is for --release.")
    with changing(database) as connection:
        access = to_change(connection, campaign)
        known = find_campaign_test_set(connection, access, test_set)
        set_test_set(connection, access, known, phase=phase, released=released, early=early)
    return print_campaign(database, campaign)


@testset.command(
    "measure",
    help="Add metrics or references to a test set, and score existing submissions by them.",
    example="steelyard testset measure wmt26 news -m meteor --references A,B",
)
@CAMPAIGN
@TEST_SET
@measure_options()
@database_option()
def measure(campaign: str, test_set: str, database: str | None, **asked: Any) -> int:
    """Measure more."""
    from campaigns.measures import add_measures
    from campaigns.test_sets import find_campaign_test_set

    settings = settings_for(database)
    with changing(database) as connection:
        access = to_change(connection, campaign)
        known = find_campaign_test_set(connection, access, test_set)
        note(add_measures(connection, settings, access, known.id, _measuring(asked)))
    return print_campaign(database, campaign)


@testset.command(
    "correct",
    help="Correct references: the test set gets a new version, and all submissions to the old one are queued on it in "
    "one transaction. The old scores are kept; `steelyard testset correction` shows both side by side.",
    example='steelyard testset correct wmt26 news A.txt --reason "Line 17 was cut"',
)
@CAMPAIGN
@TEST_SET
@click.argument(
    "files", nargs=-1, required=True, type=Value(Path), metavar="FILE...", help="each named after its reference: A.txt"
)
@option("--reason", required=True, metavar="TEXT", help="visible to everyone who sees the campaign")
@database_option()
def correct(campaign: str, test_set: str, files: Sequence[Path], reason: str, database: str | None) -> int:
    """Correct references."""
    from campaigns.corrections import correct_test_set
    from campaigns.measures import standing_submissions
    from campaigns.sandbox.limits import UNLIMITED
    from campaigns.test_set_files import NamedContent, read_reference_files
    from campaigns.test_sets import find_campaign_test_set
    from steelyard.formats.input.given_files import read_given
    from steelyard.text.wording import number_of

    texts = read_reference_files([NamedContent(path.name, read_given(path)) for path in files], UNLIMITED)
    settings = settings_for(database)
    with changing(database) as connection:
        access = to_change(connection, campaign)
        known = find_campaign_test_set(connection, access, test_set)
        number = correct_test_set(connection, settings, access, known, texts, reason)
        queued = len(standing_submissions(connection, access.campaign_id, known.id))
    print(f"Correction {number}: {number_of(queued, 'submission')} queued for rescoring.")
    if queued:
        note([f"`steelyard testset correction {campaign}` compares old and new scores once they exist"])
    return 0


@testset.command(
    "correction",
    help="Show scores and ranks before a correction and after it.",
    example="steelyard testset correction wmt26 2",
)
@CAMPAIGN
@click.argument(
    "number", required=False, type=Value(whole_number), metavar="[NUMBER]", help="of the correction (default: the last)"
)
@format_option()
@database_option()
def correction(campaign: str, number: int | None, format: str, database: str | None) -> int:  # noqa: A002
    """Print old and new side by side."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.corrections import compare_correction, count_open_evaluations, find_correction, list_corrections
    from campaigns.permissions import read_access
    from models.results.entries import RULE

    with looking(database) as connection:
        access = read_access(connection, COMMAND_LINE, campaign)
        known = list_corrections(connection, access)
        if not known:
            raise CommandError(f"No references of {campaign} were corrected.")
        chosen = known[0] if number is None else find_correction(connection, access, number)
        compared = compare_correction(connection, access, chosen)
        left = count_open_evaluations(connection, access.campaign_id, chosen.new_test_set_id)
    columns = [
        Column("team", "Team", Kind.NAME),
        Column("system", "System", Kind.NAME),
        Column("before", "Before", Kind.NUMBER, places=2, missing="n/a"),
        Column("after", "After", Kind.NUMBER, places=2, missing="n/a"),
        Column("difference", "Difference", Kind.NUMBER, places=2, sign=True, missing="n/a"),
        Column("rank_before", "Rank before", Kind.ID, missing="-"),
        Column("rank_after", "Rank after", Kind.ID, missing="-"),
    ]
    versions = f"{chosen.test_set}, version {chosen.old_version} -> {chosen.new_version}"
    notes = [f"Reason: {chosen.reason}"]
    if any(not row.ranked for metric in compared for row in metric.rows):
        notes.append(f"{RULE} Other submissions are not ranked.")
    tables = []
    for metric in compared:
        rows = [
            [row.team, row.system, row.old, row.new, row.difference, row.old_rank or None, row.new_rank or None]
            for row in metric.rows
        ]
        against = f"{metric.title} against {', '.join(metric.references)}"
        tables.append(Table(columns, rows, f"{versions}: {against}", key=against, notes=notes))
    tables = tables or [Table(columns, [], versions, notes=notes, empty="There are no scores to compare yet.")]
    print(render(tables, format, f"Correction of {chosen.test_set}"), end="")
    if left:
        note([f"{left} evaluation(s) on the new version are still open"])
    return 0


@testset.command(
    "delete",
    help="Delete a test set from a campaign; it must not have submissions.",
    example="steelyard testset delete wmt26 news --yes",
)
@CAMPAIGN
@TEST_SET
@yes_option()
@database_option()
def delete(campaign: str, test_set: str, yes: bool, database: str | None) -> int:
    """Delete a test set."""
    from campaigns.test_sets import find_campaign_test_set, remove_test_set

    confirm(f"Delete the test set {test_set} of {campaign}?", yes=yes)
    with changing(database) as connection:
        access = to_change(connection, campaign)
        remove_test_set(connection, access, find_campaign_test_set(connection, access, test_set))
    return print_campaign(database, campaign)


def _measuring(asked: dict[str, Any]) -> MeasureRequest:
    from campaigns.measures import MeasureRequest

    given: dict[str, Any] = {"replicates": asked["confidence"], "seed": asked["seed"]}
    lists = [each.split(",") for each in asked["references"]]
    return MeasureRequest(asked["metrics"], lists, **{name: each for name, each in given.items() if each is not None})
