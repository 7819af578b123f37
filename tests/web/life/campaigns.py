"""A campaign as organisers set it up, for tests of what becomes of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import to_change
from campaigns.measures import Measuring
from campaigns.rules import Rules, found_campaign
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.submissions.submit import Attempt, Submitted, submit
from campaigns.test_sets import GivenFile, GivenTestSet, add_test_set, read_given
from metrics.text.plain import Text
from models.database.session import writing
from models.schema.roles import DeclaredKind
from runtime.service_settings import WebSettings
from runtime.settings import Settings

SOURCE = b"the cat\nthe dog\nthe house\n"
REFERENCE = b"kocka\npes\ndum\n"


def given(reference: bytes = REFERENCE, source: bytes = SOURCE, **values: Any) -> GivenTestSet:
    """A small test set."""
    files = {"references": [GivenFile("A.txt", reference)], "source": GivenFile("source.txt", source)}
    return GivenTestSet(**{**files, "source_language": "en", "target_language": "cs", **values})


def found(engine: Engine, name: str, principal: Principal = COMMAND_LINE, **rules: Any) -> None:
    """A campaign."""
    with writing(engine) as connection:
        found_campaign(connection, principal, name, Rules(**rules))


def with_test_set(engine: Engine, campaign: str, test_set: GivenTestSet | None = None, **values: Any) -> int:
    """A test set for it, measured by BLEU and chrF without replicates; its id."""
    measuring = Measuring(values.pop("metrics", ("bleu", "chrf")), replicates=values.pop("replicates", 0))
    with scratch_folder() as place, writing(engine) as connection:
        folder = read_given(test_set or given(), place, limits_of(WebSettings()))
        sight = to_change(connection, COMMAND_LINE, campaign)
        name = values.pop("name", "news")
        return add_test_set(connection, Settings(), sight, name, folder, measuring, **values)[0]


def hand_in(engine: Engine, campaign: str, team: str, system: str, lines: bytes, **values: Any) -> Submitted:
    """An output, whatever the phases say."""
    text = Text("out.txt", lines.rstrip(b"\n"), lines.count(b"\n"))
    values = {"by_the_rules": False, "declared": DeclaredKind.UNDECLARED, **values}
    return submit(engine, Settings(), Attempt(campaign, team, system, text, **values))
