"""A row that was edited by hand spoils the page of what it belongs to, and no list of all."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cli.main import main
from models.database.session import make_engine, writing
from models.schema.roles import PhaseKind, SiteRole

EDITS = [
    ("campaign", "visibility", "everybody"),
    ("campaign", "visibility", ""),
    ("campaign", "joining", "perhaps"),
    ("campaign", "time_zone", "Europe/Atlantis"),
    ("campaign", "time_zone", ""),
    ("campaign", "time_zone", "../../etc/passwd"),
    ("phase", "kind", "party"),
    ("phase", "feedback", "a lot"),
    ("phase", "late", "never"),
    ("phase", "kind", ""),
]


def edit(service, table, column, value, campaign):
    """As somebody does with the database's own shell."""
    with writing(service.engine) as connection:
        connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        where = "id" if table == "campaign" else "campaign_id"
        changed = connection.execute(
            text(f"UPDATE {table} SET {column} = :value WHERE {where} = :campaign"),
            {"value": value, "campaign": campaign},
        )
        assert changed.rowcount == 1
        connection.exec_driver_sql("PRAGMA ignore_check_constraints = OFF")


@pytest.mark.parametrize(("table", "column", "value"), EDITS)
def test_one_campaign_that_cannot_be_read_hides_no_other(service, table, column, value, capsys):
    organiser, admin = service.account("orla"), service.account("ada", SiteRole.ADMINISTRATOR)
    made = {}
    for name in ("first", "odd", "last"):
        made[name] = service.campaign(name, organisers=(organiser,))
        service.phase(made[name], "dry run", PhaseKind.OPEN)
    edit(service, table, column, value, made["odd"])

    for client, knows in (
        (service.client(), False),
        (service.browser(organiser), True),
        (service.browser(admin), True),
        (service.program(organiser), True),
    ):
        page = client.get("/")
        assert page.status_code == 200
        assert "/campaigns/first" in page.text
        assert "/campaigns/last" in page.text
        assert "/campaigns/odd" not in page.text
        # What nobody can read as public is not shown to everybody.
        public = column != "visibility"
        assert ("cannot be shown" in page.text) == (knows or public)
        assert ("in the database" in page.text or "cannot be read" in page.text) == knows
        listed = client.get("/api/v1/campaigns?limit=2")
        assert listed.status_code == 200
        assert [each["name"] for each in listed.json()["items"]] == ["last", "first"]
        odd = listed.json()["unreadable"]
        assert [each["name"] for each in odd] == ["odd"] * (knows or public)
        assert all(("in the database" in each["reason"] or "cannot be read" in each["reason"]) == knows for each in odd)
        # On the page on which it would be.
        pages = [client.get("/api/v1/campaigns?limit=1").json()]
        pages.append(client.get(f"/api/v1/campaigns?limit=1&after={pages[0]['next']}").json())
        assert [len(each["unreadable"]) for each in pages] == [0, len(odd)]
        alone = client.get("/api/v1/campaigns/odd")
        if knows or public:
            assert (alone.status_code, alone.json()["error"]["code"]) == (500, "unreadable")
            assert "Traceback" not in alone.text
            shown = client.get("/campaigns/odd")
            assert shown.status_code == 500
            assert "in the database" in shown.text or "cannot be read" in shown.text
        else:
            assert alone.status_code == 404
    assert main(["campaign", "list", "--database", service.settings.database_url]) == 0
    said = capsys.readouterr()
    assert "first" in said.out
    assert "last" in said.out
    assert "odd" not in said.out
    assert "The campaign 'odd' cannot be shown." in said.err


@pytest.mark.parametrize(("column", "value"), [("visibility", "everybody"), ("joining", "perhaps")])
def test_databases_refuse_what_nobody_knows(column, value, database_url):
    with pytest.raises(IntegrityError), writing(make_engine(database_url)) as connection:
        connection.execute(text(f"INSERT INTO campaign (name, created_at, {column}) VALUES ('x', 0, '{value}')"))
