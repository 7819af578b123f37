"""The database: its tables, and the questions asked of them."""
