"""Notices of the account, and what of them it wants."""

from __future__ import annotations

from fastapi import APIRouter, Request

from campaigns.notices.choosing import change_notices, read_notice_settings
from campaigns.notices.listing import list_notices, notice_response
from models.database.session import reading, writing
from models.schema.roles import Scope
from runtime.service_settings import site_url
from steelyard_client.documents.accounts.notices import (
    NoticeChoiceResponse,
    NoticeResponse,
    NoticeSettingsResponse,
    NoticeSettingsUpdate,
)
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["account"])


@router.get("/notices", name="list_notices")
def list_own_notices(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[NoticeResponse]:
    """List what has happened in your campaigns and to your teams' submissions, newest first."""
    account_id = principal.require_account(Scope.READ)
    state = app_state(request)
    with reading(state.engine) as connection:
        found = list_notices(connection, account_id, limit=limit, after=parse_cursor(after))
    site = site_url(state.settings)
    return Page[NoticeResponse](**make_page(found, limit, lambda each: notice_response(each, site)))


@router.get("/notices/settings", name="read_notice_settings")
def read_settings(request: Request, principal: CurrentPrincipal) -> NoticeSettingsResponse:
    """Read which notices you get, by which channels, and the address of your feed."""
    return _response(request, principal)


@router.patch("/notices/settings", name="update_notice_settings")
def update_settings(
    request: Request, principal: CurrentPrincipal, change: NoticeSettingsUpdate
) -> NoticeSettingsResponse:
    """Choose which notices you get, and where. The key of a new webhook is in this answer alone."""
    state = app_state(request)
    choices = {(each.kind, each.channel): each.wanted for each in change.choices}
    with writing(state.engine) as connection:
        secret = change_notices(
            *(connection, state.settings, principal, choices), webhook=change.webhook, renew_feed=change.renew_feed
        )
    return _response(request, principal, secret)


def _response(request: Request, principal: CurrentPrincipal, secret: str | None = None) -> NoticeSettingsResponse:
    state = app_state(request)
    with writing(state.engine) as connection:
        known = read_notice_settings(connection, principal)
    return NoticeSettingsResponse(
        choices=[
            NoticeChoiceResponse(kind=kind, channel=channel, wanted=wanted)
            for (kind, channel), wanted in known.choices.items()
        ],
        mails=state.settings.mail_url is not None and known.verified,
        feed=f"{site_url(state.settings)}/notices/{known.feed_secret}/feed.xml",
        webhook=known.webhook,
        webhook_secret=secret,
    )
