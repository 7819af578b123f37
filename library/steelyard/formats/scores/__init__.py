"""Scores of segments that were made elsewhere, by models or by other programs, from the files that these write."""
