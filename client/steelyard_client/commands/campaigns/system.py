"""`steelyard system`: systems of campaigns, what is said of them, and what they score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Noun, Value
from steelyard.tables.formatting import digits
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN
from steelyard_client.commands.leaderboards.tables import HUMAN_COLUMNS, human_cells
from steelyard_client.vocabulary import ORIGINS, SystemOrigin, Weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.documents.submissions.systems import SystemOnTestSet, SystemResponse

system = Noun("system", help="Describe the systems of campaigns, show what they score, and cite them.")
SYSTEM = click.argument("named", metavar="SYSTEM", help="its name, TEAM/NAME where teams share one, or its number")


@system.command(
    "list", help="List the systems of a campaign that you may see.", example="steelyard system list wmt26 -f csv"
)
@CAMPAIGN
@format_option()
@backend()
def list_(client: Client, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print all systems."""
    found = list(client.list_campaign_systems(campaign))
    _print([_table(found)], [each.model_dump(mode="json") for each in found], format, f"Systems of {campaign}")
    return 0


@system.command(
    "show", help="Show a system with its scores on all test sets.", example="steelyard system show wmt26 mast"
)
@CAMPAIGN
@SYSTEM
@format_option()
@backend()
def show(client: Client, campaign: str, named: str, format: str) -> int:  # noqa: A002
    """Print a system."""
    known = client.read_campaign_system(campaign, _found(client, campaign, named).id)
    tables = [_table([known])]
    if known.description:
        tables.append(Table([Column("description", "Description")], [[known.description]], key="description"))
    tables.append(_score_table(known.scores))
    _print(tables, known.model_dump(mode="json"), format, known.system)
    return 0


@system.command(
    "update",
    help="Change what is said of a system, as members of its team and organisers do.",
    example="steelyard system update wmt26 mast --parameters 7B --weights open --paper https://example.org/mast.pdf",
)
@CAMPAIGN
@SYSTEM
@option("--description", metavar="TEXT", help="what it is, in Markdown")
@option("--affiliation", metavar="TEXT", help="institution of those who made it")
@option("--paper", "paper_url", metavar="URL", help='address of the paper about it; "" for none')
@option("--url", metavar="URL", help='address of its code, model or service; "" for none')
@option("--parameters", metavar="N", help='how many it has, such as 7B; "" for unknown')
@option("--weights", type=click.Choice([each.value for each in Weights if each]), help="whether others can get them")
@option("--constrained/--unconstrained", default=None, help="whether only data that the campaign allows were used")
@option("--origin", type=click.Choice([each.value for each in SystemOrigin]), help="whose it is, as organisers may say")
@backend()
def update(client: Client, campaign: str, named: str, **asked: Any) -> int:
    """Change a description."""
    from steelyard_client.documents.submissions.systems import SystemUpdate, parse_parameters

    said = {name: value for name, value in asked.items() if value is not None}
    if not said:
        raise UsageError("Say what to change: --description, --paper, --parameters or another field.")
    if "parameters" in said:
        try:
            said["parameters"] = parse_parameters(said["parameters"])
        except ValueError as error:
            raise UsageError(str(error)) from None
    changed = client.update_campaign_system(campaign, _found(client, campaign, named).id, SystemUpdate(**said))
    _print([_table([changed])], changed.model_dump(mode="json"), "text", changed.system)
    return 0


@system.command(
    "import",
    help="Store what a table says of the systems of a campaign, as organisers do. It is tab-separated, with a header: "
    "system, and any of team, track (constrained or unconstrained), description, affiliation, paper, url, parameters, "
    "weights (open or closed) and origin (team, baseline or online). Empty cells change nothing.",
    example="steelyard system import wmt25 systems.tsv --preview",
)
@CAMPAIGN
@click.argument("file", type=Value(Path), metavar="FILE", help="the table, in UTF-8")
@option("--preview", is_flag=True, help="say which systems match, and store nothing")
@backend()
def import_(client: Client, campaign: str, file: Path, preview: bool) -> int:
    """Send a table, and print what it said."""
    from steelyard.formats.input.given_files import read_given
    from steelyard_client.documents.submissions.systems import SystemsImport

    try:
        table = read_given(file).decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"{file}: is not UTF-8, at byte {error.start + 1}.") from None
    if not table.strip():
        raise CommandError(f"{file}: is empty.")
    found = client.import_campaign_systems(campaign, SystemsImport(table=table, preview=preview))
    print(f"{'Would describe' if preview else 'Described'} {len(found.matched)} systems of {campaign}.")
    if found.unknown:
        print(f"Not in the campaign: {', '.join(found.unknown)}.")
    if found.missing:
        print(f"Not in the table: {', '.join(found.missing)}.")
    return 0


