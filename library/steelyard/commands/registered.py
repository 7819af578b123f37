"""The registered resources, for commands without a database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.metrics.resources import DEFAULT_FOLDER, Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


def registered_resources(files: Mapping[str, Path] | None = None) -> Resources:
    """The resources in STEELYARD_RESOURCE_FOLDER, and `files` by name.

    `runtime.settings` reads the variable too, but loading it takes longer than scoring a system.

    Parameters
    ----------
    files : mapping of str to Path or None, optional

    Returns
    -------
    Resources
    """
    return Resources(Path(os.environ.get("STEELYARD_RESOURCE_FOLDER") or DEFAULT_FOLDER), files)
