"""`steelyard metric`: the metrics, their parameters, and whether they keep the contract."""

from __future__ import annotations

import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.programs import create, delete, described_program, listed_programs, program_row
from steelyard.commands.values import named_file, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.conformance import Campaign, Finding
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.programs.registration import RegisteredProgram
    from steelyard.tables.table import Table

metric = Noun(
    "metric",
    help="List the metrics and their parameters, check whether a metric keeps the contract, and register programs as "
    "metrics.",
)


@metric.command(
    "list",
    help="List the metrics: name, title, source, and what each parameter means.",
    example="steelyard metric list -f markdown",
)
@format_option()
def list_(format: str) -> int:  # noqa: A002 - the option's name
    """Print all metrics, those of other distributions, too; the exit status."""
    from steelyard.metrics.registry import all_metrics, learned_metrics

    _print([*all_metrics(), *learned_metrics(), *others()], listed_programs(), format)
    return 0


@metric.command(
    "show",
    help="Show metrics and their parameters: name, title, source, and what each parameter means.",
    example="steelyard metric show bleu chrf",
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", help="the metrics")
@format_option()
def show(names: Sequence[str], format: str) -> int:  # noqa: A002
    """Print these metrics; the exit status."""
    from steelyard.metrics.registry import metric_class

    programs = listed_programs(tuple(names))
    registered = {program.name for _, program in programs}
    _print([metric_class(name) for name in names if name not in registered], programs, format)
    return 0


@metric.command(
    "check",
    help="Test a metric on many random campaigns: shards add up, systems and segments are independent, sums are "
    "exact, the signature is complete. For each broken promise it prints the smallest campaign found that breaks it. "
    "Exit status: 0 all kept, 1 some broken.",
    example="steelyard metric check bleu:tok=intl --campaigns 1000",
)
@click.argument(
    "name",
    metavar="NAME[:key=value]...",
    help="the metric; without parameters it is tried with those of its `examples`",
)
@many(
    "--resource",
    parse=named_file,
    metavar="NAME=FILE...",
    help="a file that the metric refers to by name (default: the metric's own small examples)",
)
@option("--campaigns", type=Value(whole_number), default=200, metavar="N", help="how many (default: 200)")
@option("--seed", type=Value(whole_number), default=1, metavar="N", help="of the made-up campaigns (default: 1)")
def check(name: str, resource: Sequence[tuple[str, Path]], campaigns: int, seed: int) -> int:
    """Test all promises and print a line for each; exit status 1 where one is broken."""
    from steelyard.conformance import PROMISES, check, subjects
    from steelyard.metrics.registry import parse_metric

    if campaigns < 1:
        raise UsageError("--campaigns must be at least 1: without any, no promise is tried.")
    wanted = parse_metric(name)
    _, _, parameters = wanted.specification.partition(":")
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        examples = [parameters] if parameters else None
        found = subjects(type(wanted), Path(folder), dict(resource), examples)
        for subject in found:
            layers = f" with the layers {', '.join(subject.metric.layers)}" if subject.metric.layers else ""
            print(f"{subject.metric.specification}{layers}")
            on_campaign = counter(campaigns * len(PROMISES))
            for finding in check(subject, campaigns, seed, on_campaign):
                print(kept_or_broken(finding), flush=True)
                broken += finding.fault is not None
    print(f"{broken} promise(s) broken." if broken else "All promises kept.")
    return 1 if broken else 0


metric.add_command(create)
metric.add_command(delete)


def _print(metrics: Sequence[type[Metric]], programs: list[tuple[str, RegisteredProgram]], form: str) -> None:
    from steelyard.tables.rendering import render

    if form == "text":
        print("\n".join([*map(described, metrics), *(described_program(*each) for each in programs)]), end="")
        return
    print(render([_table(metrics, programs)], form, "Metrics"), end="")


def _table(metrics: Sequence[type[Metric]], programs: list[tuple[str, RegisteredProgram]]) -> Table:
    from steelyard.metrics.entry_points import origin
    from steelyard.tables.table import Column, Kind, Table

    columns = [
        Column("name", "Name", Kind.NAME),
        Column("title", "Title"),
        Column("higher_is_better", "Higher is better", Kind.FLAG),
        Column("parameters", "Parameters"),
        Column("source", "Source"),
        Column("distribution", "Distribution"),
    ]
    rows = []
    for each in metrics:
        plain = each()
        parameters = [f"{field.name}={plain.shown(field)}" for field in each.parameters()]
        rows.append([each.name, plain.title, plain.higher_is_better, parameters, each.source, origin(each) or None])
    return Table(columns, [*rows, *(program_row(*each) for each in programs)])


def others() -> Iterator[type[Metric]]:
    """The metrics of other distributions; prints a note for each that cannot be used."""
    from steelyard.errors import BrokenMetric
    from steelyard.metrics.entry_points import offers
    from steelyard.metrics.registry import ALIASES, all_metrics, metric_class

    ours = {*ALIASES, *(metric.name for metric in all_metrics())}
    for offer in offers():
        if offer.name in ours:
            note([f'The metric "{offer.name}" of {offer.distribution} is ignored: a built-in metric has this name.'])
            continue
        try:
            found = metric_class(offer.name)
            # A metric that cannot be made cannot be described either.
            described(found)
            yield found
        except BrokenMetric as error:
            note([str(error)])
        # Third-party code: whatever it raises, the list continues.
        except Exception as error:
            note([f'The metric "{offer.name}" of {offer.distribution} cannot be described: {error}.'])


def described(metric: type[Metric]) -> str:
    """Name, meaning, source and parameters of one metric.

    Parameters
    ----------
    metric : type of Metric

    Returns
    -------
    str
    """
    from steelyard.metrics.entry_points import origin

    plain = metric()
    better = "higher is better" if plain.higher_is_better else "lower is better"
    summary = (metric.__doc__ or "").split("\n\n")[0]
    lines = [f"{metric.name}  ({plain.title}, {better})", f"  {summary}", f"  Source: {metric.source}."]
    if elsewhere := origin(metric):
        lines.append(f"  From: {elsewhere}.")
    for field in metric.parameters():
        choices = ", ".join(field.metadata["choices"])
        text = f"{field.name}={plain.shown(field)}  {field.metadata['describe']}" + (f" ({choices})" if choices else "")
        theirs = [name for alias in field.metadata["aliases"] for name in alias.names]
        text += f"; sacreBLEU's names: {', '.join(theirs)}" if theirs else ""
        lines.append(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="        "))
    return "\n".join(lines) + "\n"


