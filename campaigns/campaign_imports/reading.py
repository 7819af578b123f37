"""Reads a campaign out of a zip, in the sandbox: unpacked within limits, whole or not at all."""

from __future__ import annotations

import dataclasses
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns.campaign_imports.export import read_export
from campaigns.campaign_imports.pairs import read_pairs
from campaigns.errors import BadRequest
from steelyard.errors import BadText, MetricsError
from steelyard.formats.campaign.campaigns import has_campaign
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.formats.campaign.test_sets import has_test_sets
from steelyard.formats.campaign.zips import DAMAGED, only_folder, unpack

if TYPE_CHECKING:
    from campaigns.campaign_imports.content import CampaignContent
    from steelyard.text.limits import TextLimits


def read_campaign_zip(path: Path, place: Path, limits: TextLimits) -> CampaignContent:
    """Read a zip; large texts stay in the folder `place`.

    Raises
    ------
    BadRequest
        For anything but an export as it was written, of this release or an earlier one, or a folder of pairs.
    BadText
        For texts that do not fit together, with all problems, by file and line.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if MANIFEST in names:
                return read_export(archive, limits)
            root = place / "unpacked"
            unpack(archive, root, limits)
    except DAMAGED as error:
        raise BadRequest("This is no zip, or a damaged one. Export the campaign again.") from error
    except BadCampaign as error:
        raise BadRequest(str(error)) from error
    folder = root if has_test_sets(root) else only_folder(root)
    if not has_campaign(folder):
        raise BadRequest(
            f"This zip is no exported campaign (it has no {MANIFEST}), and no folder of test sets: sources/, "
            "references/, documents/ and system-outputs/PAIR/ of WMT and mt-metrics-eval, refs/ and systems/, folders "
            "of these, JSON Lines of WMT25, WMT26 and WMT24++ with a file for each system, or WMT's XML."
        )
    try:
        content = read_pairs(folder, limits)
        # Our own paths are nobody's business.
        told = tuple(each.removeprefix(f"{folder}: ").replace(f"{folder}/", "") for each in content.notices)
        return dataclasses.replace(content, notices=told)
    except BadText as error:
        raise BadText(str(error).replace(f"{folder}/", "").replace(str(folder), "the folder")) from error
    except MetricsError as error:
        raise BadRequest(str(error).replace(f"{folder}/", "")) from error
