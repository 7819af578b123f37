"""`steelyard campaign`: campaigns, their rules, members and teams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, together, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend, brings_workers, finish_metrics_task
from steelyard_client.commands.campaigns.announcements import announce, announcements
from steelyard_client.commands.campaigns.output import CAMPAIGN, print_campaign
from steelyard_client.commands.campaigns.past import archive, cite, clone
from steelyard_client.commands.campaigns.state import close, freeze, publish, unfreeze
from steelyard_client.commands.leaderboards.correlate import correlate
from steelyard_client.vocabulary import ExportLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.campaigns.campaigns import UnreadableCampaignResponse

campaign = Noun("campaign", help="Create campaigns and manage their rules, members and teams, as organisers do.")


def rule_options() -> Decorator:
    """The rules of a campaign."""
    return together(
        option("--title", metavar="TEXT", help="title on the pages"),
        option("--description", metavar="TEXT", help="plain text; an empty line separates paragraphs"),
        option("--time-zone", metavar="ZONE", help="of its deadlines, e.g. Europe/Prague (default: UTC)"),
        option("--visibility", type=click.Choice(("public", "private")), help="who sees it (default: private)"),
        option("--joining", type=click.Choice(("open", "invited")), help="how teams join (default: invited)"),
        option("--anonymous/--no-anonymous", default=None, help="hide team names until the results are published"),
        option(
            "--verified-only/--no-verified-only",
            default=None,
            help="only accounts with a confirmed address can submit",
        ),
        option("--ranked-by", metavar="METRIC", help='the metric that ranks; "" for the first one'),
        option(
            "--human-rule",
            metavar="RULE",
            help='the rule by which people rank officially: human, human:wmt24, human:wmt25; "" for none',
        ),
        option(
            "--human-judgments", metavar="NAME", help="their judgments, NAME or NAME@VERSION (default: the only ones)"
        ),
        option("--embeddable/--no-embeddable", default=None, help="let other sites show the leaderboard in a frame"),
    )


@campaign.command(
    "create",
    help="Create a campaign.",
    example='steelyard campaign create wmt26 --title "WMT 2026" --visibility public --organiser mary@example.org',
)
@CAMPAIGN
@rule_options()
@option("--organiser", metavar="EMAIL", help="an account that organises it, too")
@backend()
def create(client: Client, campaign: str, **asked: Any) -> int:
    """Create a campaign."""
    from steelyard_client.documents.campaigns.campaigns import CampaignCreate

    client.create_campaign(CampaignCreate(name=campaign, **_given(asked)))
    return print_campaign(client, campaign)


@campaign.command(
    "list", help="List the campaigns that you may see, newest first.", example="steelyard campaign list -f json"
)
@format_option()
@backend()
def list_(client: Client, format: str) -> int:  # noqa: A002 - the option's name
    """Print all campaigns."""
    columns = [
        Column("name", "Campaign", Kind.NAME),
        Column("phase", "Phase", missing="-"),
        Column("open", "Open for submissions"),
        Column("visible_to", "Visible to"),
    ]
    rows = []
    for each in client.list_campaigns(on_unreadable=_tell_unreadable):
        takes = "yes" if each.takes_submissions else "frozen" if each.frozen_at is not None else "no"
        rows.append([each.name, each.phase, takes, "everybody" if each.visibility == "public" else "members"])
    nothing = "There is no campaign. `steelyard campaign create` creates one."
    print(render([Table(columns, rows, empty=nothing)], format, "Campaigns"), end="")
    return 0


@campaign.command(
    "show",
    help="Show the rules of a campaign, its phases, test sets and corrections.",
    example="steelyard campaign show wmt26",
)
@CAMPAIGN
@format_option()
@backend()
def show(client: Client, campaign: str, format: str) -> int:  # noqa: A002
    """Print a campaign."""
    return print_campaign(client, campaign, format)


@campaign.command(
    "ranking",
    help="Show the official ranking of a test set by human judgments: all judged systems, human translations "
    "included, with intervals, rank ranges, wins and clusters. `campaign update --human-rule` chooses the rule.",
    example="steelyard campaign ranking wmt26 --test-set en-cs -f json",
)
@CAMPAIGN
@option("--test-set", default="", metavar="NAME", help="which test set (default: the first)")
@format_option()
@backend()
def ranking(client: Client, campaign: str, test_set: str, format: str) -> int:  # noqa: A002
    """Print the official ranking."""
    from steelyard_client.commands.campaigns.human_ranking import print_ranking

    return print_ranking(client, campaign, test_set, format)


@campaign.command(
    "update",
    help="Change the rules of a campaign, its teams, organisers and viewers. Changes are made one after the other: "
    "those before a mistake stay.",
    example="steelyard campaign update wmt26 --ranked-by chrf --add-team harbour --viewer zoe@example.org",
)
@CAMPAIGN
@rule_options()
@many("--add-team", "add_teams", metavar="TEAM...", help="teams to add, or to invite")
@many("--remove-team", "remove_teams", metavar="TEAM...", help="teams that leave; they must not have submissions")
@many("--organiser", "organisers", metavar="EMAIL...", help="accounts that organise it")
@many("--viewer", "viewers", metavar="EMAIL...", help="accounts that may view it")
@many("--remove-member", "remove_members", metavar="EMAIL...", help="accounts that lose their role in it")
@backend()
def update(
    client: Client,
    campaign: str,
    add_teams: Sequence[str],
    remove_teams: Sequence[str],
    organisers: Sequence[str],
    viewers: Sequence[str],
    remove_members: Sequence[str],
    **asked: Any,
) -> int:
    """Change the rules, the teams and the members."""
    from steelyard_client.documents.campaigns.campaigns import CampaignUpdate
    from steelyard_client.documents.campaigns.participants import CampaignMemberUpdate
    from steelyard_client.vocabulary import CampaignRole

    rules = _given(asked)
    if not (rules or add_teams or remove_teams or organisers or viewers or remove_members):
        raise UsageError("Say what to change: --title, --visibility, --ranked-by, --add-team or another rule.")
    if rules:
        client.update_campaign(campaign, CampaignUpdate(**rules))
    for team in add_teams:
        client.join_campaign(campaign, team)
    for team in remove_teams:
        client.leave_campaign(campaign, team)
    for role, emails in ((CampaignRole.ORGANISER, organisers), (CampaignRole.VIEWER, viewers)):
        for email in emails:
            client.set_campaign_member(campaign, CampaignMemberUpdate(email=email, role=role))
    if remove_members:
        accounts = {each.email: each.account for each in client.list_campaign_members(campaign)}
        for email in remove_members:
            if email.casefold() not in accounts:
                raise CommandError(f"{email} is no member of {campaign}.")
            client.remove_campaign_member(campaign, accounts[email.casefold()])
    return print_campaign(client, campaign)


@campaign.command(
    "teams", help="List the teams that take part in a campaign.", example="steelyard campaign teams wmt26 -f csv"
)
@CAMPAIGN
@format_option()
@backend()
def teams(client: Client, campaign: str, format: str) -> int:  # noqa: A002
    """Print the teams."""
    columns = [
        Column("team", "Team", Kind.NAME, missing="(hidden)"),
        Column("name", "Shown as"),
        Column("number", "Number", Kind.ID, missing="(invited)"),
    ]
    rows = [[each.team, each.name, each.number] for each in client.list_campaign_teams(campaign)]
    nothing = "No teams yet. As long as the list is empty, any team can submit."
    print(render([Table(columns, rows, empty=nothing)], format, f"Teams of {campaign}"), end="")
    return 0


@campaign.command(
    "members",
    help="List the organisers and viewers of a campaign.",
    example="steelyard campaign members wmt26",
)
@CAMPAIGN
@format_option()
@backend()
def members(client: Client, campaign: str, format: str) -> int:  # noqa: A002
    """Print the members."""
    columns = [Column("email", "Account", Kind.NAME), Column("name", "Name"), Column("role", "Role")]
    rows = [[each.email, each.name, str(each.role)] for each in client.list_campaign_members(campaign)]
    nothing = "Nobody organises it but administrators."
    print(render([Table(columns, rows, empty=nothing)], format, f"Members of {campaign}"), end="")
    return 0


@campaign.command(
    "matrix",
    help="Show how the systems of a campaign score and rank on all of its test sets, by one metric.",
    example="steelyard campaign matrix wmt26 -m chrf --sort en-cs",
)
@CAMPAIGN
@option(
    "-m",
    "--metric",
    default="",
    metavar="METRIC",
    help="the metric that ranks, or human (default: that of the campaign)",
)
@option(
    "--sort",
    default="mean_rank",
    metavar="WHAT",
    help="order of rows: mean_rank, autorank, system, gaps or a test set (default: mean_rank)",
)
@many("--test-set", metavar="NAME...", help="only these test sets (default: all)")
@option("--all", "every", is_flag=True, help="systems that are not ranked, too")
@option("--complete", is_flag=True, help="leave out systems that lack a test set")
@format_option()
@backend()
def matrix(
    client: Client,
    campaign: str,
    metric: str,
    sort: str,
    test_set: Sequence[str],
    every: bool,
    complete: bool,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Print the matrix."""
    from steelyard_client.commands.campaigns.matrix import print_matrix

    shown = "all" if every else "ranked"
    found = client.read_campaign_matrix(
        campaign, metric=metric, shown=shown, sort=sort, only=test_set, complete=complete
    )
    return print_matrix(found, campaign, format)


