"""Which file has which verbs, in the order of the help: a command loads its own file, not those of all others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

FILES = {
    "score": ("score",),
    "evaluate": ("evaluate", "demo"),
    "diagnose": ("diagnose",),
    "submit": ("submit",),
    "leaderboard": ("leaderboard",),
    "compare": ("compare",),
    "human": ("human",),
    "correlate": ("correlate",),
    "tune": ("tune",),
    "status": ("status",),
    "control": ("cancel", "retry", "requeue"),
    "quota": ("quota",),
    "campaign": ("campaign",),
    "nightly": ("nightly",),
    "up": ("up",),
    "serve": ("serve",),
    "login": ("login",),
    "account": ("account",),
    "team": ("team",),
    "metrics_list": ("metrics",),
    "check_metric": ("check-metric",),
    "embeddings": ("embeddings",),
    "database": ("db",),
    "processes": ("worker", "scheduler"),
    "health": ("health",),
}


def add_verbs(parsers: argparse._SubParsersAction[argparse.ArgumentParser], verb: str = "") -> None:
    """Add the verbs of the file that has this one; all verbs where none has."""
    wanted = [file for file, verbs in FILES.items() if verb in verbs]
    for file in wanted or FILES:
        import_module(f"cli.{file}").add_verbs(parsers)
