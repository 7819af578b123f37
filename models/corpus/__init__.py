"""Queries for test sets, protocols, phases and judgments."""
