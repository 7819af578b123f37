"""quotas of teams, the ledger of what they have submitted, phases of campaigns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261204"
down_revision = "20261203"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OF_CAMPAIGN, OF_ALL = sa.text("campaign_id IS NOT NULL"), sa.text("campaign_id IS NULL")


def upgrade() -> None:
    op.add_column("campaign", sa.Column("phase", sa.String(length=100), server_default="", nullable=False))
    op.create_table(
        "quota",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=True),
        sa.Column("team", sa.String(length=100), server_default="", nullable=False),
        sa.Column("phase", sa.String(length=100), server_default="", nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=True),
        sa.Column("time_zone", sa.String(length=100), server_default="UTC", nullable=False),
        sa.CheckConstraint("kind IN ('in_flight', 'per_day', 'per_phase')", name=op.f("ck_quota_kind")),
        sa.CheckConstraint("amount >= 0", name=op.f("ck_quota_amount")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_quota_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quota")),
    )
    op.create_index(
        "uq_quota_of_campaign",
        "quota",
        ["campaign_id", "team", "phase", "kind"],
        unique=True,
        postgresql_where=OF_CAMPAIGN,
        sqlite_where=OF_CAMPAIGN,
    )
    op.create_index(
        "uq_quota_of_all",
        "quota",
        ["team", "phase", "kind"],
        unique=True,
        postgresql_where=OF_ALL,
        sqlite_where=OF_ALL,
    )
    op.create_table(
        "quota_account",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_quota_account_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quota_account")),
        sa.UniqueConstraint("campaign_id", "team", name=op.f("uq_quota_account_campaign_id_team")),
    )
    op.create_table(
        "ledger_entry",
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("phase", sa.String(length=100), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("queued_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_ledger_entry_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["quota_account.id"],
            name=op.f("fk_ledger_entry_account_id_quota_account"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_ledger_entry")),
    )
    op.create_index(
        op.f("ix_ledger_entry_account_id_created_at"), "ledger_entry", ["account_id", "created_at"], unique=False
    )
    op.create_table(
        "submission_request",
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("request_key", sa.String(length=200), nullable=False),
        sa.Column("submission_id", BIG, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["quota_account.id"],
            name=op.f("fk_submission_request_account_id_quota_account"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_submission_request_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "request_key", name=op.f("pk_submission_request")),
    )
    op.create_index(op.f("ix_submission_request_submission_id"), "submission_request", ["submission_id"], unique=False)


def downgrade() -> None:
    for table in ("submission_request", "ledger_entry", "quota_account", "quota"):
        op.drop_table(table)
    with op.batch_alter_table("campaign") as batch_op:
        batch_op.drop_column("phase")
