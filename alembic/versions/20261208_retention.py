"""Indexes by which work is found that ended long ago, and that waits for a retry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261208"
down_revision = "20261207"
branch_labels = None
depends_on = None

ENDED = {
    "reduction": "ended_at",
    "preparation": "ended_at",
    "trials": "ended_at",
    "delivery": "ended_at",
    "comparison": "finished_at",
}

LEASED = ("shard", "reduction", "preparation", "trials", "delivery")


def upgrade() -> None:
    retried = sa.text("state IN ('pending', 'enqueued') AND attempts > 0")
    for table in LEASED:
        op.create_index(f"ix_{table}_retried", table, ["attempts"], postgresql_where=retried, sqlite_where=retried)
    for table, column in ENDED.items():
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])


def downgrade() -> None:
    for table in LEASED:
        op.drop_index(f"ix_{table}_retried", table_name=table)
    for table, column in ENDED.items():
        op.drop_index(op.f(f"ix_{table}_{column}"), table_name=table)
