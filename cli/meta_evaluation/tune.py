"""`steelyard tune`: which value of a metric's parameter correlates best with human judgments."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import processes_option
from cli.stored import read_settings
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    format_option,
    granularity_option,
    level_option,
    many,
    option,
    replicates_option,
    seed_option,
)
from steelyard.commands.parsing import Value
from steelyard.commands.values import named_file, whole_number
from steelyard.commands.writing import write_file
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.parameter_sweep import SweepOptions
    from analysis.meta_evaluation.tuning import Tuned
    from cli.meta_evaluation.tune_measure import Measured
    from steelyard.meta_evaluation.sweep import Sweep

DEFAULT_STATISTICS = {"system": ("pearson",), "segment": ("kendall-wmt14", "pearson")}


@click.command(
    "tune",
    cls=ServerCommand,
    help="Score test sets with many values of one parameter of a metric, in one pass that aligns and compares words "
    "once for all values, and show how well each value correlates with human judgments. With two test sets or more, "
    "the value chosen on one is reported on the others, with its gain over the default and its interval. Scores are "
    "stored and never computed twice. It reads folders and writes to the database, so it runs where they are: there "
    "is no --server.",
    example="steelyard tune tbleu eps newstest2023 newstest2024 --with vectors=news",
)
@click.argument("metric", metavar="METRIC", help="name of a metric, such as tbleu")
@click.argument("parameter", metavar="PARAMETER", help="the parameter to try, such as eps")
@click.argument(
    "sets",
    nargs=-1,
    metavar="[DIR|NAME...]",
    help="campaign folders, as `evaluate` takes them, or test sets in the database; each with human judgments",
)
@many(
    "--values",
    metavar="V...",
    help="values to try, one by one or in one word with commas (default: those of the metric's paper)",
)
@option("--from", "first", metavar="V", help="with --to and --steps: values at equal distances")
@option("--to", "last", metavar="V", help="with --from and --steps: the last value")
@option("--steps", type=Value(whole_number), metavar="N", help="how many values from --from to --to")
@option(
    "--with",
    "fixed",
    multiple=True,
    metavar="KEY=VALUE",
    help="another parameter of the metric; with a repeated key, each value gets a curve of its own",
)
@many(
    "--against",
    metavar="METRIC...",
    help="metrics to compare a chosen value with (default: the metric's default, and the BLEU it is based on)",
)
@many(
    "--references",
    metavar="A,B...",
    help="references to score against: each, all, or labels such as A B A,B (default: each all)",
)
@option("--human", metavar="NAME[@VERSION]", help="which human judgments (default: the only ones)")
@granularity_option()
@many(
    "--statistics",
    metavar="NAME...",
    help="statistics of `steelyard correlate`, at each level those that it has (default: pearson; of segments "
    "kendall-wmt14 too)",
)
@many("--choose-on", metavar="SET...", help="test sets that choose a value (default: every one in turn)")
@many("--report-on", metavar="SET...", help="test sets that it is reported on (default: all the others)")
@option(
    "--folds",
    type=Value(whole_number),
    default=5,
    metavar="N",
    help="parts of the documents for choosing and reporting on one test set (default: 5; 0: none)",
)
@replicates_option("1,000")
@level_option()
@seed_option("resampling")
@many(
    "--resource",
    parse=named_file,
    metavar="NAME=FILE...",
    help="a file that the metric asks for by name, such as word vectors",
)
@processes_option()
@format_option("text", "json", "tsv")
@option("--plot", type=Value(Path), metavar="FILE.svg", help="also draw the curves")
@database_option()
@collected
def tune(options: Options) -> int:
    """Score the sweeps, correlate with human judgments, choose values and print them; the exit status."""
    from cli.meta_evaluation import tune_output
    from cli.meta_evaluation.tune_measure import measure

    sweeps = requested_sweeps(options)
    questions = requested_questions(options)
    given = list(dict.fromkeys([*options.sets, *options.choose_on, *options.report_on]))
    if not given:
        raise UsageError("No test set is given. Name campaign folders, or test sets that are in the database.")
    settings = read_settings(options)
    measured = measure(options, settings, given, sweeps)
    tuned = [tuned_variant(options, label, measured[label], questions) for label in sweeps]
    show = {"text": tune_output.as_text, "json": tune_output.as_json, "tsv": tune_output.as_tsv}[options.format]
    print(show(tuned, options.level), end="")
    if options.plot:
        write_file(options.plot, tune_output.as_svg(tuned, options.level))
    return 0


def requested_sweeps(options: Options) -> dict[str, Sweep]:
    """The sweeps by their label, "" for a single one. Raises UsageError and BadParameter."""
    from steelyard.meta_evaluation.sweep import evenly, published_values, sweep
    from steelyard.metrics.registry import asked_metrics, metric_class
    from steelyard.tokenizers.registry import AUTO

    metric, _, more = options.metric.partition(":")
    spaced = (options.first, options.last, options.steps)
    if any(each is not None for each in spaced):
        if options.values or None in spaced:
            raise UsageError("Give either --values, or all of --from, --to and --steps.")
        values = evenly(*spaced)
    elif options.values:
        values = options.values[0].split(",") if len(options.values) == 1 else options.values
    else:
        published = published_values(metric, options.parameter)
        if published is None:
            raise UsageError(f"No paper says which values of {metric}'s {options.parameter} to try: give --values.")
        values = published
    fixed: dict[str, list[str]] = {}
    for text in [*(more.split(":") if more else []), *options.fixed]:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f'--with {text}: write KEY=VALUE, e.g. "vectors=news".')
        fixed.setdefault(key, []).append(value)
    if options.parameter != "tok" and "tok" not in fixed and metric_class(metric).follows_language():
        fixed["tok"] = [AUTO]
    rivals = asked_metrics(options.against) if options.against else None
    sweeps = {}
    for chosen in product(*fixed.values()):
        together = dict(zip(fixed, chosen, strict=True))
        label = ", ".join(f"{key}={value}" for key, value in together.items() if len(fixed[key]) > 1)
        sweeps[label] = sweep(metric, options.parameter, values, together, rivals)
    return sweeps


def requested_questions(options: Options) -> list[SweepOptions]:
    """The requested levels and statistics. Raises UsageError."""
    from analysis.meta_evaluation.parameter_sweep import SweepOptions
    from steelyard.meta_evaluation.correlation import LEVELS
    from steelyard.meta_evaluation.statistics import SEGMENT_STATISTICS, SYSTEM_STATISTICS

    known = {
        "system": tuple(each.name for each in SYSTEM_STATISTICS),
        "segment": tuple(each.name for each in SEGMENT_STATISTICS),
    }
    levels = LEVELS if options.granularity == "both" else (options.granularity,)
    wanted = options.statistics
    for name in wanted or ():
        if not any(name in known[each] for each in levels):
            listed = "; ".join(f"by {each} {', '.join(known[each])}" for each in levels)
            raise UsageError(f'There is no statistic "{name}". There are: {listed}.')
    return [
        SweepOptions(each, name)
        for each in levels
        for name in (wanted or DEFAULT_STATISTICS[each])
        if name in known[each]
    ]


def tuned_variant(
    options: Options, label: str, measured: Sequence[Measured], questions: Sequence[SweepOptions]
) -> Tuned:
    """The curves of one variant, and the values chosen on one test set and reported on another.

    Raises CommandError where the judgments are too few for every question.
    """
    from analysis.meta_evaluation.tuning import Tuned, cross_fit, transfer_choice

    sweep = measured[0].sweep
    agreements = {}
    for question in questions:
        for one in measured:
            found = [swept.agreement(question) for swept in one.swept]
            if any(agreement.defined for agreement in found):
                agreements[one.given, question] = found
            else:
                what = f"{question.statistic} at the {question.level} level"
                note([f"{one.swept[0].listed.name}: too few human judgments for {what}."])
    if not agreements:
        raise CommandError("There are too few human judgments for this. Try --granularity both.")
    choices, crossed = [], []
    for (there, question), found in agreements.items():
        sources = [
            agreements[one.given, question]
            for one in measured
            if (one.given, question) in agreements
            and one.given != there
            and one.given in (options.choose_on or [one.given])
            and there in (options.report_on or [there])
        ]
        for source in sources:
            pairs = zip(source, found, strict=True) if len(source) == len(found) else [(source[-1], found[-1])]
            choices += [transfer_choice(sweep, first, second, options.level) for first, second in pairs]
        if not any((one.given, question) in agreements for one in measured if one.given != there):
            # No other test set can validate the choice.
            swept = next(one.swept for one in measured if one.given == there)
            for each, agreement in zip(swept, found, strict=True):
                fitted = cross_fit(sweep, each, question, options.level, options.folds)
                if fitted is not None:
                    crossed.append(fitted)
                else:
                    choices.append(transfer_choice(sweep, agreement, agreement, options.level))
    return Tuned(
        label,
        sweep,
        tuple(agreement for found in agreements.values() for agreement in found),
        tuple(choice for choice in choices if choice is not None),
        tuple(crossed),
    )
