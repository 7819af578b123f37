"""`steelyard --server URL compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import CommandError
from cli.server import connected

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Ask, and print."""
    with connected(options) as client:
        client.me()
    raise CommandError("This cannot be asked of a server yet.")
