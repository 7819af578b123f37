"""`steelyard verify` of campaigns and submissions that a server or a database has, beside that of files."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import option
from steelyard.commands.parsing import Command
from steelyard.commands.verification.verify import names_a_file
from steelyard.commands.verification.verify import verify as verify_files
from steelyard_client.commands.backend import account_option, connected, database_option, server_option

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.commands.verification.verdicts import Verification
    from steelyard_client import Client


def _verify(
    *,
    published: str | None,
    submission: int | None,
    server: str | None,
    database: str | None,
    account: str | None,
    format: str,  # noqa: A002 - the option's name
    resource: tuple[tuple[str, Path], ...],
    **of_files: Any,
) -> int:
    """Verify what is stored, or leave it to the verb of the library; the exit status."""
    if published is None and submission is None:
        raise UsageError("Name what was published: a signature, a file, a campaign, or --submission N.")
    given = [_as_typed(each) for each in verify_files.params if of_files.get(each.name or "")]
    if submission is None and published is not None and (given or not _is_campaign(published)):
        found: int = verify_files.callback(published=published, format=format, resource=resource, **of_files)  # type: ignore[misc]
        return found
    if given:
        raise UsageError(f"What is stored has its texts and scores: leave out {', '.join(given)}.")
    with connected(server, database, account) as client:
        verification = _of_stored(client, published, submission, resource)
    print(verification.rendered(format), end="")
    return 0 if verification.verified else 1


def _as_typed(parameter: click.Parameter) -> str:
    """An option by its long name, an argument as the help shows it."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or "").removesuffix("...")


def _is_campaign(published: str) -> bool:
    from steelyard.commands.verification.printed_signatures import parse_signature
    from steelyard.errors import MetricsError

    if os.path.exists(published) or names_a_file(published):
        return False
    try:
        parse_signature(published)
    except MetricsError:
        # What looks like a signature is left to the library, which says what is wrong with it.
        return "|" not in published
    return False


def _of_stored(
    client: Client, campaign: str | None, submission: int | None, resources: tuple[tuple[str, Path], ...]
) -> Verification:
    from steelyard.commands.verification.export import verify_export
    from steelyard_client import NotFound

    if submission is not None:
        of = client.read_submission(submission).campaign
        if campaign not in (None, of):
            raise CommandError(f"Submission {submission} is one of {of}, not of {campaign}.")
        campaign = of
    assert campaign is not None
    try:
        content = client.export_campaign(campaign)
    except NotFound as error:
        raise CommandError(
            f"{campaign} is no file and no signature, and no campaign that you may see. {error}"
        ) from error
    # Readable by nobody else: outputs and references may be hidden.
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(content)
        file.flush()
        return verify_export(file.name, resources, submission)


verify = Command(
    "verify",
    callback=_verify,
    help=f"{verify_files.help} PUBLISHED may also be the name of a campaign, whose scores are all computed again from "
    "the texts that are stored; with --submission those of one output.",
    example="steelyard verify --submission 17",
    params=[each for each in verify_files.params if each.name != "published"],
)
for decorate in (
    account_option(),
    database_option(),
    server_option(),
    option("--submission", type=click.IntRange(1), metavar="N", help="all scores of this submission"),
    click.argument(
        "published", required=False, metavar="PUBLISHED", help="a signature, a file of results, an export, a campaign"
    ),
):
    decorate(verify)
# Arguments are taken in the order of the parameters.
verify.params.sort(key=lambda each: each.name != "published")
