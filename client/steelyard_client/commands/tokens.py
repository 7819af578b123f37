"""The API tokens that `steelyard login` stores, by server."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.commands.errors import CommandError

TOKEN = "STEELYARD_TOKEN"  # noqa: S105 - the name of a variable
OWNER_ONLY = 0o600
OTHERS = 0o077


def token_for(server: str) -> str | None:
    """The token for a server: from STEELYARD_TOKEN, else the one that `login` stored; None without any."""
    return os.environ.get(TOKEN) or read_tokens().get(_key(server))


def token_file() -> Path:
    """The file with the stored tokens."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "steelyard" / "token"


def read_tokens() -> dict[str, str]:
    """The stored tokens by server. Raises CommandError where others can read the file."""
    file = token_file()
    try:
        with file.open(encoding="utf-8") as text:
            if os.fstat(text.fileno()).st_mode & OTHERS:
                raise CommandError(f"{file} can be read by others. Run `chmod 600 {file}`, and revoke its tokens.")
            pairs = [line.split() for line in text]
    except FileNotFoundError:
        return {}
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def keep_token(server: str, token: str | None) -> None:
    """Store the token of a server, replacing the previous one; None deletes it."""
    tokens = {**read_tokens(), _key(server): token}
    file = token_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"token.{os.getpid()}")
    # Created with the final mode, so that nobody else can ever read it.
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "w", encoding="utf-8") as text:
        text.writelines(f"{name} {kept}\n" for name, kept in tokens.items() if kept)
    new.replace(file)


def _key(server: str) -> str:
    from steelyard_client import check_server_url

    return check_server_url(server, None)
