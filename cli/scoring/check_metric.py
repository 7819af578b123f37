"""`steelyard check-metric`: conformance tests for a metric."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cli.options import named_file, whole_number
from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from steelyard.conformance import Campaign, Finding


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`check-metric`."""
    parser = verbs.add_parser(
        "check-metric",
        help="test whether a metric keeps the metric contract",
        description="Tests a metric on many random campaigns: shards add up, systems and segments are independent, "
        "sums are exact, the signature is complete. For each broken promise it prints the smallest campaign found "
        "that breaks it. Exit status: 0 all kept, 1 some broken.",
    )
    parser.add_argument(
        "metric", metavar="NAME[:key=value]...",
        help="the metric; without parameters it is tried with those of its `examples`",
    )  # fmt: skip
    parser.add_argument(
        "--resource", nargs="+", action="extend", type=named_file, default=[], metavar="NAME=FILE",
        help="a file that the metric refers to by name (default: the metric's own small examples)",
    )  # fmt: skip
    parser.add_argument("--campaigns", type=whole_number, default=200, metavar="N", help="how many (default: 200)")
    parser.add_argument("--seed", type=whole_number, default=1, help="seed of the made-up campaigns (default: 1)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Test all promises and print a line for each; exit status 1 where one is broken."""
    from steelyard.conformance import PROMISES, check, subjects
    from steelyard.metrics.registry import parse_metric

    if options.campaigns < 1:
        raise UsageError("--campaigns must be at least 1: without any, no promise is tried.")
    wanted = parse_metric(options.metric)
    _, _, parameters = wanted.specification.partition(":")
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        examples = [parameters] if parameters else None
        found = subjects(type(wanted), Path(folder), dict(options.resource), examples)
        for subject in found:
            layers = f" with the layers {', '.join(subject.metric.layers)}" if subject.metric.layers else ""
            print(f"{subject.metric.specification}{layers}")
            on_campaign = counter(options.campaigns * len(PROMISES))
            for finding in check(subject, options.campaigns, options.seed, on_campaign):
                print(described(finding), flush=True)
                broken += finding.fault is not None
    print(f"{broken} promise(s) broken." if broken else "All promises kept.")
    return 1 if broken else 0


def described(finding: Finding) -> str:
    """A line for a promise; below a broken one the campaign that breaks it."""
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
    """A function to call after each campaign: it shows the share of all, where the next line overwrites it."""
    tried = 0

    def count() -> None:
        nonlocal tried
        tried += 1
        if sys.stderr.isatty() and tried % 10 == 0:
            print(f"\r{100 * tried // max(campaigns, 1)} %\r", end="", file=sys.stderr, flush=True)

    return count
