"""Options that several verbs share, as decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.parsing import ManyOption, Option, Value
from steelyard.commands.values import (
    ALPHA,
    MAX_TRIALS,
    MOST_DIGITS,
    MOST_REPLICATES,
    TRIALS,
    UNITS,
    at_most,
    level,
    named_file,
    whole_number,
)
from steelyard.errors import BrokenFormat
from steelyard.formats.registry import FORMATS as INPUT_FORMATS
from steelyard.formats.registry import reader_called
from steelyard.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Any], Any]


GRANULARITIES = ("system", "segment")
MOST_PERMUTATIONS = 1_000_000


def option(*names: str, **more: Any) -> Decorator:
    """An option with one value, or a flag.

    Parameters
    ----------
    *names : str
    **more : object

    Returns
    -------
    Decorator
    """
    return click.option(*names, cls=Option, **more)


def many(*names: str, **more: Any) -> Decorator:
    """An option with several values.

    Parameters
    ----------
    *names : str
    **more : object

    Returns
    -------
    Decorator
    """
    return click.option(*names, cls=ManyOption, **more)


def together(*decorators: Decorator) -> Decorator:
    """Several decorators as one, in the order of the help.

    Parameters
    ----------
    *decorators : Decorator

    Returns
    -------
    Decorator
    """

    def decorate(function: Any) -> Any:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate


def metric_options() -> Decorator:
    """-m, -lc, -tok, --resource, -l.

    Returns
    -------
    Decorator
    """
    return together(
        many(
            "-m", "--metrics", metavar="METRIC...",
            help="metrics as NAME[:key=value]..., e.g. bleu chrf ter bleu:order=1,2:tok=intl (default: bleu chrf ter); "
            "`steelyard metric list` lists them with their parameters",
        ),
        option("-lc", "--lowercase", is_flag=True, help="lowercase all texts in all metrics"),
        option("-tok", "--tokenize", metavar="TOK", help="tokenizer of all metrics that have one by default"),
        many(
            "--resource", parse=named_file, metavar="NAME=FILE...",
            help="a file that a metric asks for by name: word vectors, synonym groups, a lemma table",
        ),
        option(
            "-l", "--language-pair", metavar="SRC-TRG",
            help="language pair, e.g. en-zh: the target chooses the tokenizer (zh, ja-mecab, ko-mecab, else 13a) where "
            "neither -tok nor tok= names one; default: the languages in the files",
        ),
    )  # fmt: skip


def resampling_options(default: int = 0) -> Decorator:
    """--confidence, --level, --seed.

    Parameters
    ----------
    default : int, optional

    Returns
    -------
    Decorator
    """
    return together(
        option(
            "--confidence", is_flag=False, flag_value=1000, type=Value(at_most(MOST_REPLICATES)), default=default,
            metavar="[N]",
            help="bootstrap intervals from N replicates "
            + ("(default: 1000)" if default else "(N: 1000; without the option: none)"),
        ),
        level_option(),
        seed_option("resampling"),
    )  # fmt: skip


def level_option() -> Decorator:
    """--level.

    Returns
    -------
    Decorator
    """
    return option(
        "--level",
        type=Value(level),
        default=0.95,
        metavar="P",
        help="confidence level of the intervals (default: 0.95)",
    )


def replicates_option(default: str) -> Decorator:
    """--replicates: None where it is not given; `default` says what that means.

    Parameters
    ----------
    default : str

    Returns
    -------
    Decorator
    """
    return option(
        "--replicates", type=Value(at_most(MOST_REPLICATES)), metavar="N",
        help=f"bootstrap replicates for the intervals, 0 for none (default: {default})",
    )  # fmt: skip


def granularity_option(default: str = "both") -> Decorator:
    """--granularity; with the default `both` that can be chosen, too.

    Parameters
    ----------
    default : str, optional

    Returns
    -------
    Decorator
    """
    choices = (*GRANULARITIES, "both") if default == "both" else GRANULARITIES
    return option(
        "--granularity", type=click.Choice(choices), default=default,
        help=f"compare scores of systems, or of segments (default: {default})",
    )  # fmt: skip


def statistics_option() -> Decorator:
    """--statistics of a correlation.

    Returns
    -------
    Decorator
    """
    return many(
        "--statistics", metavar="STATISTIC...",
        help="what to compute; the first one ranks and is tested. By system: pearson spearman kendall pairwise "
        "soft-pairwise spearman-share; by segment: acc-eq kendall-wmt14 kendall-by-segment spearman-by-segment pearson "
        "acc kendall-da kendall pearson-by-system (default: the first five of each)",
    )  # fmt: skip


def permutation_option() -> Decorator:
    """--trials of permutation tests.

    Returns
    -------
    Decorator
    """
    return option(
        "--trials", type=Value(at_most(MOST_PERMUTATIONS)), metavar="N",
        help="trials of the permutation tests, 0 for no tests (default: 10,000 by system, 1,000 by segment)",
    )  # fmt: skip


def seed_option(of: str) -> Decorator:
    """--seed.

    Parameters
    ----------
    of : str

    Returns
    -------
    Decorator
    """
    return option(
        "--seed", type=Value(whole_number), default=12345, metavar="N", help=f"seed of the {of} (default: 12345)"
    )


def interval_option() -> Decorator:
    """--interval.

    Returns
    -------
    Decorator
    """
    return option(
        "--interval", type=click.Choice(("percentile", "bca")), default="percentile",
        help="how intervals are computed from replicates: as their percentiles, or corrected for bias and skewness "
        "(default: percentile)",
    )  # fmt: skip


def resample_option() -> Decorator:
    """--resample.

    Returns
    -------
    Decorator
    """
    return option(
        "--resample", type=click.Choice(UNITS), default="segment",
        help="what the bootstrap draws and tests exchange: segments, or whole documents, whose segments are alike "
        "(default: segment)",
    )  # fmt: skip


def resampled_option() -> Decorator:
    """--resample, which chooses among stored leaderboards.

    Returns
    -------
    Decorator
    """
    return option(
        "--resample", type=click.Choice(UNITS),
        help="only leaderboards whose bootstrap draws segments, or whole documents (default: any; of two that differ "
        "in nothing else the one by document)",
    )  # fmt: skip


def paired_test_options(name: str = "--paired", default: str | None = None, correction: str = "holm") -> Decorator:
    """--paired or --test, --trials, --correction, --alpha.

    Parameters
    ----------
    name : str, optional
    default : str or None, optional
    correction : str, optional

    Returns
    -------
    Decorator
    """
    return together(
        option(
            name, type=click.Choice(("bootstrap", "randomization")), default=default,
            help="test systems against one another: by the bootstrap's replicates, or by approximate randomization "
            f"(default: {default or 'no test'})",
        ),
        option(
            "--trials", type=Value(at_most(MAX_TRIALS)), metavar="N",
            help=f"trials of the randomization test (default: {TRIALS}, or as many as the correction needs)",
        ),
        correction_option(correction),
        alpha_option(),
    )  # fmt: skip


def alpha_option() -> Decorator:
    """--alpha.

    Returns
    -------
    Decorator
    """
    return option(
        "--alpha", type=Value(level), default=ALPHA, metavar="P",
        help=f"p-value below which a difference counts (default: {ALPHA})",
    )  # fmt: skip


def correction_option(default: str) -> Decorator:
    """--correction.

    Parameters
    ----------
    default : str

    Returns
    -------
    Decorator
    """
    return option(
        "--correction", type=click.Choice(("none", "holm", "bh")), default=default,
        help="correction of the p-values for the number of pairs: Holm, Benjamini and Hochberg, or none "
        f"(default: {default})",
    )  # fmt: skip


def input_format_option(what: str) -> Decorator:
    """--input-format; `what` it is the format of.

    Parameters
    ----------
    what : str

    Returns
    -------
    Decorator
    """
    return option(
        "--input-format", type=Value(input_format), metavar="NAME",
        help=f"format of {what}: {', '.join(INPUT_FORMATS)} (default: found from the content)",
    )  # fmt: skip


def input_format(name: str) -> str:
    """The name of a format in the registry. Raises ValueError.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    try:
        return reader_called(name).name
    except BrokenFormat as error:
        raise ValueError(str(error).removesuffix(".")) from error


def format_option(*formats: str) -> Decorator:
    """-f, the first format by default; all formats of tables where none are named.

    Parameters
    ----------
    *formats : str

    Returns
    -------
    Decorator
    """
    formats = formats or FORMATS
    return option(
        "-f", "--format", type=click.Choice(formats), default=formats[0], help=f"output format (default: {formats[0]})"
    )


def width_option(default: int, where: str = "") -> Decorator:
    """-w: digits after the point; `where` names the formats that follow it (` in text`).

    Parameters
    ----------
    default : int
    where : str, optional

    Returns
    -------
    Decorator
    """
    return option(
        "-w", "--width", type=Value(at_most(MOST_DIGITS)), default=default, metavar="N",
        help=f"digits after the point{where} (default: {default})",
    )  # fmt: skip


def yes_option() -> Decorator:
    """--yes, for `prompts.confirm`.

    Returns
    -------
    Decorator
    """
    return option("--yes", is_flag=True, help="do not ask whether to do it; needed without a terminal")
