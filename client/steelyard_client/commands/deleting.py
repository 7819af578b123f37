"""Verbs that delete: they say first what is taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.prompts import confirm

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard_client.documents.campaigns.deletions import DeletionResponse


def delete_after_question(ask: Callable[[bool], DeletionResponse], *, yes: bool) -> int:
    """Print what would be deleted, ask for confirmation, delete it; the exit status.

    `ask` deletes, or with True only says what would be deleted.
    """
    planned = ask(True)
    print(_told("With it goes", planned), flush=True)
    for sentence in planned.kept:
        print(sentence, flush=True)
    confirm(f"Delete the {planned.subject}?", yes=yes)
    print(f"The {ask(False).subject} is deleted.")
    return 0


def _told(begin: str, planned: DeletionResponse) -> str:
    parts = [f"{amount:,} {what}" for what, amount in planned.removed.items()]
    return f"The {planned.subject}. {begin}: {', '.join(parts)}." if parts else f"The {planned.subject}."
