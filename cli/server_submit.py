"""`steelyard --server URL submit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.server import connected

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Ask, and print."""
    with connected(options) as client:
        client.me()
    return 0
