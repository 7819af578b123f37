"""Submits one file of `steelyard submit`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.commands.errors import CommandError
from steelyard.commands.notices import tell
from steelyard.commands.scoring.inputs import input_file
from steelyard.formats.input.contents import STDIN
from steelyard.formats.input.given_files import read_given
from steelyard_client.commands.submissions.submit_output import finding_lines, receipt_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.commands.scoring.inputs import InputFile
    from steelyard_client import Client
    from steelyard_client.documents.submissions.submissions import (
        SubmissionCreatedResponse,
        SubmissionsCreatedResponse,
    )


@dataclass(frozen=True)
class Order:
    """What is submitted, and how."""

    campaign: str
    fields: Mapping[str, Any]
    """Arguments of `Client.submit_output` that all outputs have."""
    key: str | None
    quiet: bool
    """Whether receipts go to standard error, because the output is a document."""


def submit_one(
    client: Client, order: Order, file: str, *, test_set: str = "", key: str | None = None
) -> SubmissionCreatedResponse:
    """Submit one output, and print its receipt. Raises CommandError, ClientError and OSError."""
    source, output, name = _read(file)
    fields = dict(order.fields)
    if test_set:
        fields["test_set"] = test_set
    created = client.submit_output(
        order.campaign, output, name=name, part=source.part or "", key=key or order.key, **fields
    )
    tell(finding_lines(created))
    receipt = receipt_text(created, order.fields["queue_class"] or "interactive")
    print(receipt, end="", flush=True, file=sys.stderr if order.quiet else sys.stdout)
    return created


def check_one(client: Client, order: Order, file: str) -> SubmissionsCreatedResponse:
    """What would become of one output. Raises as `submit_one`."""
    from steelyard_client.documents.submissions.submissions import (
        CheckedOutputResponse,
        RefusedOutputResponse,
        SubmissionsCreatedResponse,
    )

    source, output, name = _read(file)
    asked = ("system", "team", "test_set", "run", "origin", "override", "input_format")
    fields = {each: order.fields[each] for each in asked}
    found = client.check_output(order.campaign, output, name=name, part=source.part or "", **fields)
    checked, refused = [], []
    if found.fatal:
        details = [each.message for each in found.findings]
        refused.append(RefusedOutputResponse(file=name, reason="The output cannot be scored.", details=details))
    else:
        test_set = order.fields["test_set"]
        checked.append(CheckedOutputResponse(file=name, test_set=test_set, findings=found.findings))
    return SubmissionsCreatedResponse(stored=[], checked=checked, refused=refused, missing=[])


def _read(file: str) -> tuple[InputFile, bytes, str]:
    """Where an output is, its content, and its name."""
    source = input_file(file)
    if source.path == STDIN:
        output, name = sys.stdin.buffer.read(), "standard input"
    else:
        output, name = read_given(source.path), Path(source.path).name
    if not output:
        raise CommandError(f"{name}: is empty.")
    return source, output, name
