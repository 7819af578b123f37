"""Official rankings by human judgments: rule and judgments of a campaign, error spans, waves and times of judgments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261229"
down_revision = "20261228"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("campaign", sa.Column("human_rule", sa.String(length=100), server_default="", nullable=False))
    op.add_column("campaign", sa.Column("human_judgments", sa.String(length=120), server_default="", nullable=False))
    op.add_column("rating", sa.Column("wave", sa.Integer(), server_default="0", nullable=False))
    op.add_column("rating", sa.Column("seconds", sa.Double(), nullable=True))
    op.create_table(
        "error_span",
        sa.Column("judgments_id", BIG, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("annotator", sa.String(length=200), nullable=False),
        sa.Column("system", sa.String(length=200), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("begins", sa.Integer(), nullable=False),
        sa.Column("ends", sa.Integer(), nullable=False),
        sa.Column("severity", sa.String(length=200), nullable=False),
        sa.Column("category", sa.String(length=200), nullable=False),
        sa.Column("missing", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("in_source", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("wave", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["judgments_id"], ["judgments.id"], name=op.f("fk_error_span_judgments_id_judgments"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("judgments_id", "number", name=op.f("pk_error_span")),
    )
    op.create_index(op.f("ix_error_span_judgments_id_segment"), "error_span", ["judgments_id", "segment"])


def downgrade() -> None:
    op.drop_table("error_span")
    for table, columns in (("rating", ("seconds", "wave")), ("campaign", ("human_judgments", "human_rule"))):
        with op.batch_alter_table(table) as batch_op:
            for column in columns:
                batch_op.drop_column(column)
