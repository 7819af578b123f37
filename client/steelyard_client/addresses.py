"""Addresses of servers and of what they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from steelyard_client.errors import NotSteelyard

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def check_server_url(server: str, token: str | None) -> str:
    """The URL of a server, without a trailing slash. Raises NotSteelyard if it is invalid or unsafe for the token."""
    parts = urlsplit(server if "://" in server else f"https://{server}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise NotSteelyard(f'"{server}" is not the address of a server, such as https://mt.example.org.')
    if token and parts.scheme == "http" and parts.hostname not in LOCAL:
        raise NotSteelyard(f"{server} does not use https, so the token could be read in transit. Use https.")
    return parts.geturl().rstrip("/")


def path_of(*parts: str | int) -> str:
    """The path of a resource; its parts may have any character."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)


def drop_none(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters without those that are None."""
    return {name: value for name, value in parameters.items() if value is not None}
