"""Scores that were made elsewhere, and which outputs they are of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261224"
down_revision = "20261223"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "score_import",
        sa.Column("id", BIG, nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("test_set_id", BIG, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=30), nullable=False),
        sa.Column("specification", sa.String(length=500), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("level", sa.String(length=16), nullable=False),
        sa.Column("higher_is_better", sa.Boolean(), nullable=False),
        sa.Column("systems", sa.Integer(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("notices", sa.JSON(), nullable=False),
        sa.Column("account_id", BIG, nullable=True),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_score_import_account_id_account"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_score_import_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["test_set_id"], ["test_set.id"], name=op.f("fk_score_import_test_set_id_test_set")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score_import")),
        sa.UniqueConstraint(
            "campaign_id",
            "test_set_id",
            "name",
            "version",
            name=op.f("uq_score_import_campaign_id_test_set_id_name_version"),
        ),
    )
    op.create_index(op.f("ix_score_import_account_id"), "score_import", ["account_id"])
    op.create_index(op.f("ix_score_import_test_set_id"), "score_import", ["test_set_id"])
    op.create_table(
        "imported_score",
        sa.Column("import_id", BIG, nullable=False),
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["score_import.id"],
            name=op.f("fk_imported_score_import_id_score_import"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_imported_score_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "submission_id", name=op.f("pk_imported_score")),
    )
    op.create_index(op.f("ix_imported_score_submission_id"), "imported_score", ["submission_id"])
    if op.get_bind().dialect.name == "postgresql":
        # Real numbers do not get smaller.
        op.execute("ALTER TABLE imported_score ALTER COLUMN blob SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("imported_score")
    op.drop_table("score_import")
