"""Checks of the environment: variables that nothing reads, and this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from cli.doctor.finding import Finding

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings

OTHER_VARIABLES = frozenset({"STEELYARD_SERVER", "STEELYARD_TOKEN"})
"""Variables that are read without being settings of the server."""
SMALLEST_DISK_BYTES = 2**30
FEWEST_FILES = 1024


def check_environment(settings: WebSettings) -> Iterator[Finding]:
    """Check the variables and the machine."""
    yield check_variables(dict(os.environ))
    yield from _check_disk(settings)
    yield _check_open_files()


def check_variables(environment: dict[str, str]) -> Finding:
    """Report variables that look like settings and are none."""
    from runtime.service_settings import WebSettings
    from runtime.settings import PREFIX

    known = {PREFIX + name.upper() for name in WebSettings.model_fields} | OTHER_VARIABLES
    given = sorted(name for name in environment if name.upper().startswith(PREFIX))
    unknown = [name for name in given if name.upper() not in known]
    if not unknown:
        return Finding.ok("settings", f"{len(given)} set, all of them known")
    nearest = {name: get_close_matches(name.upper(), known, 1) for name in unknown}
    fixes = [f"{name} is perhaps {near[0]}" if near else f"unset {name}" for name, near in nearest.items()]
    return Finding.warning("settings", f"nothing reads {', '.join(unknown)}", f"{'; '.join(fixes)}.")


def _check_disk(settings: WebSettings) -> Iterator[Finding]:
    from models.database.session import sqlite_file

    folders = {"temporary files": Path(tempfile.gettempdir())}
    if (file := sqlite_file(settings.database_url)) is not None:
        folders["database file"] = Path(file).absolute().parent
    if settings.statistics_url and settings.statistics_url.startswith("file://"):
        folders["statistics"] = Path(settings.statistics_url.removeprefix("file://"))
    for what, folder in folders.items():
        # The store is made when it is first written to.
        there = next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
        free = shutil.disk_usage(there).free
        found = f"{free / 2**30:.1f} GiB free in {there}"
        if free < SMALLEST_DISK_BYTES:
            yield Finding.warning(f"disk ({what})", found, "Make room, or move it to a larger disk.")
        else:
            yield Finding.ok(f"disk ({what})", found)


def _check_open_files() -> Finding:
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = f"at most {limit:,} open files"
    if 0 <= limit < FEWEST_FILES:
        return Finding.warning("open files", found, "Raise it: `ulimit -n 4096`, or LimitNOFILE=4096 in the unit.")
    return Finding.ok("open files", found)
