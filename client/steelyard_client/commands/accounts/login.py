"""`steelyard login`: store the API token for a server."""

from __future__ import annotations

import os

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import option
from steelyard.commands.parsing import Command
from steelyard.commands.prompts import ask_secret
from steelyard_client.commands.backend import SERVER, named_server, server_option
from steelyard_client.commands.tokens import keep_token, token_file


@click.command(
    "login",
    cls=Command,
    help="Ask for an API token of a Steelyard server (create one on its page /account/tokens), test it, and store it "
    "for `steelyard --server URL ...` in a file that only you can read. In a pipe the token is read from standard "
    "input. STEELYARD_TOKEN, if set, takes precedence.",
    example="steelyard login --server https://mt.example.org",
)
@server_option()
@option("--forget", is_flag=True, help="delete the stored token; it stays valid on the server")
def login(server: str | None, forget: bool) -> int:
    """Ask for the token, test it and store it."""
    from steelyard_client import Client, ClientError, check_server_url

    server = named_server(server) or os.environ.get(SERVER)
    if not server:
        raise UsageError("Which server? Give --server URL, or set STEELYARD_SERVER.")
    try:
        server = check_server_url(server, "token")
        if forget:
            keep_token(server, None)
            print(f"The token for {server} is deleted here.")
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
        raise CommandError("This is not a token. Create one on the server's page /account/tokens.")
    return token
