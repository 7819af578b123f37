"""--http: where a long-lived process serves its metrics and its health."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, overload

from cli.stored import AnySettings, read_settings

if TYPE_CHECKING:
    from runtime.settings import Settings


def add_http_option(parser: argparse.ArgumentParser) -> None:
    """--http."""
    parser.add_argument(
        "--http", type=address, metavar="[HOST:]PORT",
        help="serve /metrics, /health/live and /health/ready there (default: STEELYARD_HTTP_HOST and "
        "STEELYARD_HTTP_PORT, else not at all; HOST: 127.0.0.1)",
    )  # fmt: skip


def address(text: str) -> tuple[str | None, int]:
    """Parse PORT or HOST:PORT, an IPv6 host in brackets; the host is None where only a port is given."""
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or bool(colon) != bool(host):
        raise argparse.ArgumentTypeError(f'"{text}" is not PORT or HOST:PORT')
    return host.removeprefix("[").removesuffix("]") or None, int(port)


@overload
def read_served_settings(options: argparse.Namespace) -> Settings: ...


@overload
def read_served_settings(options: argparse.Namespace, kind: type[AnySettings]) -> AnySettings: ...


def read_served_settings(options: argparse.Namespace, kind: type[Settings] | None = None) -> Settings:
    """The settings with the address of --http; those of the queue without `kind`. Raises UsageError."""
    settings = read_settings(options) if kind is None else read_settings(options, kind)
    if options.http is None:
        return settings
    host, port = options.http
    return settings.model_copy(update={"http_port": port, "http_host": host or settings.http_host})
