"""Accounts, tokens, teams, invitations, the audit log."""

from __future__ import annotations

from web.api.accounts import account, accounts, audit, invitations, me, teams, tokens

ROUTERS = (me.router, account.router, tokens.router, teams.router, invitations.router, accounts.router, audit.router)
