"""The way to the database: engines and transactions, migrations, upserts, kinds of errors."""
