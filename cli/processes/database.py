"""`steelyard db`: the tables of the leaderboard database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.options import whole_number
from cli.stored import add_database_option, read_settings, require_schema
from steelyard.commands.errors import CommandError, UsageError

if TYPE_CHECKING:
    import argparse

    from models.database.compatibility import SchemaStatus
    from runtime.settings import Settings

OLDER_HOURS = 24


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`db`."""
    parser = verbs.add_parser("db", help="create and upgrade the tables of the database")
    parser.add_argument(
        "action", choices=("upgrade", "current", "status", "collect"),
        help="upgrade: bring the tables to this version; current: print their version; status: also print which "
        "releases can work with them and which workers are alive; collect: delete unreferenced objects from the store "
        "of statistics (STEELYARD_STATISTICS_URL)",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true",
        help="upgrade even if live workers cannot work with the new tables (they stop by themselves); collect even "
        "if more is deleted than kept",
    )  # fmt: skip
    parser.add_argument(
        "--older", type=whole_number, metavar="HOURS",
        help=f"collect only deletes objects older than this, since younger ones may be in use (default: {OLDER_HOURS})",
    )  # fmt: skip
    add_database_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Upgrade, inspect or clean up the database; the exit status."""
    from models.database import migrate

    if options.force and options.action not in ("upgrade", "collect"):
        raise UsageError("--force is for `db upgrade` and `db collect`.")
    if options.older is not None and options.action != "collect":
        raise UsageError("--older is for `db collect`.")
    settings = read_settings(options)
    if options.action == "collect":
        older_hours = OLDER_HOURS if options.older is None else options.older
        return _collect(settings, older_hours * 3600, force=options.force)
    if options.action == "upgrade":
        tables = migrate.schema_status(settings.database_url)
        if tables.revision is not None and tables.revision > migrate.REVISION:
            newer = f"the tables are of a newer release (revision {tables.revision}; this one is of {migrate.REVISION})"
            raise CommandError(f"There is nothing to upgrade: {newer}.")
        migrate.upgrade(settings.database_url, silent_seconds=None if options.force else settings.silent_seconds)
    tables = migrate.schema_status(settings.database_url)
    print(f"tables: {tables.revision or 'none'}" + (" (up to date)" if tables.revision == migrate.REVISION else ""))
    if options.action == "status":
        _print_status(settings, tables)
    return 0


def _print_status(settings: Settings, tables: SchemaStatus) -> None:
    """Which programs can work with the tables, and the workers that are alive."""
    from models.database import migrate
    from models.database.compatibility import living_workers
    from models.database.session import make_engine, reading
    from steelyard.metrics.metric import EDITION, VERSION, edition_name

    trouble = tables.problem(migrate.REVISION)
    print(f"programs: of revision {tables.oldest or tables.revision or migrate.REVISION} or later")
    print(f"this release: {VERSION}, revision {migrate.REVISION}, edition {edition_name(EDITION)}")
    print(f"this release can work with them: {'yes' if trouble is None else 'no'}")
    if trouble is not None:
        # The rows of workers may have another form in such tables.
        print(trouble)
        return
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        workers = living_workers(connection, settings.silent_seconds)
    engine.dispose()
    print(f"workers alive: {len(workers)}")
    for each in workers:
        print(f"  {each.id}: version {each.version}, revision {each.revision}, edition {edition_name(each.edition)}")


def _collect(settings: Settings, older_seconds: float, *, force: bool) -> int:
    """Delete unreferenced objects of the store; the exit status."""
    from models.database.session import make_engine, reading
    from models.storage.blobs import collect_garbage

    if not settings.statistics_url:
        raise CommandError("There is no store of statistics to clean: STEELYARD_STATISTICS_URL is not set.")
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        kept, deleted = collect_garbage(connection, settings.statistics_url, older_seconds=older_seconds, force=force)
    engine.dispose()
    print(f"objects: {deleted:,} deleted, {kept:,} kept")
    return 0
