"""Which kinds of notices somebody wants, and by which channels."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from models.schema.column_types import is_known
from models.schema.notices import NoticeChoice
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

Wanted = dict[tuple[NoticeKind, NoticeChannel], bool]

SELDOM_MAILED = (NoticeKind.SCORED, NoticeKind.PHASE)
"""What is mailed only to those who ask for it: it may be frequent, or is on the page anyway."""
DEFAULTS: Wanted = {
    (kind, channel): channel is not NoticeChannel.MAIL or kind not in SELDOM_MAILED
    for kind in NoticeKind
    for channel in NoticeChannel
}


def choices_of(connection: Connection, accounts: Collection[int]) -> dict[int, Wanted]:
    """Return what each of these accounts wants."""
    found = {account: dict(DEFAULTS) for account in accounts}
    rows = connection.execute(select(NoticeChoice).where(NoticeChoice.account_id.in_(list(accounts))))
    for row in rows:
        if is_known(row.kind) and is_known(row.channel):
            found[row.account_id][row.kind, row.channel] = row.wanted
    return found
