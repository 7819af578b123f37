"""Cells of tables that spreadsheets open: written so that none is a formula, and read back as they were."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

SIGNS = "=+-@⁺⁼₊₌﬩﹢﹣﹦﹫＋－＝＠"
"""What begins a formula; spreadsheets of East Asia also read the wide signs, and some normalize the others."""
_UNSEEN = r"\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800"
"""White space, and what takes no ink: programs trim the one or the other before they look at a cell."""
_SIGN = f"[{regex.escape(SIGNS)}]"
_BEGINS = regex.compile(rf"['{_UNSEEN}]*+(?={_SIGN})")
_AFTER = rf"((?:(?![\t\r\n])['{_UNSEEN}])*+(?={_SIGN}))"
_DIVIDED = regex.compile(rf"([,;\t\r\n]){_AFTER}")
"""Where a program set to other separators, as German ones are, would begin a cell."""
_GUARDED = regex.compile(rf"([,;\t\r\n])'{_AFTER}")
_QUOTED = regex.compile(r'"((?:[^"]|"")*+)"')


def defused(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe goes before whatever would begin one.

    Also before what begins so behind apostrophes, so that it can be undone: one apostrophe goes where they are followed
    by a formula.

    >>> defused("=1+1"), defused("'=1"), defused("1-1")
    ("'=1+1", "''=1", '1-1')

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    text = _DIVIDED.sub(r"\1'\2", text)
    return f"'{text}" if _BEGINS.match(text) else text


def restored(text: str) -> str:
    """What `defused` was given.

    >>> restored("'=1+1"), restored("''=1"), restored("'tis")
    ('=1+1', "'=1", "'tis")

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    if "'" not in text:
        return text
    if text[0] == "'" and _BEGINS.match(text, 1):
        text = text[1:]
    return str(_GUARDED.sub(r"\1\2", text))


def cells_of(line: str) -> list[str]:
    """The cells of a line between tabs, which our own writer may have quoted..

    A cell that stands in quotation marks from its first character to its last loses them; others keep theirs.

    Parameters
    ----------
    line : str

    Returns
    -------
    list of str
    """
    cells = line.split("\t")
    if '"' in line:
        cells = [quoted[1].replace('""', '"') if (quoted := _QUOTED.fullmatch(cell)) else cell for cell in cells]
    return [restored(cell) for cell in cells] if "'" in line else cells
