"""What organisers write to all teams of a campaign."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy import func, select

from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, TooMany
from campaigns.fields.short_text import short_text
from campaigns.notices.listing import SeenNotice, list_announcements
from models.notices.notify import NewNotice, notify
from models.schema.base import now
from models.schema.notices import Notice
from steelyard_client.documents.accounts.notices import MAX_ANNOUNCEMENT_LENGTH, MAX_SUBJECT_LENGTH
from steelyard_client.vocabulary import NoticeKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from runtime.service_settings import WebSettings

DAY = 86400.0


def announce(
    connection: Connection, settings: WebSettings, principal: Principal, campaign: str, subject: str, text: str
) -> SeenNotice:
    """Write to the members of all teams, the organisers and the viewers of a campaign, as each wants it.

    Raises
    ------
    NotFound, NotSignedIn, Forbidden
        For others than organisers.
    BadRequest
        For a text that is empty, too long or cannot be shown.
    TooMany
        For more announcements in a day than the server allows.
    """
    access = lock_for_change(connection, principal, campaign)
    subject = short_text(subject, "The subject", MAX_SUBJECT_LENGTH)
    text = short_text(text, "The text", MAX_ANNOUNCEMENT_LENGTH, lines=True)
    if not subject or not text:
        raise BadRequest("An announcement has a subject and a text.")
    today = connection.scalar(
        select(func.count())
        .select_from(Notice)
        .where(
            Notice.campaign_id == access.campaign_id,
            Notice.kind == NoticeKind.ANNOUNCEMENT,
            Notice.created_at > now() - DAY,
        )
    )
    if (today or 0) >= settings.announcements_per_day:
        raise TooMany(f"The campaign has made {today} announcements within a day, the limit. Wait until tomorrow.")
    new = NewNotice(
        access.campaign_id,
        f"announcement-{uuid.uuid4().hex}",
        NoticeKind.ANNOUNCEMENT,
        f"{access.title}: {subject}",
        text,
        f"/campaigns/{quote(access.name, safe='')}",
        account_id=principal.account_id,
    )
    notify(connection, new, mails=settings.mail_url is not None)
    principal.audit(
        connection, "campaign.announce", f"campaign {access.name}", campaign_id=access.campaign_id, subject_line=subject
    )
    return list_announcements(connection, access, limit=1)[0]
