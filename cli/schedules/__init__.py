"""Commands about schedules and their runs."""
