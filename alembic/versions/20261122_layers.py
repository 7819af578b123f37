"""layers of texts, details of scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261122"
down_revision = "20261121"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "layer_block",
        sa.Column("text_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("layer", sa.String(length=50), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_layer_block_text_id_text"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("text_id", "layer", "block", name=op.f("pk_layer_block")),
    )
    with op.batch_alter_table("score") as batch_op:
        batch_op.add_column(sa.Column("details", sa.JSON(), nullable=False, server_default="{}"))


def downgrade() -> None:
    with op.batch_alter_table("score") as batch_op:
        batch_op.drop_column("details")
    op.drop_table("layer_block")
