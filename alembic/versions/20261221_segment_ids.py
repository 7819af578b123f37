"""Documents know the ids of their segments, where the format of the test set names them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261221"
down_revision = "20261220"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("document", sa.Column("segment_ids", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("document") as batch:
        batch.drop_column("segment_ids")
