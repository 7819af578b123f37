"""A file that somebody sends: kept on the disk within bounds, and opened unpacked, whatever it was packed with."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING

from campaigns.errors import TooLarge
from campaigns.submissions.zip_archive import is_zip, unzipped
from metrics.text.contents import Contents
from metrics.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from metrics.text.limits import TextLimits
    from runtime.service_settings import WebSettings

LONGEST_NAME = 100
"""Characters of a file's name in messages."""
UNNAMED = "output"


@dataclass
class Received:
    """A file that comes in piece by piece. It is gone when this is closed."""

    settings: WebSettings
    name: str = UNNAMED
    size: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.NamedTemporaryFile(prefix="steelyard-"))  # noqa: SIM115
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def write(self, piece: bytes) -> None:
        """Add what has come. Raises TooLarge, at once, where it is more than the server takes."""
        self.size += len(piece)
        if self.size > self.settings.upload_bytes:
            raise TooLarge(
                f"{self.name}: more than {self.settings.upload_bytes:,} bytes. Pack it with gzip, or ask those who run "
                "the server."
            )
        self._digest.update(piece)
        self._file.write(piece)

    @property
    def sha256(self) -> str:
        """Of all that has come so far."""
        return self._digest.hexdigest()

    @property
    def path(self) -> Path:
        """Where all of it lies, as it came."""
        self._file.flush()
        return Path(self._file.name)

    def close(self) -> None:
        """Forget it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def opened(path: Path, folder: Path, name: str, limits: TextLimits) -> Iterator[Contents]:
    """The text of a file, unpacked from gzip or a zip archive with one file, never more than the limits allow.

    What comes out of an archive is kept in `folder`. Raises BadText.
    """
    if is_zip(path):
        packed, path = path, folder / "unpacked"
        with path.open("wb") as file:
            unzipped(packed, file, name, limits)
    contents = Contents(path, name=name, limits=limits)
    try:
        yield contents
    finally:
        contents.close()


def shown_name(name: str | None) -> str:
    """What messages call a file: never a path, since a name from outside leads nowhere here."""
    last = PurePosixPath(PureWindowsPath(name or "").name).name
    return printable(last)[:LONGEST_NAME] or UNNAMED
