"""The pages of management: what organisers see of their campaign, by subject."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.changes import version_of
from campaigns.corrections.corrections import list_corrections
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.measures import protocols_on, tokenizer_notices
from campaigns.participants import campaign_members
from campaigns.permissions import CampaignAccess, read_access
from campaigns.publication import plan_publication
from campaigns.quotas.organisers import applicable_quotas, teams_with_quotas
from campaigns.setup import setup_steps
from campaigns.test_sets.stored import list_campaign_test_sets
from models.database.session import reading
from models.queue_status.campaign_progress import read_campaigns
from models.queue_status.evaluation_filters import EvaluationFilter
from models.schema.accounts import AuditEntry
from models.schema.states import QuotaKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()

CHANGES_SHOWN = 30
QUOTA_WORDS = {
    QuotaKind.PER_DAY: "per day",
    QuotaKind.PER_PHASE: "per phase",
    QuotaKind.IN_FLIGHT: "in progress",
}
MESSAGES = {
    "rules": "Rules saved.",
    "terms": "Terms saved. Teams accept them before they submit.",
    "phase": "Phases saved.",
    "test-set": "Test sets saved.",
    "correct": "References replaced. All current submissions are being scored again.",
    "freeze": "Campaign frozen.",
    "unfreeze": "Campaign unfrozen.",
    "close": "Phase closed.",
    "publish": "Results published.",
    "team": "Teams saved.",
    "invited": "Team invited. It participates once its lead has accepted on the page of the team.",
    "member": "Members saved.",
    "quota": "Quotas saved.",
    "announced": "Announcement sent.",
    "cloned": "Campaign cloned. It is private: check its rules, phases and test sets, then make it visible.",
}
"""Confirmation messages, by the `done` parameter of the address."""

SECTION_OF = {
    "state": "live",
    "publish": "results",
    "clone": "results",
    "teams": "teams",
    "members": "teams",
    "quotas": "teams",
    "announce": "teams",
}
"""The form -> the page that it is on."""


def organiser_access(connection: Connection, principal: Principal, name: str) -> CampaignAccess:
    """Return the access of an organiser to a campaign.

    Raises
    ------
    NotFound
        If there is no such campaign, or the account may not know of it.
    NotSignedIn, Forbidden
        If the account does not organise it.
    """
    access = read_access(connection, principal, name)
    if not principal.signed_in:
        raise NotSignedIn
    if not access.organises:
        raise Forbidden("Only organisers of this campaign can do that.")
    return access


@router.get("/campaigns/{name}/manage")
def showmanagement_page(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show the first page of management: rules, phases and recent changes."""
    return management_page(request, principal, name, message=MESSAGES.get(done, ""))


@router.get("/campaigns/{name}/manage/test-sets")
def show_test_sets(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show the test sets of a campaign and their corrections."""
    return management_page(request, principal, name, section="test-sets", message=MESSAGES.get(done, ""))


@router.get("/campaigns/{name}/manage/teams")
def show_teams(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show teams, organisers, viewers and quotas."""
    return management_page(request, principal, name, section="teams", message=MESSAGES.get(done, ""))


@router.get("/campaigns/{name}/manage/live")
def show_live(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show whether the campaign takes submissions, with what ends that."""
    return management_page(request, principal, name, section="live", message=MESSAGES.get(done, ""))


@router.get("/campaigns/{name}/manage/results")
def show_results(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show publication, scores made elsewhere and the export."""
    return management_page(request, principal, name, section="results", message=MESSAGES.get(done, ""))


def management_page(
    request: Request,
    principal: Principal,
    name: str,
    *,
    section: str = "",
    error: str = "",
    where: str = "",
    fields: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    """Return a page of management: `section`, or that with the form `where` the error belongs, and its `fields`."""
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        test_sets = list_campaign_test_sets(connection, access)
        measures = protocols_on(connection, access.campaign_id)
        members = campaign_members(connection, access.campaign_id)
        quotas = applicable_quotas(connection, access)
        quota_teams = teams_with_quotas(connection, access)
        corrections = list_corrections(connection, access)
        changes = connection.execute(
            select(AuditEntry.at, AuditEntry.actor, AuditEntry.action, AuditEntry.subject)
            .where(AuditEntry.campaign_id == access.campaign_id)
            .order_by(AuditEntry.id.desc())
            .limit(CHANGES_SHOWN)
        ).all()
        version = version_of(connection, access.campaign_id)
        section = SECTION_OF.get(where, section)
        progress = read_campaigns(connection, EvaluationFilter(campaign=name)) if section == "live" else ()
    blank = {"team": "", "member_email": "", "member_role": "viewer"}
    blank |= dict.fromkeys(("clone_name", "clone_title", "clone_starts", "announce_subject", "announce_text"), "")
    blank |= {"clone_test_sets": "yes", "clone_teams": ""}
    blank |= {"quota_amount": "", "quota_team": "", "quota_phase": "", "quota_kind": QuotaKind.PER_DAY}
    return page(
        request,
        "campaigns/manage/overview",
        status=status,
        title="Manage",
        access=access,
        here="manage",
        section=section,
        progress=progress,
        rules_version=version,
        test_sets=test_sets,
        notices=[
            (known.title, notice)
            for known in test_sets
            if known.replaced_by is None
            for notice in tokenizer_notices(
                [each for each in measures if each.test_set_id == known.id], known.target_language
            )
        ],
        members=members,
        quotas=quotas,
        quota_words=QUOTA_WORDS,
        quota_teams=[("", "every team"), *((each, each) for each in quota_teams)],
        quota_phases=[("", "all phases"), *((each.name, each.name) for each in access.phases)],
        corrections=corrections,
        changes=changes,
        teams=sorted(access.teams.values(), key=lambda each: each.name.casefold()),
        given={**blank, **(given or {})},
        errors={where: error} if error else {},
        wrong=defaultdict(str, fields or {}),
        message=message,
        steps=setup_steps(access),
        publication=plan_publication(access),
    )
