"""`steelyard submit FOLDER`: a system's outputs for many language pairs at once."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

from steelyard.commands.errors import CommandError, UsageError, explained
from steelyard.commands.notices import note
from steelyard.text.wording import listed
from steelyard_client.commands.submissions.submit_one import submit_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.commands.submissions.submit_one import Order
    from steelyard_client.documents.submissions.submissions import (
        SubmissionCreatedResponse,
        SubmissionsCreatedResponse,
    )


def are_many(client: Client, order: Order, file: str) -> bool:
    """Whether a file is a folder, a zip of several files, or of one in JSON Lines, which may be for many pairs.

    Or JSON Lines themselves, whose documents name their pairs, where no test set is chosen and there are several.
    """
    path = Path(file)
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    if not is_zipfile(path):
        from steelyard.formats.campaign.outputs_of_pairs import pairs_of_documents

        chosen = order.fields["test_set"] or not pairs_of_documents(path)
        return not chosen and len(_test_sets(client, order.campaign)) > 1
    with ZipFile(path) as archive:
        members = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX" not in each.filename]
    return len(members) > 1 or any(each.filename.endswith(".jsonl") for each in members)


def submit_all(client: Client, order: Order, file: str) -> tuple[list[SubmissionCreatedResponse], dict[str, str]]:
    """Submit every output by itself; what was stored, and what was refused, with reasons.

    What is refused keeps nothing else back.
    """
    from steelyard.formats.campaign.outputs_of_pairs import (
        each_pair_alone,
        left_out_of,
        outputs_in,
        outputs_of_pairs,
    )
    from steelyard.formats.campaign.zips import unpacked_paths
    from steelyard.text.limits import STORING_LIMITS

    if order.fields["test_set"]:
        raise UsageError("--test-set is for a single output: files of a folder are named after language pairs.")
    known = _test_sets(client, order.campaign)
    with unpacked_paths([file], STORING_LIMITS) as (given,), TemporaryDirectory() as pieces:
        files = outputs_in(given) if given.is_dir() else {given.name: given}
        found, refused = outputs_of_pairs(files, known)
        left_out = left_out_of(given) if given.is_dir() else []
        if not found and not refused:
            raise CommandError(f"{file}: has no outputs. Name each after its language pair, such as en-cs.txt.")
        stored = []
        for test_set, output in each_pair_alone(found, Path(pieces) / "pairs").items():
            created = _submitted(client, order, test_set, output.path)
            if isinstance(created, str):
                refused[output.shown] = created
            else:
                stored.append(created)
    if missing := [name for name in known if name not in found]:
        note([f"No output for {', '.join(missing)}."])
    note(left_out_lines(left_out))
    return stored, refused


def left_out_lines(files: Sequence[str]) -> list[str]:
    """What to say of files beside the outputs."""
    return [f"Left out, for these are no outputs: {listed(files)}."] if files else []


def check_all(client: Client, order: Order, file: str) -> SubmissionsCreatedResponse:
    """What would be stored of a folder, a zip or a file for all pairs, and what would be refused."""
    from steelyard.formats.campaign.outputs_of_pairs import left_out_of, outputs_in

    if order.fields["test_set"]:
        raise UsageError("--test-set is for a single output: files of a folder are named after language pairs.")
    fields = {name: order.fields[name] for name in ("system", "team", "run", "origin", "override")}
    path = Path(file)
    if not path.is_dir():
        return client.submit_outputs(order.campaign, path, preview=True, **fields)
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, one in outputs_in(path).items():
            archive.write(one, name)
    checked = client.submit_outputs(order.campaign, packed.getvalue(), preview=True, **fields)
    return checked.model_copy(update={"left_out": left_out_of(path)})


def _test_sets(client: Client, campaign: str) -> dict[str, str]:
    """The test sets of the campaign that take outputs, with their pairs."""
    there = [each for each in client.list_test_sets(campaign) if each.replaced_by is None]
    several = {each.name for each in there if sum(other.name == each.name for other in there) > 1}
    return {
        f"{each.name}@{each.version}" if each.name in several else each.name: (
            f"{each.source_language}-{each.target_language}" if each.source_language and each.target_language else ""
        )
        for each in there
    }


def _submitted(client: Client, order: Order, test_set: str, path: Path) -> SubmissionCreatedResponse | str:
    """The stored submission, or the reason why there is none."""
    from steelyard_client import Refused

    key = f"{order.key}:{test_set}" if order.key else None
    try:
        return submit_one(client, order, str(path), test_set=test_set, key=key)
    except Refused as error:
        return str(error)
    except Exception as error:
        if (known := explained(error)) is None:
            raise
        return known[0]
