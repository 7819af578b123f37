"""The release of the client, which is that of the library and of the server."""

from __future__ import annotations

VERSION = "0.1.0"
