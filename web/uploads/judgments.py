"""Uploads of human judgments by organisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from fastapi import UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.errors import BadRequest
from campaigns.fields.short_text import short_text
from campaigns.inspection.judgments import AddedJudgments, _find_test_set, read_tables, store_judgments_of
from campaigns.permissions import CampaignAccess
from campaigns.sandbox.fair_queue import Owner
from steelyard.errors import BadParameter
from steelyard.formats.input.gzip_members import GZIP
from steelyard.meta_evaluation.human.reading import AUTO, Reading
from steelyard.meta_evaluation.human.weights import parse_weights
from steelyard.text.names import printable

if TYPE_CHECKING:
    from web.state import State

MAX_FILES = 20
MAX_NAME_LENGTH = 100
MAX_RENAMED = 200
MAX_WEIGHTS = 200


@dataclass(frozen=True, slots=True)
class JudgmentsForm:
    """How files of judgments are read."""

    test_set: str = ""
    name: str = ""
    pair: str = ""
    """Which language pair, where a file has several that fit the test set's, or none."""
    rename: Sequence[str] = ()
    """OLD=NEW: what systems are called in the campaign."""
    preview: bool = False
    """Say what would be stored, and store nothing."""
    kind: str | None = None
    by_document: bool = False
    first_segment: int | None = None
    weights: Sequence[str] = ()
    standardise: bool | None = None
    aggregation: str = AUTO
    """This and those above as in `Reading`."""


async def add_judgments(
    state: State, access: CampaignAccess, form: JudgmentsForm, files: Sequence[UploadFile]
) -> AddedJudgments:
    """Store human judgments of a test set of the campaign, all or nothing.

    Raises
    ------
    Forbidden
        For anyone but organisers.
    BadRequest
        With all that is wrong, or if there are submissions and none of their systems was judged. And what
        `campaigns.sandbox` raises.
    """
    access.require_organiser()
    chosen, documents = await run_in_threadpool(_find_test_set, state.engine, access, form.test_set)
    name = short_text(form.name, "The name", MAX_NAME_LENGTH) or "human"
    if "@" in name or name != printable(name):
        raise BadRequest(f"The name of judgments has 1 to {MAX_NAME_LENGTH} visible characters, without @.")
    if not files or len(files) > MAX_FILES:
        raise BadRequest(f"Send 1 to {MAX_FILES} tables of judgments; this request has {len(files)}.")
    tables = [await _table(sent) for sent in files]
    owner = Owner(access.principal.account_id)
    languages = f"{chosen.source_language}-{chosen.target_language}" if chosen.target_language else ""
    try:
        weights = parse_weights(form.weights)
    except BadParameter as error:
        raise BadRequest(str(error)) from None
    how = Reading(
        *(chosen.segments, documents, form.kind, form.pair or None, languages, _renamed(form.rename), form.by_document),
        *(form.first_segment, weights, form.standardise, form.aggregation),
    )
    judged = await state.sandbox.run(owner, read_tables, tables, how)
    return await run_in_threadpool(
        partial(store_judgments_of, state.engine, access, chosen, name, judged, preview=form.preview)
    )


def _renamed(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        for line in filter(None, map(str.strip, each.split("\n"))):
            old, equals, new = line.partition("=")
            if not (old and equals and new) or len(line) > 2 * MAX_NAME_LENGTH or len(found) >= MAX_RENAMED:
                raise BadRequest(
                    f"{line[:100]!r} does not rename a system. Write OLD=NEW, at most {MAX_RENAMED} of them."
                )
            found[old] = new
    return found


async def _table(sent: UploadFile) -> tuple[str, bytes]:
    name = printable(PurePath(sent.filename or "table").name)[:MAX_NAME_LENGTH]
    text = await sent.read()
    if text.startswith(GZIP):
        raise BadRequest(f"{name}: is packed with gzip. Send plain tables.")
    return name, text
