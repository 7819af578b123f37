"""The JSON API under /api/v1, one folder per subject."""