def kept_or_broken(finding: Finding) -> str:
    """A line for a promise; below a broken one the campaign that breaks it.

    Parameters
    ----------
    finding : Finding

    Returns
    -------
    str
    """
    if finding.fault is None:
        return f"  kept    {finding.promise}"
    lines = [f"  BROKEN  {finding.promise}", f"          {finding.fault}"]
    if finding.campaign:
        lines += ["          with " + text for text in _texts(finding.campaign)]
    return "\n".join(lines)


def _texts(campaign: Campaign) -> Iterator[str]:
    named = {f"reference {name}": lines for name, lines in campaign.references.items()}
    named |= {f"system {name}": lines for name, lines in campaign.systems.items()}
    if campaign.source is not None:
        named["source"] = campaign.source
    for name, lines in named.items():
        shown = ", ".join(repr(line) if len(line) < 200 else f"{line[:200]!r}..." for line in lines)
        yield f"{name}: {shown}"


def counter(campaigns: int) -> Callable[[], None]:
    """A function to call after each campaign: it shows the share of all, where the next line overwrites it.

    Parameters
    ----------
    campaigns : int

    Returns
    -------
    callable
    """
    tried = 0

    def count() -> None:
        nonlocal tried
        tried += 1
        if sys.stderr.isatty() and tried % 10 == 0:
            print(f"\r{100 * tried // max(campaigns, 1)} %\r", end="", file=sys.stderr, flush=True)

    return count
