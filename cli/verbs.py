"""The file of each verb, in the order of the help: a command imports only its own file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

FILES = {
    "scoring.score": ("score",),
    "campaigns.evaluate": ("evaluate", "demo"),
    "scoring.check": ("check",),
    "campaigns.submit": ("submit",),
    "leaderboards.leaderboard": ("leaderboard",),
    "leaderboards.compare": ("compare",),
    "meta_evaluation.human": ("human",),
    "meta_evaluation.correlate": ("correlate",),
    "meta_evaluation.tune": ("tune",),
    "queue.status": ("status",),
    "queue.control": ("cancel", "retry", "requeue"),
    "accounts.quota": ("quota",),
    "campaigns.campaign": ("campaign",),
    "nightly.nightly": ("nightly",),
    "processes.up": ("up",),
    "processes.serve": ("serve",),
    "accounts.login": ("login",),
    "accounts.account": ("account",),
    "accounts.team": ("team",),
    "scoring.metrics_list": ("metrics",),
    "scoring.check_metric": ("check-metric",),
    "scoring.embeddings": ("embeddings",),
    "processes.database": ("db",),
    "processes.processes": ("worker", "scheduler"),
    "processes.health": ("health",),
}


def add_verbs(parsers: argparse._SubParsersAction[argparse.ArgumentParser], verb: str = "") -> None:
    """Add the verbs of the file with this verb; those of all files for an unknown verb."""
    wanted = [file for file, verbs in FILES.items() if verb in verbs]
    for file in wanted or FILES:
        import_module(f"cli.{file}").add_verbs(parsers)
