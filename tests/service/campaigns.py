"""A campaign as organisers set it up, for tests of what becomes of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import lock_for_change
from campaigns.measures import MeasureRequest
from campaigns.rules import Rules, create_campaign
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.submissions.submit import SubmissionInput, SubmitResult, submit
from campaigns.test_sets.files import InputTestSet, NamedContent, read_test_set_files
from campaigns.test_sets.stored import add_test_set
from models.database.session import writing
from models.schema.roles import DeclaredKind
from runtime.service_settings import WebSettings
from runtime.settings import Settings
from steelyard.formats.plain import Text

SOURCE = b"the cat\nthe dog\nthe house\n"
REFERENCE = b"kocka\npes\ndum\n"


def given(reference: bytes = REFERENCE, source: bytes = SOURCE, **values: Any) -> InputTestSet:
    """A small test set."""
    files = {"references": [NamedContent("A.txt", reference)], "source": NamedContent("source.txt", source)}
    return InputTestSet(**{**files, "source_language": "en", "target_language": "cs", **values})


def found(engine: Engine, name: str, principal: Principal = COMMAND_LINE, **rules: Any) -> None:
    """A campaign."""
    with writing(engine) as connection:
        create_campaign(connection, principal, name, Rules(**rules))


def with_test_set(engine: Engine, campaign: str, test_set: InputTestSet | None = None, **values: Any) -> int:
    """A test set for it, measured by BLEU and chrF without replicates; its id."""
    replicates, resample = values.pop("replicates", 0), values.pop("resample", None)
    measuring = MeasureRequest(values.pop("metrics", ("bleu", "chrf")), replicates=replicates, resample=resample)
    with scratch_folder() as place, writing(engine) as connection:
        folder = read_test_set_files(test_set or given(), place, limits_of(WebSettings()))
        access = lock_for_change(connection, COMMAND_LINE, campaign)
        name = values.pop("name", "news")
        return add_test_set(connection, Settings(), access, name, folder, measuring, **values)[0]


def submit_output(engine: Engine, campaign: str, team: str, system: str, lines: bytes, **values: Any) -> SubmitResult:
    """An output, whatever the phases say."""
    text = Text("out.txt", lines.rstrip(b"\n"), lines.count(b"\n"))
    values = {"enforce_rules": False, "declared": DeclaredKind.UNDECLARED, **values}
    return submit(engine, Settings(), SubmissionInput(campaign, team, system, text, **values))
