"""Formats: files, folders and archives read as texts with one segment per line."""
