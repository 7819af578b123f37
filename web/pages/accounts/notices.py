"""Which notices the account gets, its feed, and the link in mails that ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from campaigns.errors import NotFound
from campaigns.notices.choosing import change_notices, find_subscriber, read_notice_settings, unsubscribe
from campaigns.notices.listing import list_notices, read_feed
from models.database.session import reading, writing
from models.schema.roles import Scope
from runtime.service_settings import site_url
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE
from web.pages.atom import FeedEntry, atom_feed
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, see_other

if TYPE_CHECKING:
    from collections.abc import Mapping

    from campaigns.accounts.principal import Principal
    from web.state import State

router = APIRouter()

SHOWN = 20
KINDS = {
    NoticeKind.SCORED: "Submissions of your team were scored",
    NoticeKind.FAILED: "Submissions of your team could not be scored",
    NoticeKind.DEADLINE: "A deadline is in less than 24 hours",
    NoticeKind.PHASE: "A phase begins",
    NoticeKind.RESULTS: "Results are published",
    NoticeKind.CORRECTION: "References were corrected",
    NoticeKind.ANNOUNCEMENT: "Announcements of organisers",
}
CHANNELS = {NoticeChannel.MAIL: "Mail", NoticeChannel.WEBHOOK: "Webhook", NoticeChannel.FEED: "Feed"}


def _channels(state: State) -> dict[NoticeChannel, str]:
    """Those that this server has; what was chosen for mail stays, for a server may be given mail again."""
    mails = state.settings.mail_url is not None
    return {channel: title for channel, title in CHANNELS.items() if mails or channel != NoticeChannel.MAIL}


@router.get("/account/notices")
def show_notices(request: Request, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show what has happened, and the choices."""
    return _page(request, principal, done=bool(done))


@router.post("/account/notices")
def choose_notices(
    request: Request,
    principal: CurrentPrincipal,
    wanted: Annotated[list[str], Form(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    webhook: Annotated[str, Form(max_length=1000)] = "",
    renew_feed: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Save the choices: a tick for each kind and channel."""
    state = app_state(request)
    choices = {(kind, channel): f"{kind}:{channel}" in wanted for kind in NoticeKind for channel in _channels(state)}
    try:
        with form_errors(), writing(state.engine) as connection:
            known = read_notice_settings(connection, principal).webhook or ""
            changed = webhook if webhook.strip() != known else None
            secret = change_notices(
                *(connection, state.settings, principal, choices), webhook=changed, renew_feed=bool(renew_feed)
            )
    except InvalidForm as error:
        return _page(request, principal, error=error, given=choices, webhook=webhook, renew_feed=bool(renew_feed))
    if secret:
        return _page(request, principal, done=True, secret=secret)
    return see_other("/account/notices?done=saved")


def _page(
    request: Request,
    principal: Principal,
    *,
    done: bool = False,
    secret: str = "",
    error: InvalidForm | None = None,
    given: Mapping[tuple[NoticeKind, NoticeChannel], bool] | None = None,
    webhook: str | None = None,
    renew_feed: bool = False,
) -> Response:
    account_id = principal.require_account(Scope.READ)
    state = app_state(request)
    with writing(state.engine) as connection:
        known = read_notice_settings(connection, principal)
        found = list_notices(connection, account_id, limit=SHOWN)
    return page(
        request,
        "accounts/notices",
        status=error.status if error else 200,
        headers=NO_STORE,
        title="Notices",
        crumbs=[("Your account", "/account")],
        kinds=KINDS.items(),
        channels=_channels(state).items(),
        known=known,
        mails=state.settings.mail_url is not None,
        feed=f"{site_url(state.settings)}/notices/{known.feed_secret}/feed.xml",
        choices={**known.choices, **(given or {})},
        webhook=known.webhook or "" if webhook is None else webhook,
        renew_feed=renew_feed,
        found=found[:SHOWN],
        error=str(error) if error else "",
        done=done,
        secret=secret,
    )


@router.get("/notices/{secret}/feed.xml")
def show_feed(request: Request, secret: str) -> Response:
    """Show the notices of whoever was given this address."""
    state = app_state(request)
    with reading(state.engine) as connection:
        found = read_feed(connection, secret)
    if found is None:
        raise NotFound("There is no such feed.")
    site = site_url(state.settings)
    entries = [
        FeedEntry(f"{site}/notices#{each.id}", each.title, each.text, each.created_at, f"{site}{each.path}")
        for each in found
    ]
    return atom_feed(f"{site}/account/notices", f"{site}/account/notices", "Notices", entries)


@router.get("/unsubscribe/{secret}")
def ask_to_unsubscribe(request: Request, secret: str, kind: str = "") -> Response:
    """Ask whether mails are to end: programs that look at links must not end them."""
    with reading(app_state(request).engine) as connection:
        find_subscriber(connection, secret)
    chosen = _kind(kind)
    asked: dict[str, Any] = {"kind": chosen or "", "what": KINDS[chosen] if chosen else "", "ended": False}
    return page(request, "accounts/unsubscribe", title="Unsubscribe", headers=NO_STORE, **asked)


@router.post("/unsubscribe/{secret}")
def end_mails(request: Request, secret: str, kind: Annotated[str, Form(max_length=20)] = "") -> Response:
    """End mails of a kind, or all of them."""
    with writing(app_state(request).engine) as connection:
        unsubscribe(connection, secret, _kind(kind))
    return page(request, "accounts/unsubscribe", title="Unsubscribed", headers=NO_STORE, ended=True)


def _kind(given: str) -> NoticeKind | None:
    return NoticeKind(given) if given in tuple(NoticeKind) else None
