"""Commands that ask a server instead of a database."""
