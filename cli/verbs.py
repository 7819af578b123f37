"""The verbs of the server, as the command `steelyard` takes them."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from cli.verb_files import FILES
from steelyard.commands.verbs import Verb, imported

if TYPE_CHECKING:
    import click


def adapted(verb: str) -> click.Command:
    """The command of click that hands its arguments to the verb's parser."""
    command: click.Command = import_module("cli.adapter").Adapter(verb)
    return command


NATIVE = {
    "campaign": ("create campaigns and manage their rules, members and teams", "campaigns.campaign"),
    "phase": ("plan the phases of campaigns", "campaigns.phase"),
    "testset": ("add test sets to campaigns, release or correct their references", "campaigns.testset"),
    "submission": ("change what is declared about a submission, or withdraw it", "campaigns.submission"),
    "user": ("create accounts of the web service and set their permissions", "accounts.user"),
    "token": ("create, list and revoke API tokens", "accounts.token"),
    "team": ("create teams of the web service and manage their members", "accounts.team"),
    "quota": ("limit how many submissions a team may make", "accounts.quota"),
    "vectors": ("train, import and list word vectors", "scoring.vectors"),
    "up": ("serve pages and API, score queued work and run nightly schedules, until stopped", "processes.up"),
    "serve": ("serve pages and API until stopped", "processes.serve"),
    "worker": ("score shards until stopped", "processes.processes"),
    "scheduler": ("dispatch work until stopped", "processes.processes"),
    "db": ("create and upgrade the tables of the database", "processes.database"),
    "health": ("check whether a worker, a scheduler or the web service is ready", "processes.health"),
    "login": ("store the API token for a server", "accounts.login"),
}
"""Verbs and nouns of click: their lines in the help, and the files that define them under their own names."""
VERBS = {verb: Verb(line, partial(adapted, verb)) for verbs in FILES.values() for verb, line in verbs.items()} | {
    name: Verb(line, partial(imported, f"cli.{file}:{name}")) for name, (line, file) in NATIVE.items()
}
"""What the entry point of the group `steelyard.commands` leads to."""
