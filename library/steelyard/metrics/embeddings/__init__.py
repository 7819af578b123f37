"""Metrics that compare words by their vectors, and the vectors."""
