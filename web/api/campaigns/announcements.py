"""Announcements of a campaign."""

from __future__ import annotations

from fastapi import APIRouter, Request

from campaigns.notices.announcements import announce
from campaigns.notices.listing import list_announcements as announcements_of
from campaigns.notices.listing import notice_response
from campaigns.permissions import read_access
from models.database.session import reading, writing
from runtime.service_settings import site_url
from steelyard_client.documents.accounts.notices import AnnouncementCreate, NoticeResponse
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])

MOST = 1000


@router.get("/campaigns/{name}/announcements")
def list_announcements(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[NoticeResponse]:
    """List what the organisers wrote to all teams, newest first: for teams, organisers and viewers."""
    state = app_state(request)
    with reading(state.engine) as connection:
        found = announcements_of(connection, read_access(connection, principal, name), limit=MOST)
    shown, following = slice_page(found, limit, after)
    site = site_url(state.settings)
    return Page[NoticeResponse](items=[notice_response(each, site) for each in shown], next=following)


@router.post("/campaigns/{name}/announcements", status_code=201)
def create_announcement(
    request: Request, name: str, new: AnnouncementCreate, principal: CurrentPrincipal
) -> NoticeResponse:
    """Write to all teams, organisers and viewers; each gets it as they have chosen. For organisers."""
    state = app_state(request)
    with writing(state.engine, durable=True) as connection:
        made = announce(connection, state.settings, principal, name, new.subject, new.text)
    return notice_response(made, site_url(state.settings))
