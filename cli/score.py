"""`steelyard score`: scores at once, without a database or a queue."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.options import add_metric_options, add_resampling_options, chosen_metrics, note, settled_metrics, whole_number

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from cli.inputs import Inputs
    from cli.score_output import Result
    from metrics.base import Metric

FORMATS = ("text", "json", "tsv")
INPUT_FORMATS = ("plain", "mteval", "wmt-xml", "conllu", "tectomt", "treex")
"""Those of `metrics.text.formats`, which help need not load."""


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`score`."""
    parser = verbs.add_parser(
        "score",
        help="score files at once, without a database",
        description="Score systems against references, one segment per line, sentence or bundle in every file: plain "
        "text, CoNLL-U, TectoMT, Treex. Files in mteval's format (SGML or XML) or WMT's XML are matched by document "
        "and segment ids. All may be packed with gzip. Of a TectoMT or Treex document with several sides, FILE:PART "
        "names the layer (sample.tmt:TCzechA) or zone (sample.treex:cs_ref). Without -i the system is read from "
        "standard input. The first system is the baseline of --paired.",
    )
    parser.add_argument("references", nargs="+", metavar="REF", help="reference files")
    parser.add_argument("-i", "--input", nargs="+", action="extend", metavar="SYSTEM", help="system outputs")
    add_metric_options(parser)
    add_resampling_options(parser, default=0)
    parser.add_argument(
        "--paired",
        choices=("bootstrap",),
        help="test every system against the first one, with the same replicates",
    )
    parser.add_argument("--segments", action="store_true", help="also the score of every segment")
    parser.add_argument(
        "--runs",
        action="store_true",
        help="also the runs of words that gtm takes in every segment: length, places, words",
    )
    parser.add_argument(
        "--shard-size", type=whole_number, metavar="N", help="segments worked on at once; changes no score"
    )
    parser.add_argument(
        "--variable-references", action="store_true",
        help="an empty line in a reference file means that the segment lacks this reference",
    )  # fmt: skip
    parser.add_argument(
        "--input-format", choices=INPUT_FORMATS,
        help="format of all files (default: found from the content of each)",
    )  # fmt: skip
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="output format (default: text)")
    parser.add_argument("-b", "--score-only", action="store_true", help="print the scores alone")
    parser.add_argument(
        "-w", "--width", type=whole_number, default=1, help="digits after the point in text (default: 1)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, measure, print."""
    from cli import score_output
    from cli.inputs import read_inputs
    from metrics.text.contents import STDIN

    if options.paired and not options.confidence:
        options.confidence = 1000
    metrics = chosen_metrics(options)
    inputs = read_inputs(
        options.references,
        options.input or [STDIN],
        variable_references=options.variable_references,
        input_format=options.input_format,
    )
    print(score_output.render(scored(options, metrics, inputs)), end="")
    return 0


def scored(options: argparse.Namespace, metrics: Sequence[Metric], inputs: Inputs) -> Result:
    """Measure what was read; `options` are those of `score`.

    Raises MetricsError, and UsageError where the options ask for what the input or the metrics do not have.
    """
    from cli.registered import registered_resources
    from cli.runs import TakenRuns
    from cli.score_output import Result
    from metrics.measure import LARGEST_SHARD, measure
    from metrics.resampling.paired import paired_bootstrap

    note(inputs.notices)
    # Registered resources are at hand here, too, but no database is.
    resources = registered_resources(dict(options.resource))
    metrics = settled_metrics(options, metrics, resources, inputs.language, inputs.texts)
    if options.paired and len(inputs.systems) < 2:
        raise UsageError("--paired compares systems with the first one: give at least two after -i.")
    runs = TakenRuns(metrics) if options.runs else None
    if runs is not None and not runs:
        raise UsageError("--runs shows the runs of words that gtm takes: add gtm to -m.")
    measurements = measure(
        [text.bytes for text in inputs.references],
        [text.bytes for text in inputs.systems],
        metrics,
        replicates=options.confidence,
        seed=options.seed,
        shard_size=options.shard_size or LARGEST_SHARD,
        segment_scores=options.segments,
        variable_references=inputs.variable_references,
        layers=inputs.layers,
        resources=resources,
        on_batch=runs.add if runs else None,
        on_shard=show_progress if sys.stderr.isatty() else None,
    )
    paired = paired_bootstrap(measurements) if options.paired else []
    names = options.metrics or [metric.specification for metric in metrics]
    return Result(inputs, names, measurements, paired, options, runs)


def show_progress(done: int, shards: int) -> None:
    """A line that counts the shards, rewritten in place; nothing where there is only one."""
    if shards > 1:
        print(f"\r{done} of {shards} shards", end="\n" if done == shards else "", file=sys.stderr, flush=True)
