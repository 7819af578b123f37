"""Operations on accounts, tokens, teams, invitations and the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard_client.documents.accounts.accounts import (
    AccountResponse,
    AccountUpdatedResponse,
    EndedSessionsResponse,
    MeResponse,
    PasswordLinkResponse,
    SessionResponse,
    WaitingUpload,
)
from steelyard_client.documents.accounts.audit import AuditEntryResponse
from steelyard_client.documents.accounts.invitations import (
    InvitationAcceptedResponse,
    InvitationCreatedResponse,
    InvitationResponse,
)
from steelyard_client.documents.accounts.teams import TeamDetailsResponse, TeamResponse
from steelyard_client.documents.accounts.tokens import TokenCreatedResponse, TokenResponse
from steelyard_client.errors import NotSignedIn
from steelyard_client.requests import Requests
from steelyard_client.steps import listing, operation

if TYPE_CHECKING:
    from steelyard_client.documents.accounts.accounts import (
        AccountCreate,
        AccountPasswordUpdate,
        AccountRightsUpdate,
        AccountUpdate,
        PasswordUpdate,
    )
    from steelyard_client.documents.accounts.invitations import InvitationAccept, InvitationCreate
    from steelyard_client.documents.accounts.teams import TeamCreate, TeamMemberCreate, TeamMemberUpdate, TeamUpdate
    from steelyard_client.documents.accounts.tokens import AccountTokenCreate, TokenCreate
    from steelyard_client.documents.campaigns.deletions import DeletionResponse
    from steelyard_client.steps import Items, Steps


class AccountOperations(Requests):
    """Accounts, tokens, teams, invitations, the audit log."""

    @operation
    def me(self) -> Steps[MeResponse]:
        """The account of the token. Raises NotSignedIn where the token is missing or invalid."""
        me = yield from self._get(MeResponse, "me")
        if not me.signed_in:
            raise NotSignedIn(401, "not_signed_in", "The token is missing or invalid.")
        return me

    @operation
    def read_me(self) -> Steps[MeResponse]:
        """The account of the token, or an anonymous one."""
        return self._get(MeResponse, "me")

    @listing
    def list_waiting_uploads(self) -> Items[WaitingUpload]:
        """The account's received files that wait to be processed, the next one first."""
        return self._pages(WaitingUpload, "me", "waiting-uploads")

    @operation
    def read_own_account(self) -> Steps[AccountResponse]:
        """The account of the token, with its times."""
        return self._get(AccountResponse, "account")

    @operation
    def update_own_account(self, change: AccountUpdate) -> Steps[AccountUpdatedResponse]:
        """Change your name or address. A new address requires the password, and must be confirmed."""
        return self._change(AccountUpdatedResponse, "PATCH", "account", body=change)

    @operation
    def update_own_password(self, change: PasswordUpdate) -> Steps[EndedSessionsResponse]:
        """Change your password; all other sessions are ended."""
        return self._change(EndedSessionsResponse, "PUT", "account", "password", body=change)

    @operation
    def send_confirmation(self) -> Steps[None]:
        """Send a mail with a link that confirms the address of your account."""
        return self._command("POST", "account", "confirmation")

    @listing
    def list_own_sessions(self) -> Items[SessionResponse]:
        """Your browser sessions, the last used first."""
        return self._pages(SessionResponse, "account", "sessions")

    @operation
    def end_own_sessions(self) -> Steps[EndedSessionsResponse]:
        """End all your browser sessions. The server lets browsers do it alone, not tokens."""
        return self._change(EndedSessionsResponse, "DELETE", "account", "sessions")

    @listing
    def list_own_tokens(self) -> Items[TokenResponse]:
        """Your tokens, newest first, expired and revoked ones included."""
        return self._pages(TokenResponse, "tokens")

    @operation
    def create_token(self, new: TokenCreate) -> Steps[TokenCreatedResponse]:
        """Create a token with address and password, by a client without a token."""
        return self._change(TokenCreatedResponse, "POST", "tokens", body=new)

    @operation
    def revoke_own_token(self, token_id: int) -> Steps[None]:
        """Revoke one of your tokens."""
        return self._command("DELETE", "tokens", token_id)

    @listing
    def list_own_teams(self) -> Items[TeamResponse]:
        """Your teams; administrators see all."""
        return self._pages(TeamResponse, "teams")

    @operation
    def create_team(self, new: TeamCreate) -> Steps[TeamResponse]:
        """Create a team; you become its lead."""
        return self._change(TeamResponse, "POST", "teams", body=new)

    @operation
    def read_team(self, team: str) -> Steps[TeamDetailsResponse]:
        """A team that you are a member of."""
        return self._get(TeamDetailsResponse, "teams", team)

    @operation
    def delete_team(self, team: str, *, dry_run: bool = False) -> Steps[DeletionResponse]:
        """Delete a team and its submissions, or with `dry_run` ask what would be deleted. For administrators."""
        return self._delete("teams", team, dry_run=dry_run)

    @operation
    def update_team(self, team: str, change: TeamUpdate) -> Steps[TeamResponse]:
        """Change the public profile of a team. For its leads."""
        return self._change(TeamResponse, "PATCH", "teams", team, body=change)

    @operation
    def add_team_member(self, team: str, new: TeamMemberCreate) -> Steps[None]:
        """Add an account to a team. For administrators."""
        return self._command("POST", "teams", team, "members", body=new)

    @operation
    def update_team_member(self, team: str, account_id: int, new: TeamMemberUpdate) -> Steps[None]:
        """Change the role of a member. For leads of the team."""
        return self._command("PATCH", "teams", team, "members", account_id, body=new)

    @operation
    def remove_team_member(self, team: str, account_id: int) -> Steps[None]:
        """Remove a member (for leads of the team), or leave the team."""
        return self._command("DELETE", "teams", team, "members", account_id)

    @listing
    def list_invitations(self, *, team: str = "", campaign: str = "") -> Items[InvitationResponse]:
        """The invitations that you made, and those to teams that you lead and campaigns that you organise."""
        return self._pages(InvitationResponse, "invitations", team=team or None, campaign=campaign or None)

    @operation
    def create_invitation(self, new: InvitationCreate) -> Steps[InvitationCreatedResponse]:
        """Create an invitation for one person; it can be accepted once."""
        return self._change(InvitationCreatedResponse, "POST", "invitations", body=new)

    @operation
    def accept_invitation(self, acceptance: InvitationAccept) -> Steps[InvitationAcceptedResponse]:
        """Accept an invitation with your account."""
        return self._change(InvitationAcceptedResponse, "POST", "invitations", "accept", body=acceptance)

    @operation
    def withdraw_invitation(self, invitation_id: int) -> Steps[None]:
        """Revoke an invitation."""
        return self._command("DELETE", "invitations", invitation_id)

    @listing
    def list_accounts(self, *, search: str = "", email: str = "") -> Items[AccountResponse]:
        """All accounts, oldest first, by name and address; or the one with an address. For administrators."""
        return self._pages(AccountResponse, "accounts", search=search or None, email=email or None)

    @operation
    def create_account(self, new: AccountCreate) -> Steps[AccountResponse]:
        """Create an account, with a password or without one. For administrators."""
        return self._change(AccountResponse, "POST", "accounts", body=new)

    @operation
    def read_account(self, account_id: int) -> Steps[AccountResponse]:
        """An account. For administrators."""
        return self._get(AccountResponse, "accounts", account_id)

    @operation
    def delete_account(self, account_id: int, *, dry_run: bool = False) -> Steps[DeletionResponse]:
        """Delete an account, or with `dry_run` ask what would be deleted. For administrators."""
        return self._delete("accounts", account_id, dry_run=dry_run)

    @operation
    def update_account(self, account_id: int, change: AccountRightsUpdate) -> Steps[AccountResponse]:
        """Change the role of an account, disable or enable it, or confirm its address. For administrators."""
        return self._change(AccountResponse, "PATCH", "accounts", account_id, body=change)

    @operation
    def update_account_password(self, account_id: int, change: AccountPasswordUpdate) -> Steps[EndedSessionsResponse]:
        """Set the password of an account and end its sessions. For administrators."""
        return self._change(EndedSessionsResponse, "PUT", "accounts", account_id, "password", body=change)

    @operation
    def create_password_link(self, account_id: int) -> Steps[PasswordLinkResponse]:
        """Create a link with which the owner of an account sets a new password. For administrators."""
        return self._change(PasswordLinkResponse, "POST", "accounts", account_id, "password-link")

    @operation
    def end_account_sessions(self, account_id: int) -> Steps[EndedSessionsResponse]:
        """End all browser sessions of an account. For administrators."""
        return self._change(EndedSessionsResponse, "DELETE", "accounts", account_id, "sessions")

    @listing
    def list_account_tokens(self, account_id: int) -> Items[TokenResponse]:
        """The tokens of an account, newest first. For administrators."""
        return self._pages(TokenResponse, "accounts", account_id, "tokens")

    @operation
    def create_account_token(self, account_id: int, new: AccountTokenCreate) -> Steps[TokenCreatedResponse]:
        """Create a token for an account. For administrators; the server does not let tokens create tokens."""
        return self._change(TokenCreatedResponse, "POST", "accounts", account_id, "tokens", body=new)

    @operation
    def revoke_account_token(self, account_id: int, token_id: int) -> Steps[None]:
        """Revoke a token of an account. For administrators."""
        return self._command("DELETE", "accounts", account_id, "tokens", token_id)

    @listing
    def list_audit_entries(self, *, search: str = "") -> Items[AuditEntryResponse]:
        """All changes on the server, newest first. For administrators."""
        return self._pages(AuditEntryResponse, "audit", search=search or None)

    @listing
    def list_campaign_audit_entries(self, campaign: str, *, search: str = "") -> Items[AuditEntryResponse]:
        """All changes of a campaign, newest first. For its organisers."""
        return self._pages(AuditEntryResponse, "campaigns", campaign, "audit", search=search or None)
