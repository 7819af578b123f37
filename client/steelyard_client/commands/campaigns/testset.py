"""`steelyard testset`: the test sets of campaigns, what they are measured by, and corrections of their references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, together, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import MOST_REPLICATES, at_most, whole_number
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN, print_campaign, test_set_table, title_of
from steelyard_client.vocabulary import RANKED, ResamplingUnit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.campaigns.corrections import CorrectionDetailsResponse

testset = Noun(
    "testset", help="Add test sets to campaigns, release or correct their references, and measure more on them."
)
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
            default=1000,
            metavar="N",
            help="replicates of the bootstrap (default: 1000)",
        ),
        option(
            "--seed",
            type=Value(whole_number),
            default=12345,
            metavar="N",
            help="seed of the resampling (default: 12345)",
        ),
        option(
            "--resample",
            type=click.Choice([each.value for each in ResamplingUnit]),
            help="what the bootstrap draws and tests exchange: segments, or whole documents, whose segments are alike "
            "(default: what is measured there already, else segment)",
        ),
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
@backend()
def create(
    client: Client, campaign: str, name: str, paths: Sequence[str], pair: str | None, phase: str, **asked: Any
) -> int:
    """Add a test set."""
    from steelyard_client.commands.campaigns.test_set_files import read_test_set

    files = read_test_set(paths, pair, name)
    made = client.create_test_set(
        *(campaign, name, files.references),
        source=files.source,
        documents=files.documents,
        source_language=files.source_language,
        target_language=files.target_language,
        variable_references=files.variable_references,
        phase=phase,
        **_measures(asked, "reference_lists"),
    )
    note(dict.fromkeys((*files.notices, *made.notices)))
    return print_campaign(client, campaign)


@testset.command("list", help="List the test sets of a campaign.", example="steelyard testset list wmt26")
@CAMPAIGN
@format_option()
@backend()
def list_(client: Client, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print the test sets."""
    table = test_set_table(list(client.list_test_sets(campaign)))
    print(render([table], format, f"Test sets of {campaign}"), end="")
    return 0


@testset.command(
    "show", help="Show a test set and what is measured on it.", example="steelyard testset show wmt26 news"
)
@CAMPAIGN
@TEST_SET
@format_option()
@backend()
def show(client: Client, campaign: str, test_set: str, format: str) -> int:  # noqa: A002
    """Print a test set."""
    known = client.read_test_set(campaign, _number_of(client, campaign, test_set))
    columns = [
        Column("references", "References", Kind.NAME),
        Column("metrics", "Metrics"),
        Column("replicates", "Replicates", Kind.COUNT),
        Column("seed", "Seed", Kind.ID),
        Column("resample", "Resampled by", Kind.NAME),
    ]
    rows = [[each.references, each.metrics, each.replicates, each.seed, each.resample] for each in known.measures]
    measures = Table(columns, rows, "Measured", key="measures", empty="Nothing is measured on it.")
    print(render([test_set_table([known]), measures], format, f"{campaign}: {title_of(known)}"), end="")
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
@backend()
def update(client: Client, campaign: str, test_set: str, phase: str | None, released: bool | None, early: bool) -> int:
    """Change a test set."""
    from steelyard_client.documents.campaigns.test_sets import TestSetUpdate

    if phase is None and released is None:
        raise UsageError("Say what to change: --phase, --release or --hide.")
    if early and not released:
        raise UsageError("--early is for --release.")
    given: dict[str, Any] = {"phase": phase, "released": released, "early": early}
    change = TestSetUpdate(**{name: value for name, value in given.items() if value is not None})
    client.update_test_set(campaign, _number_of(client, campaign, test_set), change)
    return print_campaign(client, campaign)


