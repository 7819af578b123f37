"""Numbers of an export that no database holds: refused where they are read, before anything is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.errors import BadRequest
from steelyard.text.limits import STORING_LIMITS
from tests.campaigns.campaign_imports.zips import exported, files_of, zipped
from tests.service.service import Service

NUMBERS = {
    "test-sets.tsv": (("released_at",), ("segments",)),
    "submissions.tsv": (("late_seconds", "created_at", "withdrawn_at"), ()),
    "corrections.tsv": (("made_at",), ()),
    "protocols.tsv": ((), ("replicates", "seed")),
    "imported.tsv": ((), ("systems",)),
    "judgments/1-esa-1/systems.tsv": (("score", "raw"), ("segments", "judgments", "wins")),
    "judgments/1-esa-1/segments.tsv": (("score", "raw"), ("segment", "judgments")),
    "judgments/1-esa-1/ratings.tsv": (("value", "seconds"), ("segment", "wave")),
    "judgments/1-esa-1/spans.tsv": ((), ("segment", "begins", "ends", "wave")),
}
"""File -> its columns of numbers, and of whole numbers."""


def refused(files: dict[str, bytes], place: Path, name: str, content: bytes) -> bool:
    """Whether an export with another file is refused; its manifest knows the file."""
    place = place / f"place-{len(list(place.iterdir()))}"
    place.mkdir()
    (place / "sent.zip").write_bytes(zipped({**files, name: content}, honest=True))
    try:
        read_campaign_zip(place / "sent.zip", place, STORING_LIMITS)
    except BadRequest:
        return True
    return False


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_none_or_too_large_is_refused(port: Service, tmp_path: Path, name: str) -> None:
    files = files_of(exported(port, "port"))
    head, row, *more = files[name].split(b"\n")
    columns, cells = head.split(b"\t"), row.split(b"\t")
    assert not refused(files, tmp_path, name, files[name])
    numbers, whole = NUMBERS[name]
    for column in (*numbers, *whole):
        place = columns.index(column.encode())
        for value in ("nan", "inf", "-inf", "x", *(["9" * 30, "-" + "9" * 30, "1.5"] if column in whole else [])):
            changed = b"\t".join([*cells[:place], value.encode(), *cells[place + 1 :]])
            assert refused(files, tmp_path, name, b"\n".join([head, changed, *more])), (column, value)


def test_so_is_one_of_a_phase_and_a_method_that_is_none(port: Service, tmp_path: Path) -> None:
    files = files_of(exported(port, "port"))
    for name in ("starts_at", "ends_at", "grace_seconds", "feedback_step"):
        for value in (float("nan"), float("inf"), "x"):
            campaign = json.loads(files["campaign.json"])
            campaign["phases"][0][name] = value
            assert refused(files, tmp_path, "campaign.json", json.dumps(campaign).encode()), (name, value)
    judged = files["judgments.tsv"]
    method = judged.split(b"\n")[1].split(b"\t")[4]
    for other in (b"7", b"[]", b'"a"', b"null"):
        assert refused(files, tmp_path, "judgments.tsv", judged.replace(method, other)), other
