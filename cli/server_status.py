"""`steelyard --server URL status`: how far one's own submissions are; all of a campaign for its organisers."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from cli.columns import aligned
from cli.durations import duration
from cli.errors import CommandError, UsageError
from cli.server import connected

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from web.client import Client, Submission

MOST = 50
"""Of each campaign, the newest; with --failed all are looked at."""


def run(options: argparse.Namespace) -> int:
    """Look once, or again and again."""
    if options.evaluation:
        raise UsageError("--evaluation is for a database; a server is asked by campaign.")
    every = options.watch or (1.0 if options.until_done else None)
    with connected(options) as client:
        while True:
            found = look(client, options)
            if options.format == "json":
                print(json.dumps([asdict(each) for each in found], indent=None if every else 1, ensure_ascii=False))
            else:
                print(as_text(found, failed=options.failed), end="", flush=True)
            if every is None or (options.until_done and all(each.progress.ended for each in found)):
                return 0
            sys.stdout.flush()
            time.sleep(every)


def look(client: Client, options: argparse.Namespace) -> list[Submission]:
    """The submissions that are meant, the newest first. Raises CommandError for a campaign that is not there."""
    client.me()
    names = [campaign.name for campaign in client.campaigns()]
    if options.name is not None and options.name not in names:
        raise CommandError(f'There is no campaign "{options.name}". There are: {", ".join(names) or "none"}.')
    found: list[Submission] = []
    for name in names if options.name is None else [options.name]:
        submissions = client.submissions(name)
        found += submissions if options.failed else islice(submissions, MOST)
    if options.failed:
        found = [each for each in found if each.progress.state == "failed"]
    return found


def as_text(submissions: Sequence[Submission], *, failed: bool) -> str:
    """One line for each."""
    if not submissions:
        return "No submission has failed.\n" if failed else "There are no submissions of yours.\n"
    table = [["Submission", "Campaign", "System", "Test set", "State", "Shards", "Before it", "Time left", ""]]
    for each in submissions:
        progress = each.progress
        reasons = dict.fromkeys(evaluation.reason for evaluation in each.evaluations if evaluation.reason)
        remarks = [each.kind, "withdrawn" if each.withdrawn_at else "", *map(str, reasons)]
        table.append(
            [
                str(each.id),
                each.campaign,
                f"{each.team}/{each.system}" + (f" (run {each.run})" if each.run else ""),
                each.test_set.removesuffix("@1"),
                progress.state,
                f"{progress.shards_done} of {progress.shards}",
                "" if progress.ahead is None else str(progress.ahead),
                "" if progress.seconds_left is None else duration(progress.seconds_left),
                "; ".join(remark for remark in remarks if remark),
            ]
        )
    return aligned(table)
