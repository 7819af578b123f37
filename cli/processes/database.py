"""`steelyard db`: the tables of the leaderboard database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.commands import noun
from cli.stored import require_schema, settings_for
from steelyard.commands.errors import CommandError
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from models.database.compatibility import SchemaStatus
    from runtime.settings import Settings

OLDER_HOURS = 24


db = noun("db", "Create and upgrade the tables of the database, and clean its store of statistics.")


@db.command(
    "upgrade",
    help="Bring the tables to this version; create them where there are none.",
    example="steelyard db upgrade --database postgresql://steelyard@db/steelyard",
)
@option(
    "--force",
    is_flag=True,
    help="even if live workers cannot work with the new tables (they stop by themselves)",
)
@database_option()
def upgrade(force: bool, database: str | None) -> int:
    """Upgrade the tables."""
    from models.database import migrate

    settings = settings_for(database)
    tables = migrate.schema_status(settings.database_url)
    if tables.revision is not None and tables.revision > migrate.REVISION:
        newer = f"the tables are of a newer release (revision {tables.revision}; this one is of {migrate.REVISION})"
        raise CommandError(f"There is nothing to upgrade: {newer}.")
    migrate.upgrade(settings.database_url, silent_seconds=None if force else settings.silent_seconds)
    _print_version(settings)
    return 0


@db.command("current", help="Print the version of the tables.", example="steelyard db current")
@database_option()
def current(database: str | None) -> int:
    """Print the version."""
    _print_version(settings_for(database))
    return 0


@db.command(
    "status",
    help="Print the version of the tables, which releases can work with them, and which workers are alive.",
    example="steelyard db status",
)
@database_option()
def status(database: str | None) -> int:
    """Print what is known of the tables and the workers."""
    settings = settings_for(database)
    _print_status(settings, _print_version(settings))
    return 0


@db.command(
    "collect",
    help="Delete unreferenced objects from the store of statistics (STEELYARD_STATISTICS_URL).",
    example="steelyard db collect --older 48",
)
@option("--force", is_flag=True, help="even if more is deleted than kept")
@option(
    "--older",
    type=Value(whole_number),
    default=OLDER_HOURS,
    metavar="HOURS",
    help=f"only objects older than this, since younger ones may be in use (default: {OLDER_HOURS})",
)
@database_option()
def collect(force: bool, older: int, database: str | None) -> int:
    """Delete unreferenced objects."""
    from models.database.session import make_engine, reading
    from models.storage.blobs import collect_garbage

    settings = settings_for(database)
    if not settings.statistics_url:
        raise CommandError("There is no store of statistics to clean: STEELYARD_STATISTICS_URL is not set.")
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        kept, deleted = collect_garbage(connection, settings.statistics_url, older_seconds=older * 3600, force=force)
    engine.dispose()
    print(f"objects: {deleted:,} deleted, {kept:,} kept")
    return 0


def _print_version(settings: Settings) -> SchemaStatus:
    from models.database import migrate

    tables = migrate.schema_status(settings.database_url)
    print(f"tables: {tables.revision or 'none'}" + (" (up to date)" if tables.revision == migrate.REVISION else ""))
    return tables


def _print_status(settings: Settings, tables: SchemaStatus) -> None:
    """Which programs can work with the tables, and the workers that are alive."""
    from models.database import migrate
    from models.database.compatibility import living_workers
    from models.database.session import make_engine, reading
    from steelyard.metrics.metric import EDITION, VERSION, edition_name

    problem = tables.problem(migrate.REVISION)
    print(f"programs: of revision {tables.oldest or tables.revision or migrate.REVISION} or later")
    print(f"this release: {VERSION}, revision {migrate.REVISION}, edition {edition_name(EDITION)}")
    print(f"this release can work with them: {'yes' if problem is None else 'no'}")
    if problem is not None:
        # The rows of workers may have another form in such tables.
        print(problem)
        return
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        workers = living_workers(connection, settings.silent_seconds)
    engine.dispose()
    print(f"workers alive: {len(workers)}")
    for each in workers:
        print(f"  {each.id}: version {each.version}, revision {each.revision}, edition {edition_name(each.edition)}")
