"""Access to the database: engines and transactions, migrations, upserts, classes of errors."""
