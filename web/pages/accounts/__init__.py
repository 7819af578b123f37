"""Signing in and up, accounts, teams, invitations, the audit log."""

from __future__ import annotations

from web.pages.accounts import (
    account,
    accounts,
    audit,
    external,
    invitations,
    notices,
    passwords,
    sign_in,
    sign_up,
    teams,
)

ROUTERS = (
    sign_in.router,
    external.router,
    sign_up.router,
    passwords.router,
    account.router,
    notices.router,
    teams.router,
    invitations.router,
    accounts.router,
    audit.router,
)
