"""`steelyard submit FOLDER`: a system's outputs for many language pairs at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import is_zipfile

from cli.commands import Options
from cli.errors import explained
from cli.server import connected
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Callable


def are_many(file: str) -> bool:
    """Whether a file is a folder, or a zip of several files."""
    path = Path(file)
    if path.is_dir():
        return True
    if not path.is_file() or not is_zipfile(path):
        return False
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        members = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX" not in each.filename]
    return len(members) > 1


def submit_all(options: Options, submit_one: Callable[[Options], int]) -> int:
    """Submit every output by itself, then wait for the scores of all; the exit status.

    What is refused is named with its reason, and keeps nothing else back: 1 if there is any.
    """
    from steelyard.formats.campaign.outputs_of_pairs import outputs_of_pairs
    from steelyard.formats.campaign.zips import unpacked_paths
    from steelyard.text.limits import STORING_LIMITS

    if options.test_set:
        raise UsageError("--test-set is for a single output: files of a folder are named after language pairs.")
    known = _test_sets(options)
    with unpacked_paths([options.file], STORING_LIMITS) as (folder,):
        found, refused = outputs_of_pairs(folder, known)
        if not found and not refused:
            raise CommandError(f"{options.file}: has no outputs. Name each after its language pair, such as en-cs.txt.")
        stored = []
        for test_set, path in found.items():
            shown = str(path.relative_to(folder))
            if (reason := _refusal(options, submit_one, test_set, path, wait=False)) is None:
                stored.append((test_set, path))
            else:
                refused[shown] = reason
        lacking = [name for name in known if name not in found]
        if lacking:
            note([f"No output for {', '.join(lacking)}."])
        # A repeated submission changes nothing, and shows its scores.
        status = 0
        for test_set, path in stored if options.wait else ():
            if (reason := _refusal(options, submit_one, test_set, path, wait=True)) is not None:
                print(f"steelyard: {test_set}: {reason}", file=sys.stderr)
                status = 1
    print(f"Submitted {len(stored)} of {len(stored) + len(refused)} outputs.", flush=True)
    for shown, reason in refused.items():
        print(f"steelyard: refused: {shown}: {reason}", file=sys.stderr)
    return 1 if refused else status


def _test_sets(options: Options) -> dict[str, str]:
    """The test sets of the campaign that take outputs, with their pairs."""
    with connected(options) as client:
        there = [each for each in client.list_test_sets(options.campaign) if each.replaced_by is None]
    several = {each.name for each in there if sum(other.name == each.name for other in there) > 1}
    return {
        f"{each.name}@{each.version}" if each.name in several else each.name: (
            f"{each.source_language}-{each.target_language}" if each.source_language and each.target_language else ""
        )
        for each in there
    }


def _refusal(
    options: Options, submit_one: Callable[[Options], int], test_set: str, path: Path, *, wait: bool
) -> str | None:
    """Submit one output; the reason why not, or None."""
    key = f"{options.key}:{test_set}" if options.key else None
    given = {**vars(options), "file": str(path), "test_set": test_set, "wait": wait, "key": key}
    try:
        return None if submit_one(Options(**given)) == 0 else "it has no scores."
    except Exception as error:
        known = explained(error)
        if known is None:
            raise
        return known[0]
