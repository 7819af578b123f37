"""Notices: who is told what has happened in a campaign, and by which channels."""
