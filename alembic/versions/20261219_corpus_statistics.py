"""Corpus statistics are one blob, whatever the size of the references, in a format of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261219"
down_revision = "20261218"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.drop_table("prepared_chapter")
    _count_again()
    # Older programs read and write the format of before.
    op.execute("UPDATE compatibility SET oldest = '20261219'")


def downgrade() -> None:
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
    _count_again()
    op.execute("UPDATE compatibility SET oldest = '20261218'")


def _count_again() -> None:
    # The scheduler counts what is incomplete when somebody needs it; what is open now would be of the other format.
    op.execute("UPDATE prepared_state SET blob = NULL")
    op.execute("UPDATE preparation SET part = NULL")
    op.execute("UPDATE preparation SET state = 'cancelled' WHERE state IN ('pending', 'enqueued', 'running')")
