"""What was noticed about outputs that a command takes in, told beside what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from campaigns.checks.finding import Finding
    from metrics.text.folder import CampaignFolder

READING = "reading"
"""The code of what the reader noticed."""


def told_findings(findings: Sequence[Finding]) -> list[str]:
    """Findings in words, without those of the reader, which are told anyhow."""
    return [f"{each.severity}: {each.message}" for each in findings if each.code != READING]


def told_of_folder(folder: CampaignFolder) -> Iterator[str]:
    """The warnings about all outputs of a campaign.

    Large ones are not looked at, since they are read piece by piece; neither is the language, whose model takes longer
    to load than a campaign to measure.
    """
    from campaigns.checks.diagnose import diagnose
    from campaigns.checks.examined import MOST_BYTES
    from campaigns.checks.finding import Severity
    from campaigns.checks.standard import Standard

    outputs = {name: {"": text} for name, text in folder.systems.items()} | dict(folder.runs)
    beside = [*folder.references.values(), *([folder.source] if folder.source else [])]
    if any(text.size > MOST_BYTES for text in beside):
        return
    standard = Standard(
        segments=beside[0].segments,
        source=None if folder.source is None else folder.source.bytes,
        references=[text.bytes for text in folder.references.values()],
    )
    for name, runs in outputs.items():
        for run, text in runs.items():
            if text.size <= MOST_BYTES:
                findings = [each for each in diagnose(text, standard) if each.severity is not Severity.NOTE]
                findings = [each for each in findings if each.code != READING]
                called = f"{name}/{run}" if run else name
                yield from (f"{each.severity}: {called}: {each.message}" for each in findings)
