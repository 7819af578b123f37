"""Addresses that nobody has confirmed, and secrets of invitations that only a mail brought."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261214"
down_revision = "20261213"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("account", sa.Column("claimed", sa.Boolean(), server_default=sa.false(), nullable=False))
    # Who made these accounts is not known any more: they wait for a confirmation, or for an administrator's word.
    op.execute(
        sa.text("UPDATE account SET claimed = :yes WHERE verified_at IS NULL AND password_hash IS NOT NULL").bindparams(
            sa.bindparam("yes", True, sa.Boolean())
        )
    )
    op.add_column("invitation", sa.Column("mailed_hash", sa.String(64), nullable=True))
    op.create_index(op.f("ix_invitation_mailed_hash"), "invitation", ["mailed_hash"], unique=True)


def downgrade() -> None:
    op.drop_index(op.f("ix_invitation_mailed_hash"), table_name="invitation")
    with op.batch_alter_table("invitation") as batch:
        batch.drop_column("mailed_hash")
    with op.batch_alter_table("account") as batch:
        batch.drop_column("claimed")
