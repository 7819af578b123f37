"""What a campaign says of its visibility and of joining is one of what there is."""

from __future__ import annotations

from alembic import op

revision = "20261213"
down_revision = "20261212"
branch_labels = None
depends_on = None

RULES = {"visibility": ("public", "private"), "joining": ("open", "invited")}
"""The last of each is what gives nobody anything."""


def upgrade() -> None:
    for column, values in RULES.items():
        one_of = ", ".join(f"'{each}'" for each in values)
        op.execute(f"UPDATE campaign SET {column} = '{values[-1]}' WHERE {column} NOT IN ({one_of})")  # noqa: S608
    with op.batch_alter_table("campaign") as batch_op:
        for column, values in RULES.items():
            one_of = ", ".join(f"'{each}'" for each in values)
            batch_op.create_check_constraint(op.f(f"ck_campaign_{column}"), f"{column} IN ({one_of})")


def downgrade() -> None:
    with op.batch_alter_table("campaign") as batch_op:
        for column in RULES:
            batch_op.drop_constraint(op.f(f"ck_campaign_{column}"), type_="check")
