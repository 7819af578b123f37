"""`steelyard serve`: pages for people and the API for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.commands import LongLivedCommand, Options, collected
from cli.processes.http_option import http_option, read_served_settings
from cli.stored import require_schema
from steelyard.commands.options import option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import at_most
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings
    from steelyard.commands.options import Decorator
    from web.serving import Address

LARGEST_PORT = 65535


def address_options() -> Decorator:
    """--host and --port."""
    return together(
        option(
            "--host",
            metavar="ADDRESS",
            help="address to listen on; 0.0.0.0 accepts other machines (default: STEELYARD_WEB_HOST, else 127.0.0.1)",
        ),
        option(
            "--port",
            type=Value(at_most(LARGEST_PORT)),
            metavar="N",
            help="port to listen on; 0: any free one (default: STEELYARD_WEB_PORT, else 8718)",
        ),
    )


def read_web_settings(options: Options) -> WebSettings:
    """The settings of the web service, overridden by the options. Raises UsageError."""
    from runtime.service_settings import WebSettings

    settings = read_served_settings(options, WebSettings)
    said = {"web_host": options.host, "web_port": options.port}
    return settings.model_copy(update={name: value for name, value in said.items() if value is not None})


@click.command(
    "serve",
    cls=LongLivedCommand,
    help="Serve the leaderboards as pages and as an API. Scores come from workers: `steelyard "
    "worker` and `steelyard scheduler`, or `steelyard up`, which serves, too. Without any "
    "account, it prints a link to create the first administrator. SIGTERM or Ctrl-C stops it "
    "in order.",
    example="steelyard serve --host 0.0.0.0 --port 8718",
)
@address_options()
@http_option()
@database_option()
@collected
def serve(options: Options) -> int:
    """Serve until stopped; the exit status."""
    from runtime.logs import set_up_logs
    from runtime.stop_request import ANSWER_SECONDS, end_after_main_thread
    from runtime.tracing import set_up_traces
    from web.serving import serve as serve_pages

    settings = read_web_settings(options)
    require_schema(settings, create=True)
    set_up_logs(settings.log_format, settings.log_level, role="web")
    set_up_traces(settings.traces_url, "web")
    serve_pages(settings, lambda address, _: tell(settings, address))
    # Threads that answer requests may still wait for the database.
    end_after_main_thread(ANSWER_SECONDS)
    return 0


def tell(settings: WebSettings, address: Address) -> None:
    """Print the address and the link for the first account. Not logged: the link makes its holder administrator."""
    from campaigns.accounts.bootstrap_admin import LINK_SECONDS, bootstrap_link
    from models.database.session import make_engine

    engine = make_engine(settings.database_url, pooled=False)
    link = bootstrap_link(engine, settings, address.public_url)
    engine.dispose()
    print(f"Steelyard is at {address.public_url}/", flush=True)
    if link is not None:
        hours = min(LINK_SECONDS, settings.invitation_seconds) / 3600
        print(f"There is no account yet. Make the administrator's within {hours:g} h: {link}", flush=True)
