"""A campaign as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.terminal.columns import aligned

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import Sight


def campaign_as_text(connection: Connection, sight: Sight) -> str:
    """Its rules, phases, test sets and corrections."""
    from campaigns.corrections import list_corrections
    from campaigns.test_sets import list_campaign_test_sets
    from campaigns.times import shown_moment

    def moment(seconds: float | None) -> str:
        return "-" if seconds is None else shown_moment(seconds, sight.time_zone)

    facts = [
        ["Campaign", sight.name if sight.title == sight.name else f"{sight.name} ({sight.title})"],
        ["Now", moment(sight.at)],
        ["Takes submissions", _takes(sight)],
        ["Seen by", "everybody" if sight.visibility == "public" else "organisers, viewers and teams"],
        ["Teams", f"{len(sight.teams)}, {'join by themselves' if sight.joining == 'open' else 'are added or invited'}"],
        ["Names", "hidden until publication" if sight.anonymous else "shown"],
        ["Hands in", "only who has a confirmed address" if sight.verified_only else "whoever is in a team"],
        ["Ranked by", sight.ranked_by or "the first metric"],
    ]
    parts = [aligned(facts)]
    if sight.phases:
        rows = [["", "Phase", "Kind", "Begins", "Deadline", "Late", "Feedback"]]
        for phase in sight.phases:
            now = "*" if sight.standing_of(phase) == "now" else ""
            late = f"flagged for {phase.grace_seconds / 3600:g} h" if phase.grace_seconds else "refused"
            feedback = phase.feedback if phase.kind == "blind" else "-"
            rows.append([now, phase.name, phase.kind, moment(phase.starts_at), moment(phase.ends_at), late, feedback])
        parts.append(aligned(rows))
    test_sets = list_campaign_test_sets(connection, sight)
    if test_sets:
        titles = {each.id: each.title for each in test_sets}
        rows = [["Test set", "Segments", "Languages", "Phase", "References", ""]]
        for each in test_sets:
            state = "released" if each.released_at is not None else "kept"
            if each.replaced_by is not None:
                state = f"replaced by {titles.get(each.replaced_by, 'another one')}"
            languages = f"{each.source_language or '?'}-{each.target_language or '?'}"
            labels = ",".join(each.references)
            rows.append([each.title, f"{each.segments:,}", languages, each.phase or "(all)", labels, state])
        parts.append(aligned(rows))
    corrections = list_corrections(connection, sight)
    if corrections:
        rows = [["Correction", "Test set", "Versions", "Made", "Why"]]
        for known in corrections:
            versions = f"{known.old_version} -> {known.new_version}"
            why = " ".join(known.reason.split())
            rows.append([str(known.id), known.test_set, versions, moment(known.made_at), why])
        parts.append(aligned(rows))
    return "\n".join(parts)


def _takes(sight: Sight) -> str:
    if sight.frozen_at is not None:
        return "no, it is frozen"
    if not sight.phases:
        return "yes, it has no phases"
    if sight.phase is None:
        return "no, its first phase has not begun"
    if sight.standing_of(sight.phase) == "past":
        return f'no, the phase "{sight.phase.name}" is over'
    return f'{"yes" if sight.takes_submissions else "no"}, the phase is "{sight.phase.name}"'
