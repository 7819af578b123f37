"""`steelyard scores`: scores that were made elsewhere, as columns of a campaign's leaderboards, and AutoRank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, yes_option
from steelyard.commands.parsing import Noun
from steelyard.commands.prompts import confirm
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.imported_scores import ImportedScoresResponse

scores = Noun(
    "scores",
    help="Import scores that were made elsewhere into campaigns, choose between their versions, and rank by AutoRank.",
)
CAMPAIGN = click.argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
VERSION = click.argument("version", metavar="NAME[@VERSION]", help="a metric, or one version of its scores")
TEST_SET = option("--test-set", default="", metavar="NAME", help="only on this test set (default: on all)")


@scores.command(
    "import",
    help="Import scores of segments, documents or systems as columns of leaderboards. Files are those of `steelyard "
    "rank`, packed with gzip or not, or folders of them. Importing identical scores again changes nothing; different "
    "scores of a metric become its next version.",
    example="steelyard scores import wmt26 comet.json --test-set news --metric XCOMET-XL",
)
@CAMPAIGN
@click.argument("files", nargs=-1, required=True, metavar="FILE...", help="files of scores, or folders of them")
@option("--test-set", default="", metavar="NAME", help="the test set (default: that of each pair's name or languages)")
@many("--pair", "pairs", metavar="PAIR...", help="only these language pairs")
@option(
    "--metric",
    default="",
    metavar="NAME[@VERSION]",
    help="only this metric of the files, or the name for their only one",
)
@many(
    "--lower-is-better",
    metavar="METRIC...",
    help="metrics of which lower is better (MetricX' predictions are recognized)",
)
@option(
    "--create",
    is_flag=True,
    help="create the campaign, and for pairs that it lacks test sets without texts, of the documents in the files",
)
@option("--preview", is_flag=True, help="say which metrics, test sets and systems match, and store nothing")
@backend()
def import_(
    client: Client,
    campaign: str,
    files: Sequence[str],
    test_set: str,
    pairs: Sequence[str],
    metric: str,
    lower_is_better: Sequence[str],
    create: bool,
    preview: bool,
) -> int:
    """Import scores, and print what came in."""
    if create and test_set:
        raise UsageError("--create makes test sets of the pairs in the files, so --test-set is not for it.")
    sent = _read(files)
    found = client.import_scores(
        campaign, sent, test_set=test_set, pairs=pairs, metric=metric, lower_is_better=lower_is_better, create=create,
        preview=preview,
    )  # fmt: skip
    if not found.stored:
        print("Nothing is stored: this is what would be.", flush=True)
    note(found.notices)
    columns = [
        Column("test_set", "Test set", Kind.NAME),
        Column("metric", "Metric", Kind.NAME),
        Column("version", "Version"),
        Column("level", "Scores of"),
        Column("systems", "Systems", Kind.COUNT),
        Column("state", ""),
    ]
    rows = [
        [each.test_set, each.name, each.version, f"{each.level}s", each.systems, "" if each.new else "known"]
        for each in found.columns
    ]
    print(render([Table(columns, rows, key="scores")], "text", f"Imported into {campaign}"), end="")
    return 0


@scores.command("list", help="List the imported scores of a campaign.", example="steelyard scores list wmt26 -f json")
@CAMPAIGN
@format_option()
@backend()
def list_(client: Client, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print all versions."""
    print(render([_table(client.list_imported_scores(campaign))], format, f"Imported scores of {campaign}"), end="")
    return 0


@scores.command(
    "choose",
    help="Show a version on the leaderboards instead of the others of its metric.",
    example="steelyard scores choose wmt26 XCOMET-XL@1",
)
@CAMPAIGN
@click.argument("version", metavar="NAME@VERSION", help="a version of imported scores")
@TEST_SET
@backend()
def choose(client: Client, campaign: str, version: str, test_set: str) -> int:
    """Choose a version."""
    client.choose_imported_scores(campaign, version, test_set=test_set)
    print(f"The leaderboards of {campaign} show {version}.")
    return 0


