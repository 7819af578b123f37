"""Writes what is said of a system: by its team, by organisers, or by a table of all systems."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from campaigns.changes import changed_fields
from campaigns.errors import BadRequest, Forbidden, NotFound
from campaigns.fields.short_text import short_text
from campaigns.fields.web_address import web_address
from campaigns.systems.listing import SystemView, all_systems, find_system
from models.database.upsert import upsert
from models.schema.base import database_time
from models.schema.corpus import System
from models.schema.roles import Scope, SystemOrigin, Weights
from models.schema.systems import SystemDescription
from steelyard.text.names import printable
from steelyard.text.spreadsheets import restored
from steelyard_client.documents.submissions.systems import (
    MAX_ADDRESS_LENGTH,
    MAX_AFFILIATION_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_PARAMETERS,
    parse_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from campaigns.permissions import CampaignAccess

FIELDS = ("origin", "description", "affiliation", "paper_url", "url", "parameters", "weights", "constrained")
BLANK: dict[str, Any] = {
    **dict.fromkeys(("description", "affiliation", "paper_url", "url"), ""),
    "origin": SystemOrigin.TEAM, "weights": Weights.UNKNOWN, "parameters": None, "constrained": None,
}  # fmt: skip
"""What is said of a system of which nothing was said."""
COLUMNS = {
    "affiliation": "affiliation",
    "description": "description",
    "paper": "paper_url",
    "paper_url": "paper_url",
    "url": "url",
    "parameters": "parameters",
    "weights": "weights",
    "origin": "origin",
    "track": "constrained",
    "constrained": "constrained",
}
"""Column of a table -> the field; `system` and `team` name the system, `language_pairs` follows from the outputs."""
TRACKS = {
    **dict.fromkeys(("constrained", "yes", "true"), True),
    **dict.fromkeys(("unconstrained", "no", "false"), False),
    "": None,
}


def describe_system(connection: Connection, access: CampaignAccess, system: int, said: Mapping[str, Any]) -> None:
    """Change what is said of a system: the fields in `said`. For members of its team, and for organisers.

    Raises
    ------
    NotFound
        If there is none that the viewer may know of.
    NotSignedIn, Forbidden
        For others.
    BadRequest
        For invalid values.
    """
    # Who may not even know of the system gets NotFound, whatever is sent.
    find_system(connection, access, system)
    access.principal.require(Scope.SUBMIT)
    team = connection.execute(select(System.team).where(System.id == system)).scalar_one()
    if not access.organises and team not in access.own_teams:
        raise Forbidden("Only members of its team and organisers can describe a system.")
    if "origin" in said and not access.organises:
        raise Forbidden("Only organisers say whose a system is.")
    _write(connection, access, system, _validated(said))


@dataclass(frozen=True, slots=True)
class ImportedDescriptions:
    """What a table said."""

    matched: list[str]
    unknown: list[str]
    """Names of which the campaign has no system."""
    missing: list[str]
    """Systems of the campaign that the table does not name."""


def import_descriptions(
    connection: Connection, access: CampaignAccess, table: str, *, preview: bool = False
) -> ImportedDescriptions:
    """Store the descriptions in a tab-separated table, such as `systems.tsv` of WMT25. For organisers.

    Raises
    ------
    Forbidden, NotSignedIn
        For others.
    BadRequest
        With everything that is wrong, by line; then nothing is stored.
    """
    access.require_organiser()
    header, rows = _rows(table)
    known: dict[str, list[SystemView]] = {}
    for each in all_systems(connection, access):
        known.setdefault(each.system, []).append(each)
    found: dict[int, dict[str, Any]] = {}
    matched, unknown, faults = [], [], []
    for number, row in rows:
        name, team = row.get("system", ""), row.get("team")
        if not name:
            faults.append(f"Line {number} names no system.")
            continue
        meant = [each for each in known.get(name, ()) if team is None or each.team == team]
        if len(meant) > 1:
            teams = ", ".join(sorted(each.team or "the organisers" for each in meant))
            faults.append(f"Line {number}: {printable(name)} is a system of {teams}. Add a column `team`.")
        elif not meant:
            unknown.append(printable(name))
        elif meant[0].id in found:
            faults.append(f"Line {number}: {printable(name)} is there twice.")
        else:
            try:
                found[meant[0].id] = _validated(_of_row(row, header))
                matched.append(name)
            except BadRequest as error:
                faults.append(f"Line {number}, {printable(name)}: {error}")
    if faults:
        raise BadRequest("The table cannot be read, and nothing is stored.", details=faults[:50])
    if not matched:
        there = ", ".join(list(known)[:20])
        raise NotFound(
            f"The table has no system of the campaign. There are: {there}."
            if there
            else "The campaign has no system yet."
        )
    missing = [each.system for of_name in known.values() for each in of_name if each.id not in found]
    if not preview:
        for system, said in found.items():
            _write(connection, access, system, said)
    return ImportedDescriptions(matched, unknown, missing)


def _rows(table: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The columns of a table, and its rows with the numbers of their lines."""
    try:
        lines = list(csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""), delimiter="\t", strict=True))
    except csv.Error as error:
        raise BadRequest(f"The table cannot be read: {error}.") from error
    header = [each.strip().casefold() for each in lines[0]] if lines else []
    allowed = ("system", "team", "language_pairs", *COLUMNS)
    strange = [printable(each) for each in header if each not in allowed]
    if "system" not in header or strange or len({*header}) < len(header):
        what = f"It has the column {strange[0]!r}" if strange else f"Its header is {header!r:.200}"
        raise BadRequest(f"{what}. A table of systems has the column system, and any of: {', '.join(allowed[1:])}.")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not any(line):
            continue
        if len(line) != len(header):
            raise BadRequest(f"Line {number} has {len(line)} columns, and the header {len(header)}.")
        rows.append((number, {key: restored(value).strip() for key, value in zip(header, line, strict=True)}))
    return header, rows


