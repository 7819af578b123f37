"""Leadership as a row with a term."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261210"
down_revision = "20261209"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leader",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leader")),
    )


def downgrade() -> None:
    op.drop_table("leader")
