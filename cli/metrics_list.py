"""`steelyard metrics`: what can be measured, and how each metric is adjusted."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from metrics.base import Metric


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`metrics`."""
    parser = verbs.add_parser("metrics", help="list the metrics and their parameters")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a paragraph for each metric."""
    from metrics import METRICS
    from metrics.registry import metric_class

    chosen = [metric_class(name) for name in options.names] or METRICS
    print("\n".join(described(metric) for metric in chosen), end="")
    return 0


def described(metric: type[Metric]) -> str:
    """Name, meaning, source and parameters of one metric."""
    plain = metric()
    better = "higher is better" if metric.higher_is_better else "lower is better"
    summary = (metric.__doc__ or "").split("\n\n")[0]
    lines = [f"{metric.name}  ({plain.title}, {better})", f"  {summary}", f"  Source: {metric.source}."]
    for field in metric.parameters():
        choices = ", ".join(field.metadata["choices"])
        text = f"{field.name}={plain.shown(field)}  {field.metadata['describe']}" + (f" ({choices})" if choices else "")
        lines.append(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="        "))
    return "\n".join(lines) + "\n"
