"""Schedules and their runs: when they are due, where outputs come from, and the steps to a verdict."""
