"""Findings on outputs as lines for standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.formats.campaign.folder import CampaignFolder

READING = "reading"
"""The code of findings that come from reading the file."""


def folder_warnings(folder: CampaignFolder) -> Iterator[str]:
    """The warnings about all outputs of a campaign.

    Files larger than `MAX_BYTES` are not checked, because they are streamed. The language is not checked either: its
    model takes longer to load than scoring a campaign.
    """
    from steelyard.checks.check import check_output
    from steelyard.checks.context import CheckContext
    from steelyard.checks.examined import MAX_BYTES
    from steelyard.checks.finding import Severity

    outputs = {name: {"": text} for name, text in folder.systems.items()} | dict(folder.runs)
    beside = [*folder.references.values(), *([folder.source] if folder.source else [])]
    if any(text.size > MAX_BYTES for text in beside):
        return
    standard = CheckContext(
        segments=beside[0].segments,
        source=None if folder.source is None else folder.source.bytes,
        references=[text.bytes for text in folder.references.values()],
    )
    for name, runs in outputs.items():
        for run, text in runs.items():
            if text.size <= MAX_BYTES:
                findings = [each for each in check_output(text, standard) if each.severity is not Severity.NOTE]
                findings = [each for each in findings if each.code != READING]
                called = f"{name}/{run}" if run else name
                yield from (f"{each.severity}: {called}: {each.message}" for each in findings)


def notices_of_documents(folder: CampaignFolder) -> list[str]:
    """A warning where there are too few documents to resample. Raises CommandError where none are named."""
    from steelyard.resampling.documents import Documents, few_documents

    if not folder.documents:
        raise CommandError(
            f"{folder.name}: its files name no documents, so --resample document is impossible. Add docs.tsv with the "
            "columns segment and doc_id, or leave the option out."
        )
    warning = few_documents(Documents.from_names([name for name, *_ in folder.documents]))
    return [f"{folder.name}: {warning}"] if warning else []
