"""Notices: what has happened in campaigns, who wants to hear of it and how, and what was sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270112"
down_revision = "20270111"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "notice",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("team_id", BIG, nullable=True),
        sa.Column("account_id", BIG, nullable=True),
        sa.Column("title", sa.String(length=400), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("path", sa.String(length=1000), nullable=False),
        sa.Column("until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('scored', 'failed', 'deadline', 'phase', 'results', 'correction', 'announcement')",
            name=op.f("ck_notice_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_notice_account_id_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_notice_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_notice_team_id_team"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice")),
        sa.UniqueConstraint("campaign_id", "key", name=op.f("uq_notice_campaign_id_key")),
    )
    with op.batch_alter_table("notice") as batch_op:
        batch_op.create_index(batch_op.f("ix_notice_account_id"), ["account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_notice_team_id"), ["team_id"], unique=False)

    op.create_table(
        "notice_address",
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("unsubscribe_secret", sa.String(length=64), nullable=False),
        sa.Column("feed_secret", sa.String(length=64), nullable=False),
        sa.Column("webhook", sa.String(length=500), nullable=True),
        sa.Column("webhook_secret", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_notice_address_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_notice_address")),
        sa.UniqueConstraint("feed_secret", name=op.f("uq_notice_address_feed_secret")),
        sa.UniqueConstraint("unsubscribe_secret", name=op.f("uq_notice_address_unsubscribe_secret")),
    )
    op.create_table(
        "notice_choice",
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.CheckConstraint("channel IN ('mail', 'webhook', 'feed')", name=op.f("ck_notice_choice_channel")),
        sa.CheckConstraint(
            "kind IN ('scored', 'failed', 'deadline', 'phase', 'results', 'correction', 'announcement')",
            name=op.f("ck_notice_choice_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_notice_choice_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "kind", "channel", name=op.f("pk_notice_choice")),
    )
    op.create_table(
        "notice_delivery",
        sa.Column("notice_id", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("sent_at", sa.Double(), nullable=True),
        sa.Column("id", BIG, nullable=False),
        sa.Column("queue_class", sa.SmallInteger(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("enqueued_at", sa.Double(), nullable=True),
        sa.Column("owner", sa.String(length=100), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("edition", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=True),
        sa.Column("claimed_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("refused_by", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("trace", sa.String(length=55), nullable=True),
        sa.CheckConstraint("channel IN ('mail', 'webhook', 'feed')", name=op.f("ck_notice_delivery_channel")),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_notice_delivery_state"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_notice_delivery_account_id_account"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["notice_id"], ["notice.id"], name=op.f("fk_notice_delivery_notice_id_notice"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice_delivery")),
        sa.UniqueConstraint(
            "notice_id", "account_id", "channel", name=op.f("uq_notice_delivery_notice_id_account_id_channel")
        ),
    )
    with op.batch_alter_table("notice_delivery") as batch_op:
        batch_op.create_index(
            batch_op.f("ix_notice_delivery_account_id_sent_at"), ["account_id", "sent_at"], unique=False
        )
        batch_op.create_index("ix_notice_delivery_ended_at", ["ended_at"], unique=False)
        batch_op.create_index(
            "ix_notice_delivery_in_flight",
            ["state", "queue_class", "team"],
            unique=False,
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
        )
        batch_op.create_index(
            "ix_notice_delivery_pending",
            ["queue_class", "team", "edition", "due_at", "id", "not_before"],
            unique=False,
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index(
            "ix_notice_delivery_retried",
            ["attempts"],
            unique=False,
            postgresql_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
            sqlite_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
        )


def downgrade() -> None:
    for table in ("notice_delivery", "notice_choice", "notice_address", "notice"):
        op.drop_table(table)
