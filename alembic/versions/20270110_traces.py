"""Evaluations and tasks keep the trace of the request that has caused them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270110"
down_revision = "20270101"
branch_labels = None
depends_on = None

TABLES = (
    "evaluation",
    "shard",
    "reduction",
    "corpus_count",
    "trials",
    "learned_shard",
    "nightly_run_step",
    "delivery",
)


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("trace", sa.String(length=55), nullable=True))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "trace")
