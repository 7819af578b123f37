"""Options that several commands of the server share, as decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.terminal.due import due_time
from steelyard.commands.errors import UsageError
from steelyard.commands.options import (
    interval_option,
    level_option,
    option,
    paired_test_options,
    resampled_option,
    together,
)
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator

CLASSES = ("interactive", "campaign", "nightly")
"""Priority classes of the queue."""


def by_option() -> Decorator:
    """--by."""
    return option("--by", metavar="METRIC", help="metric to rank by (default: the first one)")


def board_options() -> Decorator:
    """NAME, --references, --all, --resample, --level, --interval: which boards, with which intervals."""
    return together(
        click.argument("name", required=False, metavar="[NAME]", help="only this test set, or this campaign"),
        option("--references", metavar="A,B", help="only the leaderboard against exactly these references"),
        option(
            "--all", is_flag=True,
            help="everything, including unranked systems and leaderboards superseded by newer ones",
        ),
        resampled_option(),
        level_option(),
        interval_option(),
    )  # fmt: skip


def test_options() -> Decorator:
    """--test, --trials, --correction, --alpha; `check_trials` says whether they fit."""
    return paired_test_options("--test", "bootstrap", "none")


def check_trials(options: Any) -> None:
    """Raise UsageError where --trials does not fit the test."""
    if options.trials == 0:
        raise UsageError("--trials 0: a test needs at least one trial.")
    if options.trials is not None and options.test == "bootstrap":
        raise UsageError("--trials goes with --test randomization; the bootstrap's replicates are set by `evaluate`.")


def test_set_options() -> Decorator:
    """--test-set and --campaign, where one of each may be the only one."""
    return together(
        option(
            "--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION (default: the only one there is)"
        ),
        option("--campaign", metavar="NAME", help="the campaign (default: the only one with the test set)"),
    )


def class_option(default: str) -> Decorator:
    """--class."""
    return option(
        "--class", "queue_class", type=click.Choice(CLASSES), default=default,
        help=f"priority class in the queue (default: {default})",
    )  # fmt: skip


def due_option() -> Decorator:
    """--due."""
    return option(
        "--due", type=Value(due_time), metavar="TIME",
        help="deadline of the evaluation: 2h, 90m or 3d from now, or a time with its zone, e.g. 2026-11-30T18:00+01:00",
    )  # fmt: skip


def processes_option() -> Decorator:
    """--processes."""
    return option("--processes", type=Value(whole_number), metavar="N", help="worker processes (default: all cores)")
