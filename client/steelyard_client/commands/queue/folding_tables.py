"""Tables that fold their cells to fit a narrow terminal, unlike those of `steelyard.tables.text`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


def folding_table(*names: str, right: Sequence[int] = ()) -> Table:
    """A table with these columns, some of them (by number) set to the right."""
    from rich import box
    from rich.table import Table

    dashes = box.Box("    \n    \n -  \n    \n    \n    \n    \n    \n", ascii=True)
    table = Table(box=dashes, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, name in enumerate(names):
        table.add_column(name, justify="right" if column in right else "left", overflow="fold")
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add a row of literal cells: names may look like markup."""
    from rich.text import Text

    table.add_row(*(Text(cell) for cell in cells))
