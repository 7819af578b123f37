"""The file of each verb, and its line in the help: a command imports only its own file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

FILES = {
    "campaigns.evaluate": {
        "evaluate": "score a campaign of systems and keep the results",
        "demo": "evaluate the small campaign that comes with the project",
    },
    "campaigns.submit": {"submit": "submit one system's output to a stored campaign"},
    "leaderboards.leaderboard": {"leaderboard": "show the systems in the database, ranked"},
    "leaderboards.compare": {"compare": "test the systems in the database against each other"},
    "meta_evaluation.human": {"human": "import human judgments, and rank systems by them"},
    "meta_evaluation.correlate": {"correlate": "compare metrics with human judgments"},
    "meta_evaluation.tune": {"tune": "choose a metric's parameter by human judgments"},
    "queue.status": {"status": "show the queue, workers and failures"},
    "queue.control": {
        "cancel": "cancel evaluations that are not done",
        "retry": "queue failed or cancelled evaluations again",
        "requeue": "recompute evaluations from scratch",
    },
    "nightly.nightly": {"nightly": "score the same systems every night and find regressions"},
}


def add_verbs(parsers: argparse._SubParsersAction[argparse.ArgumentParser], verb: str = "") -> None:
    """Add the verbs of the file with this verb; those of all files for an unknown verb."""
    wanted = [file for file, verbs in FILES.items() if verb in verbs]
    for file in wanted or FILES:
        import_module(f"cli.{file}").add_verbs(parsers)