@campaign.command(
    "ngrams",
    help="Show runs of one to four words of the references that one of two systems has more often than the other: "
    "matches clipped by segment, as in BLEU. They appear once the references are released.",
    example="steelyard campaign ngrams wmt26 --test-set en-cs --systems CUNI-T Online-W -f markdown",
)
@CAMPAIGN
@option("--test-set", default="", metavar="NAME", help="the test set (default: the first)")
@many("--systems", metavar="SYSTEM...", help="two systems, by name or number of submission (default: the best two)")
@format_option()
@backend()
def ngrams(client: Client, campaign: str, test_set: str, systems: Sequence[str], format: str) -> int:  # noqa: A002
    """Print the n-grams that tell two systems apart."""
    from steelyard_client.commands.campaigns.ngrams import rendered

    if len(systems) > 2:
        raise UsageError(f"--systems takes two systems, not {len(systems)}.")
    print(rendered(client.read_campaign_ngrams(campaign, test_set=test_set, system=systems), format), end="")
    return 0


@campaign.command(
    "metrics-task",
    help="Show how well the metrics of a campaign agree with people, on each of its test sets and on average, as WMT's "
    "metrics task ranks them: soft pairwise accuracy of systems, accuracy with tie calibration of segments, and ranks "
    "by permutation tests. `steelyard correlate --metrics-task` does the same with files of scores.",
    example="steelyard campaign metrics-task wmt26 --human esa -f latex",
)
@CAMPAIGN
@option("--human", default="", metavar="NAME", help="the judgments (default: the newest of each test set)")
@format_option()
@backend()
def metrics_task(client: Client, campaign: str, human: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print the table of the metrics task."""
    from steelyard_client.commands.campaigns.metrics_task import print_metrics_task

    finish_metrics_task(client, campaign, human)
    return print_metrics_task(client.read_campaign_metrics_task(campaign, human=human), format)


@campaign.command(
    "delete",
    help="Delete a campaign with its submissions, scores and judgments, after showing how many there are.",
    example="steelyard campaign delete rehearsal",
)
@CAMPAIGN
@yes_option()
@backend()
def delete(client: Client, campaign: str, yes: bool) -> int:
    """Delete a campaign."""
    from steelyard_client.commands.deleting import delete_after_question

    return delete_after_question(lambda dry: client.delete_campaign(campaign, dry_run=dry), yes=yes)


@campaign.command(
    "export",
    help="Write everything of a campaign that you may see into a zip; or its texts, scores of metrics and human scores "
    "into a folder that mt-metrics-eval reads.",
    example="steelyard campaign export wmt26 --layout mt-metrics-eval -o wmt26",
)
@CAMPAIGN
@click.argument(
    "file",
    required=False,
    type=Value(Path),
    metavar="FILE",
    help="the zip; only you can read it (default: CAMPAIGN.zip)",
)
@option(
    "--layout",
    type=click.Choice([each.value for each in ExportLayout]),
    default=ExportLayout.CAMPAIGN.value,
    help="campaign: everything, which `campaign import` and `verify` take; mt-metrics-eval: a folder for metrics tasks",
)
@option("-o", "--output", type=Value(Path), metavar="DIR", help="the folder of --layout mt-metrics-eval, a new one")
@many("--test-set", "test_sets", metavar="NAME...", help="only these, in the folder of --layout mt-metrics-eval")
@backend()
def export(
    client: Client, campaign: str, file: Path | None, layout: str, output: Path | None, test_sets: Sequence[str]
) -> int:
    """Write the zip, or the folder."""
    from steelyard_client.commands.campaigns.exported import write_folder, write_zip

    if layout == ExportLayout.CAMPAIGN:
        if output is not None or test_sets:
            raise UsageError("-o and --test-set are for --layout mt-metrics-eval; a zip is named by FILE.")
        path = file or Path(f"{campaign}.zip")
        write_zip(path, client.export_campaign(campaign))
        print(f"Written: {path}")
        return 0
    if output is None or file is not None:
        raise UsageError("--layout mt-metrics-eval writes a folder: name it with -o DIR.")
    content = client.export_campaign(campaign, layout=ExportLayout(layout), test_sets=test_sets)
    note(write_folder(output, content))
    print(f"Written: {output}")
    return 0


@campaign.command(
    "import",
    help="Create a campaign from an exported one, of this server or another, from a folder of language pairs as WMT "
    "and mt-metrics-eval have it, with metric-scores/ and human-scores/, or from a test file of WMT in JSON Lines and "
    "one for each system. Scores are computed again from the texts. An "
    "export that was changed, or whose format is newer than this release, is refused.",
    example="steelyard campaign import wmt26.zip --name wmt26-archive",
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=Value(Path),
    metavar="FILE|DIR...",
    help="the zip of an export, a folder, packed or not, or the test file and those of systems",
)
@option("--name", metavar="NAME", help="what it is called here (default: the name of the first file or folder)")
@option("--preview", is_flag=True, help="say what would be stored of each test set, and store nothing")
@backend()
def import_(client: Client, files: Sequence[Path], name: str | None, preview: bool) -> int:
    """Send the zip, and print what came in, or what would, and what happens next."""
    from steelyard_client.commands.campaigns.exported import name_of_campaign, read_campaign_files
    from steelyard_client.commands.campaigns.imported import print_imported

    content = read_campaign_files(files)
    found = client.import_campaign(name or name_of_campaign(files), content, preview=preview)
    status = print_imported(found)
    if found.stored and found.submissions and brings_workers(client):
        note(["`steelyard up`, or the next command that brings workers to this database, scores the outputs"])
    return status


def _tell_unreadable(campaign: UnreadableCampaignResponse) -> None:
    note([f"The campaign {campaign.name!r} cannot be shown. {campaign.reason or 'Its organisers can see why.'}"])


def _given(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


for command in (freeze, unfreeze, close, publish, announce, announcements, archive, cite, clone, correlate):
    campaign.add_command(command)
