"""Submissions, their evaluations and their progress."""
