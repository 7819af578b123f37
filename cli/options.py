"""Options that several verbs share, and the values parsed from them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from steelyard.errors import BrokenFormat
from steelyard.formats.registry import FORMATS, reader_called

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.resources import Resources

DEFAULT_METRICS = ("bleu", "chrf", "ter")
TRIALS = 10_000
"""Trials of the randomization test: `steelyard.resampling.randomization.TRIALS`, not imported to keep help fast."""
WATCH_SECONDS = 1.0
"""Default interval between two reads of the queue."""
ALPHA = 0.05
"""The same as `analysis.leaderboard.significance.ALPHA`."""
MOST_REPLICATES = 100_000
"""More would fill the memory and change no printed digit."""
MAX_TRIALS = 10_000_000
"""The same as in `scheduler.enqueue.randomization`."""
MOST_DIGITS = 17
"""Digits after the point: a float64 has no more."""


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """-m, -lc, -tok, -l."""
    parser.add_argument(
        "-m", "--metrics", nargs="+", action="extend", metavar="METRIC", default=None,
        help="metrics as NAME[:key=value]..., e.g. bleu chrf ter bleu:order=1,2:tok=intl (default: bleu chrf ter); "
        "`steelyard metrics` lists them with their parameters",
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


def named_file(text: str) -> tuple[str, Path]:
    """Parse NAME=FILE."""
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form NAME=FILE')
    return name, Path(file)


def whole_number(text: str) -> int:
    """Parse a non-negative integer below 2^63."""
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number')
    return int(text)


def at_most(most: int) -> Callable[[str], int]:
    """A parser of integers from 0 to `most`."""

    def number(text: str) -> int:
        found = whole_number(text)
        if found > most:
            raise argparse.ArgumentTypeError(f"{text}: {most:,} is the most")
        return found

    return number


def add_width_option(parser: argparse.ArgumentParser, default: int, where: str = "") -> None:
    """-w: digits after the point; `where` names the formats that follow it (` in text`)."""
    parser.add_argument(
        "-w", "--width", type=at_most(MOST_DIGITS), default=default, metavar="N",
        help=f"digits after the point{where} (default: {default})",
    )  # fmt: skip


def level(text: str) -> float:
    """Parse a level or probability strictly between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number between 0 and 1, such as 0.05 for 5 %')
    return value


def chosen_metrics(options: argparse.Namespace) -> list[Metric]:
    """The metrics of -m with the defaults of -lc and -tok, before `resolved_metrics`.

    Raises UnknownMetric, BadParameter and UsageError.
    """
    from steelyard.metrics.registry import asked_metrics

    if options.language_pair:
        source, dash, target = options.language_pair.partition("-")
        if not (source and dash and target):
            raise UsageError(f'-l {options.language_pair}: a language pair is written SRC-TRG, e.g. "en-cs".')
    return asked_metrics(options.metrics or DEFAULT_METRICS, _defaults(options))


def asked_for(options: argparse.Namespace) -> list[str]:
    """The specifications of the same metrics as the user wrote them, independent of the target language."""
    from steelyard.metrics.registry import parse_metrics

    metrics = parse_metrics(options.metrics or DEFAULT_METRICS, _defaults(options))
    return [metric.specification for metric in metrics]


def _defaults(options: argparse.Namespace) -> dict[str, str]:
    defaults = {}
    if options.lowercase:
        defaults["case"] = "lc"
    if options.tokenize:
        defaults["tok"] = checked_tokenizer(options.tokenize)
    return defaults


def checked_tokenizer(name: str) -> str:
    """The name, if a tokenizer has it. Raises UsageError."""
    from steelyard.tokenizers.registry import AUTO, TOKENIZERS

    if name not in (AUTO, *TOKENIZERS):
        raise UsageError(f'There is no tokenizer "{name}". Tokenizers: {", ".join((AUTO, *TOKENIZERS))}.')
    return name


def resolved_metrics(
    options: argparse.Namespace, metrics: Sequence[Metric], resources: Resources, language: str, texts: Sequence[Text]
) -> list[Metric]:
    """The metrics with everything pinned that they take from language, texts and resources; prints the notices.

    `language` is the target language where the input names it; -l takes precedence. Raises MetricsError.
    """
    from steelyard.formats.layers import common_layers
    from steelyard.metrics.context import RunContext, resolve

    _, _, target = (options.language_pair or "").partition("-")
    found = {text.name: tuple(text.layers) for text in texts}
    resolved, notices = resolve(metrics, RunContext(target or language, common_layers(texts), resources, found))
    note(notices)
    return resolved


def note(sentences: Iterable[str]) -> None:
    """Print notices that are not errors to standard error."""
    tell(f"note: {sentence}" for sentence in sentences)


def tell(lines: Iterable[str]) -> None:
    """Print lines to standard error."""
    for line in lines:
        print(line, file=sys.stderr)


def add_input_format_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--input-format; `what` it is the format of."""
    parser.add_argument(
        "--input-format", type=input_format, metavar="NAME",
        help=f"format of {what}: {', '.join(FORMATS)} (default: found from the content)",
    )  # fmt: skip


def input_format(name: str) -> str:
    """The name of a format in the registry. Raises what argparse prints as a usage error."""
    try:
        return reader_called(name).name
    except BrokenFormat as error:
        raise argparse.ArgumentTypeError(str(error)) from error
