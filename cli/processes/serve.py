"""`steelyard serve`: pages for people and the API for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.options import at_most
from cli.processes.http_option import add_http_option, read_served_settings
from cli.stored import add_database_option, require_schema

if TYPE_CHECKING:
    import argparse

    from runtime.service_settings import WebSettings
    from web.serving import Address

LARGEST_PORT = 65535


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`serve`."""
    parser = verbs.add_parser(
        "serve",
        help="serve pages and API until stopped",
        description="Serve the leaderboards as pages and as an API. Scores come from workers: `steelyard worker` and "
        "`steelyard scheduler`, or `steelyard up`, which serves, too. Without any account, it prints a "
        "link to create the first administrator. SIGTERM or Ctrl-C stops it in order.",
    )
    add_address_options(parser)
    add_http_option(parser)
    add_database_option(parser)
    parser.set_defaults(run=run)


def add_address_options(parser: argparse.ArgumentParser) -> None:
    """--host and --port."""
    parser.add_argument(
        "--host", metavar="ADDRESS",
        help="address to listen on; 0.0.0.0 accepts other machines (default: STEELYARD_WEB_HOST, else 127.0.0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=at_most(LARGEST_PORT), metavar="N",
        help="port to listen on; 0: any free one (default: STEELYARD_WEB_PORT, else 8718)",
    )  # fmt: skip


def read_web_settings(options: argparse.Namespace) -> WebSettings:
    """The settings of the web service, overridden by the options. Raises UsageError."""
    from runtime.service_settings import WebSettings

    settings = read_served_settings(options, WebSettings)
    said = {"web_host": options.host, "web_port": options.port}
    return settings.model_copy(update={name: value for name, value in said.items() if value is not None})


def run(options: argparse.Namespace) -> int:
    """Serve until stopped; the exit status."""
    from runtime.logs import set_up_logs
    from web.serving import serve

    settings = read_web_settings(options)
    require_schema(settings, create=True)
    set_up_logs(settings.log_format, settings.log_level, role="web")
    serve(settings, lambda address, _: tell(settings, address))
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
