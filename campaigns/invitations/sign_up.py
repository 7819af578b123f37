"""Signing up, and setting a password anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from campaigns.accounts.accounts import AddressTaken, add_account, change_email, check_name, drop_links, fold_email
from campaigns.accounts.confirmations import find_confirmation, make_confirmation, set_password_by_link
from campaigns.accounts.passwords import check_password, hashed, matches
from campaigns.accounts.principal import Principal
from campaigns.accounts.sessions import QUARTER_SECONDS, end_sessions
from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import BadRequest, Forbidden
from campaigns.invitations.email_texts import address_letter, known_already_letter, password_letter
from campaigns.invitations.invitations import accept_invitation, find_invitation, require_proof
from models.database.session import reading, writing
from models.schema.accounts import Account
from models.schema.roles import SiteRole

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.confirmations import Confirmed
    from campaigns.accounts.mail import Letter
    from campaigns.accounts.throttle import Throttle
    from runtime.service_settings import WebSettings

LETTERS = Rate("letter", 3, 3600)
"""Letters to one address that anybody may cause: nobody's mailbox is to be filled through us."""
DAY_SECONDS = 86400
ENOUGH = "Enough mails were sent to this address. Look among the unwanted ones, or wait."


@dataclass(frozen=True, slots=True)
class SignedUp:
    """What came of it."""

    who: Principal | None
    """Whose browser may be signed in at once; None where the answer must not say whether there was an account."""
    letter: Letter | None


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
) -> SignedUp:
    """Make an account, with what an invitation gives it.

    Where mails are sent, whoever signs up without an invitation learns nothing about other accounts: the answer is the
    same, and who has one already is told so by mail. Raises Forbidden, BadRequest, NotThere, Taken, TooMany.
    """
    if settings.sign_up != "open" and not invitation:
        raise Forbidden("Only those who were invited make an account here. Open the link of your invitation.")
    throttle.spend(Rate("sign-up", settings.sign_in_tries, QUARTER_SECONDS), network_of(visitor.address))
    email, name = fold_email(email), check_name(name)
    check_password(password, email=email, name=name)
    role, proven, claimed = SiteRole.PARTICIPANT, False, True
    if invitation:
        with reading(engine) as connection:
            known = find_invitation(connection, invitation)
        if known.email and known.email != email:
            raise BadRequest("This invitation is for another e-mail address. Sign up with that one.")
        require_proof(known, verified=False)
        role, proven = known.role, known.proves_address
        # Administrators say whose an address is; and the first account of a server is that of whoever runs it.
        claimed = not (known.made_by_administrator and (known.email or role == SiteRole.ADMINISTRATOR))
    password_hash = hashed(password)
    silent = settings.mail_url is not None and not invitation
    if silent:
        _spend_letter(settings, throttle, visitor, email)
    letter = None
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
                letter = address_letter(settings, email, secret)
    except AddressTaken as error:
        if silent:
            return SignedUp(None, known_already_letter(settings, email))
        message = "There is an account with this address already. Sign in to it, then open this page again."
        raise AddressTaken(message) from error
    return SignedUp(None if silent else who, letter)


def ask_for_password(
    engine: Engine, settings: WebSettings, throttle: Throttle, visitor: Principal, email: str
) -> Letter | None:
    """The letter with a link to set a new password; None where there is no such account, which nobody is told.

    Raises BadRequest, and TooMany: whether there is an account or not.
    """
    email = fold_email(email)
    _spend_letter(settings, throttle, visitor, email)
    with writing(engine) as connection:
        row = connection.execute(select(Account.id).where(Account.email == email, Account.disabled_at.is_(None)))
        account_id = row.scalar_one_or_none()
        if account_id is None:
            return None
        seconds = settings.confirmation_seconds
        secret = make_confirmation(connection, account_id, "password", seconds, sent_to=email)
    return password_letter(settings, email, secret)


