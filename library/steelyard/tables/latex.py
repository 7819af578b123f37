r"""LaTeX tables in the style of the package booktabs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.tables.formatting import Notation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from steelyard.tables.table import Column, Table

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
}
NOTATION = Notation(dash="–")
"""A hyphen between digits would become a minus sign."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NUMBERS = re.compile(r"(?=\D*+\d)[-+\d.,\[\]() */±]++")
_LIGATURE = re.compile(r"([-'?!])(?=[-'`])")


def escaped(text: str) -> str:
    r"""Text as LaTeX shows it, whatever it holds; hyphens become minus signs where there is nothing but numbers.

    >>> escaped("50 % of a_b"), escaped("-1.5 [-2.0, +0.2]")
    ('50 \\% of a\\_b', '$-$1.5 [$-$2.0, $+$0.2]')

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    if _NUMBERS.fullmatch(text):
        return re.sub(r"[-+](?=\d)", r"$\g<0>$", text).replace("±", r"$\pm$")
    text = _CONTROL.sub(" ", text)
    # An empty group keeps "--" and the like from becoming another character.
    return "".join(_SPECIAL.get(character, character) for character in _LIGATURE.sub("\\1\0", text)).replace("\0", "{}")


def as_latex(table: Table) -> str:
    r"""Return the table in booktabs' style, then its notes as comments; needs `\usepackage{booktabs}`.

    The best values are bold; an arrow behind a title says which way is better.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    if not table.rows:
        return comments([*([table.title] if table.title else []), table.empty, *table.notes])
    header = [_title(column) for column in table.columns]
    rows = [
        [_cell(text, (row, place) in table.best, (row, place) in table.starred) for place, text in enumerate(cells)]
        for row, cells in enumerate(table.cells(NOTATION))
    ]
    sides = "".join("r" if column.numeric else "l" for column in table.columns)
    rules = [number + 1 for number in table.rules if number < len(rows)]
    return booktabs([header, *rows], sides, table.title, rules=rules) + comments(table.notes)


def _title(column: Column) -> str:
    # A p-value is a variable.
    text = re.sub(r"\bp$", "$p$", escaped(column.title)) if column.kind == "p" else escaped(column.title)
    better = column.higher_is_better
    return text if better is None else f"{text} {_SPECIAL['↑' if better else '↓']}"


def _cell(text: str, best: bool, starred: bool) -> str:
    number, space, rest = text.strip().partition(" ") if best or starred else (text.strip(), "", "")
    shown = rf"\textbf{{{escaped(number)}}}" if best else escaped(number)
    return shown + ("$^{*}$" if starred else "") + space + escaped(rest)


def booktabs(rows: Sequence[Sequence[str]], columns: str, caption: str, *, rules: Collection[int] = ()) -> str:
    r"""Return a table of cells that are LaTeX already; the first row is the header.

    `columns` gives l, r or c for each, `caption` is plain text. `rules` come before the rows with these numbers. Needs
    `\usepackage{booktabs}`.

    Parameters
    ----------
    rows : sequence of sequence of str
    columns : str
    caption : str
    rules : collection of int, optional

    Returns
    -------
    str
    """
    lines = [_line(row) for row in rows]
    body = [
        part for number, line in enumerate(lines[1:], 1) for part in (*([r"\midrule"] if number in rules else []), line)
    ]
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        )
    )


def comments(notes: Iterable[str]) -> str:
    """Return notes as LaTeX comments, one line each whatever they contain.

    Parameters
    ----------
    notes : iterable of str

    Returns
    -------
    str
    """
    return "".join(f"% {_CONTROL.sub(' ', note)}\n" for note in notes)


def _line(cells: Sequence[str]) -> str:
    line = " & ".join(cells) + r" \\"
    # A bracket or star here would be taken for an argument of the preceding command.
    return "{}" + line if line.startswith(("[", "*")) else line