@system.command("cite", help="Print BibTeX for a system.", example="steelyard system cite wmt26 mast")
@CAMPAIGN
@SYSTEM
@backend()
def cite(client: Client, campaign: str, named: str) -> int:
    """Print BibTeX."""
    print(client.cite_campaign_system(campaign, _found(client, campaign, named).id).decode(), end="")
    return 0


def _found(client: Client, campaign: str, named: str) -> SystemResponse:
    known = list(client.list_campaign_systems(campaign))
    meant = [each for each in known if named in (each.system, f"{each.team}/{each.system}")]
    meant = meant or [each for each in known if named == str(each.id)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        there = ", ".join(f"{each.team}/{each.system} ({each.id})" for each in meant)
        raise CommandError(f"Several systems of {campaign} are called {named}: {there}.")
    there = ", ".join(each.system for each in known[:20]) or "none that you may see"
    raise CommandError(f"{campaign} has no system {named!r}. There are: {there}.")


def _table(known: Sequence[SystemResponse]) -> Table:
    from steelyard_client.documents.submissions.systems import parameters_text

    columns = [
        Column("id", "Number", Kind.ID),
        Column("system", "System", Kind.NAME),
        Column("team", "Team", missing="-"),
        Column("origin", "Mark", missing="-"),
        Column("track", "Track", missing="-"),
        Column("parameters", "Parameters", missing="-"),
        Column("weights", "Weights", missing="-"),
        Column("affiliation", "Affiliation", missing="-"),
        Column("paper_url", "Paper", missing="-"),
        Column("url", "Address", missing="-"),
    ]
    tracks = {True: "constrained", False: "unconstrained", None: None}
    rows = [
        [
            *(each.id, each.system, each.team or None, ORIGINS.get(each.origin), tracks[each.constrained]),
            *(parameters_text(each.parameters) or None, each.weights.value or None, each.affiliation or None),
            *(each.paper_url or None, each.url or None),
        ]
        for each in known
    ]
    return Table(columns, rows, key="system", empty="There are no systems that you may see.")


def _score_table(found: Sequence[SystemOnTestSet]) -> Table:
    titles = list(dict.fromkeys(score.title for each in found for score in each.scores))
    values = {
        title: [score.score for each in found for score in each.scores if score.title == title] for title in titles
    }
    judged = any(each.human for each in found)
    largest = {title: max((abs(each) for each in values[title] if each is not None), default=1.0) for title in titles}
    columns = [
        Column("test_set", "Test set", Kind.NAME),
        Column("references", "References"),
        Column("rank", "Rank", Kind.ID, missing="-"),
        Column("range", "Range", Kind.RANGE, missing="-"),
        Column("of", "Of", Kind.COUNT),
        *(HUMAN_COLUMNS if judged else ()),
        *(
            Column(title, title, Kind.ESTIMATE, places=digits(1.0 if largest[title] <= 1 else 100.0), missing="-")
            for title in titles
        ),
    ]
    rows = []
    for each in found:
        cells = {score.title: Estimate(score.score, _ends(score.low, score.high)) for score in each.scores}
        name = each.test_set if each.version == "1" else f"{each.test_set}@{each.version}"
        ranks = _ends(each.rank_low, each.rank_high)
        people = human_cells(each.human) if judged else []
        rows.append([name, "+".join(each.references), each.rank, ranks, each.of, *people, *map(cells.get, titles)])
    return Table(columns, rows, "Scores", key="scores", empty="It is on no leaderboard that you may see.")


def _ends(low: Any, high: Any) -> Any:
    return None if low is None or high is None else (low, high)


def _print(tables: Sequence[Table], document: Any, form: str, title: str) -> None:
    first = tables[0]
    data = ([column.key for column in first.columns], first.rows)
    print(
        render_document(form, document=lambda: document, data=lambda: data, tables=lambda: tables, title=title), end=""
    )