def ask_for_address(engine: Engine, settings: WebSettings, throttle: Throttle, account_id: int, email: str) -> Letter:
    """The letter that lets the owner of an account confirm its address. Raises TooMany."""
    throttle.spend(LETTERS, email, ENOUGH)
    with writing(engine) as connection:
        seconds = settings.confirmation_seconds
        secret = make_confirmation(connection, account_id, "address", seconds, sent_to=email)
    return address_letter(settings, email, secret)


def change_address(
    engine: Engine, settings: WebSettings, throttle: Throttle, principal: Principal, email: str, password: str
) -> Letter | None:
    """Give one's own account another address, which has then to be confirmed: by the letter, where mails are sent.

    So many tries within a quarter of an hour, since the answer tells whether an address has an account. Raises
    BadRequest, Taken, TooMany.
    """
    account_id = principal.account_id
    assert account_id is not None
    require_password(engine, throttle, principal, password, settings.sign_in_tries)
    email = fold_email(email)
    throttle.spend(Rate("address", settings.sign_in_tries, QUARTER_SECONDS), str(account_id))
    if settings.mail_url is not None:
        throttle.check(LETTERS, email, "Enough mails were sent to this address. Wait an hour.")
    with writing(engine) as connection:
        other = change_email(connection, principal, account_id, email)
    if not other or settings.mail_url is None:
        return None
    return ask_for_address(engine, settings, throttle, account_id, email)


def reset_password(engine: Engine, visitor: Principal, secret: str, password: str) -> Confirmed:
    """Set a password by a link. Raises NotThere, BadRequest."""
    with reading(engine) as connection:
        known = find_confirmation(connection, secret, "password")
    check_password(password, email=known.email, name=known.name)
    password_hash = hashed(password)
    with writing(engine) as connection:
        return set_password_by_link(connection, replace(visitor, email=known.email), secret, password_hash)


def change_password(engine: Engine, throttle: Throttle, principal: Principal, old: str, new: str, tries: int) -> int:
    """Change one's own password; ends all other sessions, and says how many. Raises BadRequest, TooMany."""
    require_password(engine, throttle, principal, old, tries)
    check_password(new, email=principal.email, name=principal.name)
    password_hash = hashed(new)
    with writing(engine) as connection:
        mine = Account.id == principal.account_id
        connection.execute(update(Account).where(mine).values(password_hash=password_hash))
        assert principal.account_id is not None
        drop_links(connection, principal.account_id, "password")
        ended = end_sessions(connection, principal.account_id, but=principal.session_id)
        principal.audit(connection, "account.password", f"account {principal.email}", how="by its owner")
    return ended


def require_password(engine: Engine, throttle: Throttle, principal: Principal, password: str, tries: int) -> None:
    """Raise BadRequest unless somebody who is signed in knows his password: a browser may be left open. TooMany."""
    # By network: who has stolen a session does not keep its owner from changing the password.
    whose = f"{principal.account_id} {network_of(principal.address)}"
    rate = Rate("own password", tries, QUARTER_SECONDS)
    throttle.spend(rate, whose, "Too many passwords were wrong. Wait before the next try.")
    with reading(engine) as connection:
        mine = select(Account.password_hash).where(Account.id == principal.account_id)
        stored = connection.execute(mine).scalar_one()
    if not matches(password, stored):
        raise BadRequest("This is not the password of your account.")
    throttle.forget(rate, whose)


def _spend_letter(settings: WebSettings, throttle: Throttle, visitor: Principal, email: str) -> None:
    """Count a letter that somebody without an account causes, for where he is and for who gets it. Raises TooMany."""
    here = Rate("letters from", settings.mails_per_network, DAY_SECONDS), network_of(visitor.address)
    throttle.check(*here, "Enough mails were asked for from your network address today.")
    throttle.spend(LETTERS, email, ENOUGH)
    throttle.spend(*here, "Enough mails were asked for from your network address today.")


def hash_checked(password: str, *, email: str, name: str) -> str:
    """What is stored of a password that administrators set. Raises BadRequest."""
    check_password(password, email=email, name=name)
    return hashed(password)
