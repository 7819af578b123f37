"""Human scores that organisers hand in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from fastapi import UploadFile
from fastapi.concurrency import run_in_threadpool

from analysis.meta_evaluation.human import Matched
from campaigns.errors import BadRequest
from campaigns.inspection.judgments import _find_test_set, _store, read_tables
from campaigns.permissions import Sight
from campaigns.sandbox.fair_queue import Owner
from campaigns.short_text import short_text
from metrics.human.reading import Reading
from metrics.text.gzip_members import GZIP
from metrics.text.names import printable
from models.corpus.judgments import StoredJudgments

if TYPE_CHECKING:
    from web.state import State

MOST_FILES = 20
LONGEST_NAME = 100


async def add_judgments(
    state: State, sight: Sight, test_set: str, name: str, files: Sequence[UploadFile]
) -> tuple[str, StoredJudgments, Matched]:
    """Store human scores of a test set of the campaign, all or nothing; the test set's title, and what is stored.

    With it which of the judged systems are systems here (`scheduler.ingest.judgments.store_judged`). Raises Forbidden
    for others than organisers, BadRequest with all that is wrong, also where outputs are there and none of them was
    judged, and what `campaigns.sandbox` raises.
    """
    sight.require_organiser()
    chosen, documents = await run_in_threadpool(_find_test_set, state.engine, sight, test_set)
    name = short_text(name, "The name", LONGEST_NAME) or "human"
    if "@" in name or name != printable(name):
        raise BadRequest(f"Judgments are called by 1 to {LONGEST_NAME} characters that can be seen, without @.")
    if not files or len(files) > MOST_FILES:
        raise BadRequest(f"Send 1 to {MOST_FILES} tables of judgments; this request has {len(files)}.")
    tables = [await _table(sent) for sent in files]
    owner = Owner(sight.principal.account_id)
    judged = await state.sandbox.run(owner, read_tables, tables, Reading(chosen.segments, documents))
    return await run_in_threadpool(_store, state.engine, sight, chosen, name, judged)


async def _table(sent: UploadFile) -> tuple[str, bytes]:
    name = printable(PurePath(sent.filename or "table").name)[:LONGEST_NAME]
    text = await sent.read()
    if text.startswith(GZIP):
        raise BadRequest(f"{name}: is packed with gzip. Send tables as they are.")
    return name, text
