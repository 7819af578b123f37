"""Readers of files of direct assessments and errors."""
