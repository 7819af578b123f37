"""`steelyard score`: scores at once, without a database or a queue."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError, UsageError
from cli.options import (
    add_input_format_option,
    add_interval_option,
    add_metric_options,
    add_resampling_options,
    add_test_options,
    add_width_option,
    check_trials,
    chosen_metrics,
    note,
    resolved_metrics,
    whole_number,
)
from cli.terminal.progress import counted
from steelyard.formats.reader import Kind
from steelyard.formats.registry import titles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.scoring.inputs import GivenSystem, Inputs
    from cli.scoring.score_outputs.score_result import Result
    from steelyard.metrics.metric import Metric

FORMATS = ("text", "json", "tsv", "latex", "html", "scr")
REPLICATES = 1000
"""Default bootstrap replicates where a test or an interval needs them."""


class AddSystems(argparse.Action):
    """Adds files to the list of systems: each a system."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002 - argparse's word
    ) -> None:
        """Called by argparse."""
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), *self.given(parser, values)])

    def given(self, parser: argparse.ArgumentParser, values: Sequence[str]) -> list[GivenSystem]:  # noqa: ARG002
        """The systems that these words name."""
        from cli.scoring.inputs import GivenSystem

        return [GivenSystem([file]) for file in values]


class AddRuns(AddSystems):
    """Adds one system, whose name comes first, with the files of its runs."""

    def given(self, parser: argparse.ArgumentParser, values: Sequence[str]) -> list[GivenSystem]:
        """The system."""
        from cli.scoring.inputs import GivenSystem

        name, *files = values
        if not (name.strip() and files):
            parser.error(f"--system {name}: give the name of a system and then the output of each of its runs")
        return [GivenSystem(files, name)]


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`score`."""
    parser = verbs.add_parser(
        "score",
        help="score files at once, without a database",
        description="Score systems against references, one segment per line, sentence or bundle in every file: "
        f"{titles([Kind.LINES, Kind.SIDES])}. Files in {titles([Kind.IDS, Kind.DOCUMENTS])} are matched by document "
        "and segment ids. All may be packed with gzip. Of a TectoMT or Treex document with several sides, FILE:PART "
        "names the layer (sample.tmt:TCzechA) or zone (sample.treex:cs_ref). Without -i the system is read from "
        "standard input.",
    )
    parser.add_argument("references", nargs="+", metavar="REF", help="reference files")
    parser.add_argument(
        "-i", "--input", nargs="+", action=AddSystems, dest="systems", metavar="SYSTEM", help="system outputs"
    )
    parser.add_argument(
        "--system", nargs="+", action=AddRuns, dest="systems", metavar=("NAME", "FILE"),
        help="a system and the outputs of its runs (seeds, optimizer runs), whose mean is its score; repeatable",
    )  # fmt: skip
    add_metric_options(parser)
    add_resampling_options(parser, default=0)
    add_interval_option(parser)
    add_test_options(parser, paired=None, correction="holm")
    parser.add_argument(
        "--baseline", metavar="SYSTEM",
        help="the system that all others are tested against; none: test all pairs (default: the first system)",
    )  # fmt: skip
    parser.add_argument("--all-pairs", action="store_true", help="test all pairs: short for --baseline none")
    parser.add_argument("--segments", action="store_true", help="also print the score of every segment")
    parser.add_argument(
        "--runs",
        action="store_true",
        help="also print the runs of words that gtm matches in every segment: length, places, words",
    )
    parser.add_argument(
        "--shard-size", type=whole_number, metavar="N", help="segments scored at a time; does not change scores"
    )
    parser.add_argument(
        "--variable-references", action="store_true",
        help="an empty line in a reference file means that the segment lacks this reference",
    )  # fmt: skip
    add_input_format_option(parser, "all files")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="output format (default: text)")
    parser.add_argument("-b", "--score-only", action="store_true", help="print the scores alone")
    add_width_option(parser, 1, " in text, LaTeX and HTML")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, score and print; the exit status."""
    from importlib import import_module

    from cli.scoring.inputs import GivenSystem, read_inputs
    from steelyard.formats.input.contents import STDIN

    check_paired(options)
    metrics = chosen_metrics(options)
    if options.format == "scr":
        from cli.scoring.score_outputs.score_scr import check

        check(metrics)
    inputs = read_inputs(
        options.references,
        options.systems or [GivenSystem([STDIN])],
        variable_references=options.variable_references,
        input_format=options.input_format,
    )
    result = scored(options, metrics, inputs)
    print(import_module(f"cli.scoring.score_outputs.score_{options.format}").render(result), end="")
    return 0


def check_paired(options: argparse.Namespace) -> None:
    """Set the replicates that tests and intervals need. Raises UsageError for options that cannot be combined."""
    others = {
        "--baseline": options.baseline is not None,
        "--all-pairs": options.all_pairs,
        "--trials": options.trials is not None,
        "--correction": options.correction != "holm",
    }
    for option, given in others.items():
        if given and not options.paired:
            raise UsageError(f"{option} goes with a test: add --paired bootstrap or --paired randomization.")
    if options.all_pairs and options.baseline not in (None, "none"):
        raise UsageError("--all-pairs has no baseline: leave out one of --all-pairs and --baseline.")
    check_trials(options)
    if (options.paired or options.interval != "percentile") and not options.confidence:
        options.confidence = REPLICATES


def scored(options: argparse.Namespace, metrics: Sequence[Metric], inputs: Inputs) -> Result:
    """Score the inputs; `options` are those of `score`.

    Raises MetricsError, and UsageError where input or metrics do not support the options.
    """
    from cli.scoring.registered import registered_resources
    from cli.scoring.runs import TakenRuns
    from cli.scoring.score_outputs.score_result import conclude
    from steelyard.metrics.score_systems import LARGEST_SHARD, score_systems
    from steelyard.metrics.segments import Segments

    note(inputs.notices)
    # Registered resources need no database.
    resources = registered_resources(dict(options.resource))
    metrics = resolved_metrics(options, metrics, resources, inputs.language, inputs.texts)
    baseline = baseline_of(options, inputs.names) if options.paired else None
    runs = TakenRuns(metrics) if options.runs else None
    if runs is not None and not runs:
        raise UsageError("--runs shows the runs of words that gtm takes: add gtm to -m.")
    measurements = score_systems(
        Segments(
            references=[text.bytes for text in inputs.references],
            hypotheses=[text.bytes for text in inputs.outputs],
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
        on_texts=runs.add if runs else None,
        on_shard=counted("shards"),
    )
    names = options.metrics or [metric.specification for metric in metrics]
    return conclude(inputs, names, measurements, options, baseline, runs)


def baseline_of(options: argparse.Namespace, names: Sequence[str]) -> int | None:
    """The system that all others are tested against; None where all pairs are. Raises UsageError and CommandError."""
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
