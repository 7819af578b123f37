"""Indexes by which work that ended long ago is found."""

from __future__ import annotations

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


def upgrade() -> None:
    for table, column in ENDED.items():
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])


def downgrade() -> None:
    for table, column in ENDED.items():
        op.drop_index(op.f(f"ix_{table}_{column}"), table_name=table)
