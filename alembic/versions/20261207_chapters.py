"""States of large references in chapters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261207"
down_revision = "20261206"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "prepared_chapter",
        sa.Column("prepared_state_id", BIG, nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["prepared_state_id"],
            ["prepared_state.id"],
            name=op.f("fk_prepared_chapter_prepared_state_id_prepared_state"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("prepared_state_id", "first_block", name=op.f("pk_prepared_chapter")),
    )


def downgrade() -> None:
    # An earlier release reads no chapters: the states are counted again.
    op.execute("UPDATE prepared_state SET blob = NULL WHERE length(blob) = 0")
    op.drop_table("prepared_chapter")
