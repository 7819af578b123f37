"""Uploads of scores that were made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.changes import lock_for_change, require_organiser
from campaigns.errors import BadRequest, NotFound
from campaigns.previews import writing_unless_preview
from campaigns.rules import create_missing_campaign
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.score_imports.importing import ImportResult, ScoreRequest, import_scores
from campaigns.score_imports.reading import described_files, read_score_files
from campaigns.score_imports.reductions import reduce_now
from models.schema.roles import Scope
from steelyard.text.names import printable

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal
    from web.state import State

MAX_FILES = 500


@dataclass(frozen=True, slots=True)
class SentScores:
    """What to import from files, as `ScoreRequest`."""

    test_set: str
    pairs: Sequence[str]
    metric: str
    lower_is_better: Sequence[str]
    create: bool
    """The campaign, too, where there is none."""
    preview: bool = False
    """Say what would be stored, and store nothing."""


def require_importer(state: State, principal: Principal, campaign: str, sent: SentScores) -> None:
    """Check permission before a file is read. Raises as `require_organiser`, unless the campaign is to be created."""
    try:
        require_organiser(state.engine, principal, campaign)
    except NotFound:
        if not (sent.create and principal.may_create_campaigns):
            raise
        principal.require(Scope.ORGANISE)


async def import_sent_scores(
    state: State,
    principal: Principal,
    campaign: str,
    sent: SentScores,
    files: Sequence[UploadFile],
    version: str | None = None,
) -> ImportResult:
    """Read files in the sandbox and import them, all or nothing, or for a preview nothing.

    Raises
    ------
    BadRequest
        With what is wrong. And what `campaigns.sandbox`, `lock_for_change` and `import_scores` raise.
    """
    if not files or len(files) > MAX_FILES:
        raise BadRequest(f"Send 1 to {MAX_FILES} files of scores; this request has {len(files)}.")
    named = [(printable(each.filename or "scores"), await each.read()) for each in files]
    owner, limits = Owner(principal.account_id), limits_of(state.settings).text
    read = await state.sandbox.run(owner, read_score_files, named, sent.lower_is_better, limits)

    def stored() -> ImportResult:
        request = ScoreRequest(
            [each.unpacked() for each in read],
            described_files(named),
            test_set=sent.test_set,
            pairs=sent.pairs,
            metric=sent.metric,
            create=sent.create,
        )
        with writing_unless_preview(state.engine, preview=sent.preview) as connection:
            if sent.create:
                create_missing_campaign(connection, principal, campaign)
            access = lock_for_change(connection, principal, campaign, version)
            found = import_scores(connection, state.settings, access, request)
        if not sent.preview:
            reduce_now(state.engine, state.settings, campaign)
        return found

    return await run_in_threadpool(stored)
