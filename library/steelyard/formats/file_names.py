"""What file names say: systems, references and WMT's test sets."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.formats.reader import Kind
from steelyard.formats.registry import READERS, sound_plugins
from steelyard.text.normalization import normalized

if TYPE_CHECKING:
    from collections.abc import Iterator

_LANGUAGE = r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*"
_WMT_NAME = re.compile(
    rf"(?P<set>[A-Za-z]+test\d{{4}})\.(?P<source>{_LANGUAGE}?)-(?P<target>{_LANGUAGE})\."
    r"(?:src\.(?P=source)|(?P<kind>ref|hyp)\.(?P<name>.+)\.(?P=target))"
)
_GZIP_ENDING = re.compile(r"(?<=.)\.gz\Z", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class WmtName:
    """What the file name `generaltest2022.en-cs.hyp.Online-A.cs` says."""

    test_set: str
    source_language: str
    target_language: str
    kind: str
    """`src`, `ref` or `hyp`."""
    name: str
    """Label of the reference or name of the system; empty for the source."""

    @property
    def pair(self) -> str:
        """The language pair as WMT writes it, `en-cs`."""
        return f"{self.source_language}-{self.target_language}"


def parse_wmt_name(file_name: str) -> WmtName | None:
    """Take a WMT file name apart, which may end in a format and `.gz`.

    Parameters
    ----------
    file_name : str

    Returns
    -------
    WmtName or None
        None where it is not one.
    """
    match = _WMT_NAME.fullmatch(_stem(file_name))
    if match is None:
        return None
    return WmtName(
        test_set=match["set"],
        source_language=match["source"],
        target_language=match["target"],
        kind=match["kind"] or "src",
        name=match["name"] or "",
    )


def system_name(path: str | os.PathLike[str]) -> str:
    """The system a file belongs to: its name without folder, `.txt` and the like, and WMT's prefix and suffix.

    Parameters
    ----------
    path : path

    Returns
    -------
    str

    Examples
    --------
    >>> system_name("out/generaltest2022.en-cs.hyp.Online-A.cs"), system_name("out/Online-A.txt.gz")
    ('Online-A', 'Online-A')
    """
    file_name = PurePath(path).name or os.fspath(path)
    wmt = parse_wmt_name(file_name)
    if wmt is not None and wmt.name:
        return wmt.name
    return normalized("NFC", _stem(file_name))


def is_text(file_name: str) -> bool:
    """Whether the ending is that of a format of single texts: `.txt`, `.treex.gz` and so on.

    Parameters
    ----------
    file_name : str

    Returns
    -------
    bool
    """
    return _ending(_GZIP_ENDING.sub("", file_name)) != ""


def text_endings() -> list[str]:
    """The endings of formats whose files are named after a system or a reference, the usual one first.

    Returns
    -------
    list of str
    """
    return [ending for reader in READERS if reader.kind is not Kind.DOCUMENTS for ending in reader.endings]


def _stem(file_name: str) -> str:
    unpacked = _GZIP_ENDING.sub("", file_name)
    return unpacked.removesuffix(_ending(unpacked))


def _ending(file_name: str) -> str:
    """The ending of a format of single texts, as it is written; "" where it has none, or is nothing else."""
    return next((file_name[-len(each) :] for each in _endings() if file_name.lower().endswith(each)), "")


def _endings() -> Iterator[str]:
    yield from text_endings()
    for reader in sound_plugins():
        if reader.kind is not Kind.DOCUMENTS:
            yield from reader.endings
