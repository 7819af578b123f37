"""`steelyard schedule create`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.stored import read_settings, require_schema
from steelyard.commands.chosen_metrics import chosen_metrics, resolved_metrics
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import alpha_option, correction_option, many, metric_options, option, seed_option
from steelyard.commands.parsing import Value
from steelyard.commands.values import MOST_REPLICATES, UNITS, at_most
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from models.nightly.schedules import Baseline
    from scheduler.ingest.campaigns import NewSubmission
    from scheduler.nightly.cron import Calendar
    from scheduler.nightly.schedules import NewSchedule
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.resources import Resources


def _baseline(text: str) -> Baseline:
    from models.nightly.schedules import Baseline
    from models.schema.states import BaselineKind
    from scheduler.errors import BadSchedule
    from scheduler.nightly.cron import parse_date

    if text in ("previous", "best"):
        return Baseline(BaselineKind(text))
    kind, _, named = text.partition(":")
    name, at, date = named.rpartition("@")
    if not at:
        name, date = date, ""
    if kind != "system" or not name:
        raise ValueError(f'"{text}" is none of previous, best, system:NAME and system:NAME@DATE')
    try:
        return Baseline(BaselineKind.NAMED, name, parse_date(date).isoformat() if at else None)
    except BadSchedule as error:
        raise ValueError(str(error).removesuffix(".")) from error


@dataclass(frozen=True)
class _Chosen:
    """A requested test set."""

    title: str
    """NAME or NAME@VERSION."""
    name: str
    version: str | None
    """None for the next free version."""
    folder: CampaignFolder | None
    """The folder as read; None for a stored test set."""
    test_set_id: int | None
    """The id of a stored test set; None for a folder."""
    references: Sequence[str]
    """The labels of all its references."""
    metrics: Sequence[str]
    """Specifications with everything pinned that the metrics take from the test set."""


@click.command(
    "create",
    cls=ServerCommand,
    help="Create a schedule. A path pattern locates the outputs, e.g. out/{date}/{test_set}/{system}.txt: every "
    "matching file is a system's output. A command, if given, runs first, in this folder, and writes them; it reads "
    "the date from STEELYARD_DATE and, without --source, writes TEST_SET/SYSTEM.txt into the folder STEELYARD_OUTPUT.",
    example='steelyard schedule create gate --cron "30 2 * * *" --source "out/{date}/{system}.txt" --test-set wmt24',
)
@click.argument("name", metavar="NAME", help="name of the schedule and of the campaign with its scores")
@option("--cron", required=True, metavar="EXPRESSION", help='when to run, e.g. "30 2 * * *" for 02:30 every night')
@option(
    "--time-zone", default="UTC", metavar="ZONE", help="time zone of the schedule, e.g. Europe/Prague (default: UTC)"
)
@option("--source", metavar="PATTERN", help="path pattern of the outputs, with {date}, {test_set} and {system}")
@option("--command", metavar="COMMAND", help="command that writes the outputs; for a shell write sh -c '...'")
@option("--seconds", type=float, default=3600.0, metavar="S", help="how long the command may take (default: 3600)")
@many(
    "--test-set",
    required=True,
    metavar="NAME|DIR...",
    help="test sets: the names of stored ones, or campaign folders (their systems, if any, serve as baselines)",
)
@many("--references", metavar="A,B...", help="which references to score against, e.g. A A,B (default: all together)")
@metric_options()
@option(
    "--baseline",
    type=Value(_baseline),
    default="previous",
    metavar="WHAT",
    help="what to compare with: previous (the same system in the previous run), best (its best run so far), or "
    "system:NAME, system:NAME@DATE (default: previous)",
)
@option(
    "--test",
    type=click.Choice(("bootstrap", "randomization")),
    default="bootstrap",
    help="the test (default: bootstrap)",
)
@alpha_option()
@correction_option("holm")
@option(
    "--minimum-difference",
    type=float,
    default=0.0,
    metavar="POINTS",
    help="the smallest significant loss, in points, that counts as a regression (default: 0)",
)
@option(
    "--replicates",
    type=Value(at_most(MOST_REPLICATES)),
    default=1000,
    metavar="N",
    help="of the bootstrap (default: 1000)",
)
@option(
    "--resample",
    type=click.Choice(UNITS),
    help="what the bootstrap draws and tests exchange: segments, or whole documents, whose segments are alike "
    "(default: document where a test set has 50 documents or more)",
)
@seed_option("resampling")
@option("--webhook", metavar="URL", help="address that is notified of every finished run")
@option("--webhook-secret-file", type=Value(Path), metavar="FILE", help="file with the key that signs the messages")
@option("--webhook-private", is_flag=True, help="the webhook may be at a private address, e.g. localhost")
@option("--team", default="", metavar="NAME", help="the team whose systems these are")
@database_option()
@collected
def create(options: Options) -> int:
    """Store the schedule and its baselines; the exit status."""
    from models.corpus.test_sets import list_test_sets
    from models.database.session import make_engine, writing
    from models.nightly.schedules import read_schedule
    from scheduler.ingest.campaigns import store_campaign
    from scheduler.nightly.cron import Calendar
    from scheduler.nightly.schedules import add_schedule, store_baseline
    from steelyard.metrics.resources import Resources

    settings = read_settings(options)
    calendar = Calendar(options.cron, options.time_zone)
    secret = _secret(options)
    metrics = chosen_metrics(options)
    resources = Resources(settings.resource_folder)
    for name, file in options.resource:
        resources.register(name, "file", file)
    require_schema(settings, create=True)
    engine = make_engine(settings.database_url, pooled=False)
    chosen = [_chosen(options, engine, resources, metrics, each) for each in options.test_set]
    with writing(engine, durable=True) as connection:
        campaign_id = store_campaign(connection, options.name)
        stored = [_stored(connection, campaign_id, each) for each in chosen]
        titles = {known.id: known.title for known in list_test_sets(connection, campaign_id)}
        new = _new(options, calendar, secret, chosen, [(key, titles[key]) for key in stored])
        schedule = read_schedule(connection, add_schedule(connection, new))
        without_scores = store_baseline(connection, schedule, _baselines(options, chosen, stored))
    for key in without_scores:
        note([f'No output of "{options.baseline.system}" is stored for {titles[key]}: runs must bring it.'])
    print("\n".join(f"Test set {titles[key]}." for key in dict.fromkeys(stored)))
    assert schedule.next_at is not None
    print(f'Schedule "{options.name}": the next run is {calendar.clock(schedule.next_at)}, {options.time_zone}.')
    if settings.embedded:
        print("The schedule runs while `steelyard up` runs; `steelyard schedule run` runs it now.")
    return 0


def _secret(options: Options) -> str | None:
    from steelyard.formats.input.given_files import read_given

    if (options.webhook is None) != (options.webhook_secret_file is None):
        raise UsageError("--webhook and --webhook-secret-file go together: messages are signed.")
    if options.webhook is None:
        return None
    try:
        return read_given(options.webhook_secret_file).decode().strip()
    except UnicodeDecodeError as error:
        raise CommandError(f"{options.webhook_secret_file}: is not text. Write the secret as text.") from error


def _chosen(options: Options, engine: Engine, resources: Resources, metrics: Sequence[Metric], given: str) -> _Chosen:
    """A test set by its name or its folder. Raises UsageError, CommandError, BadText and MetricsError."""
    from cli.campaigns.evaluate import checked_name
    from models.corpus.test_sets import find_test_set, read_references
    from models.database.session import reading
    from models.errors import NotFound
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.formats.plain import Text
    from steelyard.text.limits import STORING_LIMITS

    if Path(given).is_dir():
        folder = read_any_campaign([given], limits=STORING_LIMITS, without_systems=True)
        note(folder.notices)
        pinned = resolved_metrics(
            options, metrics, resources, folder.target_language or "", list(folder.references.values())
        )
        names = list(folder.references)
        name = checked_name(folder.name)
        return _Chosen(name, name, None, folder, None, names, [each.specification for each in pinned])
    with reading(engine) as connection:
        try:
            known = find_test_set(connection, given)
        except NotFound as error:
            raise CommandError(f"There is no folder {given!r} here. {error}") from error
        references = read_references(connection, known.id)
    # Only the layers of the texts matter here.
    texts = [Text(label, b"", 0, dict.fromkeys(references.layers, b"")) for label in references.labels]
    pinned = resolved_metrics(options, metrics, resources, references.language, texts)
    specifications = [each.specification for each in pinned]
    return _Chosen(known.title, known.name, known.version, None, known.id, references.labels, specifications)


def _stored(connection: Connection, campaign_id: int, chosen: _Chosen) -> int:
    """The id of a test set in the schedule's campaign; a folder is stored first."""
    from models.corpus.campaign_protocols import lock_campaign
    from scheduler.errors import BadIngest
    from scheduler.ingest.test_sets import NewTestSet, link_test_set, store_test_set

    if chosen.folder is None:
        assert chosen.test_set_id is not None
        lock_campaign(connection, campaign_id)
        try:
            link_test_set(connection, campaign_id, chosen.test_set_id, chosen.name, chosen.version)
        except BadIngest:
            # A test set of that name from another campaign is chosen, too: it becomes another version here.
            link_test_set(connection, campaign_id, chosen.test_set_id, chosen.name)
        return chosen.test_set_id
    return store_test_set(connection, campaign_id, NewTestSet.from_folder(chosen.name, chosen.folder))


