"""A campaign as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.tables.formatting import date_time
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.documents.campaigns.campaigns import CampaignResponse
    from steelyard_client.documents.campaigns.corrections import CorrectionResponse
    from steelyard_client.documents.campaigns.phases import PhaseResponse
    from steelyard_client.documents.campaigns.test_sets import TestSetResponse

CAMPAIGN = click.argument("campaign", metavar="CAMPAIGN", help="name of the campaign")


def print_campaign(client: Client, name: str, form: str = "text") -> int:
    """Print the rules of a campaign, then the phases, test sets and corrections that it has; the exit status."""
    known, phases = client.read_campaign(name), list(client.list_phases(name))
    teams = len(list(client.list_campaign_teams(name)))
    others = (
        phase_table(phases, known.time_zone),
        test_set_table(list(client.list_test_sets(name))),
        correction_table(list(client.list_corrections(name)), known.time_zone),
    )
    print(render([rule_table(known, phases, teams), *(each for each in others if each.rows)], form, name), end="")
    return 0


def rule_table(known: CampaignResponse, phases: Sequence[PhaseResponse], teams: int) -> Table:
    """The campaign's rules, a row each."""
    rows = [
        ["Campaign", known.name if known.title == known.name else f"{known.name} ({known.title})"],
        ["Now", date_time(known.at.timestamp(), known.time_zone)],
        ["Open for submissions", _takes(known, phases)],
        ["Visible to", "everybody" if known.visibility == "public" else "organisers, viewers and teams"],
        ["Teams", f"{teams}, {'any team can join' if known.joining == 'open' else 'by invitation'}"],
        ["Team names", "hidden until publication" if known.anonymous else "shown"],
        ["Who submits", "team members with a confirmed e-mail address" if known.verified_only else "all team members"],
        ["Ranked by", known.ranked_by or "the first metric"],
        ["Ranked by people", f"{known.human_rule} of {known.human_judgments}" if known.human_rule else "no"],
    ]
    return Table([Column("rule", "Rule", Kind.NAME), Column("value", "Value")], rows, key="rules")


def phase_table(phases: Sequence[PhaseResponse], zone: str) -> Table:
    """The phases, a star before the present one."""
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
    for phase in phases:
        late = f"accepted for {phase.grace_seconds / 3600:g} h" if phase.grace_seconds else "rejected"
        feedback = str(phase.feedback) if phase.kind == "blind" else None
        ends_at = None if phase.ends_at is None else phase.ends_at.timestamp()
        now = "*" if phase.now else ""
        rows.append([now, phase.name, str(phase.kind), phase.starts_at.timestamp(), ends_at, late, feedback])
    return Table(columns, rows, key="phases", empty="The campaign has no phases.")


def test_set_table(test_sets: Sequence[TestSetResponse]) -> Table:
    """The test sets."""
    columns = [
        Column("title", "Test set", Kind.NAME),
        Column("segments", "Segments", Kind.COUNT),
        Column("languages", "Languages"),
        Column("phase", "Phase", missing="(all)"),
        Column("references", "References"),
        Column("state", "State"),
    ]
    titles = {each.id: title_of(each) for each in test_sets}
    rows = []
    for each in test_sets:
        state = "released" if each.released_at is not None else "hidden"
        if each.replaced_by is not None:
            state = f"replaced by {titles.get(each.replaced_by, 'another one')}"
        languages = f"{each.source_language or '?'}-{each.target_language or '?'}"
        rows.append([titles[each.id], each.segments, languages, each.phase or None, list(each.references), state])
    return Table(columns, rows, key="test_sets", empty="The campaign has no test sets.")


def title_of(test_set: TestSetResponse) -> str:
    """Its name, with the version if it is not the first."""
    return test_set.name if test_set.version == "1" else f"{test_set.name}@{test_set.version}"


def correction_table(corrections: Sequence[CorrectionResponse], zone: str) -> Table:
    """The corrections of references."""
    columns = [
        Column("id", "Correction", Kind.ID),
        Column("test_set", "Test set", Kind.NAME),
        Column("versions", "Versions"),
        Column("made_at", "Made", Kind.TIME, zone=zone),
        Column("reason", "Reason"),
    ]
    rows = [
        [
            each.id,
            each.test_set,
            f"{each.old_version} -> {each.new_version}",
            each.made_at.timestamp(),
            " ".join(each.reason.split()),
        ]
        for each in corrections
    ]
    return Table(columns, rows, key="corrections", empty="No references were corrected.")


def _takes(known: CampaignResponse, phases: Sequence[PhaseResponse]) -> str:
    if known.frozen_at is not None:
        return "no, it is frozen"
    if known.phase is None:
        return "no, its first phase has not begun" if phases else "yes, it has no phases"
    if not any(each.now for each in phases):
        return f'no, the phase "{known.phase}" is over'
    return f'{"yes" if known.takes_submissions else "no"}, the phase is "{known.phase}"'
