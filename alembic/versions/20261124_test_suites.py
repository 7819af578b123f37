"""test suites of documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261124"
down_revision = "20261123"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("document") as batch_op:
        batch_op.add_column(sa.Column("test_suite", sa.String(length=200), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("document") as batch_op:
        batch_op.drop_column("test_suite")
