"""Ingests texts, campaigns and judgments: atomically, and each only once."""
