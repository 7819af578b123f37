"""`steelyard score`: scores at once, without a database or a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.chosen_metrics import chosen_metrics, resolved_metrics
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    format_option,
    input_format_option,
    interval_option,
    many,
    metric_options,
    option,
    paired_test_options,
    resample_option,
    resampling_options,
    width_option,
)
from steelyard.commands.parsing import Command, Value
from steelyard.commands.progress import counted
from steelyard.commands.scoring.score_options import ScoreOptions
from steelyard.commands.scoring.test_sets import TestSetChoice, chosen_segments, echoed, test_set_options
from steelyard.commands.values import whole_number
from steelyard.formats.reader import Kind
from steelyard.formats.registry import titles
from steelyard.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.commands.parsing import Occurrence
    from steelyard.commands.scoring.inputs import GivenSystem, Inputs
    from steelyard.commands.scoring.score_result import Result
    from steelyard.metrics.metric import Metric

REPLICATES = 1000
"""Default bootstrap replicates where a test or an interval needs them."""


_DESCRIPTION = (
    "Score systems against references, one segment per line, sentence or bundle in every file: "
    f"{titles([Kind.LINES, Kind.SIDES])}. Files in {titles([Kind.IDS, Kind.DOCUMENTS])} are matched by document "
    "and segment ids. All may be packed with gzip. Of a TectoMT or Treex document with several sides, FILE:PART "
    "names the layer (sample.tmt:TCzechA) or zone (sample.treex:cs_ref). Without -i the system is read from "
    "standard input."
)


@click.command(
    "score",
    cls=Command,
    help=_DESCRIPTION,
    example="steelyard score reference.txt -i ours.txt theirs.txt -m bleu chrf --confidence",
)
@click.argument("references", nargs=-1, metavar="REF...", help="reference files; none with -t")
@many("systems", "-i", "--input", grouped=True, metavar="SYSTEM...", help="system outputs")
@many(
    "systems",
    "--system",
    grouped=True,
    metavar="NAME FILE...",
    help="a system and the outputs of its runs (seeds, optimizer runs), whose mean is its score; repeatable",
)
@option("-src", "--source", metavar="FILE", help="what was translated, for metrics that read it")
@test_set_options()
@metric_options()
@resampling_options()
@interval_option()
@resample_option()
@option(
    "--documents",
    metavar="FILE",
    help="the document of each segment, for --resample document: a table with the columns segment and doc_id, or a "
    "line for each segment with domain, tab and document; files with ids need none",
)
@paired_test_options()
@option(
    "--baseline",
    metavar="SYSTEM",
    help="the system that all others are tested against; none: test all pairs (default: the first system)",
)
@option("--all-pairs", is_flag=True, help="test all pairs: short for --baseline none")
@option("--segments", is_flag=True, help="also print the score of every segment")
@option(
    "--runs",
    is_flag=True,
    help="also print the runs of words that gtm matches in every segment: length, places, words",
)
@option("--shard-size", type=Value(whole_number), metavar="N", help="segments scored at a time; does not change scores")
@option(
    "--variable-references",
    is_flag=True,
    help="an empty line in a reference file means that the segment lacks this reference",
)
@input_format_option("all files")
@format_option(*FORMATS, "scr")
@option("-b", "--score-only", is_flag=True, help="print the scores alone")
@width_option(1, " in text, LaTeX and HTML")
def score(
    references: Sequence[str],
    systems: Sequence[Occurrence],
    source: str | None,
    variable_references: bool,
    input_format: str | None,
    format: str,  # noqa: A002 - the option's name
    **given: Any,
) -> int:
    """Read, score and print; the exit status."""
    from importlib import import_module

    from steelyard.commands.scoring.inputs import GivenSystem, read_inputs
    from steelyard.formats.input.contents import STDIN

    choice = TestSetChoice(
        given.pop("test_set"), given["language_pair"], given.pop("echo"), given.pop("origlang"), given.pop("subset")
    )
    test_set = choice.found(references)
    if test_set is not None and choice.echo:
        print(echoed(test_set, choice), end="")
        return 0
    if test_set is not None:
        references = [str(path) for path in test_set.references]
        source = source or str(test_set.fields["src"])
    options = ScoreOptions(**given)
    check_paired(options)
    metrics = chosen_metrics(options)
    if format == "scr":
        from steelyard.commands.scoring.score_scr import check

        check(metrics)
    inputs = read_inputs(
        references,
        list(given_systems(systems)) or [GivenSystem([STDIN])],
        variable_references=variable_references,
        input_format=input_format,
        source=source,
    )
    if test_set is not None:
        inputs = chosen_segments(inputs, test_set, choice)
    result = scored(options, metrics, inputs)
    print(import_module(f"steelyard.commands.scoring.score_{format}").render(result), end="")
    return 0


def given_systems(occurrences: Sequence[Occurrence]) -> Iterator[GivenSystem]:
    """The systems of -i and --system, in the order of the command line. Raises UsageError.

    Parameters
    ----------
    occurrences : sequence of Occurrence
    """
    from steelyard.commands.scoring.inputs import GivenSystem

    for option_name, values in occurrences:
        if option_name != "--system":
            yield from (GivenSystem([file]) for file in values)
            continue
        name, *files = values
        if not (name.strip() and files):
            raise UsageError(f"--system {name}: give the name of a system and then the output of each of its runs.")
        yield GivenSystem(files, name)


def check_paired(options: ScoreOptions) -> None:
    """Set the replicates that tests and intervals need. Raises UsageError for options that cannot be combined.

    Parameters
    ----------
    options : ScoreOptions
    """
    if options.documents and options.resample == "segment":
        raise UsageError("--documents goes with --resample document.")
    if options.resample == "document" and not (options.confidence or options.paired):
        raise UsageError("--resample document goes with --confidence or --paired.")
    others = {
        "--baseline": options.baseline is not None,
        "--all-pairs": options.all_pairs,
        "--trials": options.trials is not None,
        "--correction": options.correction != "holm",
    }
    for name, given in others.items():
        if given and not options.paired:
            raise UsageError(f"{name} goes with a test: add --paired bootstrap or --paired randomization.")
    if options.all_pairs and options.baseline not in (None, "none"):
        raise UsageError("--all-pairs has no baseline: leave out one of --all-pairs and --baseline.")
    if options.trials == 0:
        raise UsageError("--trials 0: a test needs at least one trial.")
    if options.trials is not None and options.paired == "bootstrap":
        raise UsageError(
            "--trials goes with --paired randomization; the replicates of the bootstrap are --confidence N."
        )
    if (options.paired or options.interval != "percentile") and not options.confidence:
        options.confidence = REPLICATES


def scored(options: ScoreOptions, metrics: Sequence[Metric], inputs: Inputs) -> Result:
    """Score the inputs; `options` are those of `score`.

    Raises MetricsError, and UsageError where input or metrics do not support the options.

    Parameters
    ----------
    options : ScoreOptions
    metrics : sequence of Metric
    inputs : Inputs

    Returns
    -------
    Result
    """
    from steelyard.commands.registered import registered_resources
    from steelyard.commands.scoring.documents import documents_of
    from steelyard.commands.scoring.runs import TakenRuns
    from steelyard.commands.scoring.score_result import conclude
    from steelyard.metrics.score_systems import LARGEST_SHARD, score_systems
    from steelyard.metrics.segments import Segments

    note(inputs.notices)
    # Registered resources need no database.
    resources = registered_resources(dict(options.resource))
    metrics = resolved_metrics(options, metrics, resources, inputs.language, inputs.texts)
    baseline = baseline_of(options, inputs.names) if options.paired else None
    documents = documents_of(options, inputs)
    runs = TakenRuns(metrics) if options.runs else None
    if runs is not None and not runs:
        raise UsageError("--runs shows the runs of words that gtm takes: add gtm to -m.")
    measurements = score_systems(
        Segments(
            references=[text.bytes for text in inputs.references],
            hypotheses=[text.bytes for text in inputs.outputs],
            source=None if inputs.source is None else inputs.source.bytes,
            variable_references=inputs.variable_references,
            layers=inputs.layers,
        ),
        metrics,
        replicates=options.confidence,
        seed=options.seed,
        shard_size=options.shard_size or LARGEST_SHARD,
        segment_scores=options.segments,
        keep_statistics=options.paired == "randomization" or options.interval == "bca",
        resources=resources,
        documents=documents,
        on_texts=runs.add if runs else None,
        on_shard=counted("shards"),
    )
    names = options.metrics or [metric.specification for metric in metrics]
    return conclude(inputs, names, measurements, options, baseline, runs)


def baseline_of(options: ScoreOptions, names: Sequence[str]) -> int | None:
    """The system that all others are tested against; None where all pairs are. Raises UsageError and CommandError.

    Parameters
    ----------
    options : ScoreOptions
    names : sequence of str

    Returns
    -------
    int or None
    """
    if len(names) < 2:
        raise UsageError("--paired compares systems: give at least two after -i or --system.")
    if options.all_pairs:
        return None
    if options.baseline is None:
        return 0
    places = [place for place, name in enumerate(names) if name == options.baseline]
    if len(places) == 1:
        return places[0]
    if places:
        raise CommandError(f"--baseline {options.baseline}: {len(places)} systems have this name. Rename one of them.")
    if options.baseline == "none":
        return None
    raise CommandError(f"--baseline {options.baseline}: there is no such system. There are: {', '.join(names)}.")
