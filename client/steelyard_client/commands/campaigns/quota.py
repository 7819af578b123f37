"""`steelyard quota`: how many submissions a team may make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, option, together, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard.tables.formatting import count, date_time
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.campaigns.quotas import QuotaResponse, QuotaUsageResponse, TeamQuotasResponse

KINDS = {
    "in_flight": "submissions with open evaluations",
    "per_day": "submissions per calendar day",
    "per_phase": "submissions per phase, or in the whole campaign if it has no phases",
}
"""As `steelyard_client.vocabulary.QuotaKind`."""
NO_LIMIT = "no limit"

quota = Noun(
    "quota",
    help="Limit how many submissions a team may make. A quota applies to a team of a campaign, to every team of it, or "
    "to everything, optionally in one phase; for each limit the most specific quota applies.",
)


def _amount(text: str) -> int | str:
    return text if text == "none" else whole_number(text)


def scope_options() -> Decorator:
    """--campaign, --team, --phase."""
    return together(
        option("--campaign", metavar="NAME", help="only in this campaign"),
        option("--team", default="", metavar="NAME", help="only for this team of the campaign"),
        option("--phase", default="", metavar="NAME", help="only in this phase of the campaign"),
    )


@quota.command(
    "list",
    help="List all quotas, or those in force in one campaign.",
    example="steelyard quota list --campaign wmt26 -f json",
)
@option("--campaign", metavar="NAME", help="only those in force in this campaign (default: all, for administrators)")
@format_option()
@backend()
def list_(client: Client, campaign: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Print quotas."""
    return _print_quotas(client, campaign, format)


@quota.command(
    "show",
    help="Show what a team has used, and when the next submission is possible.",
    example="steelyard quota show harbour --campaign wmt26",
)
@click.argument("team", metavar="TEAM", help="the team's name")
@option("--campaign", metavar="NAME", help="in this campaign (default: in all its campaigns)")
@format_option()
@backend()
def show(client: Client, team: str, campaign: str | None, format: str) -> int:  # noqa: A002
    """Print the usage of a team's quotas."""
    found = [client.read_team_quotas(campaign, team)] if campaign else list(client.list_team_quotas(team))
    print(render([_usage(each, team) for each in found], format, f"Quotas of {team}"), end="")
    return 0


@quota.command(
    "update",
    help="Set limits for a team, a campaign or everything; limits of other kinds stay as they are.",
    example="steelyard quota update --campaign wmt26 --per-day 5 --in-flight 2 --time-zone Europe/Prague",
)
@together(
    *(
        option(f"--{name.replace('_', '-')}", type=Value(_amount), metavar="N", help=f"at most so many {what}, or none")
        for name, what in KINDS.items()
    )
)
@option(
    "--time-zone",
    metavar="ZONE",
    help="where days begin and end, e.g. Europe/Prague (default: that of the campaign; for everything that of the "
    "limit so far, else UTC)",
)
@scope_options()
@backend()
def update(
    client: Client, campaign: str | None, team: str, phase: str, time_zone: str | None, **asked: int | str | None
) -> int:
    """Set limits."""
    from steelyard_client.documents.campaigns.quotas import GeneralQuotaUpdate, QuotaUpdate
    from steelyard_client.vocabulary import QuotaKind

    amounts = {QuotaKind(name): amount for name, amount in asked.items() if amount is not None}
    if not amounts:
        raise UsageError("Which limit? Give --in-flight, --per-day or --per-phase.")
    _check_scope(campaign, team, phase)
    for kind, amount in amounts.items():
        limit: dict[str, Any] = {"kind": kind, "amount": None if amount == "none" else amount, "time_zone": time_zone}
        if campaign:
            client.set_campaign_quota(campaign, QuotaUpdate(**limit, team=team, phase=phase))
        else:
            client.set_quota(GeneralQuotaUpdate(**limit))
    return _print_quotas(client, campaign, "text")


