"""Descriptions of the systems of campaigns, and whose they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270111"
down_revision = "20270110"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "system_description",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("system_id", BIG, nullable=False),
        sa.Column("origin", sa.String(16), server_default="team", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("affiliation", sa.String(200), server_default="", nullable=False),
        sa.Column("paper_url", sa.String(500), server_default="", nullable=False),
        sa.Column("url", sa.String(500), server_default="", nullable=False),
        sa.Column("parameters", sa.BigInteger(), nullable=True),
        sa.Column("weights", sa.String(16), server_default="", nullable=False),
        sa.Column("constrained", sa.Boolean(), nullable=True),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.CheckConstraint("origin IN ('team', 'baseline', 'online')", name=op.f("ck_system_description_origin")),
        sa.CheckConstraint("weights IN ('', 'open', 'closed')", name=op.f("ck_system_description_weights")),
        sa.CheckConstraint("parameters IS NULL OR parameters > 0", name=op.f("ck_system_description_parameters")),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaign.id"],
            name=op.f("fk_system_description_campaign_id_campaign"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["system_id"], ["system.id"], name=op.f("fk_system_description_system_id_system"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "system_id", name=op.f("pk_system_description")),
    )
    op.create_index(op.f("ix_system_description_system_id"), "system_description", ["system_id"])


def downgrade() -> None:
    op.drop_table("system_description")
