"""Human judgments belong to campaigns, not to test sets that several campaigns share."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "20261212"
down_revision = "20261211"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PARTS = ("human_system_score", "human_segment_score", "rating")
KEPT = "human judgments of no campaign"
"""A private campaign for those of test sets that no campaign has: nobody saw them on a page, and nobody shall."""


def upgrade() -> None:
    with op.batch_alter_table("judgments") as batch_op:
        batch_op.add_column(sa.Column("campaign_id", BIG, nullable=True))
        for last in ("version", "content_hash"):
            batch_op.drop_constraint(f"uq_judgments_test_set_id_name_{last}", type_="unique")
    _give_to_campaigns(op.get_bind())
    with op.batch_alter_table("judgments") as batch_op:
        batch_op.alter_column("campaign_id", existing_type=BIG, nullable=False)
        batch_op.create_foreign_key(
            op.f("fk_judgments_campaign_id_campaign"), "campaign", ["campaign_id"], ["id"], ondelete="CASCADE"
        )
        for last in ("version", "content_hash"):
            name = op.f(f"uq_judgments_campaign_id_test_set_id_name_{last}")
            batch_op.create_unique_constraint(name, ["campaign_id", "test_set_id", "name", last])
    op.create_index(op.f("ix_judgments_test_set_id"), "judgments", ["test_set_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_judgments_test_set_id"), table_name="judgments")
    with op.batch_alter_table("judgments") as batch_op:
        for last in ("version", "content_hash"):
            name = op.f(f"uq_judgments_campaign_id_test_set_id_name_{last}")
            batch_op.drop_constraint(name, type_="unique")
    _give_to_test_sets(op.get_bind())
    with op.batch_alter_table("judgments") as batch_op:
        batch_op.drop_constraint(op.f("fk_judgments_campaign_id_campaign"), type_="foreignkey")
        batch_op.drop_column("campaign_id")
        for last in ("version", "content_hash"):
            name = op.f(f"uq_judgments_test_set_id_name_{last}")
            batch_op.create_unique_constraint(name, ["test_set_id", "name", last])


def _rows(connection: sa.Connection, query: str, **values: Any) -> list[Any]:
    return list(connection.execute(sa.text(query), values))


def _give_to_campaigns(connection: sa.Connection) -> None:
    """To the campaigns that added them; where nobody is known to have, to all that have the test set."""
    having: dict[int, set[int]] = defaultdict(set)
    for row in _rows(
        connection,
        "SELECT campaign_id, test_set_id FROM campaign_test_set UNION SELECT campaign_id, test_set_id FROM submission "
        "UNION SELECT cp.campaign_id, p.test_set_id FROM campaign_protocol cp JOIN protocol p ON p.id = cp.protocol_id",
    ):
        having[row.test_set_id].add(row.campaign_id)
    corrected = defaultdict(set)
    for row in _rows(connection, "SELECT campaign_id, old_test_set_id, new_test_set_id FROM correction"):
        corrected[row.new_test_set_id].add((row.campaign_id, row.old_test_set_id))
    called = {
        row.id: f"{row.name}@{row.version}" for row in _rows(connection, "SELECT id, name, version FROM test_set")
    }
    added = defaultdict(list)
    for row in _rows(
        connection,
        "SELECT campaign_id, subject, at FROM audit_entry WHERE action = 'human-scores.add'",
    ):
        added[row.subject].append((row.campaign_id, row.at))
    for row in _rows(connection, "SELECT id, test_set_id, name, version, created_at FROM judgments ORDER BY id"):
        title = f"human scores {row.name}@{row.version} of test set "
        # Corrections took judgments along to the test set with other references.
        owners, waiting, seen = set(), {row.test_set_id}, set()
        while waiting:
            test_set = waiting.pop()
            seen.add(test_set)
            owners |= {campaign for campaign, at in added[title + called[test_set]] if at >= row.created_at}
            waiting |= {old for _, old in corrected[test_set]} - seen
        campaigns = sorted(owners & having[row.test_set_id] or having[row.test_set_id] or {_of_no_campaign(connection)})
        _rows_updated(connection, "UPDATE judgments SET campaign_id = :campaign WHERE id = :id", campaigns[0], row.id)
        for campaign in campaigns[1:]:
            _copy(connection, row.id, campaign)


def _rows_updated(connection: sa.Connection, statement: str, campaign: int, judgments: int) -> None:
    connection.execute(sa.text(statement), {"campaign": campaign, "id": judgments})


def _of_no_campaign(connection: sa.Connection) -> int:
    find = "SELECT id FROM campaign WHERE name = :name"
    if not _rows(connection, find, name=KEPT):
        connection.execute(sa.text("INSERT INTO campaign (name, created_at) VALUES (:name, 0)"), {"name": KEPT})
    return int(_rows(connection, find, name=KEPT)[0].id)


def _copy(connection: sa.Connection, judgments: int, campaign: int) -> None:
    table = sa.Table("judgments", sa.MetaData(), autoload_with=connection, resolve_fks=False)
    (row,) = connection.execute(sa.select(table).where(table.c.id == judgments))
    values = {**row._asdict(), "campaign_id": campaign}
    del values["id"]
    new = connection.execute(sa.insert(table).values(values).returning(table.c.id)).scalar_one()
    for name in PARTS:
        part = sa.Table(name, sa.MetaData(), autoload_with=connection, resolve_fks=False)
        others = [column for column in part.columns if column.name != "judgments_id"]
        chosen = sa.select(sa.literal(new), *others).where(part.c.judgments_id == judgments)
        connection.execute(sa.insert(part).from_select(["judgments_id", *(each.name for each in others)], chosen))


def _give_to_test_sets(connection: sa.Connection) -> None:
    """Equal ones become one again; others of the same name are counted on."""
    there: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    for row in _rows(connection, "SELECT id, test_set_id, name, version, content_hash FROM judgments ORDER BY id"):
        known = there[row.test_set_id, row.name]
        if row.content_hash in known:
            for name in PARTS:
                connection.execute(sa.text(f"DELETE FROM {name} WHERE judgments_id = :id"), {"id": row.id})  # noqa: S608
            connection.execute(sa.text("DELETE FROM judgments WHERE id = :id"), {"id": row.id})
            continue
        version = row.version
        while version in known.values():
            version += 1
        known[row.content_hash] = version
        connection.execute(
            sa.text("UPDATE judgments SET version = :version WHERE id = :id"), {"version": version, "id": row.id}
        )
