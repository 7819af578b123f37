"""Which language pair of a file of judgments is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.language_pairs import fitting_pairs, of_other_languages
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.meta_evaluation.human.table import Table


def pair_of_table(table: Table, pair: str | None, languages: str) -> str | None:
    """Which language pair of a table is meant, as the table spells it.

    Parameters
    ----------
    table : Table
    pair : str or None
        What is asked for, in any spelling.
    languages : str
        Those of the test set; "" where it does not say.

    Returns
    -------
    str or None
        None where the table names no languages.

    Raises
    ------
    BadTable
        Where the table has several pairs and none, or another one, is chosen; and where its only one is another one
        than the test set's.
    """
    source, target = table.column("srclang", "sourcelanguage"), table.column("trglang", "targetlanguage")
    if source is None or target is None:
        return None
    known = list(dict.fromkeys(f"{row[source]}-{row[target]}" for _, row in table.rows()))
    return pair_meant(known, pair, languages, table.name) if known else None


def pair_meant(known: Sequence[str], pair: str | None, languages: str, name: str) -> str:
    """Which of the language pairs in a file of judgments is meant.

    Parameters
    ----------
    known : sequence of str
        At least one.
    pair : str or None
    languages : str
        As in `pair_of_table`.
    name : str
        Of the file, for messages.

    Returns
    -------
    str

    Raises
    ------
    BadTable
        As `pair_of_table` does.
    """
    there = listed([quoted(each) for each in known], 40)
    if pair is None and len(known) == 1:
        if of_other_languages(known[0], languages):
            raise BadTable(
                f"{name}: holds judgments of {there}, but the test set is of {quoted(languages)}. Choose the test set "
                f"of that pair, or --pair {known[0]} if they are of this one all the same."
            )
        return known[0]
    fitting = fitting_pairs(pair or languages, known)
    if len(fitting) == 1:
        return fitting[0]
    wanted = "several language pairs" if pair is None else f"not the language pair {quoted(pair)}, but"
    if len(fitting) > 1:
        wanted, there = f"several language pairs that {quoted(pair or languages)} may be", listed(fitting, 40)
    raise BadTable(f"{name}: has {wanted}: {there}. Choose one with --pair.")
