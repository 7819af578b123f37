"""Texts: readers of files and folders, and tokenizers."""
