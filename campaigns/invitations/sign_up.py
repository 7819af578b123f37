"""Signing up, and changing or resetting passwords and addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from campaigns.accounts.accounts import (
    AddressTaken,
    add_account,
    change_email,
    check_name,
    normalize_email,
    revoke_links,
)
from campaigns.accounts.confirmations import find_confirmation, make_confirmation, set_password_by_link
from campaigns.accounts.passwords import check_password, hash_password, verify_password
from campaigns.accounts.principal import Principal
from campaigns.accounts.sessions import QUARTER_SECONDS, end_sessions
from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import BadRequest, Forbidden
from campaigns.invitations.email_texts import address_email, already_known_email, password_email
from campaigns.invitations.invitations import accept_invitation, find_invitation, require_proof
from models.database.session import reading, writing
from models.schema.accounts import Account
from models.schema.roles import SiteRole
from runtime.mail import send_email

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.confirmations import ConfirmationInfo
    from campaigns.accounts.throttle import Throttle
    from runtime.mail import Email
    from runtime.service_settings import WebSettings

MAILS_PER_ADDRESS = Rate("letter", 3, 3600)
"""E-mails to one address that anybody may cause, so that nobody can flood a mailbox."""
DAY_SECONDS = 86400
TOO_MANY_MAILS = "Several e-mails were already sent to this address. Check your spam folder, or wait."


@dataclass(frozen=True, slots=True)
class SignUpResult:
    """The result of signing up."""

    who: Principal | None
    """The account to sign in at once; None if the response must not reveal whether an account existed."""
    mail: Email | None
    confirms: int | None = None
    """The account whose address the e-mail confirms."""


def sign_up(
    engine: Engine,
    settings: WebSettings,
    throttle: Throttle,
    visitor: Principal,
    *,
    email: str,
    name: str,
    password: str,
    invitation: str = "",
    new_team: str = "",
) -> SignUpResult:
    """Create an account, with what an invitation gives it.

    If e-mails are configured, signing up without an invitation reveals nothing about other accounts: the response is
    the same, and the owner of an existing account is notified by e-mail.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    BadRequest
        If a value is invalid.
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    TooMany
        If a limit on attempts is reached.
    """
    if settings.sign_up != "open" and not invitation:
        raise Forbidden("New accounts require an invitation. Open the link of your invitation.")
    throttle.hit(Rate("sign-up", settings.sign_in_tries, QUARTER_SECONDS), network_of(visitor.address))
    email, name = normalize_email(email), check_name(name)
    check_password(password, email=email, name=name)
    role, proven, claimed = SiteRole.PARTICIPANT, False, True
    if invitation:
        with reading(engine) as connection:
            known = find_invitation(connection, invitation)
        if known.email and known.email != email:
            raise BadRequest("This invitation is for another e-mail address. Sign up with that one.")
        require_proof(known, verified=False)
        role, proven = known.role, known.proves_address
        # An administrator's word confirms the owner of an address; and the first account is that of the operator.
        claimed = not (known.made_by_administrator and (known.email or role == SiteRole.ADMINISTRATOR))
    password_hash = hash_password(password)
    silent = settings.mail_url is not None and not invitation
    if silent:
        _count_mail(settings, throttle, visitor, email)
    mail = None
    try:
        with writing(engine) as connection:
            who = replace(visitor, email=email, name=name)
            how = "by invitation" if invitation else "by signing up"
            account_id = add_account(
                *(connection, who, email, name),
                password_hash=password_hash,
                role=role,
                verified=proven,
                claimed=claimed,
                how=how,
            )
            who = replace(who, account_id=account_id, role=role, verified=proven)
            if invitation:
                accept_invitation(connection, who, invitation, new_team=new_team)
            if settings.mail_url is not None and not proven:
                secret = make_confirmation(
                    connection, account_id, "address", settings.confirmation_seconds, sent_to=email
                )
                mail = address_email(settings, email, secret)
    except AddressTaken as error:
        if silent:
            return SignUpResult(None, already_known_email(settings, email))
        message = "There is already an account with this address. Sign in, then open this page again."
        raise AddressTaken(message) from error
    return SignUpResult(None if silent else who, mail, who.account_id if mail is not None else None)


def send_confirmation(engine: Engine, settings: WebSettings, mail: Email, account_id: int | None) -> str:
    """Send the e-mail by which the owner of an account confirms its address; why it was not sent, or "".

    An unsent link is revoked, so that the page of the account says that none was sent.
    """
    fault = send_email(settings, mail)
    if fault and account_id is not None:
        with writing(engine) as connection:
            revoke_links(connection, account_id, "address")
    return fault


def request_password_reset(
    engine: Engine, settings: WebSettings, throttle: Throttle, visitor: Principal, email: str
) -> Email | None:
    """Return the e-mail with a link to set a new password; None if there is no such account, which is not revealed.

    Raises
    ------
    BadRequest
        If a value is invalid.
    TooMany
        If a limit on attempts is reached, whether or not the account exists.
    """
    email = normalize_email(email)
    _count_mail(settings, throttle, visitor, email)
    with writing(engine) as connection:
        row = connection.execute(select(Account.id).where(Account.email == email, Account.disabled_at.is_(None)))
        account_id = row.scalar_one_or_none()
        if account_id is None:
            return None
        seconds = settings.confirmation_seconds
        secret = make_confirmation(connection, account_id, "password", seconds, sent_to=email)
    return password_email(settings, email, secret)


def request_address_confirmation(
    engine: Engine, settings: WebSettings, throttle: Throttle, account_id: int, email: str
) -> Email:
    """Return the e-mail by which an owner confirms the address of an account.

    Raises
    ------
    TooMany
        If a limit on attempts is reached.
    """
    throttle.hit(MAILS_PER_ADDRESS, email, TOO_MANY_MAILS)
    with writing(engine) as connection:
        seconds = settings.confirmation_seconds
        secret = make_confirmation(connection, account_id, "address", seconds, sent_to=email)
    return address_email(settings, email, secret)


def change_address(
    engine: Engine, settings: WebSettings, throttle: Throttle, principal: Principal, email: str, password: str
) -> Email | None:
    """Change the address of the own account, which must be confirmed: by the returned e-mail, if any.

    Limited to so many tries in a quarter of an hour, since the response reveals whether an address has an account.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    TooMany
        If a limit on attempts is reached.
    """
    account_id = principal.account_id
    assert account_id is not None
    require_password(engine, throttle, principal, password, settings.sign_in_tries)
    email = normalize_email(email)
    throttle.hit(Rate("address", settings.sign_in_tries, QUARTER_SECONDS), str(account_id))
    if settings.mail_url is not None:
        throttle.check(MAILS_PER_ADDRESS, email, "Several e-mails were already sent to this address. Wait an hour.")
    with writing(engine) as connection:
        other = change_email(connection, principal, account_id, email)
    if not other or settings.mail_url is None:
        return None
    return request_address_confirmation(engine, settings, throttle, account_id, email)


def reset_password(engine: Engine, visitor: Principal, secret: str, password: str) -> ConfirmationInfo:
    """Set a password by a link.

    Raises
    ------
    NotFound
        If it does not exist.
    BadRequest
        If a value is invalid.
    """
    with reading(engine) as connection:
        known = find_confirmation(connection, secret, "password")
    check_password(password, email=known.email, name=known.name)
    password_hash = hash_password(password)
    with writing(engine) as connection:
        return set_password_by_link(connection, replace(visitor, email=known.email), secret, password_hash)


def change_password(engine: Engine, throttle: Throttle, principal: Principal, old: str, new: str, tries: int) -> int:
    """Change the own password and end all other sessions; how many ended.

    Raises
    ------
    BadRequest
        If a value is invalid.
    TooMany
        If a limit on attempts is reached.
    """
    require_password(engine, throttle, principal, old, tries)
    check_password(new, email=principal.email, name=principal.name)
    password_hash = hash_password(new)
    with writing(engine) as connection:
        mine = Account.id == principal.account_id
        connection.execute(update(Account).where(mine).values(password_hash=password_hash))
        assert principal.account_id is not None
        revoke_links(connection, principal.account_id, "password")
        ended = end_sessions(connection, principal.account_id, but=principal.session_id)
        principal.audit(connection, "account.password", f"account {principal.email}", how="by its owner")
    return ended


def require_password(engine: Engine, throttle: Throttle, principal: Principal, password: str, tries: int) -> None:
    """Raise BadRequest unless the signed-in user enters the password: a browser may be left open.

    Raises
    ------
    TooMany
        If a limit on attempts is reached.
    """
    # By network: a thief of a session cannot keep its owner from changing the password.
    whose = f"{principal.account_id} {network_of(principal.address)}"
    rate = Rate("own password", tries, QUARTER_SECONDS)
    throttle.hit(rate, whose, "Too many wrong passwords. Wait before you try again.")
    with reading(engine) as connection:
        mine = select(Account.password_hash).where(Account.id == principal.account_id)
        stored = connection.execute(mine).scalar_one()
    if not verify_password(password, stored):
        raise BadRequest("This is not the password of your account.")
    throttle.reset(rate, whose)


def _count_mail(settings: WebSettings, throttle: Throttle, visitor: Principal, email: str) -> None:
    """Count an e-mail caused by somebody without an account, by network and by recipient.

    Raises
    ------
    TooMany
        If a limit on attempts is reached.
    """
    here = Rate("letters from", settings.mails_per_network, DAY_SECONDS), network_of(visitor.address)
    throttle.check(*here, "Too many e-mails were requested from your network address today.")
    throttle.hit(MAILS_PER_ADDRESS, email, TOO_MANY_MAILS)
    throttle.hit(*here, "Too many e-mails were requested from your network address today.")


def hash_checked_password(password: str, *, email: str, name: str) -> str:
    """Check and hash a password that an administrator sets.

    Raises
    ------
    BadRequest
        If a value is invalid.
    """
    check_password(password, email=email, name=name)
    return hash_password(password)