@quota.command(
    "delete",
    help="Delete the limits of a team, a campaign or everything: all of them, or those that are named.",
    example="steelyard quota delete --campaign wmt26 --per-day",
)
@together(
    *(
        option(f"--{name.replace('_', '-')}", is_flag=True, help=f"only the limit on {what}")
        for name, what in KINDS.items()
    )
)
@yes_option()
@scope_options()
@backend()
def delete(client: Client, campaign: str | None, team: str, phase: str, yes: bool, **asked: bool) -> int:
    """Delete limits."""
    _check_scope(campaign, team, phase)
    kinds = [name for name, given in asked.items() if given]
    scope = (campaign, team, phase)
    meant = [
        each
        for each in (client.list_campaign_quotas(campaign) if campaign else client.list_quotas())
        if (each.campaign, each.team, each.phase) == scope and (not kinds or each.kind in kinds)
    ]
    if not meant:
        raise CommandError("There is no such quota. `steelyard quota list` shows all quotas.")
    named = ", ".join(f"{_called(each)} ({_most(each)})" for each in meant)
    place = ", ".join(part for part in (campaign or "every campaign", team and f"team {team}", phase) if part)
    confirm(f"Delete the limits {named} of {place}?", yes=yes)
    for each in meant:
        if campaign:
            client.delete_campaign_quota(campaign, each.kind, team=team, phase=phase)
        else:
            client.delete_quota(each.kind)
    print(f"Deleted: {named}.")
    return 0


@quota.command(
    "phase",
    help="Set the current phase, by which quotas count, of a campaign without planned phases.",
    example="steelyard quota phase wmt26 final",
)
@click.argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
@click.argument("phase", metavar="PHASE", help='the name of the phase; "" ends the last one')
@backend()
def phase(client: Client, campaign: str, phase: str) -> int:
    """Set the phase of a campaign."""
    from steelyard_client.documents.campaigns.campaigns import CampaignUpdate

    client.update_campaign(campaign, CampaignUpdate(quota_phase=phase))
    print(f"{campaign}: " + (f'the phase is "{phase}".' if phase else "no phase."))
    return 0


def _check_scope(campaign: str | None, team: str, phase: str) -> None:
    if not campaign and (team or phase):
        raise UsageError("Quotas for a team or a phase belong to a campaign: give the campaign, too.")


def _print_quotas(client: Client, campaign: str | None, form: str) -> int:
    columns = [
        Column("campaign", "Campaign", Kind.NAME, missing="(all)"),
        Column("team", "Team", Kind.NAME, missing="(all)"),
        Column("phase", "Phase", Kind.NAME, missing="(all)"),
        Column("limit", "Limit"),
        Column("amount", "Most", Kind.COUNT, missing=NO_LIMIT),
    ]
    rows = [
        [each.campaign, each.team or None, each.phase or None, _called(each), each.amount]
        for each in (client.list_campaign_quotas(campaign) if campaign else client.list_quotas())
    ]
    nothing = "There are no quotas: every team may submit as much as it likes. `steelyard quota update` sets them."
    print(render([Table(columns, rows, empty=nothing)], form, "Quotas"), end="")
    return 0


def _called(known: QuotaResponse) -> str:
    zone = f" ({known.time_zone})" if known.kind == "per_day" else ""
    return known.kind.replace("_", " ") + zone


def _most(known: QuotaResponse) -> str:
    return NO_LIMIT if known.amount is None else count(known.amount)


def _usage(found: TeamQuotasResponse, team: str) -> Table:
    phase = f', phase "{found.phase}"' if found.phase else ""
    columns = [
        Column("limit", "Limit", Kind.NAME),
        Column("used", "Used", Kind.COUNT),
        Column("amount", "Most", Kind.COUNT, missing=NO_LIMIT),
        Column("next", "Next possible"),
    ]
    rows = [[each.of_what, each.used, each.amount, _next(each)] for each in found.usage]
    notes = [
        f"Submission {each.submission} does not count: {each.reason or 'it was cancelled'}" for each in found.given_back
    ]
    notes += [f"{number_of(len(notes), 'submission')} in all that {'does' if len(notes) == 1 else 'do'} not count."] * (
        len(notes) > 1
    )
    title = f"Team {team} in {found.campaign}{phase}"
    return Table(columns, rows, title, key=found.campaign, notes=notes, empty="There are no quotas.")


def _next(usage: QuotaUsageResponse) -> str:
    if not usage.full:
        return "now"
    if usage.free_at is not None:
        return date_time(usage.free_at.timestamp(), usage.time_zone)
    if not usage.amount:
        return "never"
    return "when one has ended" if usage.kind == "in_flight" else "in another phase"
