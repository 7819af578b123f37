"""`steelyard invitation`, on a database and on a server."""

from __future__ import annotations

from tests.cli.backends import Run
from tests.cli.backends import live as live
from tests.cli.backends import run as run


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
