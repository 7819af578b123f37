"""Submissions, their evaluations, and the queue."""
