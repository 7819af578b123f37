"""Reads from the database what the checks need, as far as it is visible to the submitter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from campaigns.accounts.principal import COMMAND_LINE, Principal
from models.schema.corpus import Reference, Submission, System, TestSet, TextBlock
from models.schema.roles import Visibility
from steelyard.checks.context import CheckContext, OtherOutput
from steelyard.checks.twins import NEARLY_EQUAL, count_equal_lines
from steelyard.text.blocks import BLOCK, block_count
from worker.computing.scoring import read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row

    from campaigns.permissions import CampaignAccess
    from steelyard.formats.plain import Text

PROBE_SHARE = 0.9
"""Share of equal lines at the start of a block from which another output is read in full."""
PROBE_BYTES = 4096
"""Of a compared block: some thirty lines."""
MAX_READ = 8
"""Other outputs that are read in full."""
MAX_PROBED = 4000
"""Other outputs of which a block is read, the newest ones."""


def read_check_context(
    connection: Connection,
    access: CampaignAccess,
    test_set_id: int,
    text: Text,
    *,
    team: str,
    system: str,
    run: str = "",
) -> CheckContext:
    """Return what to check a team's output against: only what the team may see.

    This holds for any submitter, because findings are stored for the team. Checks can be repeated without limit: a
    hidden text that affects findings could be reconstructed from them.
    """
    test_set = connection.execute(select(TestSet).where(TestSet.id == test_set_id)).one()
    # A campaign that only the command line uses hides nothing.
    shared = access.phases or access.teams or access.visibility != Visibility.PRIVATE
    bare = access.principal is COMMAND_LINE and not shared
    access = replace(access, organises=False, principal=Principal())
    source, references = None, []
    blocks = block_count(test_set.segments)
    if test_set.source_text_id is not None and access.sees_source(test_set_id):
        (source,) = read_texts(connection, [test_set.source_text_id], 0, blocks)
    if bare or access.sees_references(test_set_id):
        labels = select(Reference.text_id).where(Reference.test_set_id == test_set_id)
        ids = list(connection.scalars(labels.order_by(Reference.position)))
        references = read_texts(connection, ids, 0, blocks)
    return CheckContext(
        segments=test_set.segments,
        source=source,
        references=references,
        source_language=test_set.source_language,
        target_language=test_set.target_language,
        others=_others(connection, access, test_set, text, team=team, system=system, run=run),
    )


def _others(
    connection: Connection,
    access: CampaignAccess,
    test_set: Row[TestSet],
    text: Text,
    *,
    team: str,
    system: str,
    run: str,
) -> list[OtherOutput]:
    """Return similar outputs for the test set that the team may see, without older ones of the same system."""
    if text.segments != test_set.segments:
        return []
    seen = select(System.team, System.name, Submission.run, Submission.text_id).join(
        Submission, Submission.system_id == System.id
    )
    if not access.sees_outputs:
        seen = seen.where(System.team == team)
    rows = connection.execute(
        seen.where(Submission.campaign_id == access.campaign_id, Submission.test_set_id == test_set.id)
        .order_by(Submission.id.desc())
        .limit(MAX_PROBED)
    ).all()
    candidates: dict[int, Row[str, str, str, int]] = {}
    for row in rows:
        if (row.team, row.name, row.run) != (team, system, run):
            candidates.setdefault(row.text_id, row)
    alike = _similar_texts(connection, list(candidates), text)
    texts = read_texts(connection, alike, 0, block_count(test_set.segments)) if alike else []
    return [
        OtherOutput(_display_name(candidates[each], team, access), content, candidates[each].team == team)
        for each, content in zip(alike, texts, strict=True)
    ]


def _similar_texts(connection: Connection, texts: Sequence[int], output: Text) -> list[int]:
    """Return texts of which one of two blocks has nearly the same lines, the most similar first."""
    blocks = block_count(output.segments)
    lines = output.lines()
    shares: dict[int, float] = {}
    for block in sorted({blocks // 3, blocks - 1 - blocks // 3}):
        mine = lines[block * BLOCK : (block + 1) * BLOCK]
        wanted = select(TextBlock.text_id, func.substr(TextBlock.content, 1, PROBE_BYTES)).where(
            TextBlock.text_id.in_(texts), TextBlock.block == block
        )
        for text_id, content in connection.execute(wanted):
            theirs = content.split(b"\n")
            if len(content) == PROBE_BYTES:
                # The last line may be cut.
                theirs = theirs[:-1] or theirs
            share = count_equal_lines(mine[: len(theirs)], theirs) / len(theirs)
            shares[text_id] = max(share, shares.get(text_id, 0.0))
    near = [text_id for text_id, share in shares.items() if share >= min(PROBE_SHARE, NEARLY_EQUAL)]
    return sorted(near, key=lambda text_id: (-shares[text_id], text_id))[:MAX_READ]


def _display_name(row: Row[str, str, str, int], team: str, access: CampaignAccess) -> str:
    """Return the name of another submission as the team may see it."""
    name = f"{row.name}, run {row.run}" if row.run else row.name
    if row.team == team:
        return f"{name} of the same team"
    if not row.team:
        # Of the organisers.
        return name
    shown = access.system_name_of(row.team, name)
    return f"{shown} of {access.name_of(row.team)}" if shown else f"a submission of {access.name_of(row.team)}"
