"""What an export says of itself: which program wrote it, and the hash of each of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from steelyard.formats.campaign.exports import EXPORT_VERSION, MANIFEST
from steelyard.metrics.metric import EDITION, VERSION


def with_manifest(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the files, then their manifest: by it a change of the zip is noticed before anything is stored."""
    hashes: dict[str, str] = {}
    for name, content in files:
        yield name, _hashed(name, content, hashes)
    document = {"export": EXPORT_VERSION, "release": VERSION, "edition": EDITION, "files": hashes}
    yield MANIFEST, [(json.dumps(document, indent=1) + "\n").encode()]


def _hashed(name: str, content: Iterable[bytes], hashes: dict[str, str]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for part in content:
        digest.update(part)
        yield part
    hashes[name] = digest.hexdigest()
