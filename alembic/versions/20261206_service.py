"""accounts, teams, the life of campaigns, declarations, uploads, the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261206"
down_revision = "20261205"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", BIG, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("verified_at", sa.Double(), nullable=True),
        sa.Column("disabled_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "role IN ('administrator', 'organiser', 'participant', 'viewer')", name=op.f("ck_account_role")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("email", name=op.f("uq_account_email")),
    )
    op.create_table(
        "team",
        sa.Column("id", BIG, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("folded_name", sa.String(length=400), nullable=False),
        sa.Column("publication_name", sa.String(length=100), server_default="", nullable=False),
        sa.Column("affiliation", sa.String(length=200), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("folded_name", name=op.f("uq_team_folded_name")),
        sa.UniqueConstraint("name", name=op.f("uq_team_name")),
    )
    op.create_table(
        "api_token",
        sa.Column("id", BIG, nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_api_token_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_token_secret_hash")),
    )
    op.create_index(op.f("ix_api_token_account_id"), "api_token", ["account_id"])

    op.create_table(
        "audit_entry",
        sa.Column("id", BIG, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("account_id", BIG, nullable=True),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("address", sa.String(length=100), server_default="", nullable=False),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("subject", sa.String(length=400), nullable=False),
        sa.Column("campaign_id", BIG, nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_audit_entry_account_id_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_audit_entry_campaign_id_campaign"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index(op.f("ix_audit_entry_account_id"), "audit_entry", ["account_id"])
    op.create_index(op.f("ix_audit_entry_campaign_id_id"), "audit_entry", ["campaign_id", "id"])

    op.create_table(
        "campaign_member",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.CheckConstraint("role IN ('organiser', 'viewer')", name=op.f("ck_campaign_member_role")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_campaign_member_account_id_account"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_member_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "account_id", name=op.f("pk_campaign_member")),
    )
    op.create_index(op.f("ix_campaign_member_account_id"), "campaign_member", ["account_id"])

    op.create_table(
        "confirmation",
        sa.Column("id", BIG, nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.CheckConstraint("purpose IN ('address', 'password')", name=op.f("ck_confirmation_purpose")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_confirmation_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_confirmation")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_confirmation_secret_hash")),
    )
    op.create_index(op.f("ix_confirmation_account_id"), "confirmation", ["account_id"])

    op.create_table(
        "invitation",
        sa.Column("id", BIG, nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("email", sa.String(length=254), server_default="", nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("team_id", BIG, nullable=True),
        sa.Column("team_role", sa.String(length=16), nullable=True),
        sa.Column("campaign_id", BIG, nullable=True),
        sa.Column("campaign_role", sa.String(length=16), nullable=True),
        sa.Column("made_by", BIG, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.Column("used_by", BIG, nullable=True),
        sa.CheckConstraint(
            "campaign_role IS NULL OR campaign_role IN ('organiser', 'viewer')",
            name=op.f("ck_invitation_campaign_role"),
        ),
        sa.CheckConstraint(
            "role IN ('administrator', 'organiser', 'participant', 'viewer')", name=op.f("ck_invitation_role")
        ),
        sa.CheckConstraint(
            "team_role IS NULL OR team_role IN ('lead', 'member')", name=op.f("ck_invitation_team_role")
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_invitation_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["account.id"], name=op.f("fk_invitation_made_by_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_invitation_team_id_team"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["used_by"], ["account.id"], name=op.f("fk_invitation_used_by_account"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_invitation_secret_hash")),
    )
    op.create_index(op.f("ix_invitation_campaign_id"), "invitation", ["campaign_id"])
    op.create_index(op.f("ix_invitation_team_id"), "invitation", ["team_id"])

    op.create_table(
        "membership",
        sa.Column("team_id", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("joined_at", sa.Double(), nullable=False),
        sa.CheckConstraint("role IN ('lead', 'member')", name=op.f("ck_membership_role")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_membership_account_id_account"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_membership_team_id_team"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", "account_id", name=op.f("pk_membership")),
    )
    op.create_index(op.f("ix_membership_account_id"), "membership", ["account_id"])

    op.create_table(
        "participation",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("team_id", BIG, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_participation_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_participation_team_id_team")),
        sa.PrimaryKeyConstraint("campaign_id", "team_id", name=op.f("pk_participation")),
        sa.UniqueConstraint("campaign_id", "number", name=op.f("uq_participation_campaign_id_number")),
    )
    op.create_index(op.f("ix_participation_team_id"), "participation", ["team_id"])

    op.create_table(
        "phase",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("starts_at", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=True),
        sa.Column("late", sa.String(length=16), server_default="refuse", nullable=False),
        sa.Column("grace_seconds", sa.Double(), server_default="0", nullable=False),
        sa.Column("feedback", sa.String(length=16), server_default="full", nullable=False),
        sa.Column("feedback_step", sa.Double(), server_default="1", nullable=False),
        sa.CheckConstraint(
            "feedback IN ('full', 'rounded', 'interval', 'ladder', 'none')", name=op.f("ck_phase_feedback")
        ),
        sa.CheckConstraint("kind IN ('open', 'blind', 'closed', 'published')", name=op.f("ck_phase_kind")),
        sa.CheckConstraint("late IN ('refuse', 'flag')", name=op.f("ck_phase_late")),
        sa.CheckConstraint("ends_at IS NULL OR ends_at > starts_at", name=op.f("ck_phase_ends_at")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_phase_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phase")),
        sa.UniqueConstraint("campaign_id", "name", name=op.f("uq_phase_campaign_id_name")),
        sa.UniqueConstraint("campaign_id", "starts_at", name=op.f("uq_phase_campaign_id_starts_at")),
    )
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
        "web_session",
        sa.Column("id", BIG, nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_web_session_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_session")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_web_session_secret_hash")),
    )
    op.create_index(op.f("ix_web_session_account_id"), "web_session", ["account_id"])
    op.create_index(op.f("ix_web_session_expires_at"), "web_session", ["expires_at"])

    op.create_table(
        "campaign_test_set",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("test_set_id", BIG, nullable=False),
        sa.Column("position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("phase_id", BIG, nullable=True),
        sa.Column("references_released_at", sa.Double(), nullable=True),
        sa.Column("replaced_by", BIG, nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_test_set_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["phase_id"], ["phase.id"], name=op.f("fk_campaign_test_set_phase_id_phase"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["replaced_by"], ["test_set.id"], name=op.f("fk_campaign_test_set_replaced_by_test_set")
        ),
        sa.ForeignKeyConstraint(
            ["test_set_id"], ["test_set.id"], name=op.f("fk_campaign_test_set_test_set_id_test_set")
        ),
        sa.PrimaryKeyConstraint("campaign_id", "test_set_id", name=op.f("pk_campaign_test_set")),
    )
    op.create_index(op.f("ix_campaign_test_set_replaced_by"), "campaign_test_set", ["replaced_by"])
    op.create_index(op.f("ix_campaign_test_set_test_set_id"), "campaign_test_set", ["test_set_id"])

    op.create_table(
        "correction",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("old_test_set_id", BIG, nullable=False),
        sa.Column("new_test_set_id", BIG, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_correction_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["new_test_set_id"], ["test_set.id"], name=op.f("fk_correction_new_test_set_id_test_set")
        ),
        sa.ForeignKeyConstraint(
            ["old_test_set_id"], ["test_set.id"], name=op.f("fk_correction_old_test_set_id_test_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_correction")),
    )
    op.create_index(op.f("ix_correction_campaign_id"), "correction", ["campaign_id"])

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
    op.create_table(
        "campaign_protocol",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("protocol_id", BIG, nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_protocol_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["protocol_id"], ["protocol.id"], name=op.f("fk_campaign_protocol_protocol_id_protocol")
        ),
        sa.PrimaryKeyConstraint("campaign_id", "protocol_id", name=op.f("pk_campaign_protocol")),
    )
    op.create_index(op.f("ix_campaign_protocol_protocol_id"), "campaign_protocol", ["protocol_id"])

    op.create_table(
        "declaration",
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("test_set_id", BIG, nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("account_id", BIG, nullable=True),
        sa.Column("kind", sa.String(length=16), server_default="", nullable=False),
        sa.Column("constrained", sa.Boolean(), nullable=True),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("phase", sa.String(length=100), server_default="", nullable=False),
        sa.Column("late_seconds", sa.Double(), server_default="0", nullable=False),
        sa.Column("withdrawn_at", sa.Double(), nullable=True),
        sa.CheckConstraint("kind IN ('primary', 'contrastive', '')", name=op.f("ck_declaration_kind")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_declaration_account_id_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_declaration_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_declaration_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["test_set_id"], ["test_set.id"], name=op.f("fk_declaration_test_set_id_test_set")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_declaration")),
    )
    op.create_index(op.f("ix_declaration_account_id"), "declaration", ["account_id"])
    op.create_index(
        "uq_declaration_primary",
        "declaration",
        ["campaign_id", "test_set_id", "team"],
        unique=True,
        postgresql_where=sa.text("kind = 'primary' AND withdrawn_at IS NULL"),
        sqlite_where=sa.text("kind = 'primary' AND withdrawn_at IS NULL"),
    )

    op.create_table(
        "diagnosis",
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_diagnosis_submission_id_submission"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_diagnosis")),
    )
    op.create_table(
        "ladder_step",
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("protocol_id", BIG, nullable=False),
        sa.Column("metric", sa.Integer(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("told", sa.Double(), nullable=True),
        sa.Column("improved", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["protocol_id"], ["protocol.id"], name=op.f("fk_ladder_step_protocol_id_protocol")),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_ladder_step_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "protocol_id", "metric", name=op.f("pk_ladder_step")),
    )
    op.create_index(op.f("ix_ladder_step_protocol_id_team"), "ladder_step", ["protocol_id", "team"])

    op.add_column("campaign", sa.Column("title", sa.String(length=200), server_default="", nullable=False))
    op.add_column("campaign", sa.Column("description", sa.Text(), server_default="", nullable=False))
    op.add_column("campaign", sa.Column("time_zone", sa.String(length=100), server_default="UTC", nullable=False))
    op.add_column("campaign", sa.Column("visibility", sa.String(length=16), server_default="private", nullable=False))
    op.add_column("campaign", sa.Column("joining", sa.String(length=16), server_default="invited", nullable=False))
    op.add_column("campaign", sa.Column("anonymous", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("campaign", sa.Column("verified_only", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("campaign", sa.Column("ranked_by", sa.String(length=500), server_default="", nullable=False))
    op.add_column("campaign", sa.Column("frozen_at", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("campaign") as batch_op:
        batch_op.drop_column("frozen_at")
        batch_op.drop_column("ranked_by")
        batch_op.drop_column("verified_only")
        batch_op.drop_column("anonymous")
        batch_op.drop_column("joining")
        batch_op.drop_column("visibility")
        batch_op.drop_column("time_zone")
        batch_op.drop_column("description")
        batch_op.drop_column("title")
    op.drop_table("ladder_step")
    op.drop_table("diagnosis")
    op.drop_table("declaration")
    op.drop_table("campaign_protocol")
    op.drop_table("upload_part")
    op.drop_table("correction")
    op.drop_table("campaign_test_set")
    op.drop_table("web_session")
    op.drop_table("upload")
    op.drop_table("phase")
    op.drop_table("participation")
    op.drop_table("membership")
    op.drop_table("invitation")
    op.drop_table("confirmation")
    op.drop_table("campaign_member")
    op.drop_table("audit_entry")
    op.drop_table("api_token")
    op.drop_table("team")
    op.drop_table("account")