def _new(
    options: Options,
    calendar: Calendar,
    secret: str | None,
    chosen: Sequence[_Chosen],
    stored: Sequence[tuple[int, str]],
) -> NewSchedule:
    """The schedule that the options describe; `stored` are the ids and titles of its test sets.

    Raises UsageError and BadSchedule.
    """
    from cli.campaigns.evaluate import reference_selections
    from models.schema.states import PairedTest, ResamplingUnit
    from scheduler.nightly.schedules import NewSchedule
    from scheduler.nightly.sources import new_source

    test_sets = []
    for each, (key, _) in zip(chosen, stored, strict=True):
        if each.metrics != chosen[0].metrics:
            raise CommandError(
                f"The metrics need different settings for {chosen[0].title} and {each.title} (different languages, for "
                "instance). Create a schedule for each."
            )
        asked = reference_selections(options.references, each.references) if options.references else None
        test_sets += [(key, labels) for labels in asked or [list(each.references)]]
    titles = list(dict.fromkeys(title for _, title in stored))
    source = new_source(options.source, options.command, options.seconds, Path.cwd(), titles)
    return NewSchedule(
        name=options.name,
        calendar=calendar,
        source=source,
        test_sets=test_sets,
        metrics=chosen[0].metrics,
        baseline=options.baseline,
        replicates=options.replicates,
        seed=options.seed,
        resample=ResamplingUnit(options.resample) if options.resample else None,
        alpha=options.alpha,
        correction=options.correction,
        test=PairedTest(options.test),
        minimum_difference=options.minimum_difference,
        webhook=options.webhook,
        webhook_secret=secret,
        webhook_private=options.webhook_private,
        team=options.team,
    )


def _baselines(options: Options, chosen: Sequence[_Chosen], stored: Sequence[int]) -> dict[int, NewSubmission]:
    """The outputs of a named baseline that the folders contain, by id of the test set."""
    from scheduler.ingest.campaigns import NewSubmission

    found = {}
    for each, key in zip(chosen, stored, strict=True):
        text = each.folder.systems.get(options.baseline.system) if each.folder else None
        if text is not None:
            found[key] = NewSubmission(options.baseline.system, text, options.team, text.layers)
    return found
