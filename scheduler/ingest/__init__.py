"""Texts, campaigns and judgments into the database: all of it or nothing, and nothing twice."""
