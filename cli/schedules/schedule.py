"""`steelyard schedule create`, `run` and `delete`: what needs the database's machine."""

from __future__ import annotations

from cli.commands import ServerCommand
from cli.schedules.create import create
from cli.schedules.run import run
from cli.stored import require_schema, settings_for
from steelyard.commands.options import option, yes_option
from steelyard.commands.prompts import confirm
from steelyard_client.commands.backend import database_option
from steelyard_client.commands.campaigns.schedule import NAME, schedule

schedule.add_command(create)
schedule.add_command(run)


@schedule.command(
    "delete",
    cls=ServerCommand,
    help="Delete a schedule. Its history is kept, and so are the scores in the campaign of its name.",
    example="steelyard schedule delete gate --yes",
)
@NAME
@option("--history", is_flag=True, help="delete its history, too")
@yes_option()
@database_option()
def delete(name: str, history: bool, yes: bool, database: str | None) -> int:
    """Delete a schedule."""
    from models.database.session import make_engine, reading, writing
    from models.nightly.schedules import find_schedule
    from scheduler.nightly.schedules import remove_schedule

    settings = settings_for(database)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        find_schedule(connection, name)
    confirm(f'Delete the schedule "{name}"{" and its history" if history else ""}?', yes=yes)
    with writing(engine, durable=True) as connection:
        kept = remove_schedule(connection, name, forget=history)
    about = "its history is deleted" if history else f"its history is kept ({kept} runs)"
    print(f'Schedule "{name}" is deleted; {about}.')
    return 0
