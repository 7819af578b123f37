"""Schedules and their nightly runs: the state machine, and what a run measured."""
