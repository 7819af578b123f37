"""Queries for the progress of work: for people who watch, and for telemetry."""
