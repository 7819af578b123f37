"""Zips of campaigns: made, looked into, and taken in."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path

from sqlalchemy import func, select

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.campaign_imports.store import store_campaign_content
from campaigns.exports.campaign import export_campaign
from models.database.session import reading, writing
from models.schema.campaigns import Campaign
from models.schema.corpus import Submission, TestSet, Text
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.text.limits import STORING_LIMITS
from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse
from tests.scheduler.jobs import work_off
from tests.service.service import Service


def exported(service: Service, name: str, principal: Principal = COMMAND_LINE) -> bytes:
    return b"".join(export_campaign(service.engine, principal, name))


def taken_in(
    service: Service, content: bytes, place: Path, name: str = "copy", principal: Principal = COMMAND_LINE
) -> CampaignImportedResponse:
    place = place / f"place-{len(list(place.iterdir()))}"
    place.mkdir()
    (place / "sent.zip").write_bytes(content)
    read = read_campaign_zip(place / "sent.zip", place, STORING_LIMITS)
    with writing(service.engine) as connection:
        found = store_campaign_content(connection, service.settings, principal, name, read)
    work_off(service.settings)
    return found


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: dict[str, bytes], *, honest: bool = False) -> bytes:
    """A zip of files; `honest`, with a manifest that knows them."""
    files = dict(files)
    if honest:
        manifest = json.loads(files[MANIFEST])
        manifest["files"] = {name: sha256(each).hexdigest() for name, each in files.items() if name != MANIFEST}
        files[MANIFEST] = json.dumps(manifest).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, each in files.items():
            archive.writestr(name, each)
    return target.getvalue()


def counted(service: Service) -> list[int]:
    with reading(service.engine) as connection:
        return [
            connection.scalar(select(func.count()).select_from(each)) or 0
            for each in (Campaign, Submission, TestSet, Text)
        ]
