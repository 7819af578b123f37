"""Options that several commands of the server share, as decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.options import option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator


def by_option() -> Decorator:
    """--by."""
    return option("--by", metavar="METRIC", help="metric to rank by (default: the first one)")


def test_set_options() -> Decorator:
    """--test-set and --campaign, where one of each may be the only one."""
    return together(
        option(
            "--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION (default: the only one there is)"
        ),
        option("--campaign", metavar="NAME", help="the campaign (default: the only one with the test set)"),
    )


def processes_option() -> Decorator:
    """--processes."""
    return option("--processes", type=Value(whole_number), metavar="N", help="worker processes (default: all cores)")