def _of_row(row: Mapping[str, str], header: list[str]) -> dict[str, Any]:
    """What a row says; cells that are empty say nothing."""
    said: dict[str, Any] = {COLUMNS[name]: row[name] for name in header if name in COLUMNS and row[name]}
    if "constrained" in said:
        track = said["constrained"].casefold()
        if track not in TRACKS:
            raise BadRequest(f"{track[:50]!r} is no track: constrained or unconstrained.")
        said["constrained"] = TRACKS[track]
    if "parameters" in said:
        try:
            said["parameters"] = parse_parameters(said["parameters"])
        except ValueError as error:
            raise BadRequest(str(error)) from None
    for name, kind in (("weights", Weights), ("origin", SystemOrigin)):
        if name in said:
            try:
                said[name] = kind(said[name].casefold())
            except ValueError:
                there = ", ".join(str(each) for each in kind if each)
                raise BadRequest(f"{said[name][:50]!r} is not among {there}.") from None
    return said


def _validated(said: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(said)
    if "description" in values:
        values["description"] = short_text(values["description"], "The description", MAX_DESCRIPTION_LENGTH, lines=True)
    if "affiliation" in values:
        values["affiliation"] = short_text(values["affiliation"], "The affiliation", MAX_AFFILIATION_LENGTH)
    for name, what in (("paper_url", "The address of the paper"), ("url", "The address of the system")):
        if name in values:
            values[name] = web_address(values[name], what, MAX_ADDRESS_LENGTH)
    number = values.get("parameters")
    if number is not None and not 1 <= number <= MAX_PARAMETERS:
        raise BadRequest(f"A number of parameters is from 1 to {MAX_PARAMETERS:.0e}.")
    return values


def _write(connection: Connection, access: CampaignAccess, system: int, said: Mapping[str, Any]) -> None:
    """Store what has changed, and write it into the audit log, by which leaderboards notice it."""
    key = {"campaign_id": access.campaign_id, "system_id": system}
    row = connection.execute(
        select(SystemDescription).where(
            SystemDescription.campaign_id == access.campaign_id, SystemDescription.system_id == system
        )
    ).one_or_none()
    before = BLANK if row is None else {name: getattr(row, name) for name in FIELDS}
    if not (changes := changed_fields(before, said)):
        return
    values = {**before, **said, "changed_at": database_time(connection)}
    upsert(connection, SystemDescription, [{**key, **values}], [*FIELDS, "changed_at"])
    access.principal.audit(
        connection, "system.describe", f"system {system} of campaign {access.name}", campaign_id=access.campaign_id,
        **changes,
    )  # fmt: skip
