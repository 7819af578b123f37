"""Options that several commands of the server share, as decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.options import option

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator


def database_option() -> Decorator:
    """--database."""
    return option(
        "--database", metavar="URL",
        help="sqlite:///FILE or postgresql://USER@HOST/NAME (default: STEELYARD_DATABASE_URL, else "
        "sqlite:///steelyard.db)",
    )  # fmt: skip


def server_option() -> Decorator:
    """--server."""
    return option(
        "--server", metavar="URL",
        help="ask this Steelyard server instead of a database, with the token of STEELYARD_TOKEN or of `steelyard "
        "login` (default: STEELYARD_SERVER, else the database)",
    )  # fmt: skip


def yes_option() -> Decorator:
    """--yes."""
    return option("--yes", is_flag=True, help="do not ask whether to do it; needed without a terminal")
