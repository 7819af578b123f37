"""`steelyard login`: keeps the token with which a server is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError
from cli.server.server import add_server_option, keep_token, token_file
from cli.terminal.prompts import ask_secret

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`login`."""
    parser = verbs.add_parser(
        "login",
        help="keep the token with which a server is asked",
        description="Ask for an API token of a Steelyard server (its page /account/tokens makes one), try it, and keep "
        "it for `steelyard --server URL ...` in a file that only you can read. From a pipe the token is read from "
        "standard input. STEELYARD_TOKEN, where it is set, is used instead of what is kept.",
    )
    add_server_option(parser)
    parser.add_argument("--forget", action="store_true", help="forget the token of this server; it stays good there")
    parser.set_defaults(run=run, run_on_server=run)


def run(options: argparse.Namespace) -> int:
    """Ask, try, keep."""
    from web.client import Client, ClientError, checked_server

    if not options.server:
        raise UsageError("Which server? Give --server URL, or set STEELYARD_SERVER.")
    try:
        server = checked_server(options.server, "token")
        if options.forget:
            keep_token(server, None)
            print(f"No token is kept for {server} any more.")
            return 0
        token = _asked(server)
        with Client(server, token) as client:
            account = client.me()
    except ClientError as error:
        raise CommandError(str(error)) from error
    keep_token(server, token)
    print(f"Signed in at {server} as {account.email}. The token is in {token_file()}.")
    return 0


def _asked(server: str) -> str:
    (token,) = (answer.strip() for answer in ask_secret(f"Token of {server} (it is not shown): "))
    if not token or not token.isascii() or len(token.split()) != 1:
        raise CommandError("This is no token. The page /account/tokens of the server makes one.")
    return token
