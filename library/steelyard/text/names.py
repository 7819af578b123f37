"""Names of systems and references, and how file names say them."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePath

from steelyard.text.normalization import normalized

MAX_NAME_LENGTH = 100

# Punctuation that is harmless in file names, tables, web addresses and metric specifications alike.
_PUNCTUATION = frozenset("._-+()@=,~#'& ")

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_VARIATIONS = "".join(
    chr(code) for start, end in ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0)) for code in range(start, end)
)
"""Letters and marks that take no ink. The latter choose the look of what stands before them, so texts may have them."""

_LANGUAGE = r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*"
_WMT_NAME = re.compile(
    rf"(?P<set>[A-Za-z]+test\d{{4}})\.(?P<source>{_LANGUAGE}?)-(?P<target>{_LANGUAGE})\."
    r"(?:src\.(?P=source)|(?P<kind>ref|hyp)\.(?P<name>.+)\.(?P=target))"
)

_GZIP_ENDING = re.compile(r"(?<=.)\.gz\Z", re.IGNORECASE | re.DOTALL)
_FORMAT_ENDING = re.compile(r"\.(?:txt|conllu|tmt|treex)\Z", re.IGNORECASE)


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
    """Take a WMT file name apart, which may end in a format and `.gz`; None when it is not one."""
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

    >>> system_name("out/generaltest2022.en-cs.hyp.Online-A.cs"), system_name("out/Online-A.txt.gz")
    ('Online-A', 'Online-A')
    """
    file_name = PurePath(path).name or os.fspath(path)
    wmt = parse_wmt_name(file_name)
    if wmt is not None and wmt.name:
        return wmt.name
    return normalized("NFC", _stem(file_name))


def is_text(file_name: str) -> bool:
    """Whether the ending is that of a text with one segment after the other: `.txt`, `.treex.gz` and so on."""
    return _FORMAT_ENDING.search(_GZIP_ENDING.sub("", file_name)) is not None


def _stem(file_name: str) -> str:
    return _FORMAT_ENDING.sub("", _GZIP_ENDING.sub("", file_name))


def fault_of_name(name: str) -> str | None:
    """What is wrong with the name of a system, a reference or a campaign; None when nothing is."""
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"it has {len(name)} characters; {MAX_NAME_LENGTH} are allowed"
    for character in name:
        # Letters, marks and numbers of any script that can be seen; no control, format or private characters.
        unseen = character in _FILLERS or character in _VARIATIONS
        if unseen or (character not in _PUNCTUATION and unicodedata.category(character)[0] not in "LMN"):
            return (
                f"it contains {character!a}; allowed are letters, digits, space and "
                f"{' '.join(sorted(_PUNCTUATION - {' '}))}"
            )
    if name[0] in " -." or name[-1] == " ":
        return "it begins with a space, hyphen or dot, or ends with a space"
    return None


def folded(name: str) -> str:
    """Equal for names that people, or file systems, would take for the same."""
    return normalized("NFKC", normalized("NFKC", name).casefold())


def hides(character: str) -> bool:
    """Whether a character controls or hides something instead of being shown, such as the escape of a terminal.

    Joiners do not: some scripts need them.
    """
    return (unicodedata.category(character) in _HIDDEN and character not in _JOINERS) or character in _FILLERS


def visible(text: str) -> str:
    """A text of others as a terminal shows it: lines and tabs stay, whatever else hides or controls is escaped."""
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if hides(c) and c not in "\n\t" else c for c in text)


def printable(name: str) -> str:
    """A file name as messages show it: undecodable bytes and control characters are escaped."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
