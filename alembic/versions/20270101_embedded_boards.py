"""Campaigns choose whether other sites may embed their leaderboard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270101"
down_revision = "20261231"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaign", sa.Column("embeddable", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("campaign") as batch_op:
        batch_op.drop_column("embeddable")
