"""Signed messages about nightly runs, to checked addresses."""