@scores.command(
    "delete",
    help="Delete a version of imported scores, or all of a metric, with its column, and AutoRanks computed from it.",
    example="steelyard scores delete wmt26 XCOMET-XL@1 --yes",
)
@CAMPAIGN
@VERSION
@TEST_SET
@yes_option()
@backend()
def delete(client: Client, campaign: str, version: str, test_set: str, yes: bool) -> int:
    """Delete scores."""
    confirm(f"Delete the imported scores {version} of {campaign}?", yes=yes)
    client.delete_imported_scores(campaign, version, test_set=test_set)
    print(f"{version} is deleted from {campaign}.")
    return 0


@scores.command(
    "autorank",
    help="Rank a campaign by AutoRank: a column on the leaderboards of all its test sets, computed from all their "
    "metrics or of those that you name.",
    example="steelyard scores autorank wmt26 --rule wmt25 -m XCOMET-XL MetricX-24",
)
@CAMPAIGN
@option("--rule", default="", metavar="VERSION", help="wmt24 or wmt25 (default: the newest)")
@many("-m", "metrics", metavar="METRIC...", help="the metrics to compute it from (default: all of a leaderboard)")
@option(
    "--metrics",
    "metrics_file",
    metavar="FILE",
    help="the metrics of each test set, a line each: TEST-SET, a tab, METRIC, perhaps a tab and its weight; for others "
    "those of -m",
)
@many("--weights", metavar="NUMBER...", help="weights of the metrics of -m, in the same order (default: all equal)")
@backend()
def autorank(
    client: Client,
    campaign: str,
    rule: str,
    metrics: Sequence[str],
    metrics_file: str | None,
    weights: Sequence[str],
) -> int:
    """Rank by AutoRank."""
    from steelyard.formats.plain import read_lines
    from steelyard.ranking.metric_lists import MetricList, parse_metric_lists
    from steelyard_client.documents.leaderboards.imported_scores import AutoRankUpdate

    try:
        numbers = tuple(float(each) for each in weights)
    except ValueError as error:
        raise UsageError(f"--weights: {error}.") from error
    lists = {"": MetricList(tuple(metrics), numbers)}
    if metrics_file:
        lists |= parse_metric_lists((line.decode() for line in read_lines(metrics_file).lines()), metrics_file)
    chosen = {name: list(each.names) for name, each in lists.items() if each.names}
    weighed = {name: list(each.weights) for name, each in lists.items() if each.weights}
    made = client.rank_campaign_by_autorank(campaign, AutoRankUpdate(rule=rule, metrics=chosen, weights=weighed))
    columns = [Column("test_set", "Test set", Kind.NAME), Column("autorank", "AutoRank")]
    rows = [[test_set, specification] for test_set, each in made.columns.items() for specification in each]
    print(render([Table(columns, rows, key="autorank")], "text", f"{campaign} ranks by {made.ranked_by}"), end="")
    return 0


def _read(files: Sequence[str]) -> dict[str, bytes]:
    """The files by name, with the folder that they lie in, which may name the language pair."""
    from steelyard.formats.scores.reading import score_files

    found: dict[str, bytes] = {}
    for each in score_files(files):
        path = Path(each)
        if not path.is_file():
            raise UsageError(f"{each}: there is no such file.")
        name = "/".join(path.absolute().parts[-2:])
        if name in found:
            raise UsageError(f"Two files are called {name}. Import them one after the other.")
        found[name] = path.read_bytes()
    return found


def _table(found: Iterable[ImportedScoresResponse]) -> Table:
    columns = [
        Column("test_set", "Test set", Kind.NAME),
        Column("metric", "Metric", Kind.NAME),
        Column("version", "Version"),
        Column("shown", "Shown", Kind.FLAG),
        Column("level", "Scores of"),
        Column("better", "Better"),
        Column("systems", "Systems", Kind.COUNT),
        Column("sha256", "Hash"),
        Column("files", "Files"),
        Column("imported_by", "Imported by"),
        Column("created_at", "At"),
    ]
    rows = [
        [
            each.test_set,
            each.name,
            each.version,
            each.shown,
            f"{each.level}s",
            "higher" if each.higher_is_better else "lower",
            each.systems,
            each.sha256[:12],
            ", ".join(file.name for file in each.files[:3]) + (" ..." if len(each.files) > 3 else ""),
            each.imported_by,
            f"{each.created_at:%Y-%m-%d %H:%M}",
        ]
        for each in found
    ]
    return Table(columns, rows, key="scores", empty="Nothing is imported. `steelyard scores import` does it.")
