"""Workers say which messages they read: several tasks are named by one only where all of them do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270116"
down_revision = "20270115"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("worker", sa.Column("message_version", sa.Integer(), server_default="1", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("worker") as table:
        table.drop_column("message_version")
