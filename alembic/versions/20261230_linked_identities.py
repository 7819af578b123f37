"""Identities of providers (GitHub, ORCID, OpenID Connect) that accounts can be signed in to by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261230"
down_revision = "20261229"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "linked_identity",
        sa.Column("id", BIG, nullable=False),
        sa.Column("issuer", sa.String(length=200), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("name", sa.String(length=100), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_linked_identity_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_linked_identity")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_linked_identity_issuer_subject")),
    )
    op.create_index(op.f("ix_linked_identity_account_id"), "linked_identity", ["account_id"])


def downgrade() -> None:
    op.drop_table("linked_identity")