@testset.command(
    "measure",
    help="Add metrics or references to a test set, and score existing submissions by them.",
    example="steelyard testset measure wmt26 news -m meteor --references A,B",
)
@CAMPAIGN
@TEST_SET
@measure_options()
@backend()
def measure(client: Client, campaign: str, test_set: str, **asked: Any) -> int:
    """Measure more."""
    from steelyard_client.documents.campaigns.test_sets import MeasuresCreate

    new = MeasuresCreate(**_measures(asked, "references"))
    note(client.add_test_set_measures(campaign, _number_of(client, campaign, test_set), new).notices)
    return print_campaign(client, campaign)


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
@backend()
def correct(client: Client, campaign: str, test_set: str, files: Sequence[Path], reason: str) -> int:
    """Correct references."""
    from steelyard.formats.input.given_files import read_given
    from steelyard.text.wording import number_of

    names = [path.name for path in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"There are two files called {twice}.")
    texts = {path.name: read_given(path) for path in files}
    made = client.create_correction(campaign, _number_of(client, campaign, test_set), texts, reason=reason)
    print(
        f"Correction {made.id}: {number_of(made.open_evaluations, 'evaluation')} queued on version {made.new_version}."
    )
    if made.open_evaluations:
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
@backend()
def correction(client: Client, campaign: str, number: int | None, format: str) -> int:  # noqa: A002
    """Print old and new side by side."""
    if number is None:
        newest = next(iter(client.list_corrections(campaign)), None)
        if newest is None:
            raise CommandError(f"No references of {campaign} were corrected.")
        number = newest.id
    known = client.read_correction(campaign, number)
    print(render(_compared(known), format, f"Correction of {known.test_set}"), end="")
    if known.open_evaluations:
        note([f"{known.open_evaluations} evaluation(s) on the new version are still open"])
    return 0


@testset.command(
    "delete",
    help="Delete a test set from a campaign; it must not have submissions.",
    example="steelyard testset delete wmt26 news --yes",
)
@CAMPAIGN
@TEST_SET
@yes_option()
@backend()
def delete(client: Client, campaign: str, test_set: str, yes: bool) -> int:
    """Delete a test set."""
    confirm(f"Delete the test set {test_set} of {campaign}?", yes=yes)
    client.delete_test_set(campaign, _number_of(client, campaign, test_set))
    return print_campaign(client, campaign)


def _number_of(client: Client, campaign: str, wanted: str) -> int:
    """The number of the test set with a name. Of several versions that fit, those in use come first in the list."""
    known = list(client.list_test_sets(campaign))
    exact = [each for each in known if wanted == f"{each.name}@{each.version}"]
    for each in (*exact, *(each for each in known if each.name == wanted)):
        return each.id
    there = f"There are: {', '.join(map(title_of, known))}." if known else "It has none yet."
    raise CommandError(f'The campaign has no test set "{wanted}". {there}')


def _measures(asked: dict[str, Any], lists: str) -> dict[str, Any]:
    return {
        "metrics": list(asked["metrics"]),
        lists: [each.split(",") for each in asked["references"]],
        "replicates": asked["confidence"],
        "seed": asked["seed"],
        **({"resample": ResamplingUnit(asked["resample"])} if asked["resample"] else {}),
    }


def _compared(known: CorrectionDetailsResponse) -> list[Table]:
    columns = [
        Column("team", "Team", Kind.NAME),
        Column("system", "System", Kind.NAME),
        Column("before", "Before", Kind.NUMBER, places=2, missing="n/a"),
        Column("after", "After", Kind.NUMBER, places=2, missing="n/a"),
        Column("difference", "Difference", Kind.NUMBER, places=2, sign=True, missing="n/a"),
        Column("rank_before", "Rank before", Kind.ID, missing="-"),
        Column("rank_after", "Rank after", Kind.ID, missing="-"),
    ]
    versions = f"{known.test_set}, version {known.old_version} -> {known.new_version}"
    notes = [f"Reason: {known.reason}"]
    if any(not row.ranked for metric in known.metrics for row in metric.systems):
        notes.append(f"{RANKED} Other submissions are not ranked.")
    tables = []
    for metric in known.metrics:
        rows = [
            [row.team, row.system, row.old, row.new, row.difference, row.old_rank or None, row.new_rank or None]
            for row in metric.systems
        ]
        against = f"{metric.title} against {', '.join(metric.references)}"
        tables.append(Table(columns, rows, f"{versions}: {against}", key=against, notes=notes))
    return tables or [Table(columns, [], versions, notes=notes, empty="There are no scores to compare yet.")]
