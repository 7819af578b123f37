"""Exports of the campaign `wmt`, read back."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator

from campaigns.accounts.principal import Principal
from campaigns.exports.campaign import export_campaign
from tests.service.service import Service

LANGUAGES = {"source_language": "en", "target_language": "cs"}

OURS, THEIRS = b"canaryours\npes\ndum\n", b"canarytheirs\npes\ndum\n"


def exported(site: Service, principal: Principal) -> dict[str, bytes]:
    parts = list(export_campaign(site.engine, principal, "wmt"))
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def rows(files: dict[str, bytes], name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(files[name].decode(), newline=""), delimiter="\t", strict=True)
