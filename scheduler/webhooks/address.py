"""Allowed addresses of webhooks: on the public internet, unless the schedule or the installation says otherwise.

Otherwise, anyone who may add a schedule could make this machine send requests to internal addresses.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from scheduler.errors import SchedulerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    Address = ipaddress.IPv4Address | ipaddress.IPv6Address

EMBEDDING = [
    ipaddress.ip_network(network)
    for network in (
        *("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96"),  # IPv4-compatible, -mapped and -translated
        *("64:ff9b::/96", "64:ff9b:1::/48"),  # NAT64
        *("2002::/16", "2001::/32"),  # 6to4, Teredo
        "fec0::/10",  # the site-local ones of old
    )
]
"""IPv6 addresses that embed an IPv4 address, which may be private."""


class BadWebhook(SchedulerError):
    """A webhook's address is invalid."""


class RefusedAddress(SchedulerError):
    """A webhook's address is not public."""


def check_webhook(url: str, *, private: bool) -> httpx.URL:
    """The parsed URL of a webhook: http or https, a host, no user or password. Without any lookups.

    Unless `private` addresses are allowed, a literal private address is refused.

    Raises
    ------
    BadWebhook
        If it is invalid.
    """
    import httpx

    try:
        parsed = httpx.URL(url)
        port = parsed.port
    except (httpx.InvalidURL, ValueError) as error:
        raise BadWebhook(f"The webhook is not a URL: {error}. Write https://HOST/PATH.") from error
    if parsed.scheme not in {"http", "https"}:
        raise BadWebhook("The webhook does not begin with http:// or https://. Write https://HOST/PATH.")
    if not parsed.host or any(letter.isspace() for letter in url):
        raise BadWebhook("The webhook names no host, or holds a space. Write https://HOST/PATH.")
    if parsed.userinfo:
        raise BadWebhook("The webhook holds a user or password. Leave them out; messages are signed by a secret.")
    if port is not None and not 0 < port < 2**16:
        raise BadWebhook(f"The webhook has the port {port}, but ports go from 1 to 65535.")
    try:
        written = ipaddress.ip_address(parsed.host)
    except ValueError:
        return parsed
    if not private and not is_public(written):
        raise BadWebhook(f"The webhook is at {written}, which is no public address. If it is right: --webhook-private.")
    return parsed


def addresses_of(host: str, port: int, *, private: bool) -> Sequence[str]:
    """All addresses of a host, in the system's order, from a single lookup.

    Raises
    ------
    RefusedAddress
        If any of them is not public, unless `private` ones are allowed.
    OSError
        If there are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not private and not is_public(ipaddress.ip_address(address)):
            raise RefusedAddress(
                f"The webhook's host {host} is at {address}, which is no public address. Private ones must be allowed "
                "for the schedule (--webhook-private) or by STEELYARD_WEBHOOK_PRIVATE."
            )
    return addresses


def is_public(address: Address) -> bool:
    """Whether an address belongs to one machine on the public internet, and embeds no other address."""
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address in network for network in EMBEDDING if network.version == address.version)
