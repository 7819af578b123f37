"""Unpacks a campaign's zip within limits, whole or not at all."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile, is_zipfile

from steelyard.errors import BadText
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.text.limits import TextLimits

MAX_FILES = 20_000
MAX_NAME_BYTES = 250
DAMAGED = BadZipFile, EOFError, RuntimeError, zlib.error, NotImplementedError, OverflowError
"""What reading a zip raises that is none, or damaged, or encrypted."""


@contextmanager
def unpacked_paths(paths: Sequence[str], limits: TextLimits) -> Iterator[list[Path]]:
    """Paths as they are given, but a single zip unpacked, as long as the context lasts.

    Parameters
    ----------
    paths : sequence of str
    limits : TextLimits
        The file limit is that of all its files together.

    Yields
    ------
    list of Path

    Raises
    ------
    BadCampaign
        For a zip that is damaged, too large, or has unusable names.
    """
    given = [Path(path) for path in paths]
    if len(given) != 1 or not given[0].is_file() or not is_zipfile(given[0]):
        yield given
        return
    (path,) = given
    with TemporaryDirectory(prefix="steelyard-") as place:
        # The name of the campaign is that of the zip.
        root = Path(place) / (path.stem or "campaign")
        try:
            with ZipFile(path) as archive:
                unpack(archive, root, limits)
        except DAMAGED as error:
            raise BadCampaign(f"{path}: is a damaged zip, or an encrypted one.") from error
        folder = only_folder(root)
        try:
            yield [folder]
        except BadText as error:
            # Where it was unpacked is nobody's business.
            raise BadCampaign(str(error).replace(f"{folder}/", "").replace(str(folder), str(path))) from error


def unpack(archive: ZipFile, root: Path, limits: TextLimits) -> None:
    """Unpack a zip into a folder.

    Parameters
    ----------
    archive : ZipFile
    root : Path
    limits : TextLimits
        The file limit is that of all its files together.

    Raises
    ------
    BadCampaign
        Where it has too many or too large files, or names that lead elsewhere.
    """
    members = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if len(members) > MAX_FILES:
        raise BadCampaign(f"The zip has {len(members):,} files; {MAX_FILES:,} are the most.")
    left = limits.file_bytes
    for each in members:
        if not _can_be_used(each.filename):
            raise BadCampaign(
                f"The zip has a file with the name {printable(each.filename)[:100]}, which cannot be used."
            )
        target = root / each.filename
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # Never over another: of two files of one name nobody knows which is meant.
            written = target.open("xb")
        except (FileExistsError, NotADirectoryError) as error:
            name = printable(each.filename)[:100]
            raise BadCampaign(f"The zip has two files, or a file and a folder, of one name: {name}.") from error
        with archive.open(each) as content, written:
            # What the zip says of sizes need not be true.
            while part := content.read(1 << 20):
                left -= len(part)
                if left < 0:
                    raise BadCampaign(
                        f"The zip has more than {limits.file_bytes:,} bytes unpacked, the most of an upload."
                    )
                written.write(part)
    root.mkdir(parents=True, exist_ok=True)


def _can_be_used(name: str) -> bool:
    """Whether a file of that name stands in the folder that it is unpacked into."""
    path = PurePosixPath(name)
    # Two slashes at the beginning are a root of their own, "//".
    return (
        bool(path.parts)
        and not path.is_absolute()
        and "\0" not in name
        and not any(part == ".." or len(part.encode()) > MAX_NAME_BYTES for part in path.parts)
    )


def only_folder(root: Path) -> Path:
    """The folder of a campaign in what was unpacked: the only one, where there is nothing beside it.

    Parameters
    ----------
    root : Path

    Returns
    -------
    Path
    """
    there = list(root.iterdir())
    return there[0] if len(there) == 1 and there[0].is_dir() else root
