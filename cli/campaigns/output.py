"""A campaign as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess


def campaign_as_text(connection: Connection, access: CampaignAccess) -> str:
    """Its rules, phases, test sets and corrections."""
    from campaigns.corrections import list_corrections
    from campaigns.test_sets import list_campaign_test_sets
    from campaigns.times import format_local_time

    def local_time(seconds: float | None) -> str:
        return "-" if seconds is None else format_local_time(seconds, access.time_zone)

    facts = [
        ["Campaign", access.name if access.title == access.name else f"{access.name} ({access.title})"],
        ["Now", local_time(access.at)],
        ["Open for submissions", _takes(access)],
        ["Visible to", "everybody" if access.visibility == "public" else "organisers, viewers and teams"],
        [
            "Teams",
            f"{len(access.teams)}, {'any team can join' if access.joining == 'open' else 'by invitation'}",
        ],
        ["Team names", "hidden until publication" if access.anonymous else "shown"],
        ["Who submits", "team members with a confirmed e-mail address" if access.verified_only else "all team members"],
        ["Ranked by", access.ranked_by or "the first metric"],
    ]
    parts = [aligned(facts)]
    if access.phases:
        rows = [["", "Phase", "Kind", "Begins", "Deadline", "Late", "Feedback"]]
        for phase in access.phases:
            now = "*" if access.phase_status(phase) == "now" else ""
            late = f"accepted for {phase.grace_seconds / 3600:g} h" if phase.grace_seconds else "rejected"
            feedback = phase.feedback if phase.kind == "blind" else "-"
            rows.append(
                [now, phase.name, phase.kind, local_time(phase.starts_at), local_time(phase.ends_at), late, feedback]
            )
        parts.append(aligned(rows))
    test_sets = list_campaign_test_sets(connection, access)
    if test_sets:
        titles = {each.id: each.title for each in test_sets}
        rows = [["Test set", "Segments", "Languages", "Phase", "References", ""]]
        for each in test_sets:
            state = "released" if each.released_at is not None else "hidden"
            if each.replaced_by is not None:
                state = f"replaced by {titles.get(each.replaced_by, 'another one')}"
            languages = f"{each.source_language or '?'}-{each.target_language or '?'}"
            labels = ",".join(each.references)
            rows.append([each.title, f"{each.segments:,}", languages, each.phase or "(all)", labels, state])
        parts.append(aligned(rows))
    corrections = list_corrections(connection, access)
    if corrections:
        rows = [["Correction", "Test set", "Versions", "Made", "Reason"]]
        for known in corrections:
            versions = f"{known.old_version} -> {known.new_version}"
            why = " ".join(known.reason.split())
            rows.append([str(known.id), known.test_set, versions, local_time(known.made_at), why])
        parts.append(aligned(rows))
    return "\n".join(parts)


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
