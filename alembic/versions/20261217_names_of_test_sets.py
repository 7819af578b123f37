"""What a test set is called belongs to the campaign that has it, and its versions are counted there."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "20261217"
down_revision = "20261216"
branch_labels = None
depends_on = None

LINK = "uq_campaign_test_set_campaign_id_name_version"
SHARED = "uq_test_set_name_version"


def upgrade() -> None:
    _add("campaign_test_set")
    connection = op.get_bind()
    _link_what_is_used(connection)
    connection.execute(
        sa.text(
            "UPDATE campaign_test_set SET "
            "name = (SELECT name FROM test_set WHERE test_set.id = campaign_test_set.test_set_id), "
            "version = (SELECT version FROM test_set WHERE test_set.id = campaign_test_set.test_set_id)"
        )
    )
    with op.batch_alter_table("campaign_test_set") as batch_op:
        _require(batch_op)
        batch_op.create_unique_constraint(op.f(LINK), ["campaign_id", "name", "version"])
    op.create_index(op.f("ix_campaign_test_set_name"), "campaign_test_set", ["name"])
    with op.batch_alter_table("test_set") as batch_op:
        batch_op.drop_constraint(op.f(SHARED), type_="unique")
        batch_op.drop_column("version")
        batch_op.drop_column("name")


def downgrade() -> None:
    _add("test_set")
    _name_shared(op.get_bind())
    with op.batch_alter_table("test_set") as batch_op:
        _require(batch_op)
        batch_op.create_unique_constraint(op.f(SHARED), ["name", "version"])
    op.drop_index(op.f("ix_campaign_test_set_name"), table_name="campaign_test_set")
    with op.batch_alter_table("campaign_test_set") as batch_op:
        batch_op.drop_constraint(op.f(LINK), type_="unique")
        batch_op.drop_column("version")
        batch_op.drop_column("name")


def _add(table: str) -> None:
    op.add_column(table, sa.Column("name", sa.String(length=200), nullable=True))
    op.add_column(table, sa.Column("version", sa.String(length=50), nullable=True))


def _require(batch_op: Any) -> None:
    batch_op.alter_column("name", existing_type=sa.String(length=200), nullable=False)
    batch_op.alter_column("version", existing_type=sa.String(length=50), nullable=False)


def _link_what_is_used(connection: sa.Connection) -> None:
    """Campaigns that the command line made had no row for test sets which their submissions lead to."""
    used = {
        (row.campaign_id, row.test_set_id)
        for row in connection.execute(
            sa.text(
                "SELECT campaign_id, test_set_id FROM submission "
                "UNION SELECT campaign_id, test_set_id FROM judgments "
                "UNION SELECT campaign_id, old_test_set_id FROM correction "
                "UNION SELECT campaign_id, new_test_set_id FROM correction "
                "UNION SELECT cp.campaign_id, p.test_set_id FROM campaign_protocol cp "
                "JOIN protocol p ON p.id = cp.protocol_id"
            )
        )
    }
    known = set(connection.scalars(sa.text("SELECT id FROM test_set")))
    for row in connection.execute(sa.text("SELECT campaign_id, test_sets FROM schedule")):
        test_sets = json.loads(row.test_sets) if isinstance(row.test_sets, str) else row.test_sets
        used |= {(row.campaign_id, each["test_set_id"]) for each in test_sets if each["test_set_id"] in known}
    places: dict[int, int] = {}
    for row in connection.execute(sa.text("SELECT campaign_id, test_set_id, position FROM campaign_test_set")):
        used.discard((row.campaign_id, row.test_set_id))
        places[row.campaign_id] = max(places.get(row.campaign_id, 0), row.position + 1)
    for campaign, test_set in sorted(used):
        place = places.get(campaign, 0)
        places[campaign] = place + 1
        connection.execute(
            sa.text(
                "INSERT INTO campaign_test_set (campaign_id, test_set_id, position) "
                "VALUES (:campaign, :test_set, :place)"
            ),
            {"campaign": campaign, "test_set": test_set, "place": place},
        )


def _name_shared(connection: sa.Connection) -> None:
    """By the oldest campaign that has it; where two test sets would then be called alike, the next version is taken."""
    named: dict[int, tuple[str, str]] = {}
    for row in connection.execute(
        sa.text("SELECT test_set_id, name, version FROM campaign_test_set ORDER BY campaign_id")
    ):
        named.setdefault(row.test_set_id, (row.name, row.version))
    taken: set[tuple[str, str]] = set()
    for test_set in connection.scalars(sa.text("SELECT id FROM test_set ORDER BY id")).all():
        name, version = named.get(test_set, (f"test set {test_set}", "1"))
        number = 1
        while (name, version) in taken:
            number += 1
            version = str(number)
        taken.add((name, version))
        connection.execute(
            sa.text("UPDATE test_set SET name = :name, version = :version WHERE id = :id"),
            {"name": name, "version": version, "id": test_set},
        )
