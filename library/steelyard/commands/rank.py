"""`steelyard rank`: systems ranked by scores that were made elsewhere, or by human judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.notices import note
from steelyard.commands.options import (
    correction_option,
    format_option,
    many,
    option,
    resample_option,
    seed_option,
)
from steelyard.commands.parsing import Command, Value
from steelyard.commands.values import MAX_TRIALS, MOST_REPLICATES, TRIALS, at_most, level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard.formats.scores.score_tables import PairScores
    from steelyard.ranking.human_boards import HumanRule


@click.command(
    "rank",
    cls=Command,
    help="Rank systems by scores of segments that were made elsewhere, such as those of learned metrics: a board for "
    "each language pair, with means, intervals, AutoRank, rank ranges and clusters. SCORES are files, which may be "
    "packed with gzip, or folders of them: WMT's automatic scores, COMET's --to_json, MetricX' JSON Lines, "
    "mt-metrics-eval's .score files, answers to WMT's metrics tasks, or tables with the columns system, metric, score "
    "(and pair, document, segment). With --by human:RULE they are judgments: exports of Appraise and Pearmut, "
    "Google's and mt-metrics-eval's MQM, WMT's JSON Lines, or tables with the columns system, segment, "
    "score (and doc, annotator).",
    example="steelyard rank automatic_scores/ --by autorank -f json",
)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@many("--pair", "pairs", metavar="PAIR...", help="only these language pairs (default: all)")
@many(
    "-m",
    "metrics",
    metavar="METRIC...",
    help="the metrics to show, and to compute AutoRank from (default: all of a pair)",
)
@option(
    "--metrics",
    "metrics_file",
    metavar="FILE",
    help="the metrics of each pair, one a line: PAIR, a tab, METRIC, and to weigh them in AutoRank another tab and a "
    "weight; only pairs that are listed are ranked",
)
@option(
    "--by",
    default="",
    metavar="METRIC",
    help="what ranks: a metric, autorank, autorank:wmt24 or autorank:wmt25 (default: the only metric, or autorank of "
    "several); of human judgments human, human:wmt24 or human:wmt25",
)
@many("--documents", metavar="FILE...", help="of human judgments: domain and document of each segment, a line each")
@many(
    "--lower-is-better",
    metavar="METRIC...",
    help="metrics of which lower is better (MetricX' predictions are recognized)",
)
@option(
    "--replicates",
    type=Value(at_most(MOST_REPLICATES)),
    default=1000,
    metavar="N",
    help="bootstrap replicates for intervals and tests; 0: neither (default: 1000)",
)
@option(
    "--level",
    type=Value(level),
    default=0.95,
    metavar="P",
    help="confidence level of intervals; two systems differ where p is below 1 - P (default: 0.95)",
)
@option(
    "--paired",
    type=click.Choice(("bootstrap", "randomization")),
    default="bootstrap",
    help="test by which systems differ (default: bootstrap, the only one for AutoRank)",
)
@option(
    "--trials",
    type=Value(at_most(MAX_TRIALS)),
    default=TRIALS,
    metavar="N",
    help=f"trials of the randomization test (default: {TRIALS})",
)
@correction_option("none")
@resample_option()
@seed_option("resampling")
@format_option()
def rank(
    scores: Sequence[str],
    pairs: Sequence[str],
    metrics: Sequence[str],
    metrics_file: str | None,
    by: str,
    documents: Sequence[str],
    lower_is_better: Sequence[str],
    replicates: int,
    level: float,
    paired: str,
    trials: int,
    correction: str,
    resample: str,
    seed: int,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Read, rank and print; the exit status."""
    from steelyard.formats.plain import read_lines
    from steelyard.formats.scores.reading import read_scores
    from steelyard.ranking.metric_lists import MetricList, parse_metric_lists
    from steelyard.ranking.score_boards import RankOptions, score_board
    from steelyard.tables.score_boards import render

    if by.partition(":")[0] == "human":
        from steelyard.ranking.human_boards import parse_human_rule
        from steelyard.ranking.human_rules import Trials

        if metrics or metrics_file or lower_is_better or paired != "bootstrap":
            raise click.UsageError(
                "-m, --metrics, --lower-is-better and --paired are about scores of metrics. --by human ranks judgments."
            )
        rule = parse_human_rule(by, Trials(trials, seed, correction, level))
        if not rule.own and rule.trials != Trials():
            raise click.UsageError(
                f"--by {by} has tests of its own. --trials, --seed, --correction and --level are for --by human."
            )
        return _rank_by_humans(scores, rule, documents, pairs, format)
    if documents:
        raise click.UsageError("--documents is about human judgments. Give --by human, too.")
    if metrics and metrics_file:
        raise click.UsageError("-m and --metrics say the same. Give one of them.")
    options = RankOptions(by, replicates, seed, level, paired, trials, correction, resample)
    found = read_scores(scores, lower_is_better=lower_is_better)
    listed = {each.pair: MetricList(tuple(metrics)) for each in found}
    if metrics_file:
        known = list(listed)
        lists = parse_metric_lists((line.decode() for line in read_lines(metrics_file).lines()), metrics_file)
        listed = {_named([pair], known)[0]: metrics for pair, metrics in lists.items()}
    chosen = _chosen(found, pairs, listed)
    boards = [score_board(each, options, listed[each.pair]) for each in chosen]
    print(render(boards, options, format), end="")
    if format in ("json", "tsv", "csv"):
        note(notice for board in boards for notice in board.notices)
    return 0


def _rank_by_humans(
    judgments: Sequence[str], rule: HumanRule, documents: Sequence[str], pairs: Sequence[str], form: str
) -> int:
    """Read, rank and print judgments; the exit status."""
    from steelyard.meta_evaluation.human.assessment_formats.domains import read_domains
    from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles
    from steelyard.meta_evaluation.human.assessments import assessed_pairs
    from steelyard.ranking.human_boards import human_board
    from steelyard.tables.human_boards import render

    files = AssessmentFiles()
    files.read(judgments)
    judged = {each.pair: None for each in files.assessments}
    pairs = _named(pairs, list(judged))
    chosen = [each for each in files.assessments if not pairs or each.pair in pairs]
    by_pair = {each.pair: each for each in assessed_pairs(chosen, read_domains(documents, judged))}
    boards = [human_board(by_pair[name], rule) for name in dict.fromkeys(pairs or by_pair)]
    print(render(boards, form), end="")
    note(files.notices)
    if form in ("json", "tsv", "csv"):
        note(notice for board in boards for notice in board.notices)
    return 0


def _named(pairs: Iterable[str], known: Sequence[str]) -> list[str]:
    """The pairs as the files spell them. Raises NoSuchPair."""
    from steelyard.text.language_pairs import pairs_called

    asked = list(pairs)
    return pairs_called(asked, known, "The scores") if asked else []


def _chosen(found: Sequence[PairScores], pairs: Sequence[str], listed: Mapping[str, object]) -> list[PairScores]:
    """The pairs to rank, in the order of `pairs` where they are named."""
    from steelyard.errors import BadText
    from steelyard.text import wording

    by_name = {each.pair: each for each in found}
    pairs = _named(pairs, list(by_name))
    wanted = pairs or list(by_name)
    missing = [name for name in pairs if name not in listed]
    if missing:
        raise BadText(f"--metrics names no metric for {wording.listed(missing)}.")
    return [by_name[name] for name in dict.fromkeys(wanted) if name in listed]
