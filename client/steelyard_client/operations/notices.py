"""Operations on notices and announcements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard_client.documents.accounts.notices import NoticeResponse, NoticeSettingsResponse
from steelyard_client.requests import Requests
from steelyard_client.steps import listing, operation

if TYPE_CHECKING:
    from steelyard_client.documents.accounts.notices import AnnouncementCreate, NoticeSettingsUpdate
    from steelyard_client.steps import Items, Steps


class NoticeOperations(Requests):
    """Notices, what of them the account wants, and announcements."""

    @listing
    def list_notices(self) -> Items[NoticeResponse]:
        """What has happened in the account's campaigns and to its teams' submissions, newest first."""
        return self._pages(NoticeResponse, "notices")

    @operation
    def read_notice_settings(self) -> Steps[NoticeSettingsResponse]:
        """Which notices the account gets, by which channels, and the address of its feed."""
        return self._get(NoticeSettingsResponse, "notices", "settings")

    @operation
    def update_notice_settings(self, change: NoticeSettingsUpdate) -> Steps[NoticeSettingsResponse]:
        """Choose which notices the account gets, and where."""
        return self._change(NoticeSettingsResponse, "PATCH", "notices", "settings", body=change)

    @listing
    def list_announcements(self, name: str) -> Items[NoticeResponse]:
        """What the organisers wrote to all teams of a campaign, newest first."""
        return self._pages(NoticeResponse, "campaigns", name, "announcements")

    @operation
    def create_announcement(self, name: str, new: AnnouncementCreate) -> Steps[NoticeResponse]:
        """Write to all teams, organisers and viewers of a campaign. For organisers."""
        return self._change(NoticeResponse, "POST", "campaigns", name, "announcements", body=new)
