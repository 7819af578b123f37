"""Names of campaigns as people would take them for the same, each once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.text.normalization import normalized

revision = "20261215"
down_revision = "20261214"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaign", sa.Column("folded_name", sa.String(800), nullable=True))
    campaign = sa.table("campaign", sa.column("id"), sa.column("name"), sa.column("folded_name"))
    connection, taken = op.get_bind(), set()
    for row in connection.execute(sa.select(campaign.c.id, campaign.c.name).order_by(campaign.c.id)).all():
        folded = normalized("NFKC", normalized("NFKC", row.name).casefold())
        # Two that are there keep their names; there is no third one.
        if folded not in taken:
            connection.execute(campaign.update().where(campaign.c.id == row.id).values(folded_name=folded))
            taken.add(folded)
    op.create_index(op.f("ix_campaign_folded_name"), "campaign", ["folded_name"], unique=True)


def downgrade() -> None:
    op.drop_index(op.f("ix_campaign_folded_name"), table_name="campaign")
    with op.batch_alter_table("campaign") as batch:
        batch.drop_column("folded_name")
