"""--http: where a long-lived process serves its metrics and its health."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from cli.stored import AnySettings, settings_for
from steelyard.commands.options import option
from steelyard.commands.parsing import Value

if TYPE_CHECKING:
    from cli.commands import Options
    from runtime.settings import Settings
    from steelyard.commands.options import Decorator


def http_option() -> Decorator:
    """--http."""
    return option(
        "--http",
        type=Value(address),
        metavar="[HOST:]PORT",
        help="serve /metrics, /health/live and /health/ready there (default: STEELYARD_HTTP_HOST and "
        "STEELYARD_HTTP_PORT, else not at all; HOST: 127.0.0.1)",
    )


def address(text: str) -> tuple[str | None, int]:
    """Parse PORT or HOST:PORT, an IPv6 host in brackets; the host is None where only a port is given."""
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or bool(colon) != bool(host):
        raise ValueError(f'"{text}" is not PORT or HOST:PORT')
    return host.removeprefix("[").removesuffix("]") or None, int(port)


@overload
def read_served_settings(options: Options) -> Settings: ...


@overload
def read_served_settings(options: Options, kind: type[AnySettings]) -> AnySettings: ...


def read_served_settings(options: Options, kind: type[Settings] | None = None) -> Settings:
    """The settings with the address of --http; those of the queue without `kind`. Raises UsageError."""
    database = getattr(options, "database", None)
    settings = settings_for(database) if kind is None else settings_for(database, kind)
    if options.http is None:
        return settings
    host, port = options.http
    return settings.model_copy(update={"http_port": port, "http_host": host or settings.http_host})
