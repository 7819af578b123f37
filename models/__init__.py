"""The database: its tables, and the queries on them."""
