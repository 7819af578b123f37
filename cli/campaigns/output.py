"""A campaign as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess


def tables_of(connection: Connection, access: CampaignAccess) -> list[Table]:
    """Its rules, then those of phases, test sets and corrections that it has."""
    others = (phase_table(access), test_set_table(connection, access), correction_table(connection, access))
    return [rule_table(access), *(each for each in others if each.rows)]


def rule_table(access: CampaignAccess) -> Table:
    """The campaign's rules, a row each."""
    from campaigns.times import format_local_time

    rows = [
        ["Campaign", access.name if access.title == access.name else f"{access.name} ({access.title})"],
        ["Now", format_local_time(access.at, access.time_zone)],
        ["Open for submissions", _takes(access)],
        ["Visible to", "everybody" if access.visibility == "public" else "organisers, viewers and teams"],
        ["Teams", f"{len(access.teams)}, {'any team can join' if access.joining == 'open' else 'by invitation'}"],
        ["Team names", "hidden until publication" if access.anonymous else "shown"],
        ["Who submits", "team members with a confirmed e-mail address" if access.verified_only else "all team members"],
        ["Ranked by", access.ranked_by or "the first metric"],
    ]
    return Table([Column("rule", "Rule", Kind.NAME), Column("value", "Value")], rows, key="rules")


def phase_table(access: CampaignAccess) -> Table:
    """The phases, a star before the present one."""
    zone = access.time_zone
    columns = [
        Column("now", ""),
        Column("name", "Phase", Kind.NAME),
        Column("kind", "Kind"),
        Column("starts_at", "Begins", Kind.TIME, zone=zone),
        Column("ends_at", "Deadline", Kind.TIME, zone=zone, missing="-"),
        Column("late", "Late"),
        Column("feedback", "Feedback", missing="-"),
    ]
    rows = []
    for phase in access.phases:
        now = "*" if access.phase_status(phase) == "now" else ""
        late = f"accepted for {phase.grace_seconds / 3600:g} h" if phase.grace_seconds else "rejected"
        feedback = str(phase.feedback) if phase.kind == "blind" else None
        rows.append([now, phase.name, str(phase.kind), phase.starts_at, phase.ends_at, late, feedback])
    return Table(columns, rows, key="phases", empty="The campaign has no phases.")


def test_set_table(connection: Connection, access: CampaignAccess) -> Table:
    """The test sets."""
    from campaigns.test_sets import list_campaign_test_sets

    columns = [
        Column("title", "Test set", Kind.NAME),
        Column("segments", "Segments", Kind.COUNT),
        Column("languages", "Languages"),
        Column("phase", "Phase", missing="(all)"),
        Column("references", "References"),
        Column("state", "State"),
    ]
    test_sets = list_campaign_test_sets(connection, access)
    titles = {each.id: each.title for each in test_sets}
    rows = []
    for each in test_sets:
        state = "released" if each.released_at is not None else "hidden"
        if each.replaced_by is not None:
            state = f"replaced by {titles.get(each.replaced_by, 'another one')}"
        languages = f"{each.source_language or '?'}-{each.target_language or '?'}"
        rows.append([each.title, each.segments, languages, each.phase or None, list(each.references), state])
    return Table(columns, rows, key="test_sets", empty="The campaign has no test sets.")


def correction_table(connection: Connection, access: CampaignAccess) -> Table:
    """The corrections of references."""
    from campaigns.corrections import list_corrections

    columns = [
        Column("id", "Correction", Kind.ID),
        Column("test_set", "Test set", Kind.NAME),
        Column("versions", "Versions"),
        Column("made_at", "Made", Kind.TIME, zone=access.time_zone),
        Column("reason", "Reason"),
    ]
    rows = [
        [
            known.id,
            known.test_set,
            f"{known.old_version} -> {known.new_version}",
            known.made_at,
            " ".join(known.reason.split()),
        ]
        for known in list_corrections(connection, access)
    ]
    return Table(columns, rows, key="corrections", empty="No references were corrected.")


def _takes(access: CampaignAccess) -> str:
    if access.frozen_at is not None:
        return "no, it is frozen"
    if not access.phases:
        return "yes, it has no phases"
    if access.phase is None:
        return "no, its first phase has not begun"
    if access.phase_status(access.phase) == "past":
        return f'no, the phase "{access.phase.name}" is over'
    return f'{"yes" if access.takes_submissions else "no"}, the phase is "{access.phase.name}"'
