"""Names of systems, references and campaigns: which can be used, and how they are shown."""

from __future__ import annotations

import unicodedata

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


def fault_of_name(name: str) -> str | None:
    """What is wrong with the name of a system, a reference or a campaign; None when nothing is.

    Parameters
    ----------
    name : str

    Returns
    -------
    str or None
    """
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
    """Equal for names that people, or file systems, would take for the same.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    return normalized("NFKC", normalized("NFKC", name).casefold())


def hides(character: str) -> bool:
    """Whether a character controls or hides something instead of being shown, such as the escape of a terminal.

    Joiners do not: some scripts need them.

    Parameters
    ----------
    character : str

    Returns
    -------
    bool
    """
    return (unicodedata.category(character) in _HIDDEN and character not in _JOINERS) or character in _FILLERS


def visible(text: str) -> str:
    """A text of others as a terminal shows it: lines and tabs stay, whatever else hides or controls is escaped.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if hides(c) and c not in "\n\t" else c for c in text)


def printable(name: str) -> str:
    """A file name as messages show it: undecodable bytes and control characters are escaped.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    shown = name.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
