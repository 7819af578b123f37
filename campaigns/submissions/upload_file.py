"""An uploaded file: kept on disk within limits, and opened unpacked."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING

from campaigns.errors import TooLarge
from campaigns.submissions.zip_archive import is_zip, unzip_single_text
from steelyard.formats.input.contents import Contents
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from runtime.service_settings import WebSettings
    from steelyard.text.limits import TextLimits

MAX_FILE_NAME_LENGTH = 100
"""Characters of a file's name in messages."""
UNNAMED = "output"


@dataclass
class UploadedFile:
    """A file that arrives in chunks. It is deleted when this is closed."""

    settings: WebSettings
    name: str = UNNAMED
    size: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.NamedTemporaryFile(prefix="steelyard-"))  # noqa: SIM115

    def write(self, chunk: bytes) -> None:
        """Append a chunk.

        Raises
        ------
        TooLarge
            If it exceeds the server's limit.
        """
        self.size += len(chunk)
        if self.size > self.settings.upload_bytes:
            raise TooLarge(
                f"{self.name}: more than {self.settings.upload_bytes:,} bytes. Compress it with gzip, or ask the "
                "administrators of the server."
            )
        self._file.write(chunk)

    @property
    def path(self) -> Path:
        """The path of the file as it was sent."""
        self._file.flush()
        return Path(self._file.name)

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def open_text(path: Path, folder: Path, name: str, limits: TextLimits) -> Iterator[Contents]:
    """Open the text of a file, unpacking gzip or a zip archive with one file, within the limits.

    The content of an archive is kept in `folder`.

    Raises
    ------
    BadText
        If a text is invalid.
    """
    if is_zip(path):
        packed, path = path, folder / "unpacked"
        with path.open("wb") as file:
            unzip_single_text(packed, file, name, limits)
    contents = Contents(path, name=name, limits=limits)
    try:
        yield contents
    finally:
        contents.close()


def shown_name(name: str | None) -> str:
    """Return a file's name for messages, without its path."""
    last = PurePosixPath(PureWindowsPath(name or "").name).name
    return printable(last)[:MAX_FILE_NAME_LENGTH] or UNNAMED
