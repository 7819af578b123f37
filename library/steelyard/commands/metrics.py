"""`steelyard metrics`: the metrics and their parameters."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from steelyard.commands.notices import note
from steelyard.commands.parsing import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.metrics.metric import Metric


@click.command(
    "metrics",
    cls=Command,
    help="List the metrics and their parameters: name, title, source, and what each parameter means.",
    example="steelyard metrics bleu chrf",
)
@click.argument("names", nargs=-1, metavar="[NAME...]", help="only these")
def metrics(names: Sequence[str]) -> int:
    """Print a paragraph for each metric; the exit status."""
    from steelyard.metrics.registry import all_metrics, metric_class

    if names:
        print("\n".join(described(metric_class(name)) for name in names), end="")
        return 0
    print("\n".join([*map(described, all_metrics()), *others()]), end="")
    return 0


def others() -> Iterator[str]:
    """Paragraphs on the metrics of other distributions; prints a note for each that cannot be used."""
    from steelyard.errors import BrokenMetric
    from steelyard.metrics.entry_points import offers
    from steelyard.metrics.registry import ALIASES, all_metrics, metric_class

    ours = {*ALIASES, *(metric.name for metric in all_metrics())}
    for offer in offers():
        if offer.name in ours:
            note([f'The metric "{offer.name}" of {offer.distribution} is ignored: a built-in metric has this name.'])
            continue
        try:
            yield described(metric_class(offer.name))
        except BrokenMetric as error:
            note([str(error)])
        # Third-party code: whatever it raises, the list continues.
        except Exception as error:
            note([f'The metric "{offer.name}" of {offer.distribution} cannot be described: {error}.'])


def described(metric: type[Metric]) -> str:
    """Name, meaning, source and parameters of one metric."""
    from steelyard.metrics.entry_points import origin

    plain = metric()
    better = "higher is better" if metric.higher_is_better else "lower is better"
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
