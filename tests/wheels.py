"""A wheel installed in a folder with what it requires, and nothing else: what people have after `pip install`."""

import zipfile
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement


def requirements(wheel: Path) -> set[str]:
    """The distributions that installing the wheel without extras brings."""
    (name,) = (each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".dist-info/METADATA"))
    metadata = zipfile.ZipFile(wheel).read(name).decode()
    wanted = [line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if "Requires-Dist: " in line]
    found: set[str] = set()
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(requirement.name)
            wanted += distribution(requirement.name).requires or []
    return found


def install_alone(wheel: Path, folder: Path) -> Path:
    """The folder with the wheel and what it requires, for PYTHONPATH with `python -S`."""
    zipfile.ZipFile(wheel).extractall(folder)
    for name in requirements(wheel):
        for file in distribution(name).files or ():
            top = folder / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not top.exists():
                top.symlink_to(distribution(name).locate_file(file.parts[0]))
    return folder
