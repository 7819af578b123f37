"""The small campaign that comes with the project: where its files are, and how it is put into the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from campaigns.changes import lock_for_change
from campaigns.errors import Conflict, NotFound
from campaigns.measures import DEFAULT_METRICS, MeasureRequest
from campaigns.permissions import read_access
from campaigns.publication import publish_now
from campaigns.rules import Rules, create_campaign
from campaigns.submissions.submit import SubmissionInput, submit
from campaigns.test_sets.stored import add_test_set, find_campaign_test_set, set_test_set
from models.database.session import reading, writing
from models.schema.roles import DeclaredKind
from steelyard.formats.campaign.folder import read_campaign

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.principal import Principal
    from campaigns.permissions import CampaignAccess
    from runtime.settings import Settings

NAME, TEST_SET = "demo", "harbour-news"
RULES = Rules(
    title="Demo: Harbour News",
    description="A finished campaign to look around in: news from a harbour town, from Czech into English, translated "
    "by five systems.\n\nOne system is clearly the best and one clearly the worst; two are tied, and two are the same "
    "file under different names. Nobody but you and the administrators sees it.",
)
MOST = 1_000
"""Demo campaigns on one server."""


def demo_folder() -> Path:
    """Return the folder of the demo campaign: in the repository, or beside the command line once installed.

    Raises
    ------
    NotFound
        If this installation has none.
    """
    root = Path(__file__).parents[1]
    for parent in (root / "demo", root / "cli" / "demo"):
        folders = sorted(path for path in parent.glob("*/") if (path / "refs").is_dir())
        if folders:
            return folders[0]
    raise NotFound("The demo campaign is missing from this installation.")


def open_demo(engine: Engine, settings: Settings, principal: Principal) -> str:
    """Return the name of the principal's demo campaign; create it, published and its systems queued, if there is none.

    It is private, so each organiser has one of their own.

    Raises
    ------
    NotSignedIn, Forbidden
        If the principal may not create campaigns.
    NotFound
        If this installation has no demo campaign.
    """
    folder = read_campaign(demo_folder())
    for number in range(1, MOST + 1):
        name = NAME if number == 1 else f"{NAME}-{number}"
        try:
            with writing(engine) as connection:
                create_campaign(connection, principal, name, RULES)
                access = lock_for_change(connection, principal, name)
                add_test_set(connection, settings, access, TEST_SET, folder, MeasureRequest(DEFAULT_METRICS))
        except Conflict:
            found = _organised(engine, principal, name)
            if found is None:
                continue
            if found.published:
                return name
        # If the server stopped meanwhile, the next call goes on here: what is there already is not submitted again.
        for system, text in folder.systems.items():
            given = SubmissionInput(
                name,
                system,
                system,
                text,
                account_id=principal.account_id,
                declared=DeclaredKind.PRIMARY,
                enforce_rules=False,
                actor=principal.email,
            )
            submit(engine, settings, given)
        with writing(engine) as connection:
            publish_now(connection, lock_for_change(connection, principal, name))
            # References are released after the publication: before it, outputs can still be submitted.
            access = lock_for_change(connection, principal, name)
            set_test_set(connection, access, find_campaign_test_set(connection, access, TEST_SET), released=True)
        return name
    raise Conflict(f"There are {MOST:,} demo campaigns already.")


def _organised(engine: Engine, principal: Principal, name: str) -> CampaignAccess | None:
    """Return the access to a campaign that is a demo and that the principal organises; None if it is another one."""
    with reading(engine) as connection:
        try:
            access = read_access(connection, principal, name)
        except NotFound:
            return None
    is_demo = [each.name for each in access.test_sets.values()] == [TEST_SET]
    return access if access.organises and is_demo else None
