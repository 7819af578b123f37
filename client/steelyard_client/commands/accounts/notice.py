"""`steelyard notice`: what has happened in one's campaigns, and which notices of it come by which channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Noun
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.documents.accounts.notices import NoticeSettingsResponse

notice = Noun("notice", help="List what has happened in your campaigns, and choose which notices you get.")


@notice.command("list", help="List your notices, newest first.", example="steelyard notice list")
@format_option()
@backend()
def list_(client: Client, format: str) -> int:  # noqa: A002 - the option's name
    """Print all notices."""
    columns = [
        Column("created_at", "Time", Kind.DATE),
        Column("kind", "Kind"),
        Column("campaign", "Campaign", Kind.NAME),
        Column("title", "Notice"),
        Column("url", "Page"),
    ]
    rows = [
        [each.created_at.timestamp(), each.kind.value, each.campaign, each.title, each.url]
        for each in client.list_notices()
    ]
    print(render([Table(columns, rows, empty="Nothing has happened yet.")], format, "Notices"), end="")
    return 0


@notice.command("show", help="Show which notices you get, and where.", example="steelyard notice show")
@format_option()
@backend()
def show(client: Client, format: str) -> int:  # noqa: A002
    """Print the settings."""
    print(render(_tables(client.read_notice_settings()), format, "Notices"), end="")
    return 0


@notice.command(
    "update",
    help="Choose which kinds of notices come by a channel, or where webhook and feed are.",
    example="steelyard notice update scored failed --by mail",
)
@click.argument(
    "kinds",
    nargs=-1,
    type=click.Choice([each.value for each in NoticeKind]),
    metavar="KIND...",
    help="kinds of notices",
)
@option("--by", "channel", type=click.Choice([each.value for each in NoticeChannel]), help="the channel")
@option("--off", is_flag=True, help="not by this channel any more")
@option("--webhook", metavar="URL", help='where notices are sent by POST as JSON; "" for nowhere')
@option("--renew-feed", is_flag=True, help="give the feed another address")
@backend()
def update(
    client: Client, kinds: Sequence[str], channel: str | None, off: bool, webhook: str | None, renew_feed: bool
) -> int:
    """Change the settings."""
    from steelyard_client.documents.accounts.notices import NoticeChoiceResponse, NoticeSettingsUpdate

    if bool(kinds) != bool(channel) or (off and not channel):
        raise UsageError("Name both: the kinds of notices, and the channel with --by.")
    if not kinds and webhook is None and not renew_feed:
        raise UsageError("Say what to change: KIND... --by CHANNEL, --webhook or --renew-feed.")
    given: dict[str, Any] = {}
    if channel:
        given["choices"] = [
            NoticeChoiceResponse(kind=NoticeKind(kind), channel=NoticeChannel(channel), wanted=not off)
            for kind in kinds
        ]
    if webhook is not None:
        given["webhook"] = webhook
    if renew_feed:
        given["renew_feed"] = True
    known = client.update_notice_settings(NoticeSettingsUpdate(**given))
    print(render(_tables(known), "text", "Notices"), end="")
    if known.webhook_secret:
        print(f"\nThe key of its signatures, shown once: {known.webhook_secret}")
    return 0


def _tables(known: NoticeSettingsResponse) -> list[Table]:
    wanted = {(each.kind, each.channel): each.wanted for each in known.choices}
    columns = [Column("kind", "Kind", Kind.NAME), *(Column(each.value, each.value.title()) for each in NoticeChannel)]
    rows = [
        [kind.value, *("yes" if wanted.get((kind, channel)) else "no" for channel in NoticeChannel)]
        for kind in NoticeKind
    ]
    where = [["mail", "yes" if known.mails else "no"], ["webhook", known.webhook or "-"], ["feed", known.feed]]
    return [
        Table(columns, rows, key="choices"),
        Table([Column("channel", "Channel", Kind.NAME), Column("address", "Address")], where, key="addresses"),
    ]
