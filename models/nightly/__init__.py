"""Schedules and their runs: the state machine, and what a run measured."""
