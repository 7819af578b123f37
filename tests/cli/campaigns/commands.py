"""`steelyard campaign` as organisers type it, and what is stored then."""

from __future__ import annotations

import os

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.permissions import CampaignAccess, read_access
from cli.main import main
from models.database.session import make_engine, reading

REFERENCE = "the small cat sleeps here now\na dog runs over the hill\nwe see a house\n"


def steelyard(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    """What a command prints, or says on standard error where it is to fail."""
    if words[0] in ("submit", "evaluate", "leaderboard"):
        # On the database whatever the others use: it is they that are tested.
        words = (*words, "--database", os.environ["STEELYARD_DATABASE_URL"])
    found = main(words)
    told = capsys.readouterr()
    assert found == status, told.err
    return told.err if status else told.out


def access_of(url: str) -> CampaignAccess:
    """The campaign `wmt` as it is stored."""
    with reading(make_engine(url)) as connection:
        return read_access(connection, COMMAND_LINE, "wmt")
