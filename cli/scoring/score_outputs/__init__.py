"""The result of `score`, and one file for each format that it is written in."""
