"""the work in a shard, and indexes that find what is due first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261203"
down_revision = "20261202"
branch_labels = None
depends_on = None

LEASED = ("shard", "reduction", "preparation", "trials", "delivery")
WAITING = sa.text("state = 'pending'")


def upgrade() -> None:
    op.add_column("shard", sa.Column("units", sa.Double(), nullable=True))
    _index("due_at", "id")


def downgrade() -> None:
    _index("id")
    with op.batch_alter_table("shard") as batch_op:
        batch_op.drop_column("units")


def _index(*columns: str) -> None:
    for table in LEASED:
        name = f"ix_{table}_pending"
        op.drop_index(name, table_name=table)
        op.create_index(name, table, ["queue_class", "team", *columns], postgresql_where=WAITING, sqlite_where=WAITING)
