"""Metrics that failed while their evaluations were done are found by when: teams are told of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270117"
down_revision = "20270116"
branch_labels = None
depends_on = None

FAILED = sa.text("state = 'failed'")


def upgrade() -> None:
    op.create_index(
        "ix_learned_column_failed",
        "learned_column",
        ["finished_at"],
        unique=False,
        postgresql_where=FAILED,
        sqlite_where=FAILED,
    )


def downgrade() -> None:
    op.drop_index("ix_learned_column_failed", table_name="learned_column")
