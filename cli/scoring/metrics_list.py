"""`steelyard metrics`: the metrics and their parameters."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from cli.options import note

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from steelyard.metrics.metric import Metric


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`metrics`."""
    parser = verbs.add_parser("metrics", help="list the metrics and their parameters")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a paragraph for each metric; the exit status."""
    from steelyard.metrics.registry import METRICS, metric_class

    if options.names:
        print("\n".join(described(metric_class(name)) for name in options.names), end="")
        return 0
    print("\n".join([*map(described, METRICS), *others()]), end="")
    return 0


def others() -> Iterator[str]:
    """Paragraphs on the metrics of other distributions; prints a note for each that cannot be used."""
    from steelyard.errors import BrokenMetric
    from steelyard.metrics.entry_points import offers
    from steelyard.metrics.registry import ALIASES, METRICS, metric_class

    ours = {*ALIASES, *(metric.name for metric in METRICS)}
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
