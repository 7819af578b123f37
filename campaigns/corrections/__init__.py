"""Corrected references of test sets, and scores before and after a correction."""
