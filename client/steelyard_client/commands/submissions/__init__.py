"""Submitting outputs, and what becomes of their evaluations."""
