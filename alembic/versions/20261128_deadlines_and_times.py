"""deadlines, times and editions of work; what metrics were measured to cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261128"
down_revision = "20261127"
branch_labels = None
depends_on = None

LEASED = ("shard", "reduction", "preparation", "trials")
TIMES = ("due_at", "created_at", "claimed_at", "ended_at")


def upgrade() -> None:
    for table in LEASED:
        for column in TIMES:
            op.add_column(table, sa.Column(column, sa.Double(), nullable=True))
        op.add_column(table, sa.Column("edition", sa.Integer(), server_default="1", nullable=False))
    op.add_column("shard", sa.Column("metrics", sa.JSON(), nullable=True))
    op.add_column("shard", sa.Column("kernel_seconds", sa.Double(), nullable=True))
    op.add_column("shard", sa.Column("metric_seconds", sa.JSON(), nullable=True))
    op.create_index(op.f("ix_shard_ended_at"), "shard", ["ended_at"])
    op.add_column("evaluation", sa.Column("due_at", sa.Double(), nullable=True))
    op.add_column("evaluation", sa.Column("edition", sa.Integer(), server_default="1", nullable=False))
    op.add_column("evaluation", sa.Column("fault", sa.String(length=16), nullable=True))
    op.add_column("worker", sa.Column("edition", sa.Integer(), server_default="1", nullable=False))
    op.add_column("worker", sa.Column("started_at", sa.Double(), nullable=True))
    op.create_table(
        "measured_cost",
        sa.Column("specification", sa.String(length=500), nullable=False),
        sa.Column("microseconds", sa.Double(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("specification", name=op.f("pk_measured_cost")),
    )


def downgrade() -> None:
    op.drop_table("measured_cost")
    _drop("worker", "edition", "started_at")
    _drop("evaluation", "due_at", "edition", "fault")
    op.drop_index(op.f("ix_shard_ended_at"), table_name="shard")
    _drop("shard", "metrics", "kernel_seconds", "metric_seconds")
    for table in LEASED:
        _drop(table, *TIMES, "edition")


def _drop(table: str, *columns: str) -> None:
    with op.batch_alter_table(table) as batch_op:
        for column in columns:
            batch_op.drop_column(column)
