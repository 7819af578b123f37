"""Reads what a diagnosis needs from the database, as far as the asker may have it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.checks.standard import OtherOutput, Standard
from campaigns.checks.twins import MOST_ALIKE, alike_lines
from metrics.text.blocks import BLOCK, block_count
from models.schema.corpus import Reference, Submission, System, TestSet, TextBlock
from models.schema.roles import Visibility
from worker.computing.scoring import read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row

    from campaigns.permissions import Sight
    from metrics.text.plain import Text

PROBED = 0.9
"""Share of equal lines at the beginning of a block from which on all of another output is read."""
PROBED_BYTES = 4096
"""Of a block that is compared: some thirty lines."""
MOST_READ = 8
"""Other outputs that are read as a whole."""
MOST_PROBED = 4000
"""Other outputs of which a block is read, the newest ones."""


def read_standard(
    connection: Connection, sight: Sight, test_set_id: int, text: Text, *, team: str, system: str, run: str = ""
) -> Standard:
    """What an output that a team hands in is held against: nothing that the team may not see.

    That holds whoever hands it in, since findings are kept for the team. A diagnosis can be had as often as one likes:
    whatever a hidden text had a part in could be asked until the text is known.
    """
    test_set = connection.execute(select(TestSet).where(TestSet.id == test_set_id)).one()
    # A campaign that commands alone have set up keeps nothing back.
    shared = sight.phases or sight.teams or sight.visibility != Visibility.PRIVATE
    bare = sight.principal is COMMAND_LINE and not shared
    sight = replace(sight, organises=False, principal=Principal())
    source, references = None, []
    blocks = block_count(test_set.segments)
    if test_set.source_text_id is not None and sight.sees_source(test_set_id):
        (source,) = read_texts(connection, [test_set.source_text_id], 0, blocks)
    if bare or sight.sees_references(test_set_id):
        labels = select(Reference.text_id).where(Reference.test_set_id == test_set_id)
        ids = list(connection.scalars(labels.order_by(Reference.position)))
        references = read_texts(connection, ids, 0, blocks)
    return Standard(
        segments=test_set.segments,
        source=source,
        references=references,
        source_language=test_set.source_language,
        target_language=test_set.target_language,
        others=_others(connection, sight, test_set, text, team=team, system=system, run=run),
    )


def _others(
    connection: Connection, sight: Sight, test_set: Row[TestSet], text: Text, *, team: str, system: str, run: str
) -> list[OtherOutput]:
    """Outputs for the test set that the team may see and that are much like this one, but older ones of the system."""
    if text.segments != test_set.segments:
        return []
    seen = select(System.team, System.name, Submission.run, Submission.text_id).join(
        Submission, Submission.system_id == System.id
    )
    if not sight.sees_outputs:
        seen = seen.where(System.team == team)
    rows = connection.execute(
        seen.where(Submission.campaign_id == sight.campaign_id, Submission.test_set_id == test_set.id)
        .order_by(Submission.id.desc())
        .limit(MOST_PROBED)
    ).all()
    candidates: dict[int, Row[str, str, str, int]] = {}
    for row in rows:
        if (row.team, row.name, row.run) != (team, system, run):
            candidates.setdefault(row.text_id, row)
    alike = _much_alike(connection, list(candidates), text)
    texts = read_texts(connection, alike, 0, block_count(test_set.segments)) if alike else []
    return [
        OtherOutput(_called(candidates[each], team, sight), content, candidates[each].team == team)
        for each, content in zip(alike, texts, strict=True)
    ]


def _much_alike(connection: Connection, texts: Sequence[int], output: Text) -> list[int]:
    """Texts of which one of two blocks has nearly the same lines, the most alike first."""
    blocks = block_count(output.segments)
    lines = output.lines()
    shares: dict[int, float] = {}
    for block in sorted({blocks // 3, blocks - 1 - blocks // 3}):
        mine = lines[block * BLOCK : (block + 1) * BLOCK]
        wanted = select(TextBlock.text_id, func.substr(TextBlock.content, 1, PROBED_BYTES)).where(
            TextBlock.text_id.in_(texts), TextBlock.block == block
        )
        for text_id, content in connection.execute(wanted):
            theirs = content.split(b"\n")
            if len(content) == PROBED_BYTES:
                # The last line may be cut.
                theirs = theirs[:-1] or theirs
            share = alike_lines(mine[: len(theirs)], theirs) / len(theirs)
            shares[text_id] = max(share, shares.get(text_id, 0.0))
    near = [text_id for text_id, share in shares.items() if share >= min(PROBED, MOST_ALIKE)]
    return sorted(near, key=lambda text_id: (-shares[text_id], text_id))[:MOST_READ]


def _called(row: Row[str, str, str, int], team: str, sight: Sight) -> str:
    """What the team may call another submission."""
    name = f"{row.name}, run {row.run}" if row.run else row.name
    if row.team == team:
        return f"{name} of the same team"
    if not row.team:
        # Of the organisers.
        return name
    shown = sight.system_name_of(row.team, name)
    return f"{shown} of {sight.name_of(row.team)}" if shown else f"a submission of {sight.name_of(row.team)}"
