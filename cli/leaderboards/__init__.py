"""Commands that rank and compare what the database holds."""
