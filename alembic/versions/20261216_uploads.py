"""No uploads in pieces: a file comes with the request that submits it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261216"
down_revision = "20261215"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.drop_table("upload_part")
    op.drop_table("upload")


def downgrade() -> None:
    op.create_table(
        "upload",
        sa.Column("id", BIG, nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("name", sa.String(length=200), server_default="", nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("received", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.CheckConstraint("received >= 0 AND received <= size", name=op.f("ck_upload_received")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_upload_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
        sa.UniqueConstraint("secret", name=op.f("uq_upload_secret")),
    )
    op.create_index(op.f("ix_upload_account_id"), "upload", ["account_id"])
    op.create_index(op.f("ix_upload_expires_at"), "upload", ["expires_at"])
    op.create_table(
        "upload_part",
        sa.Column("upload_id", BIG, nullable=False),
        sa.Column("begin", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["upload.id"], name=op.f("fk_upload_part_upload_id_upload"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("upload_id", "begin", name=op.f("pk_upload_part")),
    )
