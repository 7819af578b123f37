"""Terms of campaigns, by version, and which team accepted which."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261231"
down_revision = "20261230"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "campaign_terms",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_terms_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign_terms")),
        sa.UniqueConstraint("campaign_id", "version", name=op.f("uq_campaign_terms_campaign_id_version")),
    )
    op.create_table(
        "terms_acceptance",
        sa.Column("id", BIG, nullable=False),
        sa.Column("terms_id", BIG, nullable=False),
        sa.Column("team_id", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=True),
        sa.Column("accepted_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_terms_acceptance_account_id_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["team.id"], name=op.f("fk_terms_acceptance_team_id_team"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["terms_id"],
            ["campaign_terms.id"],
            name=op.f("fk_terms_acceptance_terms_id_campaign_terms"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terms_acceptance")),
        sa.UniqueConstraint("terms_id", "team_id", name=op.f("uq_terms_acceptance_terms_id_team_id")),
    )
    op.create_index(op.f("ix_terms_acceptance_account_id"), "terms_acceptance", ["account_id"])
    op.create_index(op.f("ix_terms_acceptance_team_id"), "terms_acceptance", ["team_id"])


def downgrade() -> None:
    op.drop_table("terms_acceptance")
    op.drop_table("campaign_terms")
