"""Uploads of human judgments by organisers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from fastapi import UploadFile
from fastapi.concurrency import run_in_threadpool

from analysis.meta_evaluation.human import Matched
from campaigns.errors import BadRequest
from campaigns.inspection.judgments import _find_test_set, _store, read_tables
from campaigns.permissions import CampaignAccess
from campaigns.sandbox.fair_queue import Owner
from campaigns.short_text import short_text
from models.corpus.judgments import StoredJudgments
from steelyard.formats.input.gzip_members import GZIP
from steelyard.meta_evaluation.human.reading import Reading
from steelyard.text.names import printable

if TYPE_CHECKING:
    from web.state import State

MAX_FILES = 20
MAX_NAME_LENGTH = 100


async def add_judgments(
    state: State, access: CampaignAccess, test_set: str, name: str, files: Sequence[UploadFile]
) -> tuple[str, StoredJudgments, Matched]:
    """Store human judgments of a test set of the campaign, all or nothing.

    Returns
    -------
    tuple
        The test set's title, the stored judgments, and how their systems match those of the campaign
        (`scheduler.ingest.judgments.store_matched_judgments`).

    Raises
    ------
    Forbidden
        For anyone but organisers.
    BadRequest
        With all that is wrong, or if there are submissions and none of their systems was judged. And what
        `campaigns.sandbox` raises.

    """
    access.require_organiser()
    chosen, documents = await run_in_threadpool(_find_test_set, state.engine, access, test_set)
    name = short_text(name, "The name", MAX_NAME_LENGTH) or "human"
    if "@" in name or name != printable(name):
        raise BadRequest(f"The name of judgments has 1 to {MAX_NAME_LENGTH} visible characters, without @.")
    if not files or len(files) > MAX_FILES:
        raise BadRequest(f"Send 1 to {MAX_FILES} tables of judgments; this request has {len(files)}.")
    tables = [await _table(sent) for sent in files]
    owner = Owner(access.principal.account_id)
    judged = await state.sandbox.run(owner, read_tables, tables, Reading(chosen.segments, documents))
    return await run_in_threadpool(_store, state.engine, access, chosen, name, judged)


async def _table(sent: UploadFile) -> tuple[str, bytes]:
    name = printable(PurePath(sent.filename or "table").name)[:MAX_NAME_LENGTH]
    text = await sent.read()
    if text.startswith(GZIP):
        raise BadRequest(f"{name}: is packed with gzip. Send plain tables.")
    return name, text
