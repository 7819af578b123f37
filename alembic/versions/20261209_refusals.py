"""Releases whose workers could not do a piece of work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261209"
down_revision = "20261208"
branch_labels = None
depends_on = None

LEASED = ("shard", "reduction", "preparation", "trials", "delivery")


def upgrade() -> None:
    for table in LEASED:
        op.add_column(table, sa.Column("refused_by", sa.JSON(), nullable=True))


def downgrade() -> None:
    for table in LEASED:
        with op.batch_alter_table(table) as batch:
            batch.drop_column("refused_by")
