"""`steelyard invitation`, on a database and on a server."""

from __future__ import annotations

from sqlalchemy import select

from models.database.session import reading, writing
from models.schema.accounts import Invitation, Team
from models.schema.campaigns import Campaign
from tests.cli.backends import Run
from tests.cli.backends import live as live
from tests.cli.backends import run as run
from tests.client.live import Live


def test_invitations_are_made_listed_and_revoked(run: Run) -> None:
    assert "There are no invitations" in run("invitation", "list")
    run("team", "create", "harbour")
    assert "lead the team harbour" in run("invitation", "create", "--team", "harbour", "--lead")
    told = run("invitation", "create", "--email", "zoe@example.org", "--role", "organiser")
    assert "Invites zoe@example.org to create an account (organiser)" in told
    assert "No mail was sent" in told
    assert "/invitations/" in run("invitation", "create")
    assert "no team" in run("invitation", "create", "--team", "pier", status=1)
    assert "--team NAME" in run("invitation", "create", "--lead", status=2)
    assert "--campaign NAME" in run("invitation", "create", "--campaign-role", "viewer", status=2)
    lines = run("invitation", "list").splitlines()[2:]
    assert ["(anyone)" in line for line in lines] == [True, False, True]
    assert "team harbour (lead)" in run("invitation", "list", "--team", "harbour", "-f", "csv")
    assert "no terminal" in run("invitation", "delete", "2", status=1)
    run("invitation", "delete", "2", "--yes")
    (line,) = (line for line in run("invitation", "list").splitlines() if "zoe@example.org" in line)
    assert line.endswith("ended")


def test_an_invitation_is_to_what_was_named(run: Run, live: Live) -> None:
    run("team", "create", "harbour")
    with writing(live.service.engine) as connection:
        connection.execute(Campaign.__table__.insert().values(name="regatta"))  # type: ignore[attr-defined]
    for words, told in (
        (("--team", "harbour"), "to join the team harbour"),
        (("--team", "harbour", "--lead"), "to lead the team harbour"),
        (("--campaign", "regatta"), "to take part in the campaign regatta"),
        (("--campaign", "regatta", "--campaign-role", "organiser"), "to organise the campaign regatta"),
        (("--campaign", "regatta", "--campaign-role", "viewer"), "to view the campaign regatta"),
        (("--role", "viewer"), "to create an account (viewer)"),
    ):
        assert f"Invites anyone with the link {told}, once, until " in run("invitation", "create", *words)
    with reading(live.service.engine) as connection:
        asked = (
            select(Invitation.role, Team.name, Invitation.team_role, Campaign.name, Invitation.campaign_role)
            .outerjoin(Team)
            .outerjoin(Campaign)
        )
        found = [tuple(row) for row in connection.execute(asked.order_by(Invitation.id))]
    team_role = found[2][2]
    assert found == [
        ("participant", "harbour", "member", None, None),
        ("participant", "harbour", "lead", None, None),
        ("participant", None, team_role, "regatta", None),
        ("participant", None, team_role, "regatta", "organiser"),
        ("participant", None, team_role, "regatta", "viewer"),
        ("viewer", None, team_role, None, None),
    ]
    listed = run("invitation", "list", "--campaign", "regatta")
    assert [listed.count(f"campaign regatta ({what})") for what in ("with a team", "organiser", "viewer")] == [1, 1, 1]
    assert "harbour" not in listed
