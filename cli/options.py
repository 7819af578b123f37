"""Options that several verbs share, and the values parsed from them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from steelyard.commands import values
from steelyard.commands.errors import UsageError
from steelyard.commands.values import ALPHA, MAX_TRIALS, MOST_DIGITS, MOST_REPLICATES, TRIALS
from steelyard.errors import BrokenFormat
from steelyard.formats.registry import FORMATS as INPUT_FORMATS
from steelyard.formats.registry import reader_called
from steelyard.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

WATCH_SECONDS = 1.0
"""Default interval between two reads of the queue."""


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """-m, -lc, -tok, -l."""
    parser.add_argument(
        "-m", "--metrics", nargs="+", action="extend", metavar="METRIC", default=None,
        help="metrics as NAME[:key=value]..., e.g. bleu chrf ter bleu:order=1,2:tok=intl (default: bleu chrf ter); "
        "`steelyard metric list` lists them with their parameters",
    )  # fmt: skip
    parser.add_argument("-lc", "--lowercase", action="store_true", help="lowercase all texts in all metrics")
    parser.add_argument("-tok", "--tokenize", metavar="TOK", help="tokenizer of all metrics that have one by default")
    parser.add_argument(
        "--resource", nargs="+", action="extend", type=named_file, default=[], metavar="NAME=FILE",
        help="a file that a metric asks for by name: word vectors, synonym groups, a lemma table",
    )  # fmt: skip
    parser.add_argument(
        "-l",
        "--language-pair",
        metavar="SRC-TRG",
        help="language pair, e.g. en-zh: the target chooses the tokenizer (zh, ja-mecab, ko-mecab, else 13a) where "
        "neither -tok nor tok= names one; default: the languages in the files",
    )


def add_resampling_options(parser: argparse.ArgumentParser, default: int) -> None:
    """--confidence, --level, --seed."""
    parser.add_argument(
        "--confidence", nargs="?", type=at_most(MOST_REPLICATES), const=1000, default=default, metavar="N",
        help=f"bootstrap intervals from N replicates (N: 1000; without the option: {default or 'none'})",
    )  # fmt: skip
    parser.add_argument(
        "--level",
        type=level,
        default=0.95,
        metavar="P",
        help="confidence level of the intervals (default: 0.95)",
    )
    parser.add_argument("--seed", type=whole_number, default=12345, help="seed of the resampling (default: 12345)")


def add_interval_option(parser: argparse.ArgumentParser) -> None:
    """--interval."""
    parser.add_argument(
        "--interval", choices=("percentile", "bca"), default="percentile",
        help="how intervals are made of replicates: their percentiles, or corrected for bias and skewness "
        "(default: percentile)",
    )  # fmt: skip


def add_test_options(parser: argparse.ArgumentParser, *, paired: str | None, correction: str) -> None:
    """--paired, --trials, --correction, --alpha; the defaults of --paired and --correction are given."""
    parser.add_argument(
        "--paired", choices=("bootstrap", "randomization"), default=paired,
        help="test systems against one another: by the bootstrap's replicates, or by approximate randomization "
        f"(default: {paired or 'no test'})",
    )  # fmt: skip
    parser.add_argument(
        "--trials", type=at_most(MAX_TRIALS), metavar="N",
        help=f"trials of the randomization test (default: {TRIALS}, or as many as the correction needs)",
    )  # fmt: skip
    parser.add_argument(
        "--correction", choices=("none", "holm", "bh"), default=correction,
        help="correction of the p-values for the number of pairs: Holm, Benjamini and Hochberg, or none "
        f"(default: {correction})",
    )  # fmt: skip
    parser.add_argument(
        "--alpha",
        type=level,
        default=ALPHA,
        metavar="P",
        help="p-value below which a difference counts (default: %(default)s)",
    )


def check_trials(options: argparse.Namespace) -> None:
    """Raise UsageError where --trials does not fit the test."""
    if options.trials == 0:
        raise UsageError("--trials 0: a test needs at least one trial.")
    if options.trials is not None and options.paired == "bootstrap":
        raise UsageError(
            "--trials goes with --paired randomization; the replicates of the bootstrap are --confidence N."
        )


def argument(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of values as argparse wants it: what is wrong with a value is an ArgumentTypeError."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


named_file, whole_number, level = argument(values.named_file), argument(values.whole_number), argument(values.level)


def at_most(most: int) -> Callable[[str], int]:
    """A parser of integers from 0 to `most`."""
    return argument(values.at_most(most))


def add_width_option(parser: argparse.ArgumentParser, default: int, where: str = "") -> None:
    """-w: digits after the point; `where` names the formats that follow it (` in text`)."""
    parser.add_argument(
        "-w", "--width", type=at_most(MOST_DIGITS), default=default, metavar="N",
        help=f"digits after the point{where} (default: {default})",
    )  # fmt: skip


def add_format_option(parser: argparse.ArgumentParser) -> None:
    """-f."""
    parser.add_argument("-f", "--format", choices=FORMATS, default=FORMATS[0], help="output format (default: text)")


def add_input_format_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--input-format; `what` it is the format of."""
    parser.add_argument(
        "--input-format", type=input_format, metavar="NAME",
        help=f"format of {what}: {', '.join(INPUT_FORMATS)} (default: found from the content)",
    )  # fmt: skip


def input_format(name: str) -> str:
    """The name of a format in the registry. Raises what argparse prints as a usage error."""
    try:
        return reader_called(name).name
    except BrokenFormat as error:
        raise argparse.ArgumentTypeError(str(error)) from error
